//! Whether the cluster was in good health while it was measured: replicas in sync, leaders where they were.

use kgauge_scenario::Trial;

use super::hold::MeasuredRepeats;
use super::unreachable::{BrokerSilence, broker_silences};
use crate::series::{WireHold, wire_hold};
use crate::summary::{Warning, WarningFinding};
use kgauge_results::folder::RunRead;
use kgauge_results::run::EventKind;

/// Warnings of a trial whose cluster was meant to be healthy: one with faults was not.
pub(super) fn warnings(
    run: &RunRead,
    trial: Option<&Trial>,
    measured: &MeasuredRepeats<'_>,
) -> Vec<Warning> {
    if trial.is_some_and(|trial| !trial.faults.is_empty()) {
        return Vec::new();
    }
    let attempts = measured.attempts.iter();
    let mut warnings: Vec<Warning> = attempts
        .flat_map(|repeat| {
            let silences = broker_silences(run, repeat.key);
            let warnings = silences.into_iter();
            warnings.map(move |silence| outage(repeat.key.repeat, &silence))
        })
        .collect();
    for repeat in &measured.repeats {
        if let Some(hold) = wire_hold(run, repeat.key) {
            of_hold(repeat.key.repeat, &hold, &mut warnings);
        }
    }
    warnings
}

/// Whether a broker stopped answering in a measured repeat.
pub(super) fn has_outage(run: &RunRead, measured: &MeasuredRepeats<'_>) -> bool {
    run.events.iter().any(|event| {
        let is_outage = matches!(event.kind, EventKind::BrokerUnreachable { .. });
        is_outage
            && measured
                .repeats
                .iter()
                .any(|one| Some(one.key) == event.repeat)
    })
}

/// A broker that stopped answering.
fn outage(repeat: u32, silence: &BrokerSilence<'_>) -> Warning {
    let length_ns = silence.end_ns.map(|end_ns| end_ns - silence.since_ns);
    Warning {
        flow: None,
        finding: WarningFinding::BrokerOutage {
            repeat: repeat + 1,
            broker: silence.broker,
            address: silence.address.to_owned(),
            since_ns: silence.since_ns,
            length_ns,
        },
    }
}

fn of_hold(repeat: u32, hold: &WireHold, warnings: &mut Vec<Warning>) {
    let mut add = |finding: WarningFinding| {
        warnings.push(Warning {
            flow: None,
            finding,
        });
    };
    let repeat = repeat + 1;
    if hold.under_replicated_max > 0 || hold.leaderless_max > 0 {
        add(WarningFinding::UnderReplicated {
            repeat,
            partitions: hold.under_replicated_max,
            time_part: hold.under_replicated_part,
            leaderless: hold.leaderless_max,
        });
    }
    let changes = hold.changes;
    if changes.leaders_moved > 0 || changes.leaders_lost > 0 {
        add(WarningFinding::LeadersMoved { repeat, changes });
    }
    if hold.lag_grows == Some(true) {
        add(WarningFinding::FollowersFallBehind {
            repeat,
            records: hold.lag_records_max.unwrap_or_default(),
        });
    }
}
