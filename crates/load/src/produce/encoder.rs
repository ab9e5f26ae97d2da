//! Encodes the records of a batch in the broker's format: a record batch, or a message set before Kafka 0.11.

use kgauge_wire::compress::{CompressError, Compressor};
use kgauge_wire::message_set::{Format, MessageSetEncoder};
use kgauge_wire::record_batch::{BatchEncoder, HEADER_BYTES, ProducerState, record_bytes};

use crate::payload::HeaderBytes;

/// The record format, determined by the version of Produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordsFormat {
    /// A message set of format 0 or 1.
    Set(Format),
    /// A record batch.
    Batch,
}

impl RecordsFormat {
    /// The format of a Produce version: format 0 for versions 0 and 1, format 1 for 2, and record batches from 3 on
    /// (KIP-32, KIP-98).
    pub(crate) fn of(produce_version: i16) -> Self {
        match produce_version {
            ..=1 => Self::Set(Format::V0),
            2 => Self::Set(Format::V1),
            _ => Self::Batch,
        }
    }

    /// The newest version of Produce that carries it.
    pub(crate) fn version_max(self) -> i16 {
        match self {
            Self::Set(Format::V0) => 1,
            Self::Set(Format::V1) => 2,
            Self::Batch => i16::MAX,
        }
    }

    /// Size of a record as the first of its batch.
    pub(crate) fn record_bytes(self, record: &FullRecord<'_>) -> usize {
        let length = |part: Option<&[u8]>| part.map(<[u8]>::len);
        let (key, value) = (length(record.key), length(record.value));
        match self {
            Self::Set(format) => format.overhead_bytes() + key.unwrap_or(0) + value.unwrap_or(0),
            Self::Batch => record_bytes(0, 0, key, value, record.headers),
        }
    }

    /// Bytes of an empty batch.
    pub(crate) fn overhead_bytes(self) -> usize {
        match self {
            Self::Set(_) => 0,
            Self::Batch => HEADER_BYTES,
        }
    }
}

/// Encodes the records of one batch at a time.
#[derive(Debug)]
pub(crate) enum RecordsEncoder {
    /// Before Kafka 0.11.
    Set(MessageSetEncoder),
    /// Since.
    Batch(BatchEncoder),
}

impl RecordsEncoder {
    pub(crate) fn new(format: RecordsFormat, bytes: usize) -> Self {
        match format {
            RecordsFormat::Set(format) => Self::Set(MessageSetEncoder::new(format, bytes)),
            RecordsFormat::Batch => Self::Batch(BatchEncoder::with_capacity(bytes)),
        }
    }

    /// Starts over.
    pub(crate) fn start(&mut self, timestamp_ms: i64) {
        match self {
            Self::Set(set) => set.start(timestamp_ms),
            Self::Batch(batch) => batch.start(timestamp_ms),
        }
    }

    /// Records since the start.
    #[inline]
    pub(crate) fn records(&self) -> u32 {
        match self {
            Self::Set(set) => set.records(),
            Self::Batch(batch) => batch.records(),
        }
    }

    /// All bytes so far.
    #[inline]
    pub(crate) fn bytes_so_far(&self) -> usize {
        match self {
            Self::Set(set) => set.set_bytes(),
            Self::Batch(batch) => batch.batch_bytes(),
        }
    }

    /// The finished batch.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Set(set) => set.bytes(),
            Self::Batch(batch) => batch.bytes(),
        }
    }

    /// The finished batch, if an idempotent producer's state can be rewritten: record batches only.
    pub(crate) fn batch_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Set(_) => None,
            Self::Batch(batch) => Some(batch.bytes_mut()),
        }
    }

    /// Completes the batch uncompressed.
    pub(crate) fn finish(&mut self, state: &ProducerState) {
        match self {
            Self::Set(set) => set.finish(),
            Self::Batch(batch) => batch.finish(state),
        };
    }

    /// Completes the batch compressed; on an error it is unchanged.
    pub(crate) fn finish_compressed(
        &mut self,
        state: &ProducerState,
        compressor: &mut Compressor,
    ) -> Result<(), CompressError> {
        match self {
            Self::Set(set) => set.finish_compressed(compressor).map(drop),
            Self::Batch(batch) => batch.finish_compressed(state, compressor).map(drop),
        }
    }
}

