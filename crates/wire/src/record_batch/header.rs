//! The fixed 61 bytes before the records, and the meaning of their attribute bits.

use super::{BatchError, HEADER_BYTES, LOG_OVERHEAD, MAGIC, NONE};
use crate::compress::Codec;

/// Byte offsets of the header's fields from the start of the batch.
pub(super) mod at {
    pub(in super::super) const BASE_OFFSET: usize = 0;
    pub(in super::super) const BATCH_LENGTH: usize = 8;
    pub(in super::super) const LEADER_EPOCH: usize = 12;
    pub(in super::super) const MAGIC: usize = 16;
    pub(in super::super) const CRC: usize = 17;
    pub(in super::super) const ATTRIBUTES: usize = 21;
    pub(in super::super) const LAST_OFFSET_DELTA: usize = 23;
    pub(in super::super) const BASE_TIMESTAMP: usize = 27;
    pub(in super::super) const MAX_TIMESTAMP: usize = 35;
    pub(in super::super) const PRODUCER_ID: usize = 43;
    pub(in super::super) const PRODUCER_EPOCH: usize = 51;
    pub(in super::super) const BASE_SEQUENCE: usize = 53;
    pub(in super::super) const RECORD_COUNT: usize = 57;
}

const CODEC_MASK: i16 = 0b0000_0111;
const LOG_APPEND_TIME_BIT: i16 = 1 << 3;
const TRANSACTIONAL_BIT: i16 = 1 << 4;
const CONTROL_BIT: i16 = 1 << 5;

/// Who set the timestamps of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimestampType {
    /// The producer; each record has its own.
    CreateTime,
    /// The broker, when it appended; all records share the batch's max timestamp.
    LogAppendTime,
}

/// The attribute bits of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attributes(pub i16);

impl Attributes {
    /// The number of the compression codec, 0 to 7, known or not.
    pub fn codec_id(self) -> u8 {
        (self.0 & CODEC_MASK) as u8
    }

    /// The compression codec, `None` for a number that Kafka has not given out.
    pub fn codec(self) -> Option<Codec> {
        Codec::from_id(self.codec_id())
    }

    /// Who set the timestamps.
    pub fn timestamp_type(self) -> TimestampType {
        if self.0 & LOG_APPEND_TIME_BIT == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// The batch belongs to a transaction.
    pub fn is_transactional(self) -> bool {
        self.0 & TRANSACTIONAL_BIT != 0
    }

    /// The batch holds a transaction marker, not records of a user. Only brokers write such.
    pub fn is_control(self) -> bool {
        self.0 & CONTROL_BIT != 0
    }

    /// The same bits with another codec.
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Self {
        Self(self.0 & !CODEC_MASK | i16::from(codec.id()))
    }

    /// The same bits with another timestamp type.
    #[must_use]
    pub fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        match timestamp_type {
            TimestampType::CreateTime => Self(self.0 & !LOG_APPEND_TIME_BIT),
            TimestampType::LogAppendTime => Self(self.0 | LOG_APPEND_TIME_BIT),
        }
    }

    /// The same bits, marked as part of a transaction or not.
    #[must_use]
    pub fn with_transactional(self, transactional: bool) -> Self {
        if transactional {
            Self(self.0 | TRANSACTIONAL_BIT)
        } else {
            Self(self.0 & !TRANSACTIONAL_BIT)
        }
    }

    /// The same bits, marked as a control batch.
    #[must_use]
    pub fn control(self) -> Self {
        Self(self.0 | CONTROL_BIT)
    }
}

