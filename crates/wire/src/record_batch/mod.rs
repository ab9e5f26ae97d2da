//! Record batches in Kafka's message format 2: the bytes that Produce requests, Fetch responses and
//! log segments have in common.
//!
//! Hand-written, because every record of every run passes here. A batch is a 61-byte header and a
//! records section; the section is compressed as a whole or not at all.
//!
//! | offset | bytes | field | inside the CRC |
//! |---:|---:|---|---|
//! | 0 | 8 | base offset | no |
//! | 8 | 4 | batch length: bytes after this field | no |
//! | 12 | 4 | partition leader epoch | no |
//! | 16 | 1 | magic, 2 | no |
//! | 17 | 4 | CRC-32C of all that follows | no |
//! | 21 | 2 | attributes | yes |
//! | 23 | 4 | last offset delta | yes |
//! | 27 | 8 | base timestamp, ms | yes |
//! | 35 | 8 | max timestamp, ms | yes |
//! | 43 | 8 | producer id, -1 for none | yes |
//! | 51 | 2 | producer epoch, -1 for none | yes |
//! | 53 | 4 | base sequence, -1 for none | yes |
//! | 57 | 4 | record count | yes |
//! | 61 | | records | yes |
//!
//! Numbers are big-endian. Source: "Record Batch" in the implementation chapter of Kafka's
//! documentation. The first three fields lie outside the CRC so that a broker can set them without
//! reading the rest.
//!
//! Where to start: [`BatchEncoder`] writes, [`batches`] and [`Records`] read,
//! [`validate_for_append`] and [`rewrite_for_log`] are what a broker does with a produced batch.
//!
//! Message formats 0 and 1 are not read here, but in [`crate::message_set`]; they give
//! [`BatchError::UnsupportedMagic`].

mod cursor;
mod encode;
mod error;
mod header;
mod iter;
mod log;
mod packed;
mod prefix;
mod producer;
mod records;
mod size;
mod tally;
mod validate;
mod varint;
mod writer;

pub use encode::{BatchEncoder, KeySlot};
pub use error::{BatchError, BatchRejection, RecordError};
pub use header::{Attributes, BatchHeader, TimestampType};
pub use iter::{Batch, Batches, batches};
pub use log::{put_with_codec, rewrite_for_log, rewrite_for_log_append_time, rewrite_producer};
pub use producer::ProducerState;
pub use records::{Header, Headers, Record, Records};
pub use size::{record_bytes, record_bytes_upper_bound};
pub use tally::{BatchTally, TallyDepth, tally};
pub use validate::{BatchInfo, count_records, validate_for_append, validate_records_for_append};

/// The only magic that this module writes and reads.
pub const MAGIC: i8 = 2;

/// Bytes of a batch before its records.
pub const HEADER_BYTES: usize = 61;

/// Bytes of base offset and batch length, which the batch length does not count.
pub const LOG_OVERHEAD: usize = 12;

/// Bytes from a batch's start up to and with its magic. All formats agree on these.
pub const BYTES_TO_MAGIC: usize = 17;

/// The smallest record: its length, attributes, two deltas, key, value and header count, a byte
/// each.
pub const RECORD_BYTES_MIN: usize = 7;

/// No offset, timestamp, producer id or sequence.
pub const NONE: i64 = -1;

/// CRC-32C (Castagnoli), as the batch header carries it.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}
