//! Reads the records of a decompressed records section, borrowing keys, values and headers.

use super::cursor::Cursor;
use super::{BatchError, BatchHeader, RECORD_BYTES_MIN, RecordError, TimestampType};

/// One record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Offset in the partition.
    pub offset: i64,
    /// Milliseconds since 1970: the record's own, or the batch's if the broker set it.
    pub timestamp_ms: i64,
    /// The key, if there is one.
    pub key: Option<&'a [u8]>,
    /// The value; none is a tombstone in compacted topics.
    pub value: Option<&'a [u8]>,
    headers: Headers<'a>,
}

impl<'a> Record<'a> {
    /// The headers in the order of the producer.
    #[inline]
    pub fn headers(&self) -> Headers<'a> {
        self.headers
    }
}

/// One header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// The name. Kafka writes UTF-8 but no broker checks it.
    pub key: &'a [u8],
    /// The value, if there is one.
    pub value: Option<&'a [u8]>,
}

/// Iterator over the headers of a record; their form was checked with the record.
#[derive(Debug, Clone, Copy)]
pub struct Headers<'a> {
    cursor: Cursor<'a>,
    remaining: u32,
}

impl<'a> Headers<'a> {
    /// Checks all headers of a record, which must end where the record does.
    #[inline]
    fn parse(mut cursor: Cursor<'a>) -> Result<Self, RecordError> {
        let count = cursor.varint()?;
        if count == 0 && cursor.rest().is_empty() {
            return Ok(Self {
                cursor,
                remaining: 0,
            });
        }
        Self::parse_some(cursor, count)
    }

    fn parse_some(cursor: Cursor<'a>, count: i32) -> Result<Self, RecordError> {
        let remaining = u32::try_from(count).map_err(|_| RecordError::NegativeLength(count))?;
        let headers = Self { cursor, remaining };
        let mut cursor = cursor;
        for _ in 0..remaining {
            cursor.prefixed()?;
            cursor.nullable()?;
        }
        if cursor.rest().is_empty() {
            Ok(headers)
        } else {
            Err(RecordError::TooLong {
                bytes: cursor.rest().len(),
            })
        }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    #[inline]
    fn next(&mut self) -> Option<Header<'a>> {
        self.remaining = self.remaining.checked_sub(1)?;
        let key = self.cursor.prefixed().ok()?;
        let value = self.cursor.nullable().ok()?;
        Some(Header { key, value })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining as usize, Some(self.remaining as usize))
    }
}

impl ExactSizeIterator for Headers<'_> {}

/// Iterator over the records of one batch.
///
/// Yields as many records as the header says, then an error if bytes are left. Ends after the first
/// error. Offset deltas must rise and stay within the batch; gaps are allowed, since compaction
/// makes them.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    index: u32,
    count: u32,
    offset_delta_min: i32,
    offset_delta_max: i32,
    base_offset: i64,
    base_timestamp_ms: i64,
    log_append_time_ms: Option<i64>,
}

impl<'a> Records<'a> {
    /// Reads `section`, the uncompressed records of the batch that `header` belongs to.
    ///
    /// An error if the section is too small for the header's count.
    pub fn new(header: &BatchHeader, section: &'a [u8]) -> Result<Self, BatchError> {
        let count = u32::try_from(header.record_count).map_err(|_| BatchError::CountNegative {
            record_count: header.record_count,
        })?;
        if section.len() / RECORD_BYTES_MIN < count as usize {
            let record_count = header.record_count;
            return Err(BatchError::CountImpossible {
                record_count,
                bytes: section.len(),
            });
        }
        let log_append_time_ms = match header.attributes.timestamp_type() {
            TimestampType::CreateTime => None,
            TimestampType::LogAppendTime => Some(header.max_timestamp_ms),
        };
        Ok(Self {
            cursor: Cursor::new(section),
            index: 0,
            count,
            offset_delta_min: 0,
            offset_delta_max: header.last_offset_delta,
            base_offset: header.base_offset,
            base_timestamp_ms: header.base_timestamp_ms,
            log_append_time_ms,
        })
    }

    #[inline]
    fn parse_next(&mut self) -> Result<Record<'a>, RecordError> {
        let mut cursor = Cursor::new(self.cursor.prefixed()?);
        cursor.skip_byte()?; // The record's own attributes: no bit of them is in use.
        let timestamp_delta = cursor.varlong()?;
        let delta = cursor.varint()?;
        if delta < self.offset_delta_min || delta > self.offset_delta_max {
            let (min, max) = (self.offset_delta_min, self.offset_delta_max);
            return Err(RecordError::OffsetDelta { delta, min, max });
        }
        self.offset_delta_min = delta.saturating_add(1);
        let key = cursor.nullable()?;
        let value = cursor.nullable()?;
        let headers = Headers::parse(cursor)?;
        Ok(Record {
            offset: self.base_offset.wrapping_add(i64::from(delta)),
            timestamp_ms: self
                .log_append_time_ms
                .unwrap_or(self.base_timestamp_ms.wrapping_add(timestamp_delta)),
            key,
            value,
            headers,
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, BatchError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.index == self.count {
            let bytes = std::mem::replace(&mut self.cursor, Cursor::new(&[]))
                .rest()
                .len();
            return (bytes > 0).then_some(Err(BatchError::TrailingBytes { bytes }));
        }
        let index = self.index;
        match self.parse_next() {
            Ok(record) => {
                self.index += 1;
                Some(Ok(record))
            }
            Err(source) => {
                self.cursor = Cursor::new(&[]);
                self.count = self.index;
                Some(Err(BatchError::Record { index, source }))
            }
        }
    }
}

impl std::iter::FusedIterator for Records<'_> {}
