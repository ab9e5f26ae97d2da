//! Shared parts of the handwritten codecs of Produce and Fetch.

use kgauge_wire::codec::{DecodeError, Lengths, Reader};

/// Writes an empty section of tagged fields, if the version has one.
pub(crate) fn no_tags(out: &mut Vec<u8>, lengths: Lengths) {
    if lengths == Lengths::Compact {
        out.push(0);
    }
}

/// Skips a section of tagged fields, if the version has one.
pub(crate) fn skip_tags(reader: &mut Reader<'_>, lengths: Lengths) -> Result<(), DecodeError> {
    if lengths == Lengths::Compact {
        reader.skip_tagged()
    } else {
        Ok(())
    }
}

/// An array's count or a byte sequence's length; null counts as none. Its items are read piece by piece and never
/// preallocated, so a false count ends with the bytes.
pub(crate) fn read_count(reader: &mut Reader<'_>, lengths: Lengths) -> Result<usize, DecodeError> {
    let count = match lengths {
        Lengths::Fixed => i64::from(reader.read_i32()?),
        Lengths::Compact => i64::from(reader.read_unsigned_varint()?) - 1,
    };
    Ok(usize::try_from(count).unwrap_or(0))
}
