//! Warnings: what is wrong, with its numbers. What to do about it is in `warning_kind`.

use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::{
    ChangeTime, FlowKind, FlowSummary, LatenessCause, SteadinessChange, SteadyFigure, TrialSummary,
    Warning, WarningFinding as Finding, WarningKind,
};
use kgauge_results::run::RunStatus;

use super::warning_kind::{about, kind_of_remedy};
use super::{agents, bottleneck, flow, generator, replicas, target_note};
use crate::format;

/// A warning's text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WarningText {
    /// What is wrong, in a sentence; it does not name the flow.
    pub opening: String,
    /// What there is to say besides; may be empty.
    pub rest: String,
}

impl WarningText {
    /// Both.
    pub fn whole(&self) -> String {
        match self.rest.is_empty() {
            true => self.opening.clone(),
            false => format!("{} {}", self.opening, self.rest),
        }
    }
}

/// The text of a warning of a trial, or of the run.
pub fn text(warning: &Warning, trial: Option<&TrialSummary>) -> WarningText {
    let flows = trial.into_iter().flat_map(|trial| &trial.flows);
    let mut flows = flows.filter(|flow| Some(&flow.name) == warning.flow.as_ref());
    let (opening, rest) = match about_run(&warning.finding)
        .or_else(|| agents::warning(&warning.finding))
        .or_else(|| about_target(&warning.finding))
        .or_else(|| about_records(&warning.finding))
    {
        Some(opening) => (opening, String::new()),
        None => with_rest(&warning.finding, trial, flows.next()),
    };
    WarningText { opening, rest }
}

/// The text with the name of its flow, as one.
pub fn with_flow(warning: &Warning, trial: Option<&TrialSummary>) -> String {
    let text = text(warning, trial).whole();
    match &warning.flow {
        Some(flow) => format!("{flow}: {text}"),
        None => text,
    }
}

/// Run, machine and repeats.
fn about_run(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::CoresShared {
            brokers,
            processors,
        } => format!(
            "{} and the load generator shared {}: the figures do not carry over to {}.",
            format::counted(*brokers, "broker"),
            format::counted((*processors).into(), "processor"),
            format::counted(*brokers, "machine"),
        ),
        Finding::NotFinished { status, why } => match status {
            None => "No repeat of this trial completed; the figures cover only the seconds that \
                     were measured."
                .to_owned(),
            Some(RunStatus::Running) => {
                "The run is still in progress; these figures are preliminary.".to_owned()
            }
            Some(status) => {
                let status = status.as_str();
                let why = why
                    .as_ref()
                    .map_or_else(String::new, |why| format!(": {why}"));
                format!("This run did not finish ({status}{why}).")
            }
        },
        Finding::ClockSource { clock } => {
            format!("The kernel clock source is {clock}, which is slow or coarse.")
        }
        Finding::FreeMemoryReturned => {
            "This virtual machine returns free memory to its host. Memory that brokers use again \
             then costs a varying amount of CPU, so figures at full speed may not be steady."
                .to_owned()
        }
        Finding::DebugBuild => {
            "kgauge was built without optimisation; its own overhead is many times higher."
                .to_owned()
        }
        Finding::SameMachine => {
            "The load generator and the target shared one machine and competed for CPU.".to_owned()
        }
        Finding::SingleRepeat => "One repeat: the figures have no confidence interval.".to_owned(),
        Finding::RepeatsMissing { measured, planned } => format!(
            "{measured} of {} completed.",
            format::counted((*planned).into(), "repeat")
        ),
        Finding::TwoModes {
            records_per_s_min,
            records_per_s_max,
        } => format!(
            "the repeats form two groups between {} and {} records/s; the mean describes neither.",
            format::figure(*records_per_s_min),
            format::figure(*records_per_s_max)
        ),
        Finding::WideInterval { reach } => {
            format!("throughput is only known to ±{}.", format::percent(*reach))
        }
        Finding::ShortHold { seconds } => format!(
            "measured for only {} per repeat.",
            format::nanoseconds(seconds * 1e9)
        ),
        Finding::FewSamples { percentile } => {
            format!("{percentile} and higher percentiles rest on fewer than 100 samples.")
        }
        _ => return None,
    })
}

/// Brokers and replicas.
fn about_target(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::BrokerOutage {
            repeat,
            broker,
            address,
            since_ns,
            length_ns,
        } => {
            let until = match length_ns {
                Some(length_ns) => format!("for {}", format::nanoseconds(*length_ns as f64)),
                None => "until the end of the repeat".to_owned(),
            };
            format!(
                "Repeat {repeat}: broker {broker} at {address} stopped responding at {}, {until}.",
                format::nanoseconds(*since_ns as f64),
            )
        }
        Finding::LeadersMoved { repeat, changes } => format!(
            "Repeat {repeat}: leaders changed unexpectedly during the hold: {}.",
            replicas::changes(changes)
        ),
        Finding::FollowersFallBehind { repeat, records } => format!(
            "Repeat {repeat}: followers fell further behind throughout the hold, by up to {}.",
            format::counted(*records, "record")
        ),
        Finding::Throttled { pauses, total_ns } => format!(
            "brokers requested {} of {} in total.",
            format::counted(*pauses, "pause"),
            format::nanoseconds(*total_ns as f64)
        ),
        _ => return None,
    })
}

