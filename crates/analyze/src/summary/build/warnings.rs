//! Which warnings a trial or a run deserves, with their numbers.

use super::{agents, blame, shares, work};
use crate::statistics::Steadiness;
use crate::summary::{
    FlowSummary, GeneratorState, LatencySummary, LatenessCause, TrialSummary, Warning,
    WarningFinding as Finding,
};
use kgauge_results::folder::RunRead;
use kgauge_results::run::{Environment, EventKind, Replication, RunStatus};
use kgauge_results::slice::TimeKind;
use kgauge_scenario::Trial;

/// An interval wider than this on either side causes a warning.
const WIDE_INTERVAL: f64 = 0.10;
/// A hold stage below this sees neither flushes nor segment rolls nor the page cache fill.
const SHORT_HOLD_S: f64 = 10.0;
/// Changes that are named.
const CHANGES_MAX: usize = 3;
/// Clocks that the kernel can only read slowly or coarsely.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

struct Warnings(Vec<Warning>);

impl Warnings {
    fn add(&mut self, flow: Option<&FlowSummary>, finding: Finding) {
        let flow = flow.map(|flow| flow.name.clone());
        self.0.push(Warning { flow, finding });
    }
}

/// What a trial's warnings hang on beside its summary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// No repeat was complete.
    pub(super) is_partial: bool,
    /// The scenario broke the target, or brokers did not answer.
    pub(super) is_disturbed: bool,
}

/// Warnings of the run as a whole.
pub(super) fn of_run(run: &RunRead, trials: &[TrialSummary]) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    if run.status != RunStatus::Complete {
        let not_finished = Finding::NotFinished {
            status: Some(run.status),
            why: run.head.why.clone(),
        };
        warnings.add(None, not_finished);
    }
    let Some(environment) = &run.environment else {
        return warnings.0;
    };
    if let Some(shared) = shared_cores(run, environment) {
        warnings.add(None, shared);
    }
    if environment.kgauge.debug {
        warnings.add(None, Finding::DebugBuild);
    }
    let clock = environment.machine.clock_source.clone();
    if let Some(clock) = clock.filter(|clock| SLOW_CLOCKS.contains(&clock.as_str())) {
        warnings.add(None, Finding::ClockSource { clock });
    }
    let is_steady = |trial: &TrialSummary| trial.flows.iter().all(FlowSummary::is_usable);
    let is_local = environment.target.same_machine == Some(true);
    if environment.machine.reports_free_memory && is_local && !trials.iter().all(is_steady) {
        warnings.add(None, Finding::FreeMemoryReturned);
    }
    for note in &environment.target.notes {
        let note = note.clone();
        warnings.add(None, Finding::TargetNote { note });
    }
    if is_local {
        warnings.add(None, Finding::SameMachine);
    }
    warnings.0
}

/// Brokers that share fewer processors than there are brokers.
fn shared_cores(run: &RunRead, environment: &Environment) -> Option<Finding> {
    let processors = environment.machine.cpu_count?;
    if environment.target.same_machine != Some(true) {
        return None;
    }
    let at_start = environment.target.brokers.len() as u64;
    let restarted = run.events.iter().filter_map(|event| match event.kind {
        EventKind::ClusterStarted { brokers, .. } => Some(u64::from(brokers)),
        _ => None,
    });
    let brokers = restarted.fold(at_start, u64::max);
    (brokers > u64::from(processors)).then_some(Finding::CoresShared {
        brokers,
        processors,
    })
}

/// Warnings of one trial, the gravest first. `health` are those of its cluster.
pub(super) fn of_trial(
    plan: Option<&Trial>,
    trial: &TrialSummary,
    health: Vec<Warning>,
    circumstances: Circumstances,
) -> Vec<Warning> {
    let partial = circumstances.is_partial;
    let mut warnings = Warnings(health);
    about_repeats(&mut warnings, trial, partial);
    about_counts(&mut warnings, trial);
    if let Some(finding) = about_generator(trial) {
        warnings.add(None, finding);
    }
    if let Some(skew) = shares::skew(trial) {
        warnings.add(None, Finding::BrokerSkew { skew });
    }
    if let Some(of_trial) = &trial.agents {
        warnings.0.extend(agents::warnings(plan, of_trial));
    }
    for flow in &trial.flows {
        about_records(&mut warnings, flow, partial);
        for finding in work::warnings(flow, trial.has_faults) {
            warnings.add(Some(flow), finding);
        }
        // Where brokers did not answer for a while, nothing was steady: a longer warm-up or hold would not settle it.
        if !circumstances.is_disturbed {
            about_steadiness(&mut warnings, flow);
            about_littles_law(&mut warnings, flow);
        }
        about_copies(&mut warnings, flow);
        about_acks(&mut warnings, flow);
        about_figures(&mut warnings, flow);
    }
    warnings.0.sort_by_key(Warning::kind);
    warnings.0
}

fn about_repeats(warnings: &mut Warnings, trial: &TrialSummary, partial: bool) {
    let (measured, planned) = (trial.repeats_measured, trial.repeats_planned);
    if partial {
        let not_finished = Finding::NotFinished {
            status: None,
            why: None,
        };
        warnings.add(None, not_finished);
    } else if measured < planned {
        warnings.add(None, Finding::RepeatsMissing { measured, planned });
    }
    if measured == 1 {
        warnings.add(None, Finding::SingleRepeat);
    }
}

fn about_counts(warnings: &mut Warnings, trial: &TrialSummary) {
    let counts = trial.counted.iter();
    for counted in counts.filter(|counted| counted.agrees == Some(false)) {
        let disagree = Finding::CountsDisagree {
            repeat: counted.repeat,
            acked: counted.acked,
            on_broker: counted.on_broker.unwrap_or_default(),
        };
        warnings.add(None, disagree);
    }
}

