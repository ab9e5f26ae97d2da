//! The part before the value of a record without key, made with as little work as possible.
//!
//! ```text
//! | length | attributes 0 | timestamp delta | offset delta | key length -1 | value length |
//! '--------------- first word --------------''--------------- second word --------------'
//! ```
//!
//! Of these only the offset delta changes between most neighbours. So both words are kept from
//! record to record, and the offset delta's bits are put into the gap that the second word has for
//! them.

use super::packed::PackedBytes;

/// The bits of a group of seven in each byte of a number of up to three bytes.
const GROUP: [u64; 3] = [0x7f, 0x7f << 7, 0x7f << 14];

/// The prefix of the last record, good for all records with the same timestamp delta, the same
/// value length and an offset delta of as many bytes.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    timestamp_delta: i64,
    value_bytes: usize,
    offset_delta_end: i32,
    first: PackedBytes,
    /// With zeros in place of the offset delta, but for the bits that say that it goes on.
    second: PackedBytes,
}

impl Prefix {
    /// A prefix that fits no record.
    pub(super) const UNSET: Self = Self {
        timestamp_delta: 0,
        value_bytes: 0,
        offset_delta_end: 0,
        first: PackedBytes::EMPTY,
        second: PackedBytes::EMPTY,
    };

    /// Whether the prefix fits a record. Offset deltas must rise until the next [`Self::set`].
    #[inline]
    pub(super) fn fits(&self, timestamp_delta: i64, offset_delta: i32, value_bytes: usize) -> bool {
        timestamp_delta == self.timestamp_delta
            && value_bytes == self.value_bytes
            && offset_delta < self.offset_delta_end
    }

    /// Makes the prefix fit a record; false if its numbers are too large for two words.
    ///
    /// The usual ones are not: time deltas below a quarter of an hour, a million records, values
    /// below 128 MiB.
    #[inline(never)]
    pub(super) fn set(
        &mut self,
        timestamp_delta: i64,
        offset_delta: i32,
        value_bytes: usize,
    ) -> bool {
        let Some((timestamp, offset)) = PackedBytes::deltas(timestamp_delta, offset_delta) else {
            return false;
        };
        if value_bytes > PackedBytes::LENGTH_MAX {
            return false;
        }
        let value_length = PackedBytes::length(value_bytes);
        let continues = PackedBytes {
            word: offset.word & 0x8080_8080,
            bytes: offset.bytes,
        };
        self.second = continues.then(PackedBytes::NULL).then(value_length);
        let body = 1 + timestamp.bytes + self.second.bytes + value_bytes + 1;
        self.first = PackedBytes::length(body)
            .then(PackedBytes::NO_ATTRIBUTES)
            .then(timestamp);
        self.timestamp_delta = timestamp_delta;
        self.value_bytes = value_bytes;
        // Half of 2^7, 2^14, 2^21, as the zigzag doubles.
        self.offset_delta_end = 1 << (7 * offset.bytes - 1);
        true
    }

    /// Writes the prefix to the start of `to`, of which sixteen bytes are overwritten, and returns
    /// its bytes.
    #[inline]
    pub(super) fn write(&self, to: &mut [u8], offset_delta: i32) -> usize {
        let delta = u64::from(offset_delta as u32) << 1;
        let spread = delta & GROUP[0] | (delta & GROUP[1]) << 1 | (delta & GROUP[2]) << 2;
        let second = PackedBytes {
            word: self.second.word | spread,
            bytes: self.second.bytes,
        };
        let at = self.first.write(to, 0);
        second.write(to, at)
    }
}
