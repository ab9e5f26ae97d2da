//! Whether the cluster was in good health while it was measured: replicas in sync, leaders where they were.

use kgauge_scenario::Trial;

use super::hold::MeasuredRepeats;
use crate::series::{WireHold, wire_hold};
use crate::summary::words;
use crate::summary::{Warning, WarningKind};
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
                .begun
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
    let until = match back_ns {
        Some(back_ns) => format!("for {}", words::time(back_ns.saturating_sub(*since) as f64)),
        None => "until the end of the repeat".to_owned(),
    };
    let kind = WarningKind::BrokerOutage;
    Some(Warning {
        kind,
        flow: None,
        text: format!(
            "Repeat {}: broker {of} at {address} stopped responding at {}, {until}.",
            event.repeat.map_or(0, |key| key.repeat) + 1,
            words::time(*since as f64),
        ),
        remedy: kind.remedy().to_owned(),
    })
}

fn of_hold(repeat: u32, hold: &WireHold, warnings: &mut Vec<Warning>) {
    let mut add = |kind: WarningKind, text: String| {
        warnings.push(Warning {
            kind,
            flow: None,
            text,
            remedy: kind.remedy().to_owned(),
        });
    };
    let number = u64::from(repeat) + 1;
    if hold.under_replicated_max > 0 || hold.leaderless_max > 0 {
        let partitions = words::counted(u64::from(hold.under_replicated_max), "partition");
        let mut text = format!(
            "Repeat {number}: up to {partitions} under-replicated, in {} of the samples during \
             the hold.",
            words::percent(hold.under_replicated_part)
        );
        if hold.leaderless_max > 0 {
            let leaderless = words::counted(u64::from(hold.leaderless_max), "partition");
            text.push_str(&format!(" Up to {leaderless} had no leader."));
        }
        add(WarningKind::UnderReplicated, text);
    }
    let changes = hold.changes;
    let leaders = changes.leaders_moved.saturating_add(changes.leaders_lost);
    if leaders > 0 {
        let text = format!(
            "Repeat {number}: leaders changed unexpectedly during the hold: {}.",
            changes.words()
        );
        add(WarningKind::LeadersMoved, text);
    }
    if hold.lag_grows == Some(true) {
        let most = words::counted(hold.lag_records_max.unwrap_or_default(), "record");
        let text = format!(
            "Repeat {number}: followers fell further behind throughout the hold, by up to {most}."
        );
        add(WarningKind::FollowersFallBehind, text);
    }
}
