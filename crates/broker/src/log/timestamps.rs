//! From a timestamp to an offset, as `ListOffsets` asks for it.

use kgauge_wire::compress::{DecompressError, Decompressor};
use kgauge_wire::record_batch::{Batch, BatchError, Record};

use super::facts::NewestTimestamp;
use super::scan::ScannedBatch;
use super::{Corruption, LogError, PartitionLog};
use crate::storage::FileSlice;

/// The most that a batch is decompressed to. A batch of 1 MiB, which is the largest by default, would
/// have to shrink to a 64th; one that inflates further may inflate without end, and is not read.
pub(super) const RECORDS_BYTES_MAX: usize = 64 << 20;

/// A record found by its timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampedOffset {
    /// The record's timestamp, ms since 1970.
    pub timestamp_ms: i64,
    /// Its offset.
    pub offset: i64,
    /// Epoch of the leader that appended it.
    pub leader_epoch: i32,
}

impl PartitionLog {
    /// The first record dated at or after `timestamp_ms`, in order of offsets; `None` when there is
    /// none.
    pub fn offset_for_timestamp(
        &mut self,
        timestamp_ms: i64,
    ) -> Result<Option<TimestampedOffset>, LogError> {
        self.alive()?;
        let start = self.log_start_offset;
        for index in self.segment_index(start)..self.segments.len() {
            let (place, segment) = self.segment(index);
            if segment.newest(place)?.timestamp_ms < timestamp_ms {
                self.note_use(index);
                continue;
            }
            // The batch that holds the log's start may have its late record below it: then the next
            // one is due.
            let mut from = start;
            while let Some(found) = self.find_timestamp_in(index, timestamp_ms, from)? {
                let is_match = |r: &Record<'_>| r.timestamp_ms >= timestamp_ms && r.offset >= start;
                if let Some(found) = self.first_record(index, &found, is_match)? {
                    return Ok(Some(found));
                }
                from = found.header.next_offset();
            }
        }
        Ok(None)
    }

    /// The record with the largest timestamp of the log, the first of several; `None` when no
    /// record has one.
    pub fn offset_of_max_timestamp(&mut self) -> Result<Option<TimestampedOffset>, LogError> {
        self.alive()?;
        let mut newest: Option<(usize, NewestTimestamp)> = None;
        for index in 0..self.segments.len() {
            let (place, segment) = self.segment(index);
            let candidate = segment.newest(place)?;
            let best = newest.map_or(-1, |(_, newest)| newest.timestamp_ms);
            if segment.bytes > 0 && candidate.timestamp_ms > best {
                newest = Some((index, candidate));
            }
            self.note_use(index);
        }
        let Some((index, newest)) = newest else {
            return Ok(None);
        };
        let (place, segment) = self.segment(index);
        let Some(found) = segment.find(place, newest.offset)? else {
            return Ok(None);
        };
        self.first_record(index, &found, |record| {
            record.timestamp_ms == newest.timestamp_ms
        })
    }

    fn find_timestamp_in(
        &mut self,
        index: usize,
        timestamp_ms: i64,
        from: i64,
    ) -> Result<Option<ScannedBatch>, LogError> {
        let (place, segment) = self.segment(index);
        segment.find_timestamp(place, timestamp_ms, from)
    }

    /// Reads a batch and gives its first record of a kind.
    fn first_record(
        &mut self,
        index: usize,
        found: &ScannedBatch,
        is_match: impl Fn(&Record<'_>) -> bool,
    ) -> Result<Option<TimestampedOffset>, LogError> {
        let (place, segment) = self.segment(index);
        let file = std::sync::Arc::clone(segment.file(place)?);
        self.note_use(index);
        let path = file.path().to_path_buf();
        let slice = FileSlice {
            file,
            offset: found.position,
            len: found.header.batch_bytes(),
        };
        let bytes = slice.bytes()?;
        let record = match first_record(&bytes, is_match) {
            Err(error) if is_too_large(&error) => {
                // A reader from the batch's start on misses nothing.
                let offset = found.header.base_offset.max(self.log_start_offset);
                Some((found.header.max_timestamp_ms, offset))
            }
            read => read.map_err(|error| Corruption {
                file: path,
                position: found.position,
                reason: error.to_string(),
            })?,
        };
        let leader_epoch = found.header.leader_epoch;
        Ok(record.map(|(timestamp_ms, offset)| TimestampedOffset {
            timestamp_ms,
            offset,
            leader_epoch,
        }))
    }
}

fn is_too_large(error: &BatchError) -> bool {
    let BatchError::Decompress { source, .. } = error else {
        return false;
    };
    matches!(source, DecompressError::TooLarge { .. })
}

fn first_record(
    bytes: &[u8],
    is_match: impl Fn(&Record<'_>) -> bool,
) -> Result<Option<(i64, i64)>, BatchError> {
    let batch = Batch::parse(bytes)?;
    let mut scratch = Vec::new();
    for record in batch.records(&mut Decompressor::new(), &mut scratch, RECORDS_BYTES_MAX)? {
        let record = record?;
        if is_match(&record) {
            return Ok(Some((record.timestamp_ms, record.offset)));
        }
    }
    Ok(None)
}
