//! What the producers and the consumers of an echo flow tell each other.
//!
//! Each value ends with a mark: what tells the flow's records from all others, and the moment for
//! which the record was intended. So whoever reads it knows how long it took, on the one clock that
//! producers and consumers share. When its batch was acked stands on the board.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a mark: the tag and the time.
const MARK_BYTES: usize = 16;

/// A flow's board.
#[derive(Debug)]
pub(crate) struct EchoBoard {
    tag: u64,
    producers_left: AtomicUsize,
    acked: AtomicU64,
    echoed: AtomicU64,
    lanes: Vec<Mutex<Lane>>,
}

/// The batches of one partition that were acked and not yet read.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// In the order of their offsets.
    batches: VecDeque<AckedBatch>,
    /// Behind the last record that was acked.
    acked_end: i64,
}

#[derive(Debug, Clone, Copy)]
struct AckedBatch {
    base: i64,
    end: i64,
    acked_ns: u64,
}

impl EchoBoard {
    /// A board for a flow whose seed is its own.
    pub(crate) fn new(seed: u64, producers: usize, partitions: u32) -> Self {
        Self {
            tag: seed,
            producers_left: AtomicUsize::new(producers),
            acked: AtomicU64::new(0),
            echoed: AtomicU64::new(0),
            lanes: (0..partitions).map(|_| Mutex::default()).collect(),
        }
    }

    /// Writes a record's mark over the end of its value.
    pub(crate) fn mark(&self, intended_ns: u64, value: &mut [u8]) {
        let from = value.len().saturating_sub(MARK_BYTES);
        if let Some((tag, time)) = value[from..].split_first_chunk_mut::<8>() {
            *tag = self.tag.to_be_bytes();
            if let Some(time) = time.first_chunk_mut::<8>() {
                *time = intended_ns.to_be_bytes();
            }
        }
    }

    /// When the record with this value was intended; `None` for one of somebody else's.
    pub(crate) fn intended_ns(&self, value: &[u8]) -> Option<u64> {
        let (rest, time) = value.split_last_chunk::<8>()?;
        let (_, tag) = rest.split_last_chunk::<8>()?;
        (u64::from_be_bytes(*tag) == self.tag).then(|| u64::from_be_bytes(*time))
    }

    /// A batch was acked. `base` is below 0 where the broker does not say.
    pub(crate) fn acked(&self, partition: u32, base: i64, records: u64, acked_ns: u64) {
        self.acked.fetch_add(records, Ordering::Relaxed);
        if base < 0 {
            return;
        }
        let Some(mut lane) = self.lane(partition) else {
            return;
        };
        let end = base.saturating_add_unsigned(records);
        lane.acked_end = lane.acked_end.max(end);
        // Those of other producers may have come before, but not by much.
        let later = lane.batches.iter().rev().take_while(|one| one.base > base);
        let at = lane.batches.len() - later.count();
        let batch = AckedBatch {
            base,
            end,
            acked_ns,
        };
        lane.batches.insert(at, batch);
    }

    /// Records were read back.
    pub(crate) fn echoed(&self, records: u64) {
        self.echoed.fetch_add(records, Ordering::Relaxed);
    }

    /// A producer has the outcome of every record.
    pub(crate) fn producer_done(&self) {
        self.producers_left.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether all that was acked has been read, by a consumer that has come so far in its partitions.
    pub(crate) fn is_complete(&self, mut positions: impl Iterator<Item = (u32, i64)>) -> bool {
        self.producers_left.load(Ordering::Relaxed) == 0
            && self.missing() == 0
            && positions.all(|(partition, offset)| {
                let lane = self.lane(partition);
                lane.is_none_or(|lane| offset >= lane.acked_end)
            })
    }

    /// Records that were acked and not read back yet.
    pub(crate) fn missing(&self) -> u64 {
        let acked = self.acked.load(Ordering::Relaxed);
        acked.saturating_sub(self.echoed.load(Ordering::Relaxed))
    }

    /// One partition's batches, for one reader at a time.
    pub(crate) fn lane(&self, partition: u32) -> Option<MutexGuard<'_, Lane>> {
        let lane = self.lanes.get(partition as usize)?;
        Some(lane.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Lane {
    /// When the record at an offset was acked; `None` if nobody knows yet. Offsets rise from call
    /// to call.
    pub(crate) fn acked_ns(&mut self, offset: i64) -> Option<u64> {
        while self.batches.front().is_some_and(|one| one.end <= offset) {
            self.batches.pop_front();
        }
        let first = self.batches.front()?;
        (first.base <= offset).then_some(first.acked_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back_and_others_are_not_taken_for_one() {
        let board = EchoBoard::new(77, 1, 1);
        let mut value = vec![b'x'; 48];
        board.mark(123_456, &mut value);
        assert_eq!(board.intended_ns(&value), Some(123_456));
        assert_eq!(value[..32], [b'x'; 32]);
        assert_eq!(EchoBoard::new(78, 1, 1).intended_ns(&value), None);
        assert_eq!(board.intended_ns(b"short"), None);
    }

    #[test]
    fn batches_acked_out_of_order_are_found_by_their_offsets() {
        let board = EchoBoard::new(1, 1, 2);
        board.acked(1, 10, 5, 200);
        board.acked(1, 0, 10, 300);
        let mut lane = board.lane(1).unwrap();
        let found: Vec<_> = [0, 9, 10, 14, 15]
            .map(|offset| lane.acked_ns(offset))
            .into();
        assert_eq!(found, [Some(300), Some(300), Some(200), Some(200), None]);
    }

    #[test]
    fn all_is_read_when_producers_are_done_and_positions_have_come_to_the_end() {
        let board = EchoBoard::new(1, 1, 1);
        board.acked(0, 4, 3, 100);
        board.echoed(3);
        assert!(!board.is_complete([(0, 7)].into_iter()), "it may yet write");
        board.producer_done();
        assert!(!board.is_complete([(0, 6)].into_iter()));
        assert!(board.is_complete([(0, 7)].into_iter()));
        board.acked(0, -1, 1, 100);
        assert_eq!(board.missing(), 1);
        assert!(!board.is_complete([(0, 9)].into_iter()));
    }
}
