//! One segment of a log: a file of batches and its two sparse indexes.
//!
//! Files are opened when they are first needed and can be closed at any time
//! ([`Segment::close_files`]). Index entries live in memory while the segment is open and go to
//! their files when the segment or the log is closed ([`Segment::store_indexes`] in
//! `segment_indexes.rs`): until then a crash would rebuild them from the batches anyway.

use std::path::Path;
use std::sync::Arc;

use kgauge_wire::record_batch::BatchHeader;

use super::LogError;
use super::facts::{NewestTimestamp, SegmentFacts};
use super::names::{LOG, file_at};
use super::scan::{HeaderScan, ScannedBatch};
use super::sparse_index::{IndexEntry, OffsetEntry, OffsetIndex, TimeEntry, TimeIndex};
use crate::storage::{OpenMode, Storage, StorageFile};

/// Where a segment's files are, and how densely they are indexed.
#[derive(Clone, Copy)]
pub(super) struct SegmentFiles<'a> {
    pub(super) storage: &'a dyn Storage,
    pub(super) dir: &'a Path,
    pub(super) index_interval_bytes: u32,
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) base_offset: i64,
    /// Bytes of valid batches in the log file.
    pub(super) bytes: u64,
    /// When the segment was created or opened, ms since 1970: used where records have no
    /// timestamp.
    pub(super) created_ms: i64,
    /// Timestamp of the first batch; `None` while unknown.
    first_timestamp_ms: Option<i64>,
    file: Option<Arc<dyn StorageFile>>,
    /// The content of the indexes and of the end of the log file; `None` until it is needed.
    pub(super) summary: Option<SegmentIndexes>,
    /// What was written down when the indexes were stored; `None` once there is more in the
    /// segment.
    pub(super) facts: Option<SegmentFacts>,
}

/// The indexes of a segment and what goes with them.
#[derive(Debug)]
pub(super) struct SegmentIndexes {
    pub(super) offsets: OffsetIndex,
    pub(super) times: TimeIndex,
    /// The offset after the last batch.
    pub(super) next_offset: i64,
    pub(super) newest: NewestTimestamp,
    bytes_since_entry: u64,
}

impl SegmentIndexes {
    /// That of a segment without batches.
    pub(super) fn empty(base_offset: i64) -> Self {
        Self {
            offsets: OffsetIndex::default(),
            times: TimeIndex::default(),
            next_offset: base_offset,
            newest: NewestTimestamp {
                timestamp_ms: -1,
                offset: base_offset,
            },
            bytes_since_entry: 0,
        }
    }

    /// Takes note of the batch that begins at `position`, the end so far.
    pub(super) fn note(
        &mut self,
        base_offset: i64,
        position: u64,
        header: &BatchHeader,
        interval: u32,
    ) {
        // Offsets and positions further from the base than 31 bits never get into a segment.
        let relative = |offset: i64| u32::try_from(offset - base_offset).unwrap_or(u32::MAX);
        self.next_offset = header.next_offset();
        if header.max_timestamp_ms > self.newest.timestamp_ms {
            let (timestamp_ms, offset) = (header.max_timestamp_ms, header.last_offset());
            self.newest = NewestTimestamp {
                timestamp_ms,
                offset,
            };
        }
        if self.bytes_since_entry > u64::from(interval) {
            let position = u32::try_from(position).unwrap_or(u32::MAX);
            self.offsets.push_if_newer(OffsetEntry {
                relative: relative(header.last_offset()),
                position,
            });
            self.note_newest(base_offset);
            self.bytes_since_entry = 0;
        }
        self.bytes_since_entry += header.batch_bytes() as u64;
    }

    /// Takes note of the batch that the last index entry names, on the way from the files into
    /// memory.
    pub(super) fn note_after_entry(&mut self, found: &ScannedBatch) {
        self.next_offset = found.header.next_offset();
        self.bytes_since_entry = found.header.batch_bytes() as u64;
    }

    /// Gives the largest timestamp its entry in the time index, if it has none yet.
    pub(super) fn note_newest(&mut self, base_offset: i64) {
        let NewestTimestamp {
            timestamp_ms,
            offset,
        } = self.newest;
        if timestamp_ms >= 0 {
            let relative = u32::try_from(offset - base_offset).unwrap_or(u32::MAX);
            self.times.push_if_newer(TimeEntry {
                timestamp_ms,
                relative,
            });
        }
    }

    /// Bytes of the larger index after one more entry.
    pub(super) fn index_bytes_after_next(&self) -> usize {
        let offsets = self.offsets.bytes() + OffsetEntry::BYTES;
        offsets.max(self.times.bytes() + TimeEntry::BYTES)
    }

