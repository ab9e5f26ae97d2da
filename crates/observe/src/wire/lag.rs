//! How far followers are behind their leaders, from ends of logs that were asked for one after the other.
//!
//! Brokers are asked one by one, and a log grows meanwhile: 5 ms at 200,000 records a second are 1,000 records that
//! nobody lags. So the leader's end is taken for the moment at which the follower told its own: on the line between the
//! last two ends that the leader told.

use std::collections::BTreeMap;

/// The end of a log, and when it was told.
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

/// What replicas have told of the ends of their logs.
#[derive(Debug, Default)]
pub(super) struct Ends {
    before: BTreeMap<ObservedReplica, LogEnd>,
    now: BTreeMap<ObservedReplica, LogEnd>,
}

impl Ends {
    /// A new look begins. What did not answer in the last one is forgotten.
    pub(super) fn begin(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    pub(super) fn record_end(&mut self, replica: ObservedReplica, end: LogEnd) {
        self.now.insert(replica, end);
    }

    /// What a replica told in this look.
    pub(super) fn of(&self, replica: ObservedReplica) -> Option<LogEnd> {
        self.now.get(&replica).copied()
    }

    /// How many records a follower is behind; `None` where one of the two told nothing.
    pub(super) fn lag(&self, leader: ObservedReplica, follower: ObservedReplica) -> Option<u64> {
        let end = self.of(follower)?;
        let leader_end = self.end_at(leader, end.at_ns)?;
        Some(u64::try_from(leader_end.saturating_sub(end.offset)).unwrap_or(0))
    }

    /// Where a log ended, or was about to end, at a moment near this look.
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
        // What grows no faster than it did since the last look.
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
        // Nothing is known of how it grows: the difference as it is.
        assert_eq!(ends.lag(LEADER, FOLLOWER), Some(10));
        ends.begin();
        // 2,000 records in 2,000 ns: one a ns. The follower told its end 30 ns before.
        ends.record_end(LEADER, end(3_000, 7_000));
        ends.record_end(FOLLOWER, end(2_970, 6_960));
        assert_eq!(ends.lag(LEADER, FOLLOWER), Some(10));
        ends.begin();
        // It told its end 20 ns after the leader, which has 20 more by then.
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