/// A batch's header, all fields as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record; what a producer writes here the broker replaces.
    pub base_offset: i64,
    /// Bytes of the batch after this field: header and records, 49 at least.
    pub batch_length: i32,
    /// Epoch of the leader that appended the batch, -1 before that.
    pub leader_epoch: i32,
    /// Format of the batch, always 2 after [`BatchHeader::parse`].
    pub magic: i8,
    /// CRC-32C from the attributes to the end.
    pub crc: u32,
    /// Codec, timestamp type and kind.
    pub attributes: Attributes,
    /// Offset of the last record less the base offset. Compaction keeps it when the record goes.
    pub last_offset_delta: i32,
    /// What the records' timestamp deltas count from, ms since 1970.
    pub base_timestamp_ms: i64,
    /// Largest timestamp of the records, ms since 1970.
    pub max_timestamp_ms: i64,
    /// Id of the idempotent producer, -1 for none.
    pub producer_id: i64,
    /// Epoch of the idempotent producer, -1 for none.
    pub producer_epoch: i16,
    /// Sequence number of the first record, -1 for none.
    pub base_sequence: i32,
    /// Number of records in the section.
    pub record_count: i32,
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// Checks the magic and that length and count are possible at all; not that the records are
    /// there.
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(BatchError::HeaderIncomplete { bytes: bytes.len() });
        };
        let header = Self {
            base_offset: i64::from_be_bytes(field(bytes, at::BASE_OFFSET)),
            batch_length: i32::from_be_bytes(field(bytes, at::BATCH_LENGTH)),
            leader_epoch: i32::from_be_bytes(field(bytes, at::LEADER_EPOCH)),
            magic: i8::from_be_bytes(field(bytes, at::MAGIC)),
            crc: u32::from_be_bytes(field(bytes, at::CRC)),
            attributes: Attributes(i16::from_be_bytes(field(bytes, at::ATTRIBUTES))),
            last_offset_delta: i32::from_be_bytes(field(bytes, at::LAST_OFFSET_DELTA)),
            base_timestamp_ms: i64::from_be_bytes(field(bytes, at::BASE_TIMESTAMP)),
            max_timestamp_ms: i64::from_be_bytes(field(bytes, at::MAX_TIMESTAMP)),
            producer_id: i64::from_be_bytes(field(bytes, at::PRODUCER_ID)),
            producer_epoch: i16::from_be_bytes(field(bytes, at::PRODUCER_EPOCH)),
            base_sequence: i32::from_be_bytes(field(bytes, at::BASE_SEQUENCE)),
            record_count: i32::from_be_bytes(field(bytes, at::RECORD_COUNT)),
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), BatchError> {
        if self.magic != MAGIC {
            return Err(BatchError::UnsupportedMagic { magic: self.magic });
        }
        if self.batch_length < (HEADER_BYTES - LOG_OVERHEAD) as i32 {
            return Err(BatchError::LengthTooSmall {
                batch_length: self.batch_length,
            });
        }
        if self.record_count < 0 {
            return Err(BatchError::CountNegative {
                record_count: self.record_count,
            });
        }
        Ok(())
    }

    /// Writes all fields as they are, magic, length and CRC too.
    pub fn write(&self, to: &mut [u8; HEADER_BYTES]) {
        put(to, at::BASE_OFFSET, self.base_offset.to_be_bytes());
        put(to, at::BATCH_LENGTH, self.batch_length.to_be_bytes());
        put(to, at::LEADER_EPOCH, self.leader_epoch.to_be_bytes());
        put(to, at::MAGIC, self.magic.to_be_bytes());
        put(to, at::CRC, self.crc.to_be_bytes());
        put(to, at::ATTRIBUTES, self.attributes.0.to_be_bytes());
        put(
            to,
            at::LAST_OFFSET_DELTA,
            self.last_offset_delta.to_be_bytes(),
        );
        put(to, at::BASE_TIMESTAMP, self.base_timestamp_ms.to_be_bytes());
        put(to, at::MAX_TIMESTAMP, self.max_timestamp_ms.to_be_bytes());
        put(to, at::PRODUCER_ID, self.producer_id.to_be_bytes());
        put(to, at::PRODUCER_EPOCH, self.producer_epoch.to_be_bytes());
        put(to, at::BASE_SEQUENCE, self.base_sequence.to_be_bytes());
        put(to, at::RECORD_COUNT, self.record_count.to_be_bytes());
    }

    /// Bytes of the whole batch, header included.
    pub fn batch_bytes(&self) -> usize {
        LOG_OVERHEAD + usize::try_from(self.batch_length).unwrap_or(0)
    }

    /// Number of records; [`BatchHeader::parse`] refuses a negative one.
    pub fn records(&self) -> u32 {
        u32::try_from(self.record_count).unwrap_or(0)
    }

    /// Offset of the last record.
    pub fn last_offset(&self) -> i64 {
        self.base_offset
            .wrapping_add(i64::from(self.last_offset_delta))
    }

    /// Where reading goes on after this batch.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// The batch was written by an idempotent or transactional producer.
    pub fn has_producer_id(&self) -> bool {
        self.producer_id > NONE
    }

    /// Sequence number of the last record; after `i32::MAX` comes 0. -1 without a producer id.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 {
            return self.base_sequence;
        }
        let last = i64::from(self.base_sequence) + i64::from(self.last_offset_delta);
        last.rem_euclid(1 << 31) as i32
    }
}

/// The `N` bytes at `offset`. Offsets are constants inside the header, so the checks vanish.
fn field<const N: usize>(bytes: &[u8; HEADER_BYTES], offset: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[offset..offset + N]);
    out
}

/// Sets the field at `offset`; `to` begins with a batch header.
pub(super) fn put<const N: usize>(to: &mut [u8], offset: usize, value: [u8; N]) {
    to[offset..offset + N].copy_from_slice(&value);
}
