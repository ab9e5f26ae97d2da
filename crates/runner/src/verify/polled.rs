//! What consumers read of a partition, from their logs, and which of it the check compares.

use kgauge_load::LedgerName;
use kgauge_scenario::FlowPlan;
use kgauge_verify::ConsumerPolls;

use super::loaded::{LoadedRepeat, reads_committed};
use super::reader::PartitionRange;

/// Why the records that a flow's consumers got are not those that the check reads; `None` if they are, and for flows
/// without consumers. Without transactions, consumers of either isolation level get the same.
pub(super) fn why_uncompared(
    repeat: &LoadedRepeat<'_>,
    plan: &FlowPlan,
    is_compacted: bool,
) -> Option<&'static str> {
    let read_committed = match plan {
        FlowPlan::Produce(_) => return None,
        FlowPlan::Echo(_) if repeat.topic.copy.is_some() => return Some("they read a copy"),
        FlowPlan::Consume(plan) => plan.settings.read_committed,
        FlowPlan::Echo(plan) => plan.consumer_settings.read_committed,
    };
    match is_compacted {
        true => Some("the topic is compacted"),
        false => {
            let is_shared = repeat.topic.earliest.is_some();
            other_isolation(read_committed, reads_committed(repeat.trial), is_shared)
        }
    }
}

/// How the isolation level of consumers changes what they get. The check reads committed records if a flow has
/// transactions.
fn other_isolation(
    read_committed: bool,
    has_transactions: bool,
    is_shared: bool,
) -> Option<&'static str> {
    match (read_committed, has_transactions) {
        (false, true) => Some("isolation.level is read_uncommitted, and a flow has transactions"),
        (true, false) if is_shared => Some(
            "isolation.level is read_committed, and others may write transactions to the topic",
        ),
        _ => None,
    }
}

/// The state of the logs of a partition's consumers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PollLogs {
    Whole,
    /// A log ends before its consumer did.
    Unclosed,
    /// A consumer has no log, or a corrupt one.
    Missing,
}

impl PollLogs {
    /// Whether it is not known what some consumer read. The logs of a repeat that was cut short are not closed, and
    /// those of one without acks may not have begun.
    pub(super) fn lacks_reads(self, is_cut_short: bool, acked: u64) -> bool {
        match self {
            Self::Whole => false,
            Self::Unclosed => !is_cut_short,
            Self::Missing => !is_cut_short || acked > 0,
        }
    }
}

/// What consumers have read of a partition, and what their groups have passed over. What they have read before the
/// start of the range is not compared. Members of a group in several agents do not know of each other: what all of them
/// have passed over follows from their logs.
pub(super) fn polls(
    repeat: &LoadedRepeat<'_>,
    range: &PartitionRange,
    is_compacted: bool,
) -> (Vec<ConsumerPolls>, PollLogs) {
    let (mut polls, mut before, mut logs) = (Vec::new(), 0, PollLogs::Whole);
    for (flow, plan) in repeat.trial.flows.iter().enumerate() {
        let (consumers, of_group) = match plan {
            FlowPlan::Produce(_) => continue,
            // The copy is not verified.
            FlowPlan::Echo(_) if repeat.topic.copy.is_some() => continue,
            FlowPlan::Consume(plan) => {
                let of_group = plan.group.as_ref().map_or(1, |_| plan.consumers.max(1));
                (plan.consumers_all(), of_group)
            }
            FlowPlan::Echo(plan) => (plan.consumers, 1),
        };
        let is_compared = why_uncompared(repeat, plan, is_compacted).is_none();
        let compared_from = is_compared.then_some(range.start);
        for first in (0..consumers).step_by(of_group as usize) {
            let mut members = Vec::new();
            for member in first..consumers.min(first + of_group) {
                let log = repeat.open(LedgerName::of_consumer(flow, member)).ok();
                let read = log.flatten().and_then(|mut log| {
                    ConsumerPolls::read(&mut log, range.partition, compared_from).ok()
                });
                logs = logs.max(match &read {
                    Some(read) if read.is_closed() => PollLogs::Whole,
                    Some(_) => PollLogs::Unclosed,
                    None => PollLogs::Missing,
                });
                members.extend(read.map(|read| read.of_group(before + member / of_group)));
            }
            let are_all = members.len() == of_group as usize;
            if are_all && of_group > 1 && repeat.agents.len() > 1 {
                ConsumerPolls::note_unread(&mut members);
            }
            polls.extend(members);
        }
        before += consumers;
    }
    (polls, logs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_log_of_a_consumer_is_not_a_whole_one() {
        assert!(!PollLogs::Whole.lacks_reads(false, 5));
        assert!(PollLogs::Unclosed.lacks_reads(false, 5));
        assert!(PollLogs::Missing.lacks_reads(false, 0));
        assert!(
            !PollLogs::Unclosed.lacks_reads(true, 5),
            "its process was killed"
        );
        assert!(PollLogs::Missing.lacks_reads(true, 5));
        assert!(!PollLogs::Missing.lacks_reads(true, 0), "before the load");
        assert_eq!(PollLogs::Unclosed.max(PollLogs::Missing), PollLogs::Missing);
    }

    #[test]
    fn without_transactions_each_isolation_level_gives_the_same() {
        assert_eq!(other_isolation(true, false, false), None);
        assert_eq!(other_isolation(false, false, true), None);
        assert_eq!(other_isolation(true, true, true), None);
        assert!(other_isolation(false, true, false).is_some());
        assert!(other_isolation(true, false, true).is_some());
    }
}
