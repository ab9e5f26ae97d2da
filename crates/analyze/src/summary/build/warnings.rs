//! Which warnings a trial or a run deserves, with their numbers and remedies.

use super::{blame, shares, work};
use crate::statistics::Steadiness;
use crate::summary::words;
use crate::summary::{
    CpuSummary, FlowSummary, GeneratorState, LatencySummary, LatenessCause, TrialSummary, Warning,
    WarningKind,
};
use kgauge_results::folder::RunRead;
use kgauge_results::run::{Environment, EventKind, Replication, RunStatus};

/// An interval wider than this on either side says little.
const WIDE_INTERVAL: f64 = 0.10;
/// A hold stage below this sees neither flushes nor segment rolls nor the page cache fill.
const SHORT_HOLD_S: f64 = 10.0;
/// Clocks that the kernel can only read slowly or coarsely.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

struct Warnings(Vec<Warning>);

impl Warnings {
    fn add(&mut self, kind: WarningKind, flow: Option<&FlowSummary>, text: String) {
        self.0.push(Warning {
            kind,
            flow: flow.map(|flow| flow.name.clone()),
            text,
            remedy: kind.remedy().to_owned(),
        });
    }
}

/// What a trial's warnings hang on beside its summary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// No repeat was complete.
    pub(super) is_partial: bool,
    /// The scenario broke the target, or brokers did not answer.
    pub(super) is_disturbed: bool,
    /// Processors that kgauge may use.
    pub(super) processors: Option<u32>,
}

/// Warnings of the run as a whole.
pub(super) fn of_run(run: &RunRead) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    let why = run.head.why.as_deref();
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    match run.status {
        RunStatus::Complete => {}
        RunStatus::Running => {
            let text = "The run is still in progress; these figures are preliminary.".to_owned();
            warnings.add(WarningKind::NotFinished, None, text);
        }
        RunStatus::Failed | RunStatus::Interrupted | RunStatus::CutShort => {
            let status = run.status.as_str();
            let text = format!("This run did not finish ({status}{why}).");
            warnings.add(WarningKind::NotFinished, None, text);
        }
    }
    let Some(environment) = &run.environment else {
        return warnings.0;
    };
    if let Some(text) = shared_cores(run, environment) {
        warnings.add(WarningKind::CoresShared, None, text);
    }
    if environment.kgauge.debug {
        let text = "kgauge was built without optimisation; its own overhead is many times higher."
            .to_owned();
        warnings.add(WarningKind::DebugBuild, None, text);
    }
    let clock = environment.machine.clock_source.as_deref();
    if let Some(clock) = clock.filter(|clock| SLOW_CLOCKS.contains(clock)) {
        let text = format!("The kernel clock source is {clock}, which is slow or coarse.");
        warnings.add(WarningKind::ClockSource, None, text);
    }
    for note in &environment.target.notes {
        warnings.add(WarningKind::TargetNote, None, note.clone());
    }
    if environment.target.same_machine == Some(true) {
        let text =
            "The load generator and the target shared one machine and competed for CPU.".to_owned();
        warnings.add(WarningKind::SameMachine, None, text);
    }
    warnings.0
}

/// Where brokers share fewer processors than they are.
fn shared_cores(run: &RunRead, environment: &Environment) -> Option<String> {
    let processors = environment.machine.cpu_count?;
    if environment.target.same_machine != Some(true) {
        return None;
    }
    let begun = environment.target.brokers.len() as u64;
    let restarted = run.events.iter().filter_map(|event| match event.kind {
        EventKind::ClusterStarted { brokers, .. } => Some(u64::from(brokers)),
        _ => None,
    });
    let brokers = restarted.fold(begun, u64::max);
    (brokers > u64::from(processors)).then(|| {
        format!(
            "{} and the load generator shared {}: the figures do not carry over to {}.",
            words::counted(brokers, "broker"),
            words::counted(u64::from(processors), "processor"),
            words::counted(brokers, "machine"),
        )
    })
}

/// Whether other programs left nothing of the processors to load and target.
fn is_full_of_others(cpu: &CpuSummary, processors: Option<u32>) -> bool {
    blame::crowd(cpu, processors).is_some() && blame::is_full(cpu, processors)
}

/// Warnings of one trial, the gravest first. `health` are those of its cluster.
pub(super) fn of_trial(
    trial: &TrialSummary,
    health: Vec<Warning>,
    circumstances: Circumstances,
) -> Vec<Warning> {
    let partial = circumstances.is_partial;
    let mut warnings = Warnings(health);
    about_repeats(&mut warnings, trial, partial);
    about_counts(&mut warnings, trial);
    about_generator(&mut warnings, trial, circumstances.processors);
    if let Some(text) = shares::skew(trial) {
        warnings.add(WarningKind::BrokerSkew, None, text);
    }
    for flow in &trial.flows {
        about_records(&mut warnings, flow, partial);
        for (kind, text) in work::warnings(flow, trial.has_faults) {
            warnings.add(kind, Some(flow), text);
        }
        about_steadiness(&mut warnings, flow);
        about_copies(&mut warnings, flow);
        about_acks(&mut warnings, flow);
        about_figures(&mut warnings, flow, circumstances.is_disturbed);
    }
    warnings.0.sort_by_key(|warning| warning.kind);
    warnings.0
}

