//! Looking up in a segment's indexes, and their way from and to their files.
//!
//! An index file is never believed without a check. Its checksum and form are checked when it is
//! read; that an entry names the batch which it points to is checked at each lookup. An index that
//! fails is rebuilt from the batch headers.

use super::facts::{NewestTimestamp, Seal, SegmentFacts};
use super::names::{OFFSET_INDEX, TIME_INDEX, file_at};
use super::scan::{HeaderScan, ScannedBatch};
use super::segment::{Segment, SegmentFiles, SegmentIndexes};
use super::sparse_index::{OffsetIndex, TimeIndex};
use super::{Corruption, LogError};
use crate::storage::{OpenMode, read_whole};

impl Segment {
    /// The indexes and what goes with them, read from files or built from the batches if need be.
    pub(super) fn summary(
        &mut self,
        place: SegmentFiles<'_>,
    ) -> Result<&mut SegmentIndexes, LogError> {
        if self.summary.is_none() && self.bytes > 0 {
            let loaded = match self.load_indexes(place)? {
                Some(summary) => summary,
                None => {
                    self.facts = None;
                    self.build_summary(place)?
                }
            };
            self.summary = Some(loaded);
        }
        let base_offset = self.base_offset;
        Ok(self
            .summary
            .get_or_insert_with(|| SegmentIndexes::empty(base_offset)))
    }

    /// Reads the index files. `None` when they are not what was stored, or nothing was.
    fn load_indexes(
        &mut self,
        place: SegmentFiles<'_>,
    ) -> Result<Option<SegmentIndexes>, LogError> {
        let base_offset = self.base_offset;
        let Some(facts) = self.facts.filter(|facts| facts.bytes == self.bytes) else {
            return Ok(None);
        };
        let offsets = load_sealed(place, base_offset, OFFSET_INDEX, facts.offsets)?;
        let times = load_sealed(place, base_offset, TIME_INDEX, facts.times)?;
        let offsets = offsets.and_then(|bytes| OffsetIndex::parse(&bytes));
        let times = times.and_then(|bytes| TimeIndex::parse(&bytes));
        let (Some(offsets), Some(times)) = (offsets, times) else {
            return Ok(None);
        };
        let last = offsets.last();
        // Positions rise: only the last one can be beyond the segment's end.
        if last.is_some_and(|last| u64::from(last.position) >= self.bytes) {
            return Ok(None);
        }
        let mut summary = SegmentIndexes::from_indexes(base_offset, offsets, times);
        let mut scan = self.scan(place, last.map_or(0, |entry| u64::from(entry.position)))?;
        if let Some(last) = last {
            let Some(found) = batch_or_lie(scan.next())? else {
                return Ok(None);
            };
            if found.header.last_offset() != base_offset + i64::from(last.relative) {
                return Ok(None);
            }
            summary.note_after_entry(&found);
        }
        while let Some(found) = scan.next()? {
            let interval = place.index_interval_bytes;
            summary.note(base_offset, found.position, &found.header, interval);
        }
        Ok((summary.newest == facts.newest).then_some(summary))
    }

    /// Builds the indexes from the batches' headers.
    pub(super) fn build_summary(
        &mut self,
        place: SegmentFiles<'_>,
    ) -> Result<SegmentIndexes, LogError> {
        let base_offset = self.base_offset;
        let mut summary = SegmentIndexes::empty(base_offset);
        if self.bytes == 0 {
            return Ok(summary);
        }
        let mut scan = self.scan(place, 0)?;
        while let Some(found) = scan.next()? {
            let interval = place.index_interval_bytes;
            summary.note(base_offset, found.position, &found.header, interval);
        }
        Ok(summary)
    }

    /// Replaces indexes that proved untrue.
    fn rebuild(&mut self, place: SegmentFiles<'_>) -> Result<&SegmentIndexes, LogError> {
        let rebuilt = self.build_summary(place)?;
        self.summary = Some(rebuilt);
        self.facts = None;
        // A disk that takes no index must not keep readers from the log.
        let _ = self.store_indexes(place);
        Ok(self.summary(place)?)
    }

    /// A scan that begins with the batch of the last index entry at or below `offset`.
    fn scan_for(&mut self, place: SegmentFiles<'_>, offset: i64) -> Result<HeaderScan, LogError> {
        let base_offset = self.base_offset;
        let entry = self
            .summary(place)?
            .offsets
            .lookup(offset.saturating_sub(base_offset));
        let Some(entry) = entry else {
            return self.scan(place, 0);
        };
        let mut scan = self.scan(place, u64::from(entry.position))?;
        if let Some(found) = batch_or_lie(scan.next())?
            && found.header.last_offset() == base_offset + i64::from(entry.relative)
        {
            scan.back_to(&found);
            return Ok(scan);
        }
        let rebuilt = self.rebuild(place)?;
        let entry = rebuilt.offsets.lookup(offset.saturating_sub(base_offset));
        self.scan(place, entry.map_or(0, |entry| u64::from(entry.position)))
    }

