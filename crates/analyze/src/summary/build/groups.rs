//! What became of a flow's consumer group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::hold::MeasuredRepeats;
use crate::summary::{GroupSummary, MemberPause};
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
        pauses: pauses(index, measured),
        commits: sum(|one| one.commits),
        commits_failed: sum(|one| one.commits_failed),
        records_again: sum(|one| one.records_again),
        records_skipped: sum(|one| one.records_skipped),
        commits_back: sum(|one| one.commits_back),
    })
}

/// The members that had no partitions for some time, the longest first.
fn pauses(index: u16, measured: &MeasuredRepeats<'_>) -> Vec<MemberPause> {
    let records = measured.repeats.iter().filter_map(|repeat| {
        let record = repeat.record.as_ref()?;
        record.flows.get(usize::from(index))
    });
    let mut of_consumer: BTreeMap<u32, MemberPause> = BTreeMap::new();
    for member in records.flat_map(|flow| &flow.members) {
        let sum = of_consumer.entry(member.consumer).or_insert(MemberPause {
            consumer: member.consumer,
            rebalances: 0,
            pause_ns: 0,
            pause_ns_max: 0,
        });
        sum.rebalances += u64::from(member.rebalances);
        sum.pause_ns = sum.pause_ns.saturating_add(member.pause_ns);
        sum.pause_ns_max = sum.pause_ns_max.max(member.pause_ns_max);
    }
    let mut pauses: Vec<MemberPause> = of_consumer.into_values().collect();
    pauses.retain(|one| one.pause_ns > 0);
    pauses.sort_by_key(|one| Reverse(one.pause_ns));
    pauses
}