fn about_generator(trial: &TrialSummary) -> Option<Finding> {
    if trial.repeats_measured == 0 {
        return None;
    }
    let crowd = blame::crowd(&trial.cpu);
    let is_full_of_others =
        matches!(crowd, Some(blame::Crowd::Programs { .. })) && blame::is_full(&trial.cpu);
    match (trial.generator.word, trial.generator.blame) {
        (GeneratorState::Limited, _) => Some(Finding::GeneratorLimited),
        (GeneratorState::Unknown, _) => Some(Finding::GeneratorUnknown),
        (_, LatenessCause::OtherPrograms { .. }) => Some(Finding::OtherPrograms {
            is_in_latencies: true,
        }),
        (_, LatenessCause::Hypervisor { .. }) => Some(Finding::HypervisorTookCpu),
        (_, LatenessCause::SharedProcessors) => Some(Finding::ProcessorsExhausted),
        (GeneratorState::Late | GeneratorState::Crowded, _) => Some(Finding::GeneratorLate),
        (GeneratorState::Fine, _) => is_full_of_others.then_some(Finding::OtherPrograms {
            is_in_latencies: false,
        }),
    }
}

fn about_records(warnings: &mut Warnings, flow: &FlowSummary, partial: bool) {
    let counts = &flow.records_all_stages;
    let mut count = |records: u64, finding: fn(u64) -> Finding| {
        if records > 0 {
            warnings.add(Some(flow), finding(records));
        }
    };
    count(counts.corrupt, |records| Finding::CorruptRecords {
        records,
    });
    count(counts.failed, |records| Finding::SendsFailed { records });
    count(counts.indeterminate, |records| {
        Finding::SendsIndeterminate { records }
    });
    count(counts.clock_anomalies, |records| Finding::ClockAnomalies {
        records,
    });
    if !partial {
        count(counts.unresolved.unsigned_abs(), |records| {
            Finding::RecordsUnresolved { records }
        });
    }
    if counts.skipped > 0 {
        let lateness = flow.lateness.as_ref();
        let skipped = Finding::RecordsSkipped {
            records: counts.skipped,
            blame: lateness.map_or(LatenessCause::None, |lateness| lateness.blame),
        };
        warnings.add(Some(flow), skipped);
    }
    if let Some(throttling) = &flow.throttling {
        let throttled = Finding::Throttled {
            pauses: throttling.count,
            total_ns: throttling.total_ns,
        };
        warnings.add(Some(flow), throttled);
    }
}

fn about_steadiness(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(steadiness) = &flow.steadiness else {
        return;
    };
    match steadiness.verdict {
        Steadiness::Steady => return,
        Steadiness::Undecided => {
            let detectable = steadiness.undecided();
            warnings.add(Some(flow), Finding::SteadinessUnknown { detectable });
            return;
        }
        Steadiness::Shifting | Steadiness::Slowing | Steadiness::Warming => {}
    }
    let finding = Finding::NotSteady {
        changes: steadiness.changes().into_iter().take(CHANGES_MAX).collect(),
        compiling: steadiness.compiling(),
    };
    warnings.add(Some(flow), finding);
}

fn about_littles_law(warnings: &mut Warnings, flow: &FlowSummary) {
    let law = flow.little.as_ref();
    if law.is_some_and(|law| law.holds == Some(false)) {
        warnings.add(Some(flow), Finding::LittlesLawBroken);
    }
}

fn about_copies(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(mirror) = &flow.mirror else { return };
    let (missing, acked) = (mirror.missing, mirror.acked);
    if missing > 0 {
        warnings.add(Some(flow), Finding::CopyIncomplete { missing, acked });
    }
    if mirror.doubled > 0 {
        let records = mirror.doubled;
        warnings.add(Some(flow), Finding::CopyDoubled { records });
    }
}

fn about_acks(warnings: &mut Warnings, flow: &FlowSummary) {
    let Some(ack) = &flow.ack else {
        return;
    };
    if ack.acks == "0" {
        warnings.add(Some(flow), Finding::AcksNone);
    }
    let behind = |state: &Replication| matches!(state, Replication::Behind { .. });
    if ack.followers.iter().flatten().any(behind) {
        warnings.add(Some(flow), Finding::FollowersBehind);
    }
}

fn about_figures(warnings: &mut Warnings, flow: &FlowSummary) {
    if let Some(throughput) = &flow.throughput {
        let rate = &throughput.records_per_s;
        if rate.two_modes {
            let modes = Finding::TwoModes {
                records_per_s_min: rate.min,
                records_per_s_max: rate.max,
            };
            warnings.add(Some(flow), modes);
        }
        if let Some(reach) = rate.ci95_relative().filter(|half| *half > WIDE_INTERVAL) {
            warnings.add(Some(flow), Finding::WideInterval { reach });
        }
        let seconds = throughput.hold_s / f64::from(rate.n);
        if seconds < SHORT_HOLD_S {
            warnings.add(Some(flow), Finding::ShortHold { seconds });
        }
    }
    if let Some(percentile) = flow.latencies.get(TimeKind::Response).and_then(few_from) {
        warnings.add(Some(flow), Finding::FewSamples { percentile });
    }
}

/// The lowest percentile that rests on few samples.
fn few_from(response: &LatencySummary) -> Option<String> {
    let mut percentiles = response.percentiles.iter();
    let few = percentiles.find(|percentile| percentile.few);
    few.map(|percentile| percentile.name.clone())
}
