//! What became of a flow's consumer group.

use super::hold::MeasuredRepeats;
use crate::summary::GroupSummary;
use crate::summary::words;
use kgauge_results::run::GroupRecord;

/// The consumer group of a flow, over all its repeats.
pub(super) fn group(index: u16, measured: &MeasuredRepeats<'_>) -> Option<GroupSummary> {
    let records = measured.repeats.iter().filter_map(|repeat| {
        let record = repeat.record.as_ref()?;
        record.flows.get(usize::from(index))?.group
    });
    let all: Vec<GroupRecord> = records.collect();
    let sum = |of: fn(&GroupRecord) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let mut group = GroupSummary {
        members: all.iter().map(|one| one.members).max()?,
        join_ns_max: all.iter().map(|one| one.join_ns_max).max()?,
        rebalances: sum(|one| one.rebalances.into()),
        rebalance_ns: sum(|one| one.rebalance_ns),
        commits: sum(|one| one.commits),
        commits_failed: sum(|one| one.commits_failed),
        records_again: sum(|one| one.records_again),
        sentence: String::new(),
    };
    group.sentence = sentence(&group, all.len() as u64);
    Some(group)
}

fn sentence(group: &GroupSummary, repeats: u64) -> String {
    let mut parts = vec![format!(
        "{} joined within {} before the load began",
        words::counted(group.members.into(), "member"),
        words::time(group.join_ns_max as f64)
    )];
    let in_all = match repeats {
        1 => String::new(),
        _ => format!(" in {repeats} repeats"),
    };
    parts.push(match group.rebalances {
        0 => format!("no rebalance{in_all}"),
        rebalances => format!(
            "{}{in_all}, {} without partitions",
            words::counted(rebalances, "rebalance"),
            words::time(group.rebalance_ns as f64)
        ),
    });
    parts.push(match group.commits_failed {
        0 => words::counted(group.commits, "commit"),
        failed => format!(
            "{}, {} refused",
            words::counted(group.commits + failed, "commit"),
            words::count(failed)
        ),
    });
    if group.records_again > 0 {
        parts.push(format!(
            "{} read twice",
            words::counted(group.records_again, "record")
        ));
    }
    format!("{}.", parts.join("; "))
}
