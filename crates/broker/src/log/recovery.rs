//! Recovery after a crash, with Kafka's rule: from the segment of the last flush on, read batch
//! after batch, stop at the first that is not whole, cut the log there.

use std::sync::Arc;

use kgauge_wire::record_batch::{Batch, BatchHeader, HEADER_BYTES};

use super::epochs::LeaderEpochs;
use super::names::{LOG, OFFSET_INDEX, SNAPSHOT, TIME_INDEX, file_at};
use super::segment::{Place, Segment, Summary};
use super::{Gaps, LogError, PartitionLog};
use crate::storage::{StorageError, StorageFile};

/// Bytes read at a time; a larger batch is read whole.
const CHUNK_BYTES: usize = 1 << 20;

impl PartitionLog {
    /// Finds the longest prefix of the log that is whole, and makes the log that.
    ///
    /// Segments below the recovery point are believed, for they were flushed. In the others every
    /// batch is checked: length, format, CRC, and that offsets and leader epochs follow those before
    /// (the CRC does not cover them). A segment that does not begin where the one before it ends
    /// follows a loss, and goes with all after it.
    pub(super) fn recover(&mut self, now_ms: i64) -> Result<(), LogError> {
        let first = self.segment_index(self.recovery_point);
        let mut epochs = std::mem::take(&mut self.epochs);
        let zone_start = self.segments[first].base_offset;
        epochs.truncate_from_end(zone_start);
        self.next_offset = zone_start;
        let mut keep = first;
        let mut lost = false;
        let gaps = self.config.gaps;
        let last = self.segments.len() - 1;
        for index in first..self.segments.len() {
            let next_offset = self.next_offset;
            let (place, segment) = self.segment(index);
            if segment.base_offset != next_offset {
                lost = true;
                break;
            }
            let whole = recover_segment(place, segment, gaps, &mut epochs)?;
            if index < last && !whole.was_cut {
                // A disk that takes no index shall not keep a log from being opened.
                let _ = segment.store_indexes(place);
                segment.close_files();
            }
            self.next_offset = whole.next_offset;
            keep = index + 1;
            if whole.was_cut {
                lost = true;
                break;
            }
        }
        self.epochs = epochs;
        self.drop_segments_from(keep)?;
        self.recovery_point = zone_start.min(self.next_offset);
        self.unflushed_records = u64::from(self.recovery_point < self.next_offset);
        let had_strays = self.remove_stray_snapshots()?;
        if lost || had_strays {
            // What was cut off must not come back with the next crash, behind what is appended
            // until then.
            self.flush_cut()?;
        }
        self.rebuild_producers(now_ms)
    }

    /// Makes a cut durable.
    fn flush_cut(&mut self) -> Result<(), LogError> {
        let (place, active) = self.active();
        active.file(place)?.sync_data()?;
        self.write_state_durably()
    }

    /// Removes the segments from an index on; at least one remains.
    pub(super) fn drop_segments_from(&mut self, index: usize) -> Result<(), LogError> {
        // The newest first: a crash in between leaves no gap.
        while self.segments.len() > index.max(1) {
            if let Some(segment) = self.segments.pop() {
                self.remove_segment_files(segment.base_offset)?;
            }
        }
        Ok(())
    }

    /// Removes the files of a segment, those that exist.
    pub(super) fn remove_segment_files(&mut self, base_offset: i64) -> Result<(), LogError> {
        for kind in [LOG, OFFSET_INDEX, TIME_INDEX, SNAPSHOT] {
            self.remove_file_if_there(base_offset, kind)?;
        }
        self.snapshots.retain(|at| *at != base_offset);
        Ok(())
    }

    /// Removes one of the log's files.
    pub(super) fn remove_file_if_there(&mut self, at: i64, kind: &str) -> Result<(), LogError> {
        self.names_changed += 1;
        match self.storage.remove_file(&file_at(&self.dir, at, kind)) {
            Err(error) if error.is_not_found() => Ok(()),
            removed => Ok(removed?),
        }
    }
}

/// What recovery found in a segment.
struct Whole {
    next_offset: i64,
    was_cut: bool,
}

/// Reads a whole segment, cuts it before the first batch that is not whole, and builds its indexes.
fn recover_segment(
    place: Place<'_>,
    segment: &mut Segment,
    gaps: Gaps,
    epochs: &mut LeaderEpochs,
) -> Result<Whole, LogError> {
    let base_offset = segment.base_offset;
    let mut summary = Summary::empty(base_offset);
    let file = Arc::clone(segment.file(place)?);
    let mut reader = Reader {
        file: &*file,
        end: segment.bytes,
        chunk: Vec::new(),
        chunk_start: 0,
    };
    let mut position = 0;
    while let Some(batch) = reader.batch_at(position)? {
        let header = batch.header;
        let near = header.last_offset().checked_sub(base_offset);
        if !gaps.allow(summary.next_offset, header.base_offset)
            || epochs
                .latest()
                .is_some_and(|latest| header.leader_epoch < latest.epoch)
            || header.last_offset() < header.base_offset
            || near.is_none_or(|relative| relative > i64::from(i32::MAX))
            || batch.validate_crc().is_err()
        {
            break;
        }
        summary.note(base_offset, position, &header, place.index_interval_bytes);
        epochs.assign(header.leader_epoch, header.base_offset);
        position += batch.bytes().len() as u64;
    }
    let was_cut = position < segment.bytes;
    if was_cut {
        file.truncate(position)?;
    }
    segment.bytes = position;
    segment.forget_first_timestamp();
    let next_offset = summary.next_offset;
    segment.summary = Some(summary);
    segment.facts = None;
    Ok(Whole {
        next_offset,
        was_cut,
    })
}

/// Reads a file in large chunks and gives the batch at a position.
struct Reader<'a> {
    file: &'a dyn StorageFile,
    end: u64,
    chunk: Vec<u8>,
    chunk_start: u64,
}

impl Reader<'_> {
    /// The batch that begins at a position. `None` at the end, and where no whole batch is.
    fn batch_at(&mut self, position: u64) -> Result<Option<Batch<'_>>, LogError> {
        let left = usize::try_from(self.end - position).unwrap_or(usize::MAX);
        let mut needed = HEADER_BYTES;
        if left < needed {
            return Ok(None);
        }
        self.fill(position, needed)?;
        let start = (position - self.chunk_start) as usize;
        let head = BatchHeader::parse(&self.chunk[start..]);
        let Ok(header) = head else { return Ok(None) };
        needed = header.batch_bytes();
        if left < needed {
            return Ok(None);
        }
        self.fill(position, needed)?;
        let start = (position - self.chunk_start) as usize;
        Ok(Batch::parse(&self.chunk[start..]).ok())
    }

    /// Makes the chunk hold `needed` bytes from a position on, which the file has.
    fn fill(&mut self, position: u64, needed: usize) -> Result<(), LogError> {
        let chunk_end = self.chunk_start + self.chunk.len() as u64;
        if position >= self.chunk_start && position + needed as u64 <= chunk_end {
            return Ok(());
        }
        let left = usize::try_from(self.end - position).unwrap_or(usize::MAX);
        self.chunk.resize(needed.max(CHUNK_BYTES).min(left), 0);
        let count = self.file.read_at(&mut self.chunk, position)?;
        self.chunk.truncate(count);
        self.chunk_start = position;
        if count < needed {
            return Err(LogError::Storage(StorageError::short_read(
                self.file.path(),
                position,
                needed,
                count,
            )));
        }
        Ok(())
    }
}
