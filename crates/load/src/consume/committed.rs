//! `read_committed`: skips a partition's batches of aborted transactions.
//!
//! The response lists them by producer id and first offset. From there on, transactional batches of that producer are
//! skipped until its next marker (`CompletedFetch` in Kafka's consumer).

use std::collections::BTreeSet;

use kgauge_wire::message_set::MessageError;
use kgauge_wire::record_batch::{BatchError, BatchTally, batches};

use super::response::AbortedRange;

/// Calls `each` with the bytes of every batch that may be read, including markers.
fn committed<'b, E: From<BatchError>>(
    bytes: &'b [u8],
    aborted: &[AbortedRange],
    mut each: impl FnMut(&'b [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting: Vec<AbortedRange> = aborted.to_vec();
    waiting.sort_by_key(|one| std::cmp::Reverse(one.first_offset));
    let mut open: BTreeSet<i64> = BTreeSet::new();
    for batch in batches(bytes) {
        let batch = batch?;
        let header = &batch.header;
        while let Some(next) = waiting.pop_if(|next| next.first_offset <= header.last_offset()) {
            open.insert(next.producer_id);
        }
        if header.attributes.is_control() {
            open.remove(&header.producer_id);
        } else if header.attributes.is_transactional() && open.contains(&header.producer_id) {
            continue;
        }
        each(batch.bytes())?;
    }
    Ok(())
}

/// Counts only records that were not aborted.
pub(super) fn sum_of_committed(
    bytes: &[u8],
    aborted: &[AbortedRange],
    mut count: impl FnMut(&[u8]) -> Result<BatchTally, MessageError>,
) -> Result<BatchTally, MessageError> {
    let mut sum = BatchTally::default();
    committed::<MessageError>(bytes, aborted, |batch| {
        let found = count(batch)?;
        sum.records += found.records;
        sum.key_bytes += found.key_bytes;
        sum.value_bytes += found.value_bytes;
        sum.header_bytes += found.header_bytes;
        Ok(())
    })?;
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

    use super::*;

    /// A batch of one record by a producer at an offset, or a marker.
    fn batch(producer: i64, offset: i64, is_transactional: bool, is_marker: bool) -> Vec<u8> {
        let mut encoder = BatchEncoder::default();
        encoder.start(0);
        encoder.append(0, None, Some(b"x"), &[]);
        let state = ProducerState {
            id: producer,
            epoch: 0,
            base_sequence: 0,
            transactional: is_transactional,
        };
        let mut bytes = encoder.finish(&state).to_vec();
        bytes[..8].copy_from_slice(&offset.to_be_bytes());
        // The attributes' sixth bit marks control batches; the checksum is not verified here.
        bytes[22] |= u8::from(is_marker) << 5;
        bytes
    }

    #[test]
    fn aborted_records_are_passed_over_until_their_marker() {
        let log: Vec<Vec<u8>> = vec![
            batch(7, 0, true, false),
            batch(8, 1, true, false),
            batch(7, 2, false, false),
            batch(7, 3, true, true),
            batch(7, 4, true, false),
            batch(8, 5, true, true),
        ];
        let aborted = [AbortedRange {
            producer_id: 7,
            first_offset: 0,
        }];
        let bytes: Vec<u8> = log.concat();
        let mut read = Vec::new();
        let all: Result<(), BatchError> = committed(&bytes, &aborted, |batch| {
            read.push(batch[7]);
            Ok(())
        });
        assert!(all.is_ok());
        // Only the first is skipped: 2 is not transactional, 4 belongs to the next transaction.
        assert_eq!(read, [1, 2, 3, 4, 5]);
    }
}
