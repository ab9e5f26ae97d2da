//! Appending the protocol's primitive types to a `Vec<u8>`. Only lengths can fail.

use super::{EncodeError, Lengths, STRING_BYTES_MAX, Uuid};

/// The longest byte sequence and the largest array, as Kafka's signed 32-bit lengths allow.
const LENGTH_MAX: usize = i32::MAX as usize;

macro_rules! put_number {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[inline]
        pub fn $name(out: &mut Vec<u8>, value: $number) {
            out.extend_from_slice(&value.to_be_bytes());
        }
    };
}

put_number!(
    /// A signed 8-bit integer.
    put_i8, i8
);
put_number!(
    /// A signed 16-bit integer, big-endian.
    put_i16, i16
);
put_number!(
    /// An unsigned 16-bit integer, big-endian.
    put_u16, u16
);
put_number!(
    /// A signed 32-bit integer, big-endian.
    put_i32, i32
);
put_number!(
    /// An unsigned 32-bit integer, big-endian.
    put_u32, u32
);
put_number!(
    /// A signed 64-bit integer, big-endian.
    put_i64, i64
);
put_number!(
    /// A 64-bit IEEE 754 number, big-endian.
    put_f64, f64
);

/// One byte: 1 for true, 0 for false.
#[inline]
pub fn put_bool(out: &mut Vec<u8>, value: bool) {
    out.push(u8::from(value));
}

/// 16 bytes.
#[inline]
pub fn put_uuid(out: &mut Vec<u8>, value: Uuid) {
    out.extend_from_slice(&value.0);
}

/// An unsigned 32-bit integer in 1 to 5 bytes of 7 bits, lowest first.
#[inline]
pub fn put_unsigned_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A string; `what` names the field in an error.
pub fn put_string(
    out: &mut Vec<u8>,
    lengths: Lengths,
    value: &str,
    what: &'static str,
) -> Result<(), EncodeError> {
    let length = value.len();
    if length > STRING_BYTES_MAX {
        return Err(EncodeError::TooLong {
            what,
            length,
            length_max: STRING_BYTES_MAX,
        });
    }
    match lengths {
        Lengths::Fixed => put_i16(out, length as i16),
        Lengths::Compact => put_unsigned_varint(out, length as u32 + 1),
    }
    out.extend_from_slice(value.as_bytes());
    Ok(())
}

/// A null string.
#[inline]
pub fn put_null_string(out: &mut Vec<u8>, lengths: Lengths) {
    match lengths {
        Lengths::Fixed => put_i16(out, -1),
        Lengths::Compact => put_unsigned_varint(out, 0),
    }
}

/// A byte sequence; `what` names the field in an error.
pub fn put_bytes(
    out: &mut Vec<u8>,
    lengths: Lengths,
    value: &[u8],
    what: &'static str,
) -> Result<(), EncodeError> {
    put_array_length(out, lengths, value.len(), what)?;
    out.extend_from_slice(value);
    Ok(())
}

/// A null byte sequence.
#[inline]
pub fn put_null_bytes(out: &mut Vec<u8>, lengths: Lengths) {
    put_null_array(out, lengths);
}

/// The count before an array's elements; `what` names the field in an error.
#[inline]
pub fn put_array_length(
    out: &mut Vec<u8>,
    lengths: Lengths,
    length: usize,
    what: &'static str,
) -> Result<(), EncodeError> {
    if length > LENGTH_MAX {
        return Err(EncodeError::TooLong {
            what,
            length,
            length_max: LENGTH_MAX,
        });
    }
    match lengths {
        Lengths::Fixed => put_i32(out, length as i32),
        Lengths::Compact => put_unsigned_varint(out, length as u32 + 1),
    }
    Ok(())
}

/// A null array.
#[inline]
pub fn put_null_array(out: &mut Vec<u8>, lengths: Lengths) {
    match lengths {
        Lengths::Fixed => put_i32(out, -1),
        Lengths::Compact => put_unsigned_varint(out, 0),
    }
}

/// The byte before a struct that may be null.
#[inline]
pub fn put_presence(out: &mut Vec<u8>, present: bool) {
    put_i8(out, if present { 1 } else { -1 });
}

/// Starts a tagged field: returns where its value begins, for [`end_tagged`].
#[inline]
pub fn begin_tagged(out: &mut Vec<u8>, tag: u32) -> usize {
    put_unsigned_varint(out, tag);
    out.len()
}

/// Ends a tagged field whose value was appended since `start`: puts its size before it.
pub fn end_tagged(out: &mut Vec<u8>, start: usize, what: &'static str) -> Result<(), EncodeError> {
    let length = out.len() - start;
    if length > LENGTH_MAX {
        return Err(EncodeError::TooLong {
            what,
            length,
            length_max: LENGTH_MAX,
        });
    }
    put_unsigned_varint(out, length as u32);
    let size_bytes = out.len() - start - length;
    out[start..].rotate_right(size_bytes);
    Ok(())
}
