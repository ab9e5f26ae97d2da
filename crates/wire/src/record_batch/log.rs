//! What changes in a batch on its way into a log or to another producer state, patched in place.

use super::header::{at, put};
use super::{
    BatchError, BatchHeader, HEADER_BYTES, LOG_OVERHEAD, ProducerState, TimestampType, crc32c,
};
use crate::compress::Codec;

/// Gives a batch its place in a log: offset of its first record, and the epoch of the leader that
/// appends it.
///
/// Both fields lie outside the CRC. `batch` is one complete batch, as
/// [`super::validate_for_append`] left it; fewer bytes than a header are an error and nothing is
/// changed.
pub fn rewrite_for_log(
    batch: &mut [u8],
    base_offset: i64,
    leader_epoch: i32,
) -> Result<(), BatchError> {
    if batch.len() < HEADER_BYTES {
        return Err(BatchError::HeaderIncomplete { bytes: batch.len() });
    }
    put(batch, at::BASE_OFFSET, base_offset.to_be_bytes());
    put(batch, at::LEADER_EPOCH, leader_epoch.to_be_bytes());
    Ok(())
}

/// As [`rewrite_for_log`], for topics whose timestamps the broker sets: all records get
/// `append_time_ms`.
///
/// Attributes and max timestamp change, so the CRC is recomputed over the whole batch.
pub fn rewrite_for_log_append_time(
    batch: &mut [u8],
    base_offset: i64,
    leader_epoch: i32,
    append_time_ms: i64,
) -> Result<(), BatchError> {
    let header = BatchHeader::parse(batch)?;
    rewrite_for_log(batch, base_offset, leader_epoch)?;
    let attributes = header
        .attributes
        .with_timestamp_type(TimestampType::LogAppendTime);
    put(batch, at::ATTRIBUTES, attributes.0.to_be_bytes());
    put(batch, at::MAX_TIMESTAMP, append_time_ms.to_be_bytes());
    write_crc(batch);
    Ok(())
}

/// Puts a batch behind `to` that has everything of `header` but its codec and `section`, the records
/// as that codec compresses them.
pub fn put_with_codec(header: &BatchHeader, codec: Codec, section: &[u8], to: &mut Vec<u8>) {
    let begin = to.len();
    let bytes = HEADER_BYTES - LOG_OVERHEAD + section.len();
    let header = BatchHeader {
        batch_length: i32::try_from(bytes).unwrap_or(i32::MAX),
        attributes: header.attributes.with_codec(codec),
        ..*header
    };
    let mut head = [0; HEADER_BYTES];
    header.write(&mut head);
    to.extend_from_slice(&head);
    to.extend_from_slice(section);
    write_crc(&mut to[begin..]);
}

/// Gives a finished batch another producer id, epoch and sequence, as a producer does before it
/// sends a batch again under a new epoch. The CRC is recomputed.
pub fn rewrite_producer(batch: &mut [u8], producer: &ProducerState) -> Result<(), BatchError> {
    let header = BatchHeader::parse(batch)?;
    put(
        batch,
        at::ATTRIBUTES,
        producer.attributes(header.attributes).0.to_be_bytes(),
    );
    write_producer(batch, producer);
    write_crc(batch);
    Ok(())
}

/// Sets id, epoch and sequence; the CRC is the caller's.
pub(super) fn write_producer(batch: &mut [u8], producer: &ProducerState) {
    put(batch, at::PRODUCER_ID, producer.id.to_be_bytes());
    put(batch, at::PRODUCER_EPOCH, producer.epoch.to_be_bytes());
    put(
        batch,
        at::BASE_SEQUENCE,
        producer.base_sequence.to_be_bytes(),
    );
}

/// Computes the CRC of a complete batch and sets it.
pub(super) fn write_crc(batch: &mut [u8]) {
    let crc = crc32c(&batch[at::ATTRIBUTES..]);
    put(batch, at::CRC, crc.to_be_bytes());
}
