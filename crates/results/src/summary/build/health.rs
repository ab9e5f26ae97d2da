//! Whether the cluster was in good health while it was measured: replicas in sync, leaders where they were.

use kgauge_scenario::Trial;

use super::hold::Measured;
use crate::folder::RunRead;
use crate::series::{WireHold, wire_hold};
use crate::summary::words;
use crate::summary::{Warning, WarningKind};

/// Warnings of a trial whose cluster was meant to be healthy: one with faults was not.
pub(super) fn warnings(
    run: &RunRead,
    trial: Option<&Trial>,
    measured: &Measured<'_>,
) -> Vec<Warning> {
    if trial.is_some_and(|trial| !trial.faults.is_empty()) {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for repeat in &measured.repeats {
        if let Some(hold) = wire_hold(run, repeat.key) {
            of_hold(repeat.key.repeat, &hold, &mut warnings);
        }
    }
    warnings
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
            "Repeat {number}: up to {partitions} had too few replicas in sync, at {} of the looks in the hold.",
            words::percent(hold.under_replicated_part)
        );
        if hold.leaderless_max > 0 {
            let leaderless = words::counted(u64::from(hold.leaderless_max), "partition");
            text.push_str(&format!(" Nobody led {leaderless}."));
        }
        add(WarningKind::UnderReplicated, text);
    }
    let changes = hold.changes;
    let leaders = changes.leaders_moved.saturating_add(changes.leaders_lost);
    if leaders > 0 {
        let text = format!(
            "Repeat {number}: leaders changed in the hold by themselves: {}.",
            changes.words()
        );
        add(WarningKind::LeadersMoved, text);
    }
    if hold.lag_grows == Some(true) {
        let most = words::counted(hold.lag_records_max.unwrap_or_default(), "record");
        let text = format!(
            "Repeat {number}: followers fell further and further behind in the hold, one by up to {most}."
        );
        add(WarningKind::FollowersFallBehind, text);
    }
}
