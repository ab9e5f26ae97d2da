//! How far followers are behind their leaders, from log ends that were polled one after the other.
//!
//! Brokers are polled one by one while logs grow: 5 ms at 200,000 records per second are 1,000 records that no follower
//! lags. The leader's end is therefore moved to the time of the follower's answer, along the line through the leader's
//! last two ends.

use std::collections::BTreeMap;

/// The end of a log, and the time of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogEnd {
    pub(super) at_ns: u64,
    pub(super) offset: i64,
}

/// A replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObservedReplica {
    pub(super) broker: i32,
    pub(super) partition: i32,
}

/// The log ends that replicas have reported.
#[derive(Debug, Default)]
pub(super) struct Ends {
    before: BTreeMap<ObservedReplica, LogEnd>,
    now: BTreeMap<ObservedReplica, LogEnd>,
}

impl Ends {
    /// Starts a new sample. Replicas that did not answer in the previous one are forgotten.
    pub(super) fn begin(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    pub(super) fn record_end(&mut self, replica: ObservedReplica, end: LogEnd) {
        self.now.insert(replica, end);
    }

    /// Records a replica's answer in this sample.
    pub(super) fn of(&self, replica: ObservedReplica) -> Option<LogEnd> {
        self.now.get(&replica).copied()
    }

    /// The number of records that a follower is behind; `None` if one of the two did not answer.
    pub(super) fn lag(&self, leader: ObservedReplica, follower: ObservedReplica) -> Option<u64> {
        let end = self.of(follower)?;
        let leader_end = self.end_at(leader, end.at_ns)?;
        Some(u64::try_from(leader_end.saturating_sub(end.offset)).unwrap_or(0))
    }

    /// The end of a log at a time near this sample, interpolated or extrapolated.
    fn end_at(&self, replica: ObservedReplica, at_ns: u64) -> Option<i64> {
        let now = self.of(replica)?;
        let Some(before) = self.before.get(&replica) else {
            return Some(now.offset);
        };
        let (Some(span_ns), Some(rise)) = (
            now.at_ns.checked_sub(before.at_ns).filter(|ns| *ns > 0),
            now.offset
                .checked_sub(before.offset)
                .filter(|rise| *rise >= 0),
        ) else {
            return Some(now.offset);
        };
        let off_ns = at_ns as f64 - now.at_ns as f64;
        let moved = rise as f64 / span_ns as f64 * off_ns;
        // Assumes that the log grows no faster than since the previous sample.
        Some(now.offset.saturating_add(moved.round() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEADER: ObservedReplica = ObservedReplica {
        broker: 1,
        partition: 0,
    };
    const FOLLOWER: ObservedReplica = ObservedReplica {
        broker: 2,
        partition: 0,
    };

    fn end(at_ns: u64, offset: i64) -> LogEnd {
        LogEnd { at_ns, offset }
    }

    #[test]
    fn a_leader_that_was_asked_later_is_put_back_to_when_its_follower_was() {
        let mut ends = Ends::default();
        ends.begin();
        ends.record_end(LEADER, end(1_000, 5_000));
        ends.record_end(FOLLOWER, end(1_000, 4_990));
        // Without a growth rate, the plain difference.
        assert_eq!(ends.lag(LEADER, FOLLOWER), Some(10));
        ends.begin();
        // 2,000 records in 2,000 ns: one per ns. The follower answered 30 ns before.
        ends.record_end(LEADER, end(3_000, 7_000));
        ends.record_end(FOLLOWER, end(2_970, 6_960));
        assert_eq!(ends.lag(LEADER, FOLLOWER), Some(10));
        ends.begin();
        // It answered 20 ns after the leader, which has 20 more by then.
        ends.record_end(LEADER, end(4_000, 8_000));
        ends.record_end(FOLLOWER, end(4_020, 8_000));
        assert_eq!(ends.lag(LEADER, FOLLOWER), Some(20));
    }

    #[test]
    fn a_follower_is_never_ahead_and_a_log_that_was_cut_is_taken_as_it_is() {
        let mut ends = Ends::default();
        ends.begin();
        ends.record_end(LEADER, end(1_000, 5_000));
        ends.begin();
        ends.record_end(LEADER, end(2_000, 4_000));
        ends.record_end(FOLLOWER, end(1_900, 4_050));
        assert_eq!(ends.lag(LEADER, FOLLOWER), Some(0));
    }

    #[test]
    fn what_did_not_answer_has_no_lag() {
        let mut ends = Ends::default();
        ends.begin();
        ends.record_end(LEADER, end(1_000, 5_000));
        assert_eq!(ends.lag(LEADER, FOLLOWER), None);
        ends.begin();
        ends.record_end(FOLLOWER, end(2_000, 5_000));
        assert_eq!(ends.lag(LEADER, FOLLOWER), None);
    }
}
