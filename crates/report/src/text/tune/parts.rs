//! Parts of the answer of a search for better settings: what a winner changes elsewhere, what was not tried, and the
//! search in progress.

use kgauge_analyze::statistics::FigureRatio;
use kgauge_analyze::summary::{SideEffect, SideFigure, TuneSummary, TuneWinner};
use kgauge_analyze::tuning::CANDIDATES_MAX;
use kgauge_results::run::{LeftOutCause, TunePhaseKind, TuneRecord};

use crate::format;
use crate::text::answer::change_between;
use crate::text::capacity::void_cause;

/// `+24 %, +20 to +28 %`.
pub(crate) fn changed(ratio: FigureRatio) -> String {
    change_between(ratio.ratio, Some(ratio.interval))
}

/// What a phase is called.
pub(super) fn phase_name(phase: TunePhaseKind) -> &'static str {
    match phase {
        TunePhaseKind::Today => "settings in force",
        TunePhaseKind::Screening => "screening",
        TunePhaseKind::Conditions => "conditions",
        TunePhaseKind::Race => "race",
        TunePhaseKind::Proof => "proof",
        TunePhaseKind::OtherLoad => "second load",
    }
}

/// What else the winner changes: `Broker CPU per record: 1.20 µs, was 2.00 µs (−40 %, −42 to −38 %)`.
pub(crate) fn elsewhere(winner: &TuneWinner) -> Vec<String> {
    winner
        .elsewhere
        .iter()
        .map(|one| side_effect(winner, one))
        .collect()
}

fn side_effect(winner: &TuneWinner, one: &SideEffect) -> String {
    let (name, value): (&str, fn(f64) -> String) = match one.figure {
        SideFigure::Throughput => ("Throughput", |value| {
            format!("{} records/s", format::figure(value))
        }),
        SideFigure::LatencyP50 => ("p50", format::nanoseconds),
        SideFigure::LatencyP99 => ("p99", format::nanoseconds),
        SideFigure::BrokerCpu => ("Broker CPU per record", format::nanoseconds),
        SideFigure::ClientCpu => ("Client CPU per record", format::nanoseconds),
        SideFigure::ClientMemory => ("Buffer in use per producer", format::decimal_bytes),
        SideFigure::BrokerMemory => ("Broker memory", format::decimal_bytes),
    };
    let load = match (one.second_load, winner.other_rate) {
        (false, _) => String::new(),
        (true, Some(rate)) => format!(" at {} records/s", format::figure(rate)),
        (true, None) => " at full speed".to_owned(),
    };
    let change = one
        .ratio
        .map_or_else(|| "too few repeats for an interval".to_owned(), changed);
    format!(
        "{name}{load}: {}, was {} ({change})",
        value(one.winner),
        value(one.today)
    )
}

/// The settings that were not tried, grouped by reason: `does not act on the bottleneck: fetch.min.bytes, acks`.
pub(crate) fn left_out(search: &TuneSummary) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for one in &search.left_out {
        let reason = left_out_cause(&one.cause);
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(&one.name),
            None => groups.push((reason, vec![&one.name])),
        }
    }
    let groups = groups.into_iter();
    let values = untried(search);
    groups
        .map(|(reason, names)| format!("{}: {reason}", names.join(", ")))
        .chain(values)
        .collect()
}

/// Values that had no turn: `linger.ms=100: at most 8 candidates race; ...`.
fn untried(search: &TuneSummary) -> Option<String> {
    let values = search.settings.iter().flat_map(|one| {
        let values = one.untried.iter();
        values.map(|value| format!("{}={value}", one.name))
    });
    let values: Vec<String> = values.collect();
    (!values.is_empty()).then(|| {
        format!(
            "{}: at most {CANDIDATES_MAX} candidates race; other values only if the first one clearly \
             helps",
            values.join(", ")
        )
    })
}

fn left_out_cause(cause: &LeftOutCause) -> String {
    match cause {
        LeftOutCause::OtherBottleneck => "does not act on the bottleneck".to_owned(),
        LeftOutCause::OtherGoal => "does not serve this goal".to_owned(),
        LeftOutCause::Unused => "nothing in the scenario uses it".to_owned(),
        LeftOutCause::InForce => "already in force".to_owned(),
        LeftOutCause::Unknown => "its value in force is unknown".to_owned(),
        LeftOutCause::Release { since } => format!("needs Kafka {since}"),
        LeftOutCause::Scope => "left out by --try".to_owned(),
        LeftOutCause::Target => "cannot be changed on this target".to_owned(),
        LeftOutCause::Brokers { needed } => format!("needs {needed} brokers"),
        LeftOutCause::Durability => {
            "decides what an ack means (--durability-may-change)".to_owned()
        }
        LeftOutCause::Keys => "would change the order of records".to_owned(),
        LeftOutCause::Budget => "no time in the budget".to_owned(),
        LeftOutCause::Refused { why } => format!("refused ({why})"),
    }
}

/// The search begins its last phase: `screening: 8 combinations of 5 settings`.
pub fn phase_begins(record: &TuneRecord) -> String {
    let Some(phase) = record.phases.last() else {
        return String::new();
    };
    let settings = record
        .choice
        .as_ref()
        .map_or(0, |choice| choice.settings.len());
    let arms = phase.arms.len() as u64;
    let name = phase_name(phase.kind);
    match phase.kind {
        TunePhaseKind::Today => format!("{name}: measured first, to find the bottleneck"),
        TunePhaseKind::Screening => format!(
            "{name}: {} of {}",
            format::counted(arms / 2, "combination"),
            format::counted(settings as u64, "setting")
        ),
        TunePhaseKind::Conditions if arms == 1 => {
            format!("{name}: the settings in force at a fixed rate")
        }
        TunePhaseKind::Conditions => format!("{name}: {} at a fixed rate", candidates(arms - 1)),
        TunePhaseKind::Race => format!(
            "{name}: {} against the settings in force",
            candidates(arms - 1)
        ),
        TunePhaseKind::Proof => {
            format!("{name}: the winner against the settings in force, measured again")
        }
        TunePhaseKind::OtherLoad => format!("{name}: what the winner changes there"),
    }
}

fn candidates(count: u64) -> String {
    format::counted(count, "candidate")
}

/// The last measurement: `screening, block 2: 5 of 8 measured`.
pub fn measured(record: &TuneRecord) -> String {
    let Some((phase, measure)) = record
        .phases
        .last()
        .and_then(|phase| Some((phase, phase.measures.last()?)))
    else {
        return String::new();
    };
    let name = phase_name(phase.kind);
    let block = measure.block + 1;
    if let Some(cause) = &measure.void {
        return format!("{name}, block {block}: void ({})", void_cause(cause));
    }
    let of_block = phase.measures.iter();
    let done = of_block
        .filter(|one| one.block == measure.block && one.void.is_none())
        .count();
    match phase.kind {
        TunePhaseKind::Today => {
            format!(
                "{name}: {} measured",
                format::counted(block.into(), "repeat")
            )
        }
        // Candidates leave a race.
        TunePhaseKind::Race => format!("{name}, block {block}: {done} measured"),
        TunePhaseKind::Screening => {
            format!(
                "{name}, block {block}: {done} of {} measured",
                phase.arms.len() / 2
            )
        }
        TunePhaseKind::Conditions | TunePhaseKind::Proof | TunePhaseKind::OtherLoad => {
            format!(
                "{name}, block {block}: {done} of {} measured",
                phase.arms.len()
            )
        }
    }
}
