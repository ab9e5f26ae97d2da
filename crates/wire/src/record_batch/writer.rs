//! Writes the fields of a record one after another, whatever their sizes.

use super::varint::{put_varint, put_varlong};

/// Where the next field goes. The bytes given to it must have room for all fields.
pub(super) struct FieldWriter<'a> {
    to: &'a mut [u8],
    at: usize,
}

impl<'a> FieldWriter<'a> {
    pub(super) fn new(to: &'a mut [u8]) -> Self {
        Self { to, at: 0 }
    }

    /// Bytes written so far.
    pub(super) fn written(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self, value: u8) {
        self.to[self.at] = value;
        self.at += 1;
    }

    pub(super) fn varint(&mut self, value: i32) {
        self.at += put_varint(&mut self.to[self.at..], value);
    }

    pub(super) fn varlong(&mut self, value: i64) {
        self.at += put_varlong(&mut self.to[self.at..], value);
    }

    /// A length or count, which has the form of a signed number.
    pub(super) fn length(&mut self, value: usize) {
        self.varlong(value as i64);
    }

    /// A length and as many bytes, or the length -1.
    pub(super) fn nullable(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else {
            return self.byte(1);
        };
        self.length(value.len());
        self.to[self.at..self.at + value.len()].copy_from_slice(value);
        self.at += value.len();
    }
}