fn about_repeats(warnings: &mut Warnings, trial: &TrialSummary, partial: bool) {
    if partial {
        let text = "No repeat of this trial completed; the figures cover only the seconds that \
                    were measured."
            .to_owned();
        warnings.add(WarningKind::NotFinished, None, text);
    } else if trial.repeats_measured < trial.repeats_planned {
        let text = format!(
            "{} of {} completed.",
            trial.repeats_measured,
            words::counted(u64::from(trial.repeats_planned), "repeat")
        );
        warnings.add(WarningKind::RepeatsMissing, None, text);
    }
    if trial.repeats_measured == 1 {
        let text = "One repeat: the figures have no confidence interval.".to_owned();
        warnings.add(WarningKind::SingleRepeat, None, text);
    }
}

fn about_counts(warnings: &mut Warnings, trial: &TrialSummary) {
    let wrong = trial
        .counted
        .iter()
        .filter(|counted| counted.agrees == Some(false));
    for counted in wrong {
        let text = format!(
            "Repeat {}: {} acked, but the brokers count {}.",
            counted.repeat,
            words::counted(counted.acked, "record"),
            words::counted(counted.on_broker.unwrap_or_default(), "record"),
        );
        warnings.add(WarningKind::CountsDisagree, None, text);
    }
}

fn about_generator(warnings: &mut Warnings, trial: &TrialSummary, processors: Option<u32>) {
    if trial.repeats_measured == 0 {
        return;
    }
    let blame = trial.generator.blame;
    let cause = match (trial.generator.word, blame) {
        (GeneratorState::Limited, _) => Some((
            WarningKind::GeneratorLimited,
            "The generator was the bottleneck; the target can do more than these figures show.",
        )),
        (GeneratorState::Unknown, _) => Some((
            WarningKind::GeneratorUnknown,
            "It is unknown whether the generator was the bottleneck.",
        )),
        (_, LatenessCause::OtherPrograms { .. }) => Some((
            WarningKind::OtherPrograms,
            "Other programs used CPU on this machine; latencies include the delay.",
        )),
        (_, LatenessCause::SharedProcessors) => Some((
            WarningKind::ProcessorsExhausted,
            "The load generator and the target ran short of CPU; latencies include the delay.",
        )),
        (GeneratorState::Late | GeneratorState::Crowded, _) => Some((
            WarningKind::GeneratorLate,
            "The generator was late; latencies include its own delay.",
        )),
        (GeneratorState::Fine, _) if is_full_of_others(&trial.cpu, processors) => Some((
            WarningKind::OtherPrograms,
            "Other programs used CPU on this machine; the load generator and the target can do \
             more without them.",
        )),
        (GeneratorState::Fine, _) => None,
    };
    let Some((kind, opening)) = cause else { return };
    let remedy = match kind {
        WarningKind::GeneratorLate => blame.remedy(),
        _ => None,
    };
    warnings.0.push(Warning {
        kind,
        flow: None,
        text: format!("{opening} {}", trial.generator.evidence.join(" ")),
        remedy: remedy.unwrap_or(kind.remedy()).to_owned(),
    });
}

fn about_records(warnings: &mut Warnings, flow: &FlowSummary, partial: bool) {
    let records = &flow.records_all_stages;
    let name = &flow.name;
    let mut count = |kind: WarningKind, records: u64, what: &str| {
        if records > 0 {
            let text = format!("{name}: {} {what}.", words::counted(records, "record"));
            warnings.add(kind, Some(flow), text);
        }
    };
    count(
        WarningKind::CorruptRecords,
        records.corrupt,
        "with a wrong checksum",
    );
    count(
        WarningKind::SendsFailed,
        records.failed,
        "failed permanently",
    );
    count(
        WarningKind::SendsIndeterminate,
        records.indeterminate,
        "may or may not have been written",
    );
    count(
        WarningKind::RecordsSkipped,
        records.skipped,
        "skipped because they were too late",
    );
    count(
        WarningKind::ClockAnomalies,
        records.clock_anomalies,
        "with timestamps that ran backwards",
    );
    if !partial {
        let unresolved = records.unresolved.unsigned_abs();
        count(
            WarningKind::RecordsUnresolved,
            unresolved,
            "without a known outcome at the end",
        );
    }
    if let Some(throttling) = &flow.throttling {
        let text = format!(
            "{name}: brokers requested {} of {} in total.",
            words::counted(throttling.count, "pause"),
            words::time(throttling.total_ns as f64)
        );
        warnings.add(WarningKind::Throttled, Some(flow), text);
    }
}