    /// Takes over indexes read from files; the batches from the last entry on are to be noted
    /// again.
    pub(super) fn from_indexes(base_offset: i64, offsets: OffsetIndex, times: TimeIndex) -> Self {
        let mut summary = Self::empty(base_offset);
        if let Some(last) = times.last() {
            let offset = base_offset + i64::from(last.relative);
            summary.newest = NewestTimestamp {
                timestamp_ms: last.timestamp_ms,
                offset,
            };
        }
        summary.offsets = offsets;
        summary.times = times;
        summary
    }
}

impl Segment {
    /// A segment whose log file exists with `bytes` bytes.
    pub(super) fn existing(base_offset: i64, bytes: u64, now_ms: i64) -> Self {
        Self {
            base_offset,
            bytes,
            created_ms: now_ms,
            first_timestamp_ms: None,
            file: None,
            summary: None,
            facts: None,
        }
    }

    /// Creates the log file of a new, empty segment. A file left over under its name is emptied.
    pub(super) fn create(
        place: SegmentFiles<'_>,
        base_offset: i64,
        now_ms: i64,
    ) -> Result<Self, LogError> {
        let mut segment = Self::existing(base_offset, 0, now_ms);
        segment.create_file(place)?;
        segment.summary = Some(SegmentIndexes::empty(base_offset));
        Ok(segment)
    }

    /// Creates the log file of a segment that does not have one.
    pub(super) fn create_file(&mut self, place: SegmentFiles<'_>) -> Result<(), LogError> {
        let path = file_at(place.dir, self.base_offset, LOG);
        self.file = Some(place.storage.open(&path, OpenMode::CreateOrTruncate)?);
        Ok(())
    }

    /// The log file, opened if need be.
    pub(super) fn file(
        &mut self,
        place: SegmentFiles<'_>,
    ) -> Result<&Arc<dyn StorageFile>, LogError> {
        match &mut self.file {
            Some(file) => Ok(file),
            closed => {
                let path = file_at(place.dir, self.base_offset, LOG);
                Ok(closed.insert(place.storage.open(&path, OpenMode::Existing)?))
            }
        }
    }

    /// Forgets the open file, and the indexes if their files hold all of them.
    pub(super) fn close_files(&mut self) {
        self.file = None;
        if self.facts.is_some() || self.bytes == 0 {
            self.summary = None;
        }
    }

    /// True while a file is open or indexes are in memory.
    pub(super) fn is_open(&self) -> bool {
        self.file.is_some() || self.summary.is_some()
    }

    /// Opens what an append needs, so that only its write can fail.
    pub(super) fn prepare_write(&mut self, place: SegmentFiles<'_>) -> Result<(), LogError> {
        self.summary(place)?;
        self.file(place)?;
        Ok(())
    }

    /// Writes batches at the segment's end. The segment's own idea of its end stays:
    /// [`Segment::add`] moves it.
    pub(super) fn write(&mut self, place: SegmentFiles<'_>, bytes: &[u8]) -> Result<(), LogError> {
        let position = self.bytes;
        self.file(place)?.write_at(bytes, position)?;
        Ok(())
    }

    /// Takes note of a batch at the segment's end.
    pub(super) fn add(&mut self, header: &BatchHeader, index_interval_bytes: u32) {
        if self.bytes == 0 {
            self.first_timestamp_ms = Some(header.max_timestamp_ms);
        }
        self.facts = None;
        let base_offset = self.base_offset;
        let summary = self
            .summary
            .get_or_insert_with(|| SegmentIndexes::empty(base_offset));
        summary.note(base_offset, self.bytes, header, index_interval_bytes);
        self.bytes += header.batch_bytes() as u64;
    }

    /// The first batch's timestamp, for rolling by time; -1 when there is none.
    pub(super) fn first_timestamp(&mut self, place: SegmentFiles<'_>) -> Result<i64, LogError> {
        if let Some(known) = self.first_timestamp_ms {
            return Ok(known);
        }
        if self.bytes == 0 {
            return Ok(-1);
        }
        let Some(first) = self.scan(place, 0)?.next()? else {
            return Ok(-1);
        };
        self.first_timestamp_ms = Some(first.header.max_timestamp_ms);
        Ok(first.header.max_timestamp_ms)
    }

    /// Forgets what is derived from the batches: after a cut.
    pub(super) fn forget_first_timestamp(&mut self) {
        self.first_timestamp_ms = None;
    }

    /// Walks the headers from a position to the end.
    pub(super) fn scan(
        &mut self,
        place: SegmentFiles<'_>,
        position: u64,
    ) -> Result<HeaderScan, LogError> {
        let end = self.bytes;
        let file = Arc::clone(self.file(place)?);
        Ok(HeaderScan::new(file, position, end))
    }
}
