//! The newest batches of the active segment, in memory: readers at the log's end, which most are,
//! need no look at files.

use std::collections::VecDeque;

use kgauge_wire::record_batch::BatchHeader;

/// How many batches are remembered: some times the five that a producer may have in flight, 1 KiB
/// in all.
const BATCHES: usize = 32;

/// Where a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) base_offset: i64,
    pub(super) last_offset: i64,
    /// Position of its first byte in the active segment.
    pub(super) position: u64,
    pub(super) bytes: usize,
}

/// The newest batches, oldest first, without a gap in positions.
#[derive(Debug, Default)]
pub(super) struct RecentBatches {
    spots: VecDeque<Spot>,
}

impl RecentBatches {
    /// Adds the batch that was just appended at a position of the active segment.
    pub(super) fn push(&mut self, header: &BatchHeader, position: u64) {
        if self.spots.len() == BATCHES {
            self.spots.pop_front();
        }
        self.spots.push_back(Spot {
            base_offset: header.base_offset,
            last_offset: header.last_offset(),
            position,
            bytes: header.batch_bytes(),
        });
    }

    /// The first batch that ends at or above an offset; `None` when an older one might be that.
    pub(super) fn find(&self, offset: i64) -> Option<Spot> {
        let index = self.spots.partition_point(|spot| spot.last_offset < offset);
        let found = self.spots.get(index).copied()?;
        (index > 0 || found.base_offset <= offset).then_some(found)
    }

    /// Forgets all: the active segment is another, or was cut.
    pub(super) fn clear(&mut self) {
        self.spots.clear();
    }
}
