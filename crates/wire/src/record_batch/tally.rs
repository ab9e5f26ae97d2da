//! Counts what a Fetch response brought, as cheaply as the consumer wants it.

use super::{BatchError, batches};
use crate::compress::Decompressor;

/// How closely [`tally`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyDepth {
    /// Trust the batch headers: a few nanoseconds a batch.
    Headers,
    /// Check each CRC too: one pass over the bytes, as every Kafka consumer does by default.
    Crc,
    /// Decompress and read each record too, and sum keys and values.
    Records,
    /// Read each record as [`TallyDepth::Records`] does, and believe the CRCs: what Kafka's consumer does with
    /// `check.crcs=false`.
    RecordsUnchecked,
}

impl TallyDepth {
    /// Whether CRCs are checked.
    pub(crate) fn checks(self) -> bool {
        matches!(self, TallyDepth::Crc | TallyDepth::Records)
    }

    /// Whether each record is read.
    pub(crate) fn reads(self) -> bool {
        matches!(self, TallyDepth::Records | TallyDepth::RecordsUnchecked)
    }
}

/// What some consecutive batches hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchTally {
    /// Complete batches, control batches included.
    pub batches: u64,
    /// Bytes of the complete batches as they came.
    pub batch_bytes: u64,
    /// Records at or after the offset that was asked for, without transaction markers.
    pub records: u64,
    /// Bytes of those records' keys; 0 unless the depth reads records.
    pub key_bytes: u64,
    /// Bytes of those records' values; 0 unless the depth reads records.
    pub value_bytes: u64,
    /// Bytes of those records' headers, names and values; 0 unless the depth reads
    /// records, and for message sets, which have none.
    pub header_bytes: u64,
    /// Offset after the last complete batch: where to fetch next. `None` without a batch.
    pub next_offset: Option<i64>,
    /// Bytes of the incomplete batch at the end.
    pub incomplete_bytes: u64,
}

/// Counts the batches in `bytes` and their records from `from_offset` on.
///
/// A broker sends whole batches, so that the first may begin before the offset that was asked for.
/// At the depths that do not read records, those before `from_offset` are subtracted by their
/// number, which is exact as long as the topic is not compacted. `scratch` takes decompressed
/// sections of at most `bytes_max` bytes each. At the depths that read records, `each` gets the offset and value of
/// every record that is counted.
pub fn tally(
    bytes: &[u8],
    from_offset: i64,
    depth: TallyDepth,
    (decompressor, scratch): (&mut Decompressor, &mut Vec<u8>),
    bytes_max: usize,
    mut each: impl FnMut(i64, Option<&[u8]>),
) -> Result<BatchTally, BatchError> {
    let mut sum = BatchTally::default();
    let mut walk = batches(bytes);
    for batch in walk.by_ref() {
        let batch = batch?;
        let header = batch.header;
        sum.batches += 1;
        sum.batch_bytes += batch.bytes().len() as u64;
        sum.next_offset = Some(header.next_offset());
        if depth.checks() {
            batch.validate_crc()?;
        }
        if header.attributes.is_control() {
            continue;
        }
        if !depth.reads() {
            let skipped = from_offset.saturating_sub(header.base_offset).max(0) as u64;
            sum.records += u64::from(header.records()).saturating_sub(skipped);
            continue;
        }
        for record in batch.records(decompressor, scratch, bytes_max)? {
            let record = record?;
            if record.offset >= from_offset {
                each(record.offset, record.value);
                sum.records += 1;
                sum.key_bytes += record.key.map_or(0, <[u8]>::len) as u64;
                sum.value_bytes += record.value.map_or(0, <[u8]>::len) as u64;
                for header in record.headers() {
                    let value = header.value.map_or(0, <[u8]>::len);
                    sum.header_bytes += (header.key.len() + value) as u64;
                }
            }
        }
    }
    sum.incomplete_bytes = walk.rest().len() as u64;
    Ok(sum)
}
