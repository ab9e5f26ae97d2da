//! The positions of a consumer group, shared by its threads.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// A position in a partition, and the consumer that it belongs to, in one atomic: a consumer that lost the partition
/// and does not know that so far must not overwrite the position of the next one.
#[derive(Debug)]
struct OwnedPosition(AtomicU64);

impl OwnedPosition {
    /// A million records per second reach this in nine years. The other bits are the lowest of the consumer's number:
    /// two members of a group differ in them, because a group has at most 10,000.
    const OFFSET_BITS: u32 = 48;

    fn new(start: i64) -> OwnedPosition {
        OwnedPosition(AtomicU64::new(OwnedPosition::packed(u32::MAX, start)))
    }

    fn packed(consumer: u32, offset: i64) -> u64 {
        let offset = offset.clamp(0, (1 << OwnedPosition::OFFSET_BITS) - 1) as u64;
        (u64::from(consumer) << OwnedPosition::OFFSET_BITS) | offset
    }

    fn offset(&self) -> i64 {
        let packed = self.0.load(Ordering::Acquire);
        (packed & ((1 << OwnedPosition::OFFSET_BITS) - 1)) as i64
    }

    fn claim(&self, consumer: u32, offset: i64) {
        let packed = OwnedPosition::packed(consumer, offset);
        self.0.store(packed, Ordering::Release);
    }

    /// Nothing happens if it is another consumer's.
    fn advance(&self, consumer: u32, offset: i64) {
        let moved = OwnedPosition::packed(consumer, offset);
        let owner = |packed: u64| packed >> OwnedPosition::OFFSET_BITS;
        let is_own = |known: u64| (owner(known) == owner(moved)).then_some(moved);
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, is_own);
    }
}

/// What a consumer has read of a partition: from one offset up to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupProgress {
    pub(super) consumer: u32,
    pub(super) partition: u32,
    pub(super) from: i64,
    pub(super) offset: i64,
    pub(super) records: u64,
}

/// The positions of a group, by partition; the current owner of a partition moves its position.
#[derive(Debug)]
pub(crate) struct GroupShared {
    /// The next offset to read; everything before it is checked and counted.
    at: Vec<OwnedPosition>,
    /// The highest offset that any member has reached.
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
        let committed = starts.iter().map(|_| AtomicI64::new(-1)).collect();
        Self {
            at: starts.iter().copied().map(OwnedPosition::new).collect(),
            furthest: starts.iter().copied().map(AtomicI64::new).collect(),
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
                both.all(|(at, &end)| at.offset() >= end)
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

    /// A consumer reads this partition from now on, from this offset.
    pub(super) fn claim(&self, place: u32, consumer: u32, offset: i64) {
        if let Some(at) = self.at.get(place as usize) {
            at.claim(consumer, offset);
        }
    }

    /// A consumer has read a partition from one offset up to another. Returns the offsets before them that no member
    /// has read, if the group continued behind these.
    pub(super) fn note(&self, read: GroupProgress) -> Option<(i64, i64)> {
        let GroupProgress {
            consumer,
            partition,
            from,
            offset,
            records,
        } = read;
        let at = self.at.get(partition as usize)?;
        // Before others can continue there.
        let furthest = self.furthest[partition as usize].fetch_max(offset, Ordering::AcqRel);
        at.advance(consumer, offset);
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
        Some(self.at.get(place as usize)?.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first consumer has all partitions.
    fn group(starts: &[i64], ends: Option<&[i64]>, records_max: Option<u64>) -> GroupShared {
        let shared = GroupShared::new(starts.to_vec(), ends.map(<[i64]>::to_vec), records_max);
        for (place, start) in (0..).zip(starts) {
            shared.claim(place, 0, *start);
        }
        shared
    }

    /// All records of these offsets of the first partition.
    fn read(consumer: u32, from: i64, offset: i64) -> GroupProgress {
        GroupProgress {
            consumer,
            partition: 0,
            from,
            offset,
            records: u64::try_from(offset - from).unwrap(),
        }
    }

    #[test]
    fn what_is_read_twice_is_counted_by_its_offsets() {
        let shared = group(&[0, 10], Some(&[100, 10]), None);
        shared.note(read(0, 0, 60));
        assert!(!shared.has_read_enough());
        // Another member starts at the last commit.
        shared.claim(0, 1, 40);
        shared.note(read(1, 40, 50));
        assert_eq!(shared.again.load(Ordering::Relaxed), 10);
        shared.note(read(1, 50, 100));
        assert_eq!(
            shared.again.load(Ordering::Relaxed),
            20,
            "50 to 60 were read before"
        );
        assert!(shared.has_read_enough());
        let unknown = GroupProgress {
            partition: 7,
            ..read(0, 0, 5)
        };
        assert_eq!(shared.note(unknown), None);
    }

    #[test]
    fn a_consumer_that_lost_a_partition_does_not_move_its_position() {
        let shared = group(&[0], Some(&[100]), None);
        shared.note(read(0, 0, 60));
        shared.claim(0, 1, 40);
        // Its session is over, but nobody has told it.
        shared.note(read(0, 60, 100));
        assert_eq!(shared.at(0), Some(40));
        assert!(!shared.has_read_enough());
        shared.note(read(1, 40, 100));
        assert_eq!(shared.at(0), Some(100));
        assert!(shared.has_read_enough());
        assert_eq!(shared.again.load(Ordering::Relaxed), 60);
    }

    #[test]
    fn what_nobody_read_is_counted_and_named() {
        let shared = group(&[0], None, None);
        assert_eq!(shared.note(read(0, 0, 10)), None);
        assert_eq!(shared.note(read(0, 12, 20)), Some((10, 12)));
        assert_eq!(shared.note(read(0, 10, 12)), None);
        assert_eq!(shared.skipped.load(Ordering::Relaxed), 2);
        let spread = group(&[0], None, None).spread(true);
        assert_eq!(spread.note(read(0, 12, 20)), None);
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
        let shared = group(&[0, 0], None, Some(30));
        shared.note(read(0, 0, 10));
        assert!(!shared.has_read_enough());
        shared.note(GroupProgress {
            partition: 1,
            ..read(0, 0, 20)
        });
        assert!(shared.has_read_enough());
    }
}