/// What became of records and connections.
fn about_records(finding: &Finding) -> Option<String> {
    let counted = |records: &u64, what: &str| {
        let records = format::counted(*records, "record");
        Some(format!("{records} {what}."))
    };
    match finding {
        Finding::CorruptRecords { records } => counted(records, "with a wrong checksum"),
        Finding::SendsFailed { records } => counted(records, "failed permanently"),
        Finding::SendsIndeterminate { records } => {
            counted(records, "may or may not have been written")
        }
        Finding::RecordsUnresolved { records } => {
            counted(records, "without a known outcome at the end")
        }
        Finding::RecordsSkipped { records, blame } => {
            let cause = match blame {
                LatenessCause::None => String::new(),
                blame => format!(" Cause: {}.", generator::subject(*blame)),
            };
            let records = format::counted(*records, "record");
            Some(format!(
                "{records} skipped because they were too late.{cause}"
            ))
        }
        Finding::ClockAnomalies { records } => {
            counted(records, "with timestamps that ran backwards")
        }
        Finding::CopyDoubled { records } => {
            let doubled = format::counted(*records, "record");
            Some(format!("the copy contains {doubled} more than once."))
        }
        Finding::CopyIncomplete { missing, acked } => Some(format!(
            "{} of {} acked by the source were missing from the copy when the drain ended.",
            format::count(*missing),
            format::counted(*acked, "record")
        )),
        Finding::CountsDisagree {
            repeat,
            acked,
            on_broker,
        } => Some(format!(
            "Repeat {}: {} acked, but the brokers count {}.",
            repeat + 1,
            format::counted(*acked, "record"),
            format::counted(*on_broker, "record"),
        )),
        Finding::ConnectionsBroken {
            lost,
            malformed,
            timed_out,
        } => {
            let lost = format::counted(*lost, "connection");
            let mut text = format!("{lost} to brokers broke");
            let causes = [
                (malformed, "because a response was malformed"),
                (
                    timed_out,
                    "because no response arrived within request.timeout.ms",
                ),
            ];
            for (count, why) in causes.into_iter().filter(|(count, _)| **count > 0) {
                text.push_str(&format!(", {count} {why}"));
            }
            Some(text + ".")
        }
        _ => None,
    }
}

/// Warnings of several sentences, and those that take their numbers from trial or flow.
fn with_rest(
    finding: &Finding,
    trial: Option<&TrialSummary>,
    flow: Option<&FlowSummary>,
) -> (String, String) {
    let of_generator = |opening: &str| {
        let evidence = trial.map_or_else(Vec::new, generator::evidence);
        (opening.to_owned(), evidence.join(" "))
    };
    match finding {
        Finding::GeneratorLimited => of_generator(about(WarningKind::GeneratorLimited).title),
        Finding::GeneratorUnknown => {
            of_generator("It is unknown whether the generator was the bottleneck.")
        }
        Finding::GeneratorLate => of_generator(about(WarningKind::GeneratorLate).title),
        Finding::HypervisorTookCpu => of_generator(about(WarningKind::HypervisorTookCpu).title),
        Finding::ProcessorsExhausted => of_generator(about(WarningKind::ProcessorsExhausted).title),
        Finding::OtherPrograms { is_in_latencies } => of_generator(match is_in_latencies {
            true => "Other load on this host took CPU; latencies include the delay.",
            false => {
                "Other load on this host took CPU; the load generator and the target can \
                 do more without it."
            }
        }),
        Finding::UnderReplicated {
            repeat,
            partitions,
            time_part,
            leaderless,
        } => under_replicated(*repeat, *partitions, *time_part, *leaderless),
        Finding::BrokerSkew { skew } => bottleneck::skew(skew),
        Finding::TargetNote { note } => target_note::text(note),
        Finding::AcksNone | Finding::FollowersBehind => flow
            .and_then(|flow| flow.ack.as_ref())
            .map_or_else(Default::default, flow::ack),
        Finding::LittlesLawBroken => (flow.and_then(law).unwrap_or_default(), String::new()),
        Finding::NoWorkDone => (flow.map_or_else(String::new, no_work), String::new()),
        Finding::NotSteady { changes, compiling } => not_steady(changes, *compiling, flow),
        Finding::SteadinessUnknown { detectable } => steadiness_unknown(*detectable),
        Finding::CoresShared { .. }
        | Finding::NotFinished { .. }
        | Finding::AgentLost { .. }
        | Finding::AgentLate { .. }
        | Finding::AgentThrottled { .. }
        | Finding::AgentNetworkFull { .. }
        | Finding::AgentSlow { .. }
        | Finding::BrokerOutage { .. }
        | Finding::CountsDisagree { .. }
        | Finding::CopyIncomplete { .. }
        | Finding::CopyDoubled { .. }
        | Finding::CorruptRecords { .. }
        | Finding::SendsFailed { .. }
        | Finding::ConnectionsBroken { .. }
        | Finding::SendsIndeterminate { .. }
        | Finding::RecordsUnresolved { .. }
        | Finding::RecordsSkipped { .. }
        | Finding::LeadersMoved { .. }
        | Finding::FollowersFallBehind { .. }
        | Finding::ClockAnomalies { .. }
        | Finding::ClockSource { .. }
        | Finding::FreeMemoryReturned
        | Finding::DebugBuild
        | Finding::Throttled { .. }
        | Finding::SameMachine
        | Finding::SingleRepeat
        | Finding::RepeatsMissing { .. }
        | Finding::TwoModes { .. }
        | Finding::WideInterval { .. }
        | Finding::ShortHold { .. }
        | Finding::FewSamples { .. } => Default::default(),
    }
}

