//! How many bytes a record takes, before it is written.

use super::varint::{unsigned_bytes, varint_bytes, varlong_bytes};

/// Exact bytes of a record in the records section, its length field included.
///
/// `key_bytes` and `value_bytes` are `None` for null. This is the size that Kafka's producer counts too.
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

/// Bytes of a record after its length field.
pub(super) fn body_bytes(
    offset_delta: i32,
    timestamp_delta: i64,
    key_bytes: Option<usize>,
    value_bytes: Option<usize>,
    headers: &[(&str, Option<&[u8]>)],
) -> usize {
    let mut bytes = 1 + varlong_bytes(timestamp_delta) + varint_bytes(offset_delta);
    bytes += nullable_bytes(key_bytes) + nullable_bytes(value_bytes) + length_bytes(headers.len());
    for (key, value) in headers {
        bytes += length_bytes(key.len()) + key.len() + nullable_bytes(value.map(<[u8]>::len));
    }
    bytes
}

fn nullable_bytes(length: Option<usize>) -> usize {
    length.map_or(1, |length| length_bytes(length) + length)
}

/// Bytes of a length or count as a signed number.
fn length_bytes(length: usize) -> usize {
    unsigned_bytes((length as u64) << 1)
}
