//! The size of a record, including its overhead, in Kafka's record batch format v2.

use crate::keys::producer::ProducerSettings;
use crate::record::RecordPlan;
use crate::units::ByteSize;

/// A batch's own head, from base offset to record count.
pub(crate) const BATCH_HEAD_BYTES: u64 = 61;

/// The most bytes that Kafka's producer reckons for a batch of one record:
/// `AbstractRecords.estimateSizeInBytesUpperBound`, which adds 21 for the record's length,
/// attributes, timestamp and offset at their longest.
fn record_bytes_max(record: &RecordPlan) -> u64 {
    const LONGEST_HEAD_BYTES: u64 = 21;
    let value = u64::from(record.value_bytes_max());
    BATCH_HEAD_BYTES + LONGEST_HEAD_BYTES + key_bytes(record) + field_bytes(value) + headers(record)
}

/// What a record exceeds, and the setting that limits it.
pub(crate) fn exceeded_limits(
    record: &RecordPlan,
    settings: &ProducerSettings,
) -> impl Iterator<Item = (String, &'static str)> {
    let bytes = record_bytes_max(record);
    let request = u64::from(settings.request_bytes_max);
    let limits = [
        (request, "max.request.size"),
        (settings.buffer_bytes, "buffer.memory"),
    ];
    let exceeded = limits.into_iter().filter(move |(limit, _)| bytes > *limit);
    exceeded.map(move |(limit, key)| {
        let limit = ByteSize(limit);
        let what = format!("a record takes up to {bytes} bytes, more than `{key}` ({limit})");
        (what, key)
    })
}

/// What such a record takes on average inside a batch that lives less than 17 minutes and holds
/// less than a million records, all of it included.
pub(crate) fn record_bytes_in_batch(record: &RecordPlan) -> f64 {
    // 3 bytes of a zigzag varint hold up to 2^20 ms, and up to 2^20 records.
    const ATTRIBUTES_TIME_OFFSET_BYTES: u64 = 1 + 3 + 3;
    let fixed = ATTRIBUTES_TIME_OFFSET_BYTES + key_bytes(record) + headers(record);
    let with = |value: u64| {
        let body = fixed + value;
        (varint_bytes(body) + body) as f64
    };
    let full = with(field_bytes(record.value_bytes_mean().ceil() as u64));
    full * (1.0 - record.null_values) + with(NULL_BYTES) * record.null_values
}

/// The length -1.
const NULL_BYTES: u64 = 1;

fn key_bytes(record: &RecordPlan) -> u64 {
    match record.key_bytes() {
        0 => NULL_BYTES,
        bytes => field_bytes(bytes.into()),
    }
}

/// Headers with their count.
fn headers(record: &RecordPlan) -> u64 {
    record.headers.map_or(1, |headers| {
        let count = u64::from(headers.count);
        let each = field_bytes(headers.key_bytes.into()) + field_bytes(headers.value_bytes.into());
        varint_bytes(count) + count * each
    })
}

/// A field and its length.
fn field_bytes(bytes: u64) -> u64 {
    varint_bytes(bytes) + bytes
}

/// Length of a number, at least 0, as a zigzag varint: 7 bits a byte, the first of them the sign.
fn varint_bytes(number: u64) -> u64 {
    let bits = u64::from(u64::BITS - number.leading_zeros()) + 1;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{HeadersPlan, KeyChoice, KeyPlan};

    #[test]
    fn varints_have_kafkas_lengths() {
        let lengths = [
            (0, 1),
            (63, 1),
            (64, 2),
            (8_191, 2),
            (8_192, 3),
            (1_048_575, 3),
        ];
        for (number, bytes) in lengths {
            assert_eq!(varint_bytes(number), bytes, "{number}");
        }
        assert_eq!(varint_bytes(u64::from(u32::MAX)), 5);
    }

    #[test]
    fn a_record_of_100_bytes_takes_what_kafka_reckons() {
        // 61 + 21 + 1 + (2 + 100) + 1
        assert_eq!(record_bytes_max(&RecordPlan::of_values(100)), 186);
        // 2 + (7 + 2 + 2 + 100)
        assert_eq!(record_bytes_in_batch(&RecordPlan::of_values(100)), 113.0);
    }

    #[test]
    fn keys_headers_and_nulls_are_reckoned() {
        let plan = RecordPlan {
            key: Some(KeyPlan {
                key_bytes: 16,
                keys: None,
                choice: KeyChoice::Sequence,
            }),
            headers: Some(HeadersPlan {
                count: 2,
                key_bytes: 4,
                value_bytes: 6,
            }),
            null_values: 0.5,
            ..RecordPlan::of_values(100)
        };
        // 61 + 21 + (1 + 16) + (2 + 100) + (1 + 2 * (1 + 4 + 1 + 6))
        assert_eq!(record_bytes_max(&plan), 226);
        // 7 + 17 + 25 + 102 = 151 and its length 2; with a null value 50 and its length 1.
        assert_eq!(record_bytes_in_batch(&plan), (153.0 + 51.0) / 2.0);
    }
}
