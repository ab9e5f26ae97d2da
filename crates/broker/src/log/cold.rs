//! Keeping few files open: those of the active segment while it is used, and of a few closed ones
//! that are being read.

use super::segment::Segment;
use super::{LogError, PartitionLog};

impl PartitionLog {
    /// Closes the files of closed segments but the newest few, after the one at `index` was used.
    pub(super) fn note_use(&mut self, index: usize) {
        let closed_end = self.segments.len() - 1;
        if index >= closed_end {
            return;
        }
        let keep = self.config.cold_segments_open_max;
        let open = self.segments[..closed_end]
            .iter()
            .filter(|segment| segment.is_open())
            .count();
        let mut surplus = open.saturating_sub(keep.max(1));
        for (at, segment) in self.segments[..closed_end].iter_mut().enumerate() {
            if surplus > 0 && at != index && segment.is_open() {
                segment.close_files();
                surplus -= 1;
            }
        }
    }

    /// Closes the files of all closed segments.
    pub(super) fn close_cold_files(&mut self) {
        let closed_end = self.segments.len() - 1;
        self.segments[..closed_end]
            .iter_mut()
            .for_each(Segment::close_files);
    }

    /// Whether files are open, or indexes in memory.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.segments.iter().any(Segment::is_open)
    }

    /// Closes all files, after writing the indexes; they are opened again when they are needed. For
    /// logs that nobody has used for a while.
    pub fn close_files(&mut self) -> Result<(), LogError> {
        self.alive()?;
        if self.unwritten.is_some() {
            return Ok(());
        }
        let (place, active) = self.active();
        active.store_indexes(place)?;
        self.segments.iter_mut().for_each(Segment::close_files);
        Ok(())
    }
}
