//! A bounded cursor over received bytes. Every length is checked against the bytes that remain
//! before anything is allocated, so a lying length is an error and never an allocation.

use std::mem::size_of;
use std::str;

use super::{Bytes, DecodeError, Lengths, STRING_BYTES_MAX, Str, Uuid};

/// The first allocation of a decoded array is at most this many bytes; it grows with the elements
/// that are really there, so a count costs memory only as far as bytes back it.
const ARRAY_FIRST_ALLOCATION_BYTES: usize = 4096;

/// A cursor over `&'a [u8]`: what it returns borrows from those bytes where it can.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    what: &'static str,
}

macro_rules! read_number {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[inline]
        pub fn $name(&mut self) -> Result<$number, DecodeError> {
            Ok(<$number>::from_be_bytes(self.read_chunk()?))
        }
    };
}

impl<'a> Reader<'a> {
    /// A reader at the first of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            what: "bytes",
        }
    }

    /// Names what is read next, for errors.
    #[inline]
    pub fn at(&mut self, what: &'static str) {
        self.what = what;
    }

    /// What was last named with [`Self::at`].
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// Bytes that are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Whether no byte is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// Bytes from the start of the whole input to the cursor.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Fails if bytes are left.
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.is_empty() {
            return Ok(());
        }
        Err(DecodeError::Trailing {
            what: self.what,
            remaining: self.remaining(),
        })
    }

    /// The next `count` bytes, borrowed.
    #[inline]
    pub fn read_slice(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.bytes[self.position..].get(..count) {
            Some(slice) => {
                self.position += count;
                Ok(slice)
            }
            None => Err(self.truncated(count)),
        }
    }

    #[inline]
    fn read_chunk<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.bytes[self.position..].first_chunk() {
            Some(chunk) => {
                self.position += N;
                Ok(*chunk)
            }
            None => Err(self.truncated(N)),
        }
    }

    read_number!(
        /// A signed 8-bit integer.
        read_i8, i8
    );
    read_number!(
        /// A signed 16-bit integer, big-endian.
        read_i16, i16
    );
    read_number!(
        /// An unsigned 16-bit integer, big-endian.
        read_u16, u16
    );
    read_number!(
        /// A signed 32-bit integer, big-endian.
        read_i32, i32
    );
    read_number!(
        /// An unsigned 32-bit integer, big-endian.
        read_u32, u32
    );
    read_number!(
        /// A signed 64-bit integer, big-endian.
        read_i64, i64
    );
    read_number!(
        /// A 64-bit IEEE 754 number, big-endian.
        read_f64, f64
    );

    /// One byte: 0 is false, anything else true, as Kafka reads it.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.read_i8()? != 0)
    }

    /// 16 bytes.
    #[inline]
    pub fn read_uuid(&mut self) -> Result<Uuid, DecodeError> {
        Ok(Uuid(self.read_chunk()?))
    }

    /// An unsigned 32-bit integer in 1 to 5 bytes of 7 bits, lowest first.
    #[inline]
    pub fn read_unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        let mut value = 0u32;
        for index in 0..5 {
            let [byte] = self.read_chunk()?;
            let group = u32::from(byte & 0x7f);
            let shift = 7 * index;
            if group << shift >> shift != group {
                break;
            }
            value |= group << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::Varint { what: self.what })
    }

    /// A string.
    #[inline]
    pub fn read_string(&mut self, lengths: Lengths) -> Result<Str<'a>, DecodeError> {
        self.read_nullable_string(lengths)?
            .ok_or(DecodeError::Null { what: self.what })
    }

    /// A string or null.
    pub fn read_nullable_string(
        &mut self,
        lengths: Lengths,
    ) -> Result<Option<Str<'a>>, DecodeError> {
        let length = match lengths {
            Lengths::Fixed => i64::from(self.read_i16()?),
            Lengths::Compact => i64::from(self.read_unsigned_varint()?) - 1,
        };
        if length > STRING_BYTES_MAX as i64 {
            return Err(self.lying(length));
        }
        let Some(bytes) = self.read_counted(length)? else {
            return Ok(None);
        };
        match str::from_utf8(bytes) {
            Ok(text) => Ok(Some(Str::Borrowed(text))),
            Err(_) => Err(DecodeError::Utf8 { what: self.what }),
        }
    }

    /// A byte sequence.
    #[inline]
    pub fn read_bytes(&mut self, lengths: Lengths) -> Result<Bytes<'a>, DecodeError> {
        self.read_nullable_bytes(lengths)?
            .ok_or(DecodeError::Null { what: self.what })
    }

    /// A byte sequence or null.
    pub fn read_nullable_bytes(
        &mut self,
        lengths: Lengths,
    ) -> Result<Option<Bytes<'a>>, DecodeError> {
        let length = self.read_long_length(lengths)?;
        Ok(self.read_counted(length)?.map(Bytes::Borrowed))
    }

    /// An array whose elements take at least `element_bytes_min` bytes each.
    pub fn read_array<T>(
        &mut self,
        lengths: Lengths,
        element_bytes_min: usize,
        element: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let what = self.what;
        let elements = self.read_nullable_array(lengths, element_bytes_min, element)?;
        elements.ok_or(DecodeError::Null { what })
    }

    /// An array or null; the elements take at least `element_bytes_min` bytes each.
    pub fn read_nullable_array<T>(
        &mut self,
        lengths: Lengths,
        element_bytes_min: usize,
        mut element: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<Vec<T>>, DecodeError> {
        let length = self.read_long_length(lengths)?;
        if length == -1 {
            return Ok(None);
        }
        let count = usize::try_from(length).map_err(|_| self.lying(length))?;
        if count > self.remaining() / element_bytes_min.max(1) {
            return Err(self.lying(length));
        }
        let first = (ARRAY_FIRST_ALLOCATION_BYTES / size_of::<T>().max(1)).max(1);
        let mut elements = Vec::with_capacity(count.min(first));
        for _ in 0..count {
            elements.push(element(self)?);
        }
        Ok(Some(elements))
    }

    /// The byte before a struct that may be null: whether the struct follows.
    #[inline]
    pub fn read_presence(&mut self) -> Result<bool, DecodeError> {
        Ok(self.read_i8()? >= 0)
    }

    /// How many tagged fields follow; read each with [`Self::read_tagged`].
    #[inline]
    pub fn read_tag_count(&mut self) -> Result<u32, DecodeError> {
        self.read_unsigned_varint()
    }

    /// The next tagged field: its tag, and a reader over its value only.
    pub fn read_tagged(&mut self) -> Result<(u32, Self), DecodeError> {
        let tag = self.read_unsigned_varint()?;
        let length = self.read_unsigned_varint()?;
        let start = self.position;
        if self.read_counted(i64::from(length))?.is_none() {
            return Err(self.lying(i64::from(length)));
        }
        let value = Self {
            bytes: &self.bytes[..self.position],
            position: start,
            what: self.what,
        };
        Ok((tag, value))
    }

    /// Skips a section of tagged fields of which none is known.
    #[inline]
    pub fn skip_tagged(&mut self) -> Result<(), DecodeError> {
        for _ in 0..self.read_tag_count()? {
            self.read_tagged()?;
        }
        Ok(())
    }

    #[inline]
    fn read_long_length(&mut self, lengths: Lengths) -> Result<i64, DecodeError> {
        Ok(match lengths {
            Lengths::Fixed => i64::from(self.read_i32()?),
            Lengths::Compact => i64::from(self.read_unsigned_varint()?) - 1,
        })
    }

    /// The bytes that a received length announces; −1 is null, anything else below zero a lie.
    #[inline]
    fn read_counted(&mut self, length: i64) -> Result<Option<&'a [u8]>, DecodeError> {
        if length == -1 {
            return Ok(None);
        }
        match usize::try_from(length) {
            Ok(count) if count <= self.remaining() => self.read_slice(count).map(Some),
            _ => Err(self.lying(length)),
        }
    }

    #[cold]
    fn truncated(&self, required: usize) -> DecodeError {
        DecodeError::Truncated {
            what: self.what,
            required,
            remaining: self.remaining(),
        }
    }

    #[cold]
    fn lying(&self, length: i64) -> DecodeError {
        DecodeError::Length {
            what: self.what,
            length,
            remaining: self.remaining(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::put_unsigned_varint;

    #[test]
    fn varints_have_the_bytes_of_the_protocol() {
        let mut out = Vec::new();
        put_unsigned_varint(&mut out, 300);
        put_unsigned_varint(&mut out, u32::MAX);
        assert_eq!(out, [0xac, 0x02, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    }

    #[test]
    fn varints_come_back_at_every_width() {
        for shift in 0..32 {
            for value in [(1u32 << shift) - 1, 1 << shift, u32::MAX << shift] {
                let mut out = Vec::new();
                put_unsigned_varint(&mut out, value);
                let mut reader = Reader::new(&out);
                assert_eq!(reader.read_unsigned_varint(), Ok(value));
                assert!(reader.is_empty());
            }
        }
    }

    #[test]
    fn a_varint_beyond_its_type_is_an_error() {
        let error = Err(DecodeError::Varint { what: "bytes" });
        let above = [0xff, 0xff, 0xff, 0xff, 0x10];
        assert_eq!(Reader::new(&above).read_unsigned_varint(), error);
        assert_eq!(Reader::new(&[0xff; 16]).read_unsigned_varint(), error);
    }

    #[test]
    fn a_null_struct_is_a_negative_byte() {
        assert_eq!(Reader::new(&[0xff]).read_presence(), Ok(false));
        assert_eq!(Reader::new(&[1]).read_presence(), Ok(true));
    }

    #[test]
    fn a_length_below_minus_one_is_a_lie() {
        let error = DecodeError::Length {
            what: "bytes",
            length: -2,
            remaining: 0,
        };
        let bytes = [0xff, 0xff, 0xff, 0xfe];
        assert_eq!(
            Reader::new(&bytes).read_nullable_bytes(Lengths::Fixed),
            Err(error.clone())
        );
        let array = Reader::new(&bytes).read_nullable_array(Lengths::Fixed, 1, Reader::read_i8);
        assert_eq!(array, Err(error.clone()));
        let string = Reader::new(&bytes[2..]).read_nullable_string(Lengths::Fixed);
        assert_eq!(string, Err(error));
    }

    #[test]
    fn a_tagged_value_is_read_within_its_own_bytes() {
        let bytes = [5, 2, 0xaa, 0xbb, 0xcc];
        let mut reader = Reader::new(&bytes);
        let (tag, mut value) = reader.read_tagged().unwrap();
        assert_eq!((tag, value.remaining(), value.position()), (5, 2, 2));
        assert!(value.read_i32().is_err());
        assert_eq!(reader.read_slice(1), Ok(&[0xcc][..]));
    }
}
