//! Recovery after a crash, with Kafka's rule: from the segment of the last flush on, read batch
//! after batch, stop at the first that is not whole, cut the log there.

use std::sync::Arc;

use kgauge_wire::record_batch::{Batch, BatchError, BatchHeader, HEADER_BYTES};

use super::epochs::LeaderEpochs;
use super::names::{LOG, OFFSET_INDEX, SNAPSHOT, TIME_INDEX, file_at};
use super::segment::{Segment, SegmentFiles, SegmentIndexes};
use super::{Corruption, Gaps, LogError, PartitionLog};
use crate::storage::{StorageError, StorageFile};

/// Bytes read at a time; a larger batch is read whole.
const CHUNK_BYTES: usize = 1 << 20;

/// What opening a log had to do because it was not closed in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Bytes of batches that were checked and kept.
    pub bytes_kept: u64,
    /// Bytes that were cut off, whole segments included.
    pub bytes_cut: u64,
    /// What ended the part that is whole; `None` when all of it is.
    pub damage: Option<Corruption>,
}

impl PartitionLog {
    /// Finds the longest prefix of the log that is whole, and makes the log that.
    ///
    /// Segments below the recovery point are believed, for they were flushed. In the others every
    /// batch is checked: length, format, CRC, and that offsets and leader epochs follow those
    /// before (the CRC does not cover them). A segment that does not begin where the one before it
    /// ends follows a loss, and goes with all after it; one that does was preceded by bytes that
    /// never belonged to the log, left by a write that failed.
    pub(super) fn recover(&mut self, now_ms: i64) -> Result<(), LogError> {
        let first = self.segment_index(self.recovery_point);
        let last = self.segments.len() - 1;
        let zone_start = self.segments[first].base_offset;
        let mut epochs = std::mem::take(&mut self.epochs);
        epochs.truncate_from_end(zone_start);
        let mut recovery = Recovery::default();
        let gaps = self.config.gaps;
        self.next_offset = zone_start;
        let mut keep = first;
        while keep <= last {
            let next_offset = self.next_offset;
            let (place, segment) = self.segment(keep);
            if segment.base_offset != next_offset {
                let lost = does_not_follow(place, segment, next_offset);
                recovery.damage.get_or_insert(lost);
                break;
            }
            let end = recover_segment(place, segment, gaps, &mut epochs, &mut recovery)?;
            if keep < last {
                // A disk that takes no index shall not keep a log from being opened.
                let _ = segment.store_indexes(place);
                segment.close_files();
            }
            self.next_offset = end;
            keep += 1;
        }
        self.epochs = epochs;
        recovery.bytes_cut += self.segments[keep..]
            .iter()
            .map(|segment| segment.bytes)
            .sum::<u64>();
        self.drop_segments_from(keep)?;
        self.recovery_point = zone_start.min(self.next_offset);
        self.unflushed_records = u64::from(self.recovery_point < self.next_offset);
        let had_strays = self.remove_stray_snapshots()?;
        if recovery.damage.is_some() || had_strays {
            // What was cut off must not come back with the next crash, behind what is appended
            // until then.
            self.write_state_durably()?;
        }
        self.recovery = Some(recovery);
        self.rebuild_producers(now_ms)
    }

    /// What opening the log had to mend; `None` when it was new or closed in order.
    #[must_use]
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
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

/// Reads a whole segment, cuts it before the first batch that is not whole, and builds its indexes.
/// Gives the offset after what is left.
fn recover_segment(
    place: SegmentFiles<'_>,
    segment: &mut Segment,
    gaps: Gaps,
    epochs: &mut LeaderEpochs,
    recovery: &mut Recovery,
) -> Result<i64, LogError> {
    let base_offset = segment.base_offset;
    let mut summary = SegmentIndexes::empty(base_offset);
    let file = Arc::clone(segment.file(place)?);
    let end = segment.bytes;
    let mut reader = Reader {
        file: &*file,
        end,
        chunk: Vec::new(),
        chunk_start: 0,
    };
    let mut position = 0;
    while position < end {
        let judged = reader
            .batch_at(position)?
            .map_err(|error| error.to_string());
        let judged = judged.and_then(|batch| {
            judge(&batch, base_offset, summary.next_offset, gaps, epochs)?;
            Ok(batch.header)
        });
        let header = match judged {
            Ok(header) => header,
            Err(reason) => {
                let file = file.path().to_path_buf();
                let damage = Corruption {
                    file,
                    position,
                    reason,
                };
                recovery.damage.get_or_insert(damage);
                break;
            }
        };
        summary.note(base_offset, position, &header, place.index_interval_bytes);
        epochs.assign(header.leader_epoch, header.base_offset);
        position += header.batch_bytes() as u64;
    }
    if position < end {
        file.truncate(position)?;
        file.sync_data()?;
    }
    recovery.bytes_kept += position;
    recovery.bytes_cut += end - position;
    segment.bytes = position;
    segment.forget_first_timestamp();
    let next_offset = summary.next_offset;
    segment.summary = Some(summary);
    segment.facts = None;
    Ok(next_offset)
}

/// Checks that a batch is whole and follows what is before it; else gives the reason.
fn judge(
    batch: &Batch<'_>,
    segment_base: i64,
    next_offset: i64,
    gaps: Gaps,
    epochs: &LeaderEpochs,
) -> Result<(), String> {
    batch.validate_crc().map_err(|error| error.to_string())?;
    let header = &batch.header;
    let (base_offset, last_offset) = (header.base_offset, header.last_offset());
    // The offset after the last must exist, and the indexes reach 31 bits from the segment's base.
    let near = last_offset < i64::MAX
        && last_offset
            .checked_sub(segment_base)
            .is_some_and(|r| r <= i64::from(i32::MAX));
    if !gaps.allow(next_offset, base_offset) || last_offset < base_offset || !near {
        return Err(format!(
            "offsets {base_offset} to {last_offset} do not follow {next_offset}"
        ));
    }
    match epochs.latest() {
        Some(latest) if header.leader_epoch < latest.epoch => Err(format!(
            "leader epoch {} follows {}",
            header.leader_epoch, latest.epoch
        )),
        _ => Ok(()),
    }
}

fn does_not_follow(place: SegmentFiles<'_>, segment: &Segment, next_offset: i64) -> Corruption {
    Corruption {
        file: file_at(place.dir, segment.base_offset, LOG),
        position: 0,
        reason: format!(
            "the segment does not follow offset {next_offset}, where the one before ends"
        ),
    }
}

/// Reads a file in large chunks and gives the batch at a position.
struct Reader<'a> {
    file: &'a dyn StorageFile,
    end: u64,
    chunk: Vec<u8>,
    chunk_start: u64,
}

impl Reader<'_> {
    /// The batch that begins at a position, or why there is none.
    fn batch_at(&mut self, position: u64) -> Result<Result<Batch<'_>, BatchError>, LogError> {
        let left = usize::try_from(self.end - position).unwrap_or(usize::MAX);
        self.fill(position, HEADER_BYTES.min(left))?;
        let start = (position - self.chunk_start) as usize;
        let header = match BatchHeader::parse(&self.chunk[start..]) {
            Ok(header) => header,
            Err(error) => return Ok(Err(error)),
        };
        self.fill(position, header.batch_bytes().min(left))?;
        let start = (position - self.chunk_start) as usize;
        Ok(Batch::parse(&self.chunk[start..]))
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
