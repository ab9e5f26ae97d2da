//! What a record takes beside its value, in Kafka's record batch format v2.

/// A batch's own head, from base offset to record count.
pub(crate) const BATCH_HEAD_BYTES: u64 = 61;

/// The most bytes that Kafka's producer reckons for a batch of one record with null key and no
/// headers: `AbstractRecords.estimateSizeInBytesUpperBound`, which adds 21 for the record's
/// length, attributes, timestamp and offset at their longest.
pub(crate) fn record_bytes_max(value_bytes: u32) -> u64 {
    const LONGEST_HEAD_BYTES: u64 = 21;
    const NULL_KEY_BYTES: u64 = 1;
    const NO_HEADERS_BYTES: u64 = 1;
    let value = varint_bytes(u64::from(value_bytes)) + u64::from(value_bytes);
    BATCH_HEAD_BYTES + LONGEST_HEAD_BYTES + NULL_KEY_BYTES + value + NO_HEADERS_BYTES
}

/// What such a record takes inside a batch that lives less than 17 minutes and holds less than
/// a million records, its value included.
pub(crate) fn record_bytes_in_batch(value_bytes: u32) -> u64 {
    // 3 bytes of a zigzag varint hold up to 2^20 ms, and up to 2^20 records.
    const ATTRIBUTES_TIME_OFFSET_BYTES: u64 = 1 + 3 + 3;
    const NULL_KEY_AND_NO_HEADERS_BYTES: u64 = 2;
    let value = varint_bytes(u64::from(value_bytes)) + u64::from(value_bytes);
    let body = ATTRIBUTES_TIME_OFFSET_BYTES + NULL_KEY_AND_NO_HEADERS_BYTES + value;
    varint_bytes(body) + body
}

/// Length of a number, at least 0, as a zigzag varint: 7 bits a byte, the first of them the sign.
fn varint_bytes(number: u64) -> u64 {
    let bits = u64::from(u64::BITS - number.leading_zeros()) + 1;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(record_bytes_max(100), 186);
        // 2 + (7 + 2 + 2 + 100)
        assert_eq!(record_bytes_in_batch(100), 113);
    }
}