fn about_steadiness(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(steadiness) = &flow.steadiness else {
        return;
    };
    let what = match steadiness.verdict {
        Steadiness::Steady | Steadiness::Undecided => return,
        Steadiness::Warming => "was still warming up",
        Steadiness::Slowing => "was slowing down",
        Steadiness::Shifting => "shifted between levels",
    };
    let changed = |change: f64| {
        format!(
            "{}{}",
            if change < 0.0 { "-" } else { "+" },
            words::percent(change.abs())
        )
    };
    let mut found = Vec::new();
    for (figure, change) in [
        ("throughput", steadiness.throughput_over_repeats),
        ("latency", steadiness.latency_over_repeats),
    ] {
        found.extend(change.map(|change| {
            format!(
                "{figure} {} from the first repeat to the last",
                changed(change)
            )
        }));
    }
    let checks = steadiness
        .repeats
        .iter()
        .enumerate()
        .flat_map(|(index, repeat)| {
            let latency = repeat.latency.map(|check| (index, "latency", check));
            [Some((index, "throughput", repeat.throughput)), latency]
        });
    let changing = checks
        .flatten()
        .filter(|(_, _, check)| !check.steadiness.is_usable());
    found.extend(changing.map(|(index, figure, check)| {
        format!("{figure} {} within repeat {index}", changed(check.change))
    }));
    found.truncate(3);
    let text = format!(
        "{}: the target {what} during measurement: {}.",
        flow.name,
        found.join(", ")
    );
    warnings.add(WarningKind::NotSteady, Some(flow), text);
}

fn about_copies(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(mirror) = &flow.mirror else { return };
    let name = &flow.name;
    if mirror.missing > 0 {
        let acked = words::counted(mirror.acked, "record");
        let missing = words::count(mirror.missing);
        let text = format!(
            "{name}: {missing} of {acked} acked by the source were missing from the copy when the \
             drain ended."
        );
        warnings.add(WarningKind::CopyIncomplete, Some(flow), text);
    }
    if mirror.doubled > 0 {
        let doubled = words::counted(mirror.doubled, "record");
        let text = format!("{name}: the copy contains {doubled} more than once.");
        warnings.add(WarningKind::CopyDoubled, Some(flow), text);
    }
}

fn about_acks(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(ack) = &flow.ack else {
        return;
    };
    if ack.acks == "0" {
        let text = format!("{}: {}", flow.name, ack.sentence);
        warnings.add(WarningKind::AcksNone, Some(flow), text);
    }
    let behind = |state: &Replication| matches!(state, Replication::Behind { .. });
    if ack.followers.iter().flatten().any(behind) {
        let text = format!("{}: {}", flow.name, ack.sentence);
        warnings.add(WarningKind::FollowersBehind, Some(flow), text);
    }
}

fn about_figures(warnings: &mut Warnings, flow: &FlowSummary, is_disturbed: bool) {
    let name = &flow.name;
    if let Some(throughput) = &flow.throughput {
        let rate = &throughput.records_per_s;
        if rate.two_modes {
            let text = format!(
                "{name}: the repeats form two groups between {} and {} records/s; the mean \
                 describes neither.",
                words::number(rate.min),
                words::number(rate.max)
            );
            warnings.add(WarningKind::TwoModes, Some(flow), text);
        }
        if let Some(relative) = rate.ci95_relative().filter(|half| *half > WIDE_INTERVAL) {
            let text = format!(
                "{name}: throughput is only known to ±{}.",
                words::percent(relative)
            );
            warnings.add(WarningKind::WideInterval, Some(flow), text);
        }
        let hold_s = throughput.hold_s / f64::from(rate.n);
        if hold_s < SHORT_HOLD_S {
            let text = format!(
                "{name}: measured for only {} per repeat.",
                words::time(hold_s * 1e9)
            );
            warnings.add(WarningKind::ShortHold, Some(flow), text);
        }
    }
    // Where brokers did not answer for a while, nothing was steady: a longer hold would not settle it.
    let law = flow.little.as_ref().filter(|_| !is_disturbed);
    if let Some(law) = law.filter(|law| law.holds == Some(false)) {
        let text = format!("{name}: {}", law.sentence);
        warnings.add(WarningKind::LittlesLawBroken, Some(flow), text);
    }
    if let Some(few) = flow.latencies.response.as_ref().and_then(few_from) {
        let text = format!("{name}: {few} and higher percentiles rest on fewer than 100 samples.");
        warnings.add(WarningKind::FewSamples, Some(flow), text);
    }
}

/// The lowest percentile that rests on few samples.
fn few_from(response: &LatencySummary) -> Option<&str> {
    let few = response
        .percentiles
        .iter()
        .find(|percentile| percentile.few);
    few.map(|percentile| percentile.name.as_str())
}
