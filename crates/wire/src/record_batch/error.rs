//! What can be wrong with a batch or a record, and the error that a broker returns for it.

use crate::compress::{Codec, DecompressError};

/// A batch that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Fewer bytes than a header.
    #[error("{bytes} bytes are no record batch: its header alone has 61")]
    HeaderIncomplete {
        /// Bytes that were there.
        bytes: usize,
    },
    /// The length field exceeds the available bytes.
    #[error("the batch says it has {length} bytes but only {present} are there")]
    Incomplete {
        /// Bytes of the whole batch by its length field.
        length: usize,
        /// Bytes that were there.
        present: usize,
    },
    /// The length field leaves no room for the header, or is negative.
    #[error("the batch length {batch_length} is smaller than a batch header")]
    LengthTooSmall {
        /// The length field.
        batch_length: i32,
    },
    /// A batch of another message format; 0 and 1 are Kafka's old message sets.
    #[error("message format {magic} is not supported, only 2 is")]
    UnsupportedMagic {
        /// The magic byte.
        magic: i8,
    },
    /// The record count is below zero.
    #[error("the batch says it has {record_count} records")]
    CountNegative {
        /// The count field.
        record_count: i32,
    },
    /// More records than the section has room for.
    #[error("the batch says it has {record_count} records but its section has {bytes} bytes")]
    CountImpossible {
        /// The count field.
        record_count: i32,
        /// Bytes of the uncompressed records section.
        bytes: usize,
    },
    /// The bytes are not those that were written.
    #[error("the batch's CRC is {stored:#010x} but its bytes give {computed:#010x}")]
    Crc {
        /// The value in the header.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// A codec number that Kafka has not given out.
    #[error("compression codec {id} is unknown")]
    UnknownCodec {
        /// The number in the attributes.
        id: u8,
    },
    /// The records section cannot be decompressed.
    #[error("the records cannot be decompressed as {codec}: {source}")]
    Decompress {
        /// The codec of the attributes.
        codec: Codec,
        /// Why not.
        source: DecompressError,
    },
    /// A record of the batch is malformed.
    #[error("record {index} of the batch: {source}")]
    Record {
        /// Position of the record in the batch, from 0.
        index: u32,
        /// What is wrong with it.
        source: RecordError,
    },
    /// Bytes are left after the last record.
    #[error("{bytes} bytes follow the batch's last record")]
    TrailingBytes {
        /// How many.
        bytes: usize,
    },
}

/// A record that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The record ends before its fields do.
    #[error("ends in the middle of a field")]
    Incomplete,
    /// A variable-length number that does not fit its type.
    #[error("has a variable-length number that does not end or is too large")]
    Varint,
    /// A length below -1, or below 0 where there must be one.
    #[error("has the length {0}")]
    NegativeLength(i32),
    /// A length beyond the bytes that remain.
    #[error("says {length} bytes follow but only {present} do")]
    LengthBeyondEnd {
        /// The length field.
        length: usize,
        /// Bytes that were there.
        present: usize,
    },
    /// The fields end before the record's length does.
    #[error("is {bytes} bytes longer than its fields")]
    TooLong {
        /// Bytes left over.
        bytes: usize,
    },
    /// The offset delta does not rise, or passes the batch's last one.
    #[error("has the offset delta {delta}, allowed are {min} to {max}")]
    OffsetDelta {
        /// The value in the record.
        delta: i32,
        /// The previous delta plus one.
        min: i32,
        /// The batch's last offset delta.
        max: i32,
    },
}

/// Why a broker must not append a produced batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchRejection {
    /// The bytes are no readable batch.
    #[error(transparent)]
    Unreadable(#[from] BatchError),
    /// Produce carries one batch a partition; more bytes follow the first.
    #[error("{bytes} bytes follow the batch; a partition takes exactly one batch a request")]
    MoreThanOneBatch {
        /// How many.
        bytes: usize,
    },
    /// Only brokers write transaction markers.
    #[error("clients may not write control batches")]
    ControlBatch,
    /// Producers set the timestamps of their records; only the broker's own are of the other type.
    #[error("clients may not set the timestamp type to LogAppendTime")]
    LogAppendTime,
    /// A batch without records.
    #[error("the batch holds no records")]
    Empty,
    /// Producers number their records from 0.
    #[error("the base offset is {base_offset} instead of 0")]
    BaseOffset {
        /// The header field.
        base_offset: i64,
    },
    /// Last offset delta and record count contradict each other.
    #[error("{record_count} records cannot end at the offset delta {last_offset_delta}")]
    OffsetRange {
        /// The header field.
        record_count: i32,
        /// The header field.
        last_offset_delta: i32,
    },
    /// A producer id without an epoch or sequence.
    #[error("producer {producer_id} sent the epoch {producer_epoch} and sequence {base_sequence}")]
    ProducerState {
        /// The header field.
        producer_id: i64,
        /// The header field.
        producer_epoch: i16,
        /// The header field.
        base_sequence: i32,
    },
    /// A transaction needs a producer id.
    #[error("a transactional batch must carry a producer id")]
    TransactionalWithoutProducer,
}

impl BatchRejection {
    /// The number of Kafka's error for this.
    pub fn code(&self) -> i16 {
        match self.name() {
            "CORRUPT_MESSAGE" => 2,
            "INVALID_TIMESTAMP" => 32,
            "UNSUPPORTED_FOR_MESSAGE_FORMAT" => 43,
            "UNSUPPORTED_COMPRESSION_TYPE" => 76,
            _ => 87,
        }
    }

    /// The name of Kafka's error for this.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unreadable(error) => match error {
                BatchError::HeaderIncomplete { .. }
                | BatchError::Incomplete { .. }
                | BatchError::LengthTooSmall { .. }
                | BatchError::Crc { .. } => "CORRUPT_MESSAGE",
                BatchError::UnsupportedMagic { magic: 0 | 1 } => "UNSUPPORTED_FOR_MESSAGE_FORMAT",
                BatchError::UnsupportedMagic { .. } => "CORRUPT_MESSAGE",
                BatchError::UnknownCodec { .. } => "UNSUPPORTED_COMPRESSION_TYPE",
                _ => "INVALID_RECORD",
            },
            Self::LogAppendTime => "INVALID_TIMESTAMP",
            _ => "INVALID_RECORD",
        }
    }
}