fn under_replicated(
    repeat: u32,
    partitions: u32,
    time_part: f64,
    leaderless: u32,
) -> (String, String) {
    let opening = format!(
        "Repeat {repeat}: up to {} under-replicated, in {} of the samples during the hold.",
        format::counted(partitions.into(), "partition"),
        format::percent(time_part)
    );
    let leaderless = (leaderless > 0).then(|| format::counted(leaderless.into(), "partition"));
    let rest = leaderless.map(|leaderless| format!("Up to {leaderless} had no leader."));
    (opening, rest.unwrap_or_default())
}

fn law(of: &FlowSummary) -> Option<String> {
    let law = of.little.as_ref()?;
    Some(flow::little(law, of.closed_loop))
}

fn no_work(flow: &FlowSummary) -> String {
    let records = &flow.records_all_stages;
    match flow.kind {
        FlowKind::Consume | FlowKind::Echo if records.acked == 0 && records.scheduled == 0 => {
            "read none of the existing records.".to_owned()
        }
        FlowKind::Echo if records.acked > 0 => format!(
            "read back none of the {} that were acked.",
            format::counted(records.acked, "record")
        ),
        FlowKind::Produce | FlowKind::Consume | FlowKind::Echo | FlowKind::Unknown => format!(
            "none of the {} that were due was acked.",
            format::counted(records.scheduled, "record")
        ),
    }
}

/// What the target did where a figure was not steady; `None` where it was.
pub(crate) fn steadiness(flow: &FlowSummary, figure: SteadyFigure) -> Option<&'static str> {
    match flow.steadiness_of(figure) {
        Steadiness::Steady | Steadiness::Undecided => None,
        Steadiness::Shifting => Some("shifted between levels"),
        Steadiness::Slowing => Some("was slowing down"),
        Steadiness::Warming => Some("was still warming up"),
    }
}

fn not_steady(
    changes: &[SteadinessChange],
    compiling: Option<f64>,
    flow: Option<&FlowSummary>,
) -> (String, String) {
    let change = |change: &SteadinessChange| {
        let figure = match change.figure {
            SteadyFigure::Throughput => "throughput",
            SteadyFigure::Latency => "latency",
        };
        let percent = format::signed_percent(change.change);
        let when = match change.when {
            ChangeTime::Within { repeat } => format!("within repeat {}", repeat + 1),
            ChangeTime::WithinAll => "within all repeats".to_owned(),
            ChangeTime::OverRepeats => "from the first repeat to the last".to_owned(),
        };
        format!("{figure} {percent} {when}")
    };
    let compiling = compiling.map(|part| {
        let percent = format::percent(part);
        format!("up to {percent} of the brokers' CPU time compiled Java code")
    });
    let reasons: Vec<String> = compiling
        .into_iter()
        .chain(changes.iter().map(change))
        .collect();
    let words = format!(
        "the target {} during measurement: {}.",
        flow.and_then(|flow| steadiness(flow, SteadyFigure::Latency))
            .unwrap_or("changed"),
        reasons.join(", ")
    );
    (words, String::new())
}

fn steadiness_unknown(detectable: Option<f64>) -> (String, String) {
    let words = match detectable {
        Some(change) => format!(
            "throughput or latency varied: only a change of more than {} would have shown.",
            format::percent(change)
        ),
        None => "the hold was too short for any change to show.".to_owned(),
    };
    (words, String::new())
}

/// What can be done about a warning; empty where there is nothing to do.
pub fn remedy(finding: &Finding) -> &'static str {
    kind_of_remedy(finding).map_or("", |kind| about(kind).remedy)
}
