//! Which warnings a trial or a run deserves, with their numbers and remedies.

use super::shares;
use crate::folder::RunRead;
use crate::run::{Replication, RunStatus};
use crate::summary::words;
use crate::summary::{
    FlowSummary, GeneratorWord, LatencySummary, TrialSummary, Warning, WarningKind,
};

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

/// Warnings of the run as a whole.
pub(super) fn of_run(run: &RunRead) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    let why = run.head.why.as_deref();
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    match run.status {
        RunStatus::Complete => {}
        RunStatus::Running => {
            let text = "The run goes on; these are the figures so far.".to_owned();
            warnings.add(WarningKind::NotFinished, None, text);
        }
        RunStatus::Failed | RunStatus::Interrupted | RunStatus::CutShort => {
            let status = run.status.as_str();
            let text = format!("This run was not finished ({status}{why}).");
            warnings.add(WarningKind::NotFinished, None, text);
        }
    }
    let Some(environment) = &run.environment else {
        return warnings.0;
    };
    if environment.kgauge.debug {
        let text = "This kgauge was built without optimisation; its own cost is many times higher."
            .to_owned();
        warnings.add(WarningKind::DebugBuild, None, text);
    }
    let clock = environment.machine.clock_source.as_deref();
    if let Some(clock) = clock.filter(|clock| SLOW_CLOCKS.contains(clock)) {
        let text = format!("The kernel reads time from {clock}, which is slow or coarse.");
        warnings.add(WarningKind::ClockSource, None, text);
    }
    for note in &environment.target.notes {
        warnings.add(WarningKind::TargetNote, None, note.clone());
    }
    if environment.target.same_machine == Some(true) {
        let text = "Load and target ran on one machine and took processor time from each other."
            .to_owned();
        warnings.add(WarningKind::SameMachine, None, text);
    }
    warnings.0
}

/// Warnings of one trial, the gravest first. `health` are those of its cluster.
pub(super) fn of_trial(trial: &TrialSummary, health: Vec<Warning>, partial: bool) -> Vec<Warning> {
    let mut warnings = Warnings(health);
    about_repeats(&mut warnings, trial, partial);
    about_counts(&mut warnings, trial);
    about_generator(&mut warnings, trial);
    if let Some(text) = shares::skew(trial) {
        warnings.add(WarningKind::BrokerSkew, None, text);
    }
    for flow in &trial.flows {
        about_records(&mut warnings, flow, partial);
        about_copies(&mut warnings, flow);
        about_acks(&mut warnings, flow);
        about_figures(&mut warnings, flow);
    }
    warnings.0.sort_by_key(|warning| warning.kind);
    warnings.0
}

fn about_repeats(warnings: &mut Warnings, trial: &TrialSummary, partial: bool) {
    if partial {
        let text = "No repeat of this trial was completed; the figures are of the part that was \
                    measured, to the second."
            .to_owned();
        warnings.add(WarningKind::NotFinished, None, text);
    } else if trial.repeats_measured < trial.repeats_planned {
        let text = format!(
            "{} of {} were completed.",
            trial.repeats_measured,
            words::counted(u64::from(trial.repeats_planned), "repeat")
        );
        warnings.add(WarningKind::RepeatsMissing, None, text);
    }
    if trial.repeats_measured == 1 {
        let text = "One repeat: the figures have no interval.".to_owned();
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

fn about_generator(warnings: &mut Warnings, trial: &TrialSummary) {
    if trial.repeats_measured == 0 {
        return;
    }
    let (kind, opening) = match trial.generator.word {
        GeneratorWord::Fine => return,
        GeneratorWord::Late => (
            WarningKind::GeneratorLate,
            "The generator was late; latencies contain its own delay.",
        ),
        GeneratorWord::Limited => (
            WarningKind::GeneratorLimited,
            "The generator was the limit; the target can do more than these figures say.",
        ),
        GeneratorWord::Unknown => (
            WarningKind::GeneratorUnknown,
            "Whether the generator was the limit is not known.",
        ),
    };
    let text = format!("{opening} {}", trial.generator.evidence.join(" "));
    warnings.add(kind, None, text);
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
        "read with a wrong checksum",
    );
    count(WarningKind::SendsFailed, records.failed, "failed for good");
    count(
        WarningKind::SendsIndeterminate,
        records.indeterminate,
        "may or may not have been written",
    );
    count(
        WarningKind::RecordsSkipped,
        records.skipped,
        "never sent because too late",
    );
    count(
        WarningKind::ClockAnomalies,
        records.clock_anomalies,
        "with times that ran backwards",
    );
    if !partial {
        let unresolved = records.unresolved.unsigned_abs();
        count(
            WarningKind::RecordsUnresolved,
            unresolved,
            "never heard of again before the end",
        );
    }
    if let Some(throttling) = &flow.throttling {
        let text = format!(
            "{name}: brokers asked for {} of {} together.",
            words::counted(throttling.count, "pause"),
            words::time(throttling.total_ns as f64)
        );
        warnings.add(WarningKind::Throttled, Some(flow), text);
    }
}

fn about_copies(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(mirror) = &flow.mirror else { return };
    let name = &flow.name;
    if mirror.missing > 0 {
        let acked = words::counted(mirror.acked, "record");
        let missing = words::count(mirror.missing);
        let text = format!(
            "{name}: {missing} of {acked} that the source acked were not in the copy when the drain ended."
        );
        warnings.add(WarningKind::CopyIncomplete, Some(flow), text);
    }
    if mirror.doubled > 0 {
        let doubled = words::counted(mirror.doubled, "record");
        let text = format!("{name}: the copy held {doubled} more than once.");
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

fn about_figures(warnings: &mut Warnings, flow: &FlowSummary) {
    let name = &flow.name;
    if let Some(throughput) = &flow.throughput {
        let rate = &throughput.records_per_s;
        if rate.two_modes {
            let text = format!(
                "{name}: the repeats fall into two groups between {} and {} records/s; their \
                 mean describes neither.",
                words::number(rate.min),
                words::number(rate.max)
            );
            warnings.add(WarningKind::TwoModes, Some(flow), text);
        }
        if let Some(relative) = rate.ci95_relative().filter(|half| *half > WIDE_INTERVAL) {
            let text = format!(
                "{name}: throughput is known to ±{} only.",
                words::percent(relative)
            );
            warnings.add(WarningKind::WideInterval, Some(flow), text);
        }
        let hold_s = throughput.hold_s / f64::from(rate.n);
        if hold_s < SHORT_HOLD_S {
            let text = format!(
                "{name}: measured for {} a repeat only.",
                words::time(hold_s * 1e9)
            );
            warnings.add(WarningKind::ShortHold, Some(flow), text);
        }
    }
    if let Some(law) = flow.little.as_ref().filter(|law| law.holds == Some(false)) {
        let text = format!("{name}: {}", law.sentence);
        warnings.add(WarningKind::LittlesLawBroken, Some(flow), text);
    }
    if let Some(few) = flow.latencies.response.as_ref().and_then(few_from) {
        let text = format!("{name}: {few} and beyond rest on fewer than 100 samples.");
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
