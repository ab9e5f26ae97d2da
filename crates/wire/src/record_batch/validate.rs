//! What a broker checks before it appends a produced batch.

use super::varint::take_varint;
use super::{Batch, BatchHeader, BatchRejection, TimestampType};
use crate::compress::{Codec, Decompressor};

/// A batch that may be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchInfo {
    /// The header as the producer wrote it.
    pub header: BatchHeader,
    /// Codec of the records section.
    pub codec: Codec,
    /// Bytes of the whole batch.
    pub batch_bytes: usize,
    /// Records in the batch, at least 1.
    pub records: u32,
}

/// Checks that `bytes` are exactly one batch which a client may append.
///
/// Checked are magic, length, CRC, codec, kind, timestamp type, and that offsets, count and
/// producer state agree: what Kafka checks without a look at single records. It costs about one CRC
/// pass. The records themselves are left to [`validate_records_for_append`].
pub fn validate_for_append(bytes: &[u8]) -> Result<BatchInfo, BatchRejection> {
    let batch = Batch::parse(bytes)?;
    let header = batch.header;
    let batch_bytes = batch.bytes().len();
    if bytes.len() > batch_bytes {
        return Err(BatchRejection::MoreThanOneBatch {
            bytes: bytes.len() - batch_bytes,
        });
    }
    batch.validate_crc()?;
    let codec = batch.codec()?;
    check_kind(&header)?;
    check_offsets(&header)?;
    check_producer(&header)?;
    Ok(BatchInfo {
        header,
        codec,
        batch_bytes,
        records: header.records(),
    })
}

fn check_kind(header: &BatchHeader) -> Result<(), BatchRejection> {
    if header.attributes.is_control() {
        return Err(BatchRejection::ControlBatch);
    }
    if header.attributes.timestamp_type() == TimestampType::LogAppendTime {
        return Err(BatchRejection::LogAppendTime);
    }
    Ok(())
}

fn check_offsets(header: &BatchHeader) -> Result<(), BatchRejection> {
    let BatchHeader {
        base_offset,
        record_count,
        last_offset_delta,
        ..
    } = *header;
    if base_offset != 0 {
        return Err(BatchRejection::BaseOffset { base_offset });
    }
    if record_count == 0 {
        return Err(BatchRejection::Empty);
    }
    if record_count.checked_sub(1) != Some(last_offset_delta) {
        return Err(BatchRejection::OffsetRange {
            record_count,
            last_offset_delta,
        });
    }
    Ok(())
}

fn check_producer(header: &BatchHeader) -> Result<(), BatchRejection> {
    let BatchHeader {
        producer_id,
        producer_epoch,
        base_sequence,
        ..
    } = *header;
    if header.has_producer_id() && (producer_epoch < 0 || base_sequence < 0) {
        return Err(BatchRejection::ProducerState {
            producer_id,
            producer_epoch,
            base_sequence,
        });
    }
    if header.attributes.is_transactional() && !header.has_producer_id() {
        return Err(BatchRejection::TransactionalWithoutProducer);
    }
    Ok(())
}

/// How many records an uncompressed section holds, by their lengths alone: some nanoseconds a record.
///
/// `None` when the last one does not end where the section does, or a length is negative or no varint.
/// It does not check what is inside of a record.
pub fn count_records(section: &[u8]) -> Option<u32> {
    let (mut rest, mut count) = (section, 0_u32);
    while !rest.is_empty() {
        let (length, after) = take_varint(rest).ok()?;
        rest = after.get(usize::try_from(length).ok()?..)?;
        count = count.checked_add(1)?;
    }
    Some(count)
}

/// Reads every record of a batch that passed [`validate_for_append`].
///
/// The records must be well-formed and as many as the header says, with offset deltas 0, 1, 2, ...
/// A compressed section is decompressed into `scratch`, at most `bytes_max` bytes.
pub fn validate_records_for_append(
    bytes: &[u8],
    decompressor: &mut Decompressor,
    scratch: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<(), BatchRejection> {
    let batch = Batch::parse(bytes)?;
    // Deltas that rise, from 0 to count - 1, and are as many as count, are dense.
    for record in batch.records(decompressor, scratch, bytes_max)? {
        record?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_by_their_lengths() {
        assert_eq!(count_records(&[]), Some(0));
        // Zigzag: 4 means two bytes, 0 none.
        assert_eq!(count_records(&[4, 9, 9, 0, 2, 9]), Some(3));
        // A length of two bytes: 0x80 0x01 is 128, which means 64.
        let mut long = vec![0x80, 0x01];
        long.resize(2 + 64, 7);
        assert_eq!(count_records(&long), Some(1));
        long.pop();
        let wrong: [&[u8]; 4] = [&long, &[4, 9], &[1], &[0x80; 6]];
        for section in wrong {
            assert_eq!(count_records(section), None, "{section:?}");
        }
    }
}
