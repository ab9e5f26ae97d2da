//! Reading: from an offset to a stretch of a segment file.

use std::sync::Arc;

use super::recent::Spot;
use super::scan::ScannedBatch;
use super::{LogError, PartitionLog, ReadError};
use crate::storage::FileSlice;

/// What a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRequest {
    /// The first offset that the reader has not seen.
    pub offset: i64,
    /// How many bytes it takes at most. The last batch may be cut off there, as Kafka does.
    pub bytes_max: usize,
    /// Batches that begin at or above this offset are not served: the high watermark for consumers,
    /// the log's end for followers.
    pub upper_bound_offset: i64,
    /// What happens when the first batch alone is larger than `bytes_max`.
    pub first_batch: FirstBatch,
}

/// What happens to a first batch that is larger than the reader's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstBatch {
    /// It is served whole all the same, so that the reader gets on.
    Whole,
    /// It is cut off like any other.
    MayBeCut,
}

/// What a reader gets.
#[derive(Debug, Clone)]
pub struct ReadResult {
    /// The bytes: batches one behind another, the first of which holds the offset or the next one
    /// that there is. `None` when there is nothing below the upper bound yet.
    pub slice: Option<FileSlice>,
    /// Base offset of the segment that was read; with `position`, what Kafka calls the offset's
    /// metadata.
    pub segment_base: i64,
    /// Where in the segment the slice begins.
    pub position: u64,
}

impl PartitionLog {
    /// Finds the batches from an offset on. Reads only headers; the bytes are left to the caller,
    /// who may send them from the page cache. Never more than one segment.
    pub fn read(&mut self, request: &ReadRequest) -> Result<ReadResult, ReadError> {
        self.alive()?;
        let ReadRequest {
            offset,
            bytes_max,
            upper_bound_offset,
            first_batch,
        } = *request;
        let (start, end) = (self.log_start_offset, self.next_offset);
        if offset < start || offset > end {
            return Err(ReadError::OffsetOutOfRange { offset, start, end });
        }
        let upper = upper_bound_offset.min(end);
        let mut index = self.segment_index(offset);
        let nothing = ReadResult {
            slice: None,
            segment_base: self.segments[index].base_offset,
            position: self.segments[index].bytes,
        };
        if offset >= upper {
            return Ok(nothing);
        }
        let mut found = self.locate(index, offset)?;
        while found.is_none() && index + 1 < self.segments.len() {
            // The offset lies in a gap at the segment's end.
            index += 1;
            found = self.locate(index, offset)?;
        }
        let Some(first) = found.filter(|first| first.base_offset < upper) else {
            return Ok(nothing);
        };
        let limit = match first_batch {
            FirstBatch::Whole => bytes_max.max(first.bytes),
            FirstBatch::MayBeCut => bytes_max,
        };
        let slice_end = if upper >= end {
            None
        } else {
            self.locate(index, upper)?
        };
        let (place, segment) = self.segment(index);
        // A bound inside a batch leaves the batch in: its other records are below.
        let slice_end = slice_end.map_or(segment.bytes, |at_upper| {
            let inside = at_upper.base_offset < upper;
            at_upper.position + if inside { at_upper.bytes as u64 } else { 0 }
        });
        let position = first.position;
        let len = usize::try_from(slice_end - position)
            .unwrap_or(usize::MAX)
            .min(limit);
        let file = Arc::clone(segment.file(place)?);
        let segment_base = segment.base_offset;
        self.note_use(index);
        let slice = (len > 0).then_some(FileSlice {
            file,
            offset: position,
            len,
        });
        Ok(ReadResult {
            slice,
            segment_base,
            position,
        })
    }

    /// The first batch of a segment that ends at or above an offset.
    fn locate(&mut self, index: usize, offset: i64) -> Result<Option<Spot>, LogError> {
        if index + 1 == self.segments.len()
            && let Some(spot) = self.recent.find(offset)
        {
            return Ok(Some(spot));
        }
        let (place, segment) = self.segment(index);
        let found = segment.find(place, offset)?;
        Ok(found.map(|ScannedBatch { position, header }| Spot {
            base_offset: header.base_offset,
            last_offset: header.last_offset(),
            position,
            bytes: header.batch_bytes(),
        }))
    }
}
