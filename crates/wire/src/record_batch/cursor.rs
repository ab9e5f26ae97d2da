//! Takes the fields of a record one after another from borrowed bytes.

use super::RecordError;
use super::varint::{take_varint, take_varlong};

/// What is left of a record or of a records section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(super) fn skip_byte(&mut self) -> Result<(), RecordError> {
        let (_, rest) = self.rest.split_first().ok_or(RecordError::Incomplete)?;
        self.rest = rest;
        Ok(())
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<i32, RecordError> {
        let (value, rest) = take_varint(self.rest)?;
        self.rest = rest;
        Ok(value)
    }

    #[inline]
    pub(super) fn varlong(&mut self) -> Result<i64, RecordError> {
        let (value, rest) = take_varlong(self.rest)?;
        self.rest = rest;
        Ok(value)
    }

    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], RecordError> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(RecordError::LengthBeyondEnd {
                length: count,
                present: self.rest.len(),
            }),
        }
    }

    /// A length and as many bytes.
    #[inline]
    pub(super) fn prefixed(&mut self) -> Result<&'a [u8], RecordError> {
        let length = self.varint()?;
        let count = usize::try_from(length).map_err(|_| RecordError::NegativeLength(length))?;
        self.bytes(count)
    }

    /// A length and as many bytes; the length -1 means null.
    #[inline]
    pub(super) fn nullable(&mut self) -> Result<Option<&'a [u8]>, RecordError> {
        let length = self.varint()?;
        if length == -1 {
            return Ok(None);
        }
        let count = usize::try_from(length).map_err(|_| RecordError::NegativeLength(length))?;
        self.bytes(count).map(Some)
    }
}
