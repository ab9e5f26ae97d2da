//! What became of a flow's consumer group.

use super::hold::MeasuredRepeats;
use crate::summary::GroupSummary;
use kgauge_results::run::GroupRecord;

/// The consumer group of a flow, over all its repeats.
pub(super) fn group(index: u16, measured: &MeasuredRepeats<'_>) -> Option<GroupSummary> {
    let records = measured.repeats.iter().filter_map(|repeat| {
        let record = repeat.record.as_ref()?;
        record.flows.get(usize::from(index))?.group
    });
    let all: Vec<GroupRecord> = records.collect();
    let sum = |of: fn(&GroupRecord) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    Some(GroupSummary {
        repeats: all.len() as u32,
        members: all.iter().map(|one| one.members).max()?,
        join_ns_max: all.iter().map(|one| one.join_ns_max).max()?,
        rebalances: sum(|one| one.rebalances.into()),
        rebalance_ns: sum(|one| one.rebalance_ns),
        commits: sum(|one| one.commits),
        commits_failed: sum(|one| one.commits_failed),
        records_again: sum(|one| one.records_again),
        records_skipped: sum(|one| one.records_skipped),
        commits_back: sum(|one| one.commits_back),
    })
}
