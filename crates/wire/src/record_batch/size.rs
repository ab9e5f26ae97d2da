//! How many bytes a record takes, before it is written.

use super::varint::{
    VARINT_BYTES_MAX, VARLONG_BYTES_MAX, unsigned_bytes, varint_bytes, varlong_bytes,
};

/// Length, attributes, timestamp delta and offset delta.
const RECORD_OVERHEAD_BYTES_MAX: usize =
    VARINT_BYTES_MAX + 1 + VARLONG_BYTES_MAX + VARINT_BYTES_MAX;

/// Exact bytes of a record in the records section, its length field included.
///
/// `key_bytes` and `value_bytes` are `None` for null. This is the size that Kafka's producer counts
/// too.
#[inline]
pub fn record_bytes(
    offset_delta: i32,
    timestamp_delta: i64,
    key_bytes: Option<usize>,
    value_bytes: Option<usize>,
    headers: &[(&str, Option<&[u8]>)],
) -> usize {
    let body = body_bytes(
        offset_delta,
        timestamp_delta,
        key_bytes,
        value_bytes,
        headers,
    );
    length_bytes(body) + body
}

/// The size that Kafka's producer compares with `max.request.size` and `buffer.memory`, less the
/// batch header.
///
/// It does not know yet where in a batch the record will come, and counts 21 bytes for length,
/// attributes and deltas: the most that they can take.
pub fn record_bytes_upper_bound(
    key_bytes: Option<usize>,
    value_bytes: Option<usize>,
    headers: &[(&str, Option<&[u8]>)],
) -> usize {
    RECORD_OVERHEAD_BYTES_MAX + payload_bytes(key_bytes, value_bytes, headers)
}

/// Bytes of a record after its length field.
#[inline]
pub(super) fn body_bytes(
    offset_delta: i32,
    timestamp_delta: i64,
    key_bytes: Option<usize>,
    value_bytes: Option<usize>,
    headers: &[(&str, Option<&[u8]>)],
) -> usize {
    let deltas = varlong_bytes(timestamp_delta) + varint_bytes(offset_delta);
    1 + deltas + payload_bytes(key_bytes, value_bytes, headers)
}

/// Bytes of key, value and headers with their lengths.
#[inline]
fn payload_bytes(
    key_bytes: Option<usize>,
    value_bytes: Option<usize>,
    headers: &[(&str, Option<&[u8]>)],
) -> usize {
    let mut bytes =
        nullable_bytes(key_bytes) + nullable_bytes(value_bytes) + length_bytes(headers.len());
    for (key, value) in headers {
        bytes += length_bytes(key.len()) + key.len() + nullable_bytes(value.map(<[u8]>::len));
    }
    bytes
}

#[inline]
fn nullable_bytes(length: Option<usize>) -> usize {
    length.map_or(1, |length| length_bytes(length) + length)
}

/// Bytes of a length or count as a signed number.
#[inline]
fn length_bytes(length: usize) -> usize {
    unsigned_bytes((length as u64) << 1)
}
