//! What can go wrong with a partition log: one enum for the log itself, one each for appending and
//! reading.

use std::path::PathBuf;

use kgauge_wire::record_batch as batch;

use crate::storage::StorageError;

/// A log that cannot be opened, cut, flushed or otherwise worked with.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// The disk refused an operation.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file holds what no log writes there.
    #[error(transparent)]
    Corrupt(#[from] Corruption),
    /// An earlier write or flush failed and left the log's bytes unknown. It serves nothing more;
    /// after the cause is mended, reopening it recovers what is whole.
    #[error("the log is out of service: {cause}")]
    Dead {
        /// The failure that ended it.
        cause: StorageError,
    },
    /// An offset that the operation cannot work with.
    #[error("offset {offset} is outside {first} to {last}")]
    OffsetOutOfRange {
        /// The offset that was asked for.
        offset: i64,
        /// The lowest offset that would do.
        first: i64,
        /// The highest offset that would do.
        last: i64,
    },
}

impl LogError {
    /// True when the disk is full: the log is whole, and takes appends again once there is room.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Storage(error) if error.is_disk_full())
    }
}

/// Bytes in a log's files that are not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is corrupt at position {position}: {reason}", file.display())]
pub struct Corruption {
    /// The file.
    pub file: PathBuf,
    /// Position of the batch or entry that is wrong, in bytes.
    pub position: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Why an append did not happen. The log is as it was before.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The log cannot take any append.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no batch in the bytes.
    #[error("there is no batch to append")]
    Nothing,
    /// A batch is malformed or of a kind that clients may not write.
    #[error(transparent)]
    Batch(#[from] batch::BatchRejection),
    /// The records of an uncompressed batch differ from its header.
    #[error("the batch's records are not {record_count}, or do not end where it does")]
    Miscounted {
        /// The header's value.
        record_count: i32,
    },
    /// Records of a compacted topic without a key.
    #[error("{} of the batch's records have no key, which a compacted topic requires", records.len())]
    WithoutKey {
        /// Their places in the batch, from 0.
        records: Vec<i32>,
    },
    /// The records must be decompressed to be checked, and then are too large.
    #[error("the batch's records are larger than {bytes_max} bytes when decompressed")]
    InflatesTooFar {
        /// The limit.
        bytes_max: usize,
    },
    /// The batch cannot be compressed as the topic's `compression.type` asks.
    #[error("the batch cannot be compressed: {reason}")]
    Recompression {
        /// Why not.
        reason: String,
    },
    /// A batch is larger than `max.message.bytes`.
    #[error("a batch of {bytes} bytes is larger than the limit of {bytes_max} (max.message.bytes)")]
    BatchTooLarge {
        /// Bytes of the batch.
        bytes: usize,
        /// The limit.
        bytes_max: u32,
    },
    /// The batches together are larger than `segment.bytes`.
    #[error("{bytes} bytes of batches are more than a segment's {bytes_max} (segment.bytes)")]
    BatchesTooLarge {
        /// Bytes of all batches.
        bytes: usize,
        /// The limit.
        bytes_max: u32,
    },
    /// A record is dated outside what the topic allows.
    #[error("timestamp {timestamp_ms} is outside the topic's range {first_ms} to {last_ms}")]
    InvalidTimestamp {
        /// The timestamp, ms since 1970.
        timestamp_ms: i64,
        /// The earliest that would do.
        first_ms: i64,
        /// The latest that would do.
        last_ms: i64,
    },
    /// Several batches in one append, one of them from an idempotent producer.
    #[error("a batch of an idempotent producer must be alone in its append")]
    ProducerNotAlone,
    /// A batch of an idempotent producer that does not follow its last one.
    #[error(
        "producer {producer_id} sent sequence {sequence} in epoch {epoch}, expected {expected}"
    )]
    OutOfOrderSequence {
        /// The producer.
        producer_id: i64,
        /// Epoch of the batch.
        epoch: i16,
        /// First sequence of the batch.
        sequence: i32,
        /// The sequence that was due.
        expected: i32,
    },
    /// A batch of an idempotent producer whose epoch is over.
    #[error("producer {producer_id} sent epoch {epoch}, but it is already at epoch {current}")]
    InvalidProducerEpoch {
        /// The producer.
        producer_id: i64,
        /// Epoch of the batch.
        epoch: i16,
        /// The epoch that the log knows.
        current: i16,
    },
    /// A leader epoch that is over: batches of a later one are in the log.
    #[error("leader epoch {epoch} is over; the log has batches of epoch {current}")]
    StaleLeaderEpoch {
        /// Epoch of the append.
        epoch: i32,
        /// The newest epoch in the log.
        current: i32,
    },
    /// A replicated batch that does not follow the log's end.
    #[error("a batch of offsets {base_offset} to {last_offset} cannot follow offset {end_offset}")]
    NotTheNextOffset {
        /// First offset of the batch.
        base_offset: i64,
        /// Last offset of the batch.
        last_offset: i64,
        /// Where the log ends.
        end_offset: i64,
    },
}

impl AppendError {
    /// The number of the Kafka error that a producer gets for this.
    #[must_use]
    pub fn code(&self) -> i16 {
        match self {
            Self::Log(_) => 56, // KAFKA_STORAGE_ERROR
            Self::Batch(error) => error.code(),
            Self::BatchTooLarge { .. } | Self::InflatesTooFar { .. } => 10, // MESSAGE_TOO_LARGE
            Self::Recompression { .. } => -1,                               // UNKNOWN_SERVER_ERROR
            Self::BatchesTooLarge { .. } => 18,                             // RECORD_LIST_TOO_LARGE
            Self::InvalidTimestamp { .. } => 32,                            // INVALID_TIMESTAMP
            Self::Miscounted { .. }
            | Self::Nothing
            | Self::ProducerNotAlone
            | Self::WithoutKey { .. } => 87, // INVALID_RECORD
            Self::OutOfOrderSequence { .. } => 45, // OUT_OF_ORDER_SEQUENCE_NUMBER
            Self::InvalidProducerEpoch { .. } => 47, // INVALID_PRODUCER_EPOCH
            Self::StaleLeaderEpoch { .. } => 74,   // FENCED_LEADER_EPOCH
            Self::NotTheNextOffset { .. } => 2,    // CORRUPT_MESSAGE
        }
    }
}

impl From<StorageError> for AppendError {
    fn from(error: StorageError) -> Self {
        Self::Log(error.into())
    }
}

/// Why a read gives nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// The offset is below the log's start or above its end.
    #[error("offset {offset} is outside the log, which holds {start} to {end}")]
    OffsetOutOfRange {
        /// The offset that was asked for.
        offset: i64,
        /// The log's start.
        start: i64,
        /// The log's end.
        end: i64,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl ReadError {
    /// The number of the Kafka error that a consumer gets for this.
    #[must_use]
    pub fn code(&self) -> i16 {
        match self {
            Self::OffsetOutOfRange { .. } => 1,   // OFFSET_OUT_OF_RANGE
            Self::Log(LogError::Corrupt(_)) => 2, // CORRUPT_MESSAGE
            Self::Log(_) => 56,                   // KAFKA_STORAGE_ERROR
        }
    }
}

impl From<StorageError> for ReadError {
    fn from(error: StorageError) -> Self {
        Self::Log(error.into())
    }
}

impl From<Corruption> for ReadError {
    fn from(corruption: Corruption) -> Self {
        Self::Log(corruption.into())
    }
}