/// What the innermost loop of the generator needs of either encoder, so that it is compiled for each.
pub(crate) trait TakeRecords {
    /// Bytes of an empty batch.
    const OVERHEAD_BYTES: usize;

    fn count(&self) -> u32;
    fn base_ms(&self) -> i64;
    fn total_bytes(&self) -> usize;
    /// Bytes that a record without a key would add, if it came next.
    fn next_bytes(&self, timestamp_ms: i64, value_bytes: usize) -> usize;
    fn push(&mut self, delta_ms: i64, value_bytes: usize, fill: impl FnOnce(&mut [u8]));
}

/// A record with all its parts.
pub(crate) struct FullRecord<'a> {
    pub(crate) timestamp_ms: i64,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) headers: &'a [HeaderBytes<'a>],
}

impl FullRecord<'_> {
    /// Bytes of key, value and headers.
    pub(crate) fn logical_bytes(&self) -> u64 {
        let length = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
        let headers = self.headers.iter();
        let headers: usize = headers
            .map(|(name, value)| name.len() + length(*value))
            .sum();
        (length(self.key) + length(self.value) + headers) as u64
    }
}

impl RecordsEncoder {
    /// Bytes that a record would add, if it came next.
    pub(crate) fn whole_bytes(&self, record: &FullRecord<'_>) -> usize {
        let length = |part: Option<&[u8]>| part.map(<[u8]>::len);
        let (key, value) = (length(record.key), length(record.value));
        match self {
            Self::Set(set) => set.message_bytes(key, value),
            Self::Batch(batch) => {
                batch.next_record_bytes(record.timestamp_ms, key, value, record.headers)
            }
        }
    }

    /// Bytes that a record without headers would add, if it came next.
    pub(crate) fn record_bytes(
        &self,
        timestamp_ms: i64,
        key_bytes: Option<usize>,
        value_bytes: Option<usize>,
    ) -> usize {
        match self {
            Self::Set(set) => set.message_bytes(key_bytes, value_bytes),
            Self::Batch(batch) => {
                batch.next_record_bytes(timestamp_ms, key_bytes, value_bytes, &[])
            }
        }
    }

    /// Appends a record. Message sets have no headers; callers must not request them there.
    pub(crate) fn push_whole(&mut self, record: &FullRecord<'_>) {
        match self {
            Self::Set(set) => set.append(record.timestamp_ms, record.key, record.value),
            Self::Batch(batch) => {
                batch.append(
                    record.timestamp_ms,
                    record.key,
                    record.value,
                    record.headers,
                );
            }
        }
    }
}

impl TakeRecords for BatchEncoder {
    const OVERHEAD_BYTES: usize = HEADER_BYTES;

    #[inline]
    fn count(&self) -> u32 {
        self.records()
    }

    #[inline]
    fn base_ms(&self) -> i64 {
        self.base_timestamp_ms()
    }

    #[inline]
    fn total_bytes(&self) -> usize {
        self.batch_bytes()
    }

    #[inline]
    fn next_bytes(&self, timestamp_ms: i64, value_bytes: usize) -> usize {
        self.next_record_bytes(timestamp_ms, None, Some(value_bytes), &[])
    }

    #[inline]
    fn push(&mut self, delta_ms: i64, value_bytes: usize, fill: impl FnOnce(&mut [u8])) {
        self.append_value_only(delta_ms, value_bytes, fill);
    }
}

impl TakeRecords for MessageSetEncoder {
    const OVERHEAD_BYTES: usize = 0;

    #[inline]
    fn count(&self) -> u32 {
        self.records()
    }

    #[inline]
    fn base_ms(&self) -> i64 {
        self.base_timestamp_ms()
    }

    #[inline]
    fn total_bytes(&self) -> usize {
        self.set_bytes()
    }

    #[inline]
    fn next_bytes(&self, _timestamp_ms: i64, value_bytes: usize) -> usize {
        self.message_bytes(None, Some(value_bytes))
    }

    #[inline]
    fn push(&mut self, delta_ms: i64, value_bytes: usize, fill: impl FnOnce(&mut [u8])) {
        self.append_value_only(delta_ms, value_bytes, fill);
    }
}