    /// The first batch that ends at or above `offset`, if there is one.
    pub(super) fn find(
        &mut self,
        place: SegmentFiles<'_>,
        offset: i64,
    ) -> Result<Option<ScannedBatch>, LogError> {
        if self.bytes == 0 {
            return Ok(None);
        }
        let mut scan = self.scan_for(place, offset)?;
        let mut previous = i64::MIN;
        while let Some(found) = scan.next()? {
            if found.header.base_offset <= previous || found.header.base_offset < self.base_offset {
                return Err(self.out_of_order(place, &found));
            }
            previous = found.header.last_offset();
            if previous >= offset {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first batch that has a record dated at or after `timestamp_ms` and ends at or above
    /// `offset`.
    pub(super) fn find_timestamp(
        &mut self,
        place: SegmentFiles<'_>,
        timestamp_ms: i64,
        offset: i64,
    ) -> Result<Option<ScannedBatch>, LogError> {
        let base_offset = self.base_offset;
        let entry = self.summary(place)?.times.lookup(timestamp_ms);
        let mut from = offset;
        if let Some(entry) = entry {
            let named = base_offset + i64::from(entry.relative);
            let batch = self.find(place, named)?;
            let true_entry = batch.is_some_and(|batch| {
                batch.header.last_offset() == named
                    && batch.header.max_timestamp_ms == entry.timestamp_ms
            });
            if true_entry {
                from = from.max(named);
            } else {
                self.rebuild(place)?;
            }
        }
        let Some(start) = self.find(place, from)? else {
            return Ok(None);
        };
        let mut scan = self.scan(place, start.position)?;
        while let Some(found) = scan.next()? {
            if found.header.max_timestamp_ms >= timestamp_ms {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The segment's largest timestamp.
    pub(super) fn newest(&mut self, place: SegmentFiles<'_>) -> Result<NewestTimestamp, LogError> {
        match &self.facts {
            Some(facts) => Ok(facts.newest),
            None => Ok(self.summary(place)?.newest),
        }
    }

    /// Writes the index entries that are not in the files yet, with one for the largest timestamp,
    /// and notes the facts. Nothing is flushed: what a crash loses is rebuilt.
    pub(super) fn store_indexes(&mut self, place: SegmentFiles<'_>) -> Result<(), LogError> {
        let base_offset = self.base_offset;
        let Some(summary) = self.summary.as_mut().filter(|_| self.facts.is_none()) else {
            return Ok(());
        };
        summary.note_newest(base_offset);
        let (offsets, times) = (summary.offsets.to_bytes(), summary.times.to_bytes());
        let parts = [
            (OFFSET_INDEX, &offsets, summary.offsets.stored_bytes()),
            (TIME_INDEX, &times, summary.times.stored_bytes()),
        ];
        for (kind, bytes, stored) in parts {
            let path = file_at(place.dir, base_offset, kind);
            let file = place.storage.open(&path, OpenMode::CreateOrOpen)?;
            if file.len()? != stored as u64 {
                file.truncate(stored as u64)?;
            }
            if bytes.len() > stored {
                file.write_at(&bytes[stored..], stored as u64)?;
            }
        }
        summary.offsets.set_stored();
        summary.times.set_stored();
        self.facts = Some(SegmentFacts {
            base_offset,
            bytes: self.bytes,
            newest: summary.newest,
            offsets: Seal::of(&offsets),
            times: Seal::of(&times),
        });
        Ok(())
    }

    fn out_of_order(&self, place: SegmentFiles<'_>, found: &ScannedBatch) -> LogError {
        let base_offset = found.header.base_offset;
        Corruption {
            file: file_at(place.dir, self.base_offset, super::names::LOG),
            position: found.position,
            reason: format!("base offset {base_offset} does not follow the batch before"),
        }
        .into()
    }
}

/// Reads an index file if it is exactly what was stored.
fn load_sealed(
    place: SegmentFiles<'_>,
    base_offset: i64,
    kind: &str,
    seal: Seal,
) -> Result<Option<Vec<u8>>, LogError> {
    if seal.bytes == 0 {
        return Ok(Some(Vec::new()));
    }
    let bytes = read_whole(place.storage, &file_at(place.dir, base_offset, kind))?;
    Ok(bytes.filter(|bytes| seal.fits(bytes)))
}

/// What an index points to: a batch, or (`None`) bytes that are none, which makes the index a lie.
fn batch_or_lie(
    next: Result<Option<ScannedBatch>, LogError>,
) -> Result<Option<ScannedBatch>, LogError> {
    match next {
        Err(LogError::Corrupt(_)) => Ok(None),
        next => next,
    }
}
