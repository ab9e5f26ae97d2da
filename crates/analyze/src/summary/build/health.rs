//! Whether the cluster was in good health while it was measured: replicas in sync, leaders where they were.

use kgauge_scenario::Trial;

use super::hold::MeasuredRepeats;
use crate::series::{WireHold, wire_hold};
use crate::summary::{Warning, WarningFinding};
use kgauge_results::folder::RunRead;
use kgauge_results::run::{Event, EventKind};

/// Warnings of a trial whose cluster was meant to be healthy: one with faults was not.
pub(super) fn warnings(
    run: &RunRead,
    trial: Option<&Trial>,
    measured: &MeasuredRepeats<'_>,
) -> Vec<Warning> {
    if trial.is_some_and(|trial| !trial.faults.is_empty()) {
        return Vec::new();
    }
    let mut warnings: Vec<Warning> = run
        .events
        .iter()
        .filter(|event| {
            measured
                .attempts
                .iter()
                .any(|one| Some(one.key) == event.repeat)
        })
        .filter_map(|event| outage(run, event))
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
fn outage(run: &RunRead, event: &Event) -> Option<Warning> {
    let EventKind::BrokerUnreachable {
        broker: of,
        address,
        since_ns: since,
        ..
    } = &event.kind
    else {
        return None;
    };
    let back_ns = run.events.iter().find_map(|later| match later.kind {
        EventKind::BrokerBack {
            broker, since_ns, ..
        } if later.repeat == event.repeat && (broker, since_ns) == (*of, *since) => later.at_ns,
        _ => None,
    });
    Some(Warning {
        flow: None,
        finding: WarningFinding::BrokerOutage {
            repeat: event.repeat.map_or(0, |key| key.repeat) + 1,
            broker: *of,
            address: address.clone(),
            since_ns: *since,
            length_ns: back_ns.map(|back_ns| back_ns.saturating_sub(*since)),
        },
    })
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
