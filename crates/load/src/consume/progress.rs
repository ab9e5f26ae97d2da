//! The positions of a consumer group, shared by its threads.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// The positions of a group, by partition; the current owner of a partition writes its position.
#[derive(Debug)]
pub(crate) struct GroupShared {
    /// The next offset to read; everything before it is checked and counted.
    pub(super) at: Vec<AtomicI64>,
    /// The highest value of `at` so far.
    furthest: Vec<AtomicI64>,
    /// The start without a committed offset.
    pub(super) starts: Vec<i64>,
    /// The end offset, if there is one.
    ends: Option<Vec<i64>>,
    /// The number of records to read, if limited.
    records_max: Option<u64>,
    consumed: AtomicU64,
    pub(super) again: AtomicU64,
    /// Offsets that no member read, because the group continued behind them.
    pub(super) skipped: AtomicU64,
    /// Other processes have members, too, and what these read is not known here.
    is_spread: bool,
    /// The offset of each partition's last commit that was accepted; -1 without any.
    committed: Vec<AtomicI64>,
    /// How often the coordinator returned less than it had accepted.
    pub(super) commits_back: AtomicU64,
    /// A partition cannot be read to its end.
    is_hopeless: AtomicBool,
}

impl GroupShared {
    pub(crate) fn new(starts: Vec<i64>, ends: Option<Vec<i64>>, records_max: Option<u64>) -> Self {
        let all = || starts.iter().map(|&start| AtomicI64::new(start)).collect();
        let committed = starts.iter().map(|_| AtomicI64::new(-1)).collect();
        Self {
            at: all(),
            furthest: all(),
            starts,
            ends,
            records_max,
            consumed: AtomicU64::new(0),
            again: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            is_spread: false,
            committed,
            commits_back: AtomicU64::new(0),
            is_hopeless: AtomicBool::new(false),
        }
    }

    /// The same, of a group that has members in other processes as well, or not.
    pub(crate) fn spread(self, is_spread: bool) -> Self {
        Self { is_spread, ..self }
    }

    /// Whether the whole group is done.
    pub(super) fn has_read_enough(&self) -> bool {
        let by_count = self
            .records_max
            .is_some_and(|max| self.consumed.load(Ordering::Relaxed) >= max);
        by_count
            || self.is_hopeless.load(Ordering::Relaxed)
            || self.ends.as_ref().is_some_and(|ends| {
                let mut both = self.at.iter().zip(ends);
                both.all(|(at, &end)| at.load(Ordering::Relaxed) >= end)
            })
    }

    /// A partition cannot be read any further, so its end is not awaited.
    pub(super) fn give_up(&self) {
        self.is_hopeless.store(self.is_limited(), Ordering::Relaxed);
    }

    /// Whether the group has an end.
    pub(super) fn is_limited(&self) -> bool {
        self.ends.is_some() || self.records_max.is_some()
    }

    /// The end offset of a partition.
    pub(super) fn end(&self, partition: u32) -> Option<i64> {
        self.ends.as_ref()?.get(partition as usize).copied()
    }

    /// A consumer has read a partition from one offset up to another. Returns the offsets before them that no member
    /// has read, if the group continued behind these.
    pub(super) fn note(
        &self,
        partition: u32,
        from: i64,
        offset: i64,
        records: u64,
    ) -> Option<(i64, i64)> {
        let at = self.at.get(partition as usize)?;
        // Before others can continue there.
        let furthest = self.furthest[partition as usize].fetch_max(offset, Ordering::AcqRel);
        at.store(offset, Ordering::Release);
        self.consumed.fetch_add(records, Ordering::Relaxed);
        // kgauge's topics are neither compacted nor transactional: one offset is one record.
        let again = furthest.min(offset).saturating_sub(from);
        if let Ok(again @ 1..) = u64::try_from(again) {
            self.again.fetch_add(again.min(records), Ordering::Relaxed);
        }
        match u64::try_from(from.saturating_sub(furthest)) {
            Ok(skipped @ 1..) if !self.is_spread => {
                self.skipped.fetch_add(skipped, Ordering::Relaxed);
                Some((furthest, from))
            }
            _ => None,
        }
    }

    /// The coordinator has accepted a commit.
    pub(super) fn note_commit(&self, place: u32, offset: i64) {
        if let Some(committed) = self.committed.get(place as usize) {
            committed.store(offset, Ordering::Release);
        }
    }

    /// The last accepted commit of a partition; -1 without any.
    pub(super) fn committed(&self, place: u32) -> i64 {
        let committed = self.committed.get(place as usize);
        committed.map_or(-1, |committed| committed.load(Ordering::Acquire))
    }

    /// The coordinator returned this commit after it had accepted another one.
    pub(super) fn check_committed(&self, accepted: i64, found: Option<i64>) {
        if found.unwrap_or(-1) < accepted {
            self.commits_back.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of partitions.
    pub(crate) fn partitions(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn at(&self, place: u32) -> Option<i64> {
        let at = self.at.get(place as usize)?;
        Some(at.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_twice_is_counted_by_its_offsets() {
        let shared = GroupShared::new(vec![0, 10], Some(vec![100, 10]), None);
        shared.note(0, 0, 60, 60);
        assert!(!shared.has_read_enough());
        // Another member starts at the last commit, 40.
        shared.at[0].store(40, Ordering::Relaxed);
        shared.note(0, 40, 50, 10);
        assert_eq!(shared.again.load(Ordering::Relaxed), 10);
        shared.note(0, 50, 100, 50);
        assert_eq!(
            shared.again.load(Ordering::Relaxed),
            20,
            "50 to 60 were read before"
        );
        assert!(shared.has_read_enough());
        assert_eq!(shared.note(7, 0, 5, 5), None);
    }

    #[test]
    fn what_nobody_read_is_counted_and_named() {
        let shared = GroupShared::new(vec![0], None, None);
        assert_eq!(shared.note(0, 0, 10, 10), None);
        assert_eq!(shared.note(0, 12, 20, 8), Some((10, 12)));
        assert_eq!(shared.note(0, 10, 12, 2), None);
        assert_eq!(shared.skipped.load(Ordering::Relaxed), 2);
        let spread = GroupShared::new(vec![0], None, None).spread(true);
        assert_eq!(spread.note(0, 12, 20, 8), None);
        assert_eq!(spread.skipped.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn commits_that_went_back_are_counted() {
        let shared = GroupShared::new(vec![0], None, None);
        let back = || shared.commits_back.load(Ordering::Relaxed);
        assert_eq!(shared.committed(0), -1);
        shared.check_committed(shared.committed(0), None);
        shared.note_commit(0, 20);
        shared.check_committed(shared.committed(0), Some(20));
        shared.check_committed(shared.committed(0), Some(25));
        assert_eq!(back(), 0);
        shared.check_committed(shared.committed(0), Some(19));
        shared.check_committed(shared.committed(0), None);
        assert_eq!(back(), 2);
        // A member went back by itself, and the coordinator accepted that.
        shared.note_commit(0, 10);
        shared.check_committed(shared.committed(0), Some(10));
        assert_eq!(back(), 2);
    }

    #[test]
    fn a_record_count_applies_to_the_whole_group() {
        let shared = GroupShared::new(vec![0, 0], None, Some(30));
        shared.note(0, 0, 10, 10);
        assert!(!shared.has_read_enough());
        shared.note(1, 0, 20, 20);
        assert!(shared.has_read_enough());
    }
}
