//! Several small fields in one machine word, so that they are written at once and not byte by byte.

use super::varint::{zigzag32, zigzag64};

/// Up to eight bytes in a word, the first one lowest.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedBytes {
    pub(super) word: u64,
    pub(super) bytes: usize,
}

impl PackedBytes {
    pub(super) const EMPTY: Self = Self { word: 0, bytes: 0 };
    /// The attributes of a record, which have no bit in use.
    pub(super) const NO_ATTRIBUTES: Self = Self { word: 0, bytes: 1 };
    /// The length -1, which means null.
    pub(super) const NULL: Self = Self { word: 1, bytes: 1 };
    /// The largest length that takes four bytes, less the room for the other fields of a record.
    pub(super) const LENGTH_MAX: usize = (1 << 27) - 32;

    /// A variable-length number below 2^28, zigzagged already.
    #[inline]
    fn number(value: u64) -> Self {
        let group = |index: u32| (value & 0x7f << (7 * index)) << index;
        // Numbers of one run differ little, so the processor foresees the branches.
        if value < 1 << 7 {
            Self {
                word: value,
                bytes: 1,
            }
        } else if value < 1 << 14 {
            Self {
                word: group(0) | group(1) | 0x80,
                bytes: 2,
            }
        } else if value < 1 << 21 {
            Self {
                word: group(0) | group(1) | group(2) | 0x8080,
                bytes: 3,
            }
        } else {
            Self {
                word: group(0) | group(1) | group(2) | group(3) | 0x80_8080,
                bytes: 4,
            }
        }
    }

    /// A length that was compared with [`Self::LENGTH_MAX`], or a record's that consists of such.
    #[inline]
    pub(super) fn length(length: usize) -> Self {
        Self::number((length as u64) << 1)
    }

    /// A record's timestamp and offset deltas; `None` if either has more than three bytes.
    ///
    /// Three suffice for a quarter of an hour in ms and for a million records.
    #[inline]
    pub(super) fn deltas(timestamp_delta: i64, offset_delta: i32) -> Option<(Self, Self)> {
        let timestamp = zigzag64(timestamp_delta);
        let offset = u64::from(zigzag32(offset_delta));
        if timestamp < 1 << 21 && offset < 1 << 21 {
            Some((Self::number(timestamp), Self::number(offset)))
        } else {
            None
        }
    }

    /// Both, one behind the other; together they must not be longer than a word.
    #[inline]
    pub(super) fn then(self, next: Self) -> Self {
        Self {
            word: self.word | next.word << (8 * self.bytes),
            bytes: self.bytes + next.bytes,
        }
    }

    /// Writes the bytes at `at` and returns where they end. Eight bytes are overwritten.
    #[inline]
    pub(super) fn write(self, to: &mut [u8], at: usize) -> usize {
        to[at..at + 8].copy_from_slice(&self.word.to_le_bytes());
        at + self.bytes
    }
}
