//! Variable-length numbers of records: seven bits a byte, least significant first, signed ones
//! zigzagged.

use super::RecordError;

/// Bytes of the longest 32-bit number.
pub(super) const VARINT_BYTES_MAX: usize = 5;
/// Bytes of the longest 64-bit number.
pub(super) const VARLONG_BYTES_MAX: usize = 10;

/// Small magnitudes of either sign become small unsigned numbers: 0, -1, 1, -2 give 0, 1, 2, 3.
pub(super) fn zigzag32(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

/// As [`zigzag32`], for 64 bits.
pub(super) fn zigzag64(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
fn unzigzag32(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

#[inline]
fn unzigzag64(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Bytes of an unsigned number.
pub(super) fn unsigned_bytes(value: u64) -> usize {
    // Bits in use, at least one, in groups of seven.
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Bytes of a signed 32-bit number.
pub(super) fn varint_bytes(value: i32) -> usize {
    unsigned_bytes(u64::from(zigzag32(value)))
}

/// Bytes of a signed 64-bit number.
pub(super) fn varlong_bytes(value: i64) -> usize {
    unsigned_bytes(zigzag64(value))
}

/// Writes a signed 32-bit number to the start of `to` and returns its bytes.
pub(super) fn put_varint(to: &mut [u8], value: i32) -> usize {
    put_unsigned(to, u64::from(zigzag32(value)))
}

/// Writes a signed 64-bit number to the start of `to` and returns its bytes.
pub(super) fn put_varlong(to: &mut [u8], value: i64) -> usize {
    put_unsigned(to, zigzag64(value))
}

fn put_unsigned(to: &mut [u8], mut value: u64) -> usize {
    let mut at = 0;
    while value >= 0x80 {
        to[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    to[at] = value as u8;
    at + 1
}

/// Reads a signed 32-bit number and what follows it.
#[inline]
pub(super) fn take_varint(bytes: &[u8]) -> Result<(i32, &[u8]), RecordError> {
    let (value, rest) = take_unsigned(bytes, VARINT_BYTES_MAX)?;
    let value = u32::try_from(value).map_err(|_| RecordError::Varint)?;
    Ok((unzigzag32(value), rest))
}

/// Reads a signed 64-bit number and what follows it.
#[inline]
pub(super) fn take_varlong(bytes: &[u8]) -> Result<(i64, &[u8]), RecordError> {
    let (value, rest) = take_unsigned(bytes, VARLONG_BYTES_MAX)?;
    Ok((unzigzag64(value), rest))
}

#[inline]
fn take_unsigned(bytes: &[u8], bytes_max: usize) -> Result<(u64, &[u8]), RecordError> {
    match bytes {
        [first, rest @ ..] if *first < 0x80 => Ok((u64::from(*first), rest)),
        [first, second, rest @ ..] if *second < 0x80 => {
            Ok((u64::from(first & 0x7f) | u64::from(*second) << 7, rest))
        }
        [first, second, third, rest @ ..] if *third < 0x80 => Ok((
            u64::from(first & 0x7f) | u64::from(second & 0x7f) << 7 | u64::from(*third) << 14,
            rest,
        )),
        _ => take_unsigned_long(bytes, bytes_max),
    }
}

/// Padding with zero groups is read, as Kafka reads it; bits beyond the type are not.
#[cold]
fn take_unsigned_long(bytes: &[u8], bytes_max: usize) -> Result<(u64, &[u8]), RecordError> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(bytes_max) {
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit only.
        if index == VARLONG_BYTES_MAX - 1 && bits > 1 {
            return Err(RecordError::Varint);
        }
        value |= bits << (7 * index);
        if *byte < 0x80 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    if bytes.len() < bytes_max {
        Err(RecordError::Incomplete)
    } else {
        Err(RecordError::Varint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (value, bytes) by Kafka's rule; the middle ones turn at seven bits.
    const KNOWN: [(i64, &[u8]); 9] = [
        (0, &[0]),
        (-1, &[1]),
        (1, &[2]),
        (63, &[0x7e]),
        (-64, &[0x7f]),
        (64, &[0x80, 0x01]),
        (-65, &[0x81, 0x01]),
        (8191, &[0xfe, 0x7f]),
        (8192, &[0x80, 0x80, 0x01]),
    ];

    #[test]
    fn known_numbers_have_known_bytes() {
        for (value, bytes) in KNOWN {
            let mut buffer = [0; VARLONG_BYTES_MAX];
            assert_eq!(put_varlong(&mut buffer, value), bytes.len());
            assert_eq!(&buffer[..bytes.len()], bytes);
            assert_eq!(varint_bytes(value as i32), bytes.len());
            assert_eq!(take_varint(bytes), Ok((value as i32, &[][..])));
            assert_eq!(take_varlong(bytes), Ok((value, &[][..])));
        }
    }

    #[test]
    fn the_extremes_come_back() {
        for value in [i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(i32::MAX)] {
            let mut buffer = [0; VARLONG_BYTES_MAX];
            let written = put_varlong(&mut buffer, value);
            assert_eq!(written, varlong_bytes(value));
            assert_eq!(take_varlong(&buffer[..written]), Ok((value, &[][..])));
        }
        for value in [i32::MIN, i32::MAX] {
            let mut buffer = [0; VARINT_BYTES_MAX];
            assert_eq!(put_varint(&mut buffer, value), VARINT_BYTES_MAX);
            assert_eq!(take_varint(&buffer), Ok((value, &[][..])));
        }
    }

    #[test]
    fn a_number_that_is_cut_or_too_large_is_an_error() {
        assert_eq!(take_varint(&[]), Err(RecordError::Incomplete));
        assert_eq!(take_varint(&[0x80, 0x80]), Err(RecordError::Incomplete));
        assert_eq!(take_varint(&[0xff; 5]), Err(RecordError::Varint));
        assert_eq!(
            take_varint(&[0xff, 0xff, 0xff, 0xff, 0x1f]),
            Err(RecordError::Varint)
        );
        assert_eq!(take_varlong(&[0xff; 10]), Err(RecordError::Varint));
        let mut beyond = [0xff; 10];
        beyond[9] = 0x02;
        assert_eq!(take_varlong(&beyond), Err(RecordError::Varint));
    }
}
