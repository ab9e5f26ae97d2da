//! Records with short keys and values of one size, many at a time.

use super::super::packed::PackedBytes;
use super::BatchEncoder;

/// A key of up to sixteen bytes, in a slot that is copied as a whole.
pub type KeySlot = [u8; 16];

/// What records of one run have in common, as long as their offset deltas take the same number of bytes.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Length, attributes, timestamp delta; then a gap for the offset delta; then the key's length.
    head: u64,
    head_bytes: usize,
    /// Where in the head the offset delta goes.
    offset_shift: usize,
    /// The largest offset delta that takes this many bytes.
    until: i32,
    value_length: PackedBytes,
}

impl Run {
    /// `None` if the head takes more than a word.
    fn of(
        timestamp_delta: i64,
        offset_delta: i32,
        key_bytes: usize,
        value_bytes: usize,
    ) -> Option<Self> {
        if key_bytes.saturating_add(value_bytes) > PackedBytes::LENGTH_MAX {
            return None;
        }
        let (timestamp, offset) = PackedBytes::deltas(timestamp_delta, offset_delta)?;
        let (key_length, value_length) = (
            PackedBytes::length(key_bytes),
            PackedBytes::length(value_bytes),
        );
        let numbers =
            1 + timestamp.bytes + offset.bytes + key_length.bytes + value_length.bytes + 1;
        let length = PackedBytes::length(numbers + key_bytes + value_bytes);
        let gap = PackedBytes {
            word: 0,
            bytes: offset.bytes,
        };
        let before_bytes = length.bytes + 1 + timestamp.bytes;
        let head_bytes = before_bytes + offset.bytes + key_length.bytes;
        (head_bytes <= 8).then(|| Self {
            head: length
                .then(PackedBytes::NO_ATTRIBUTES)
                .then(timestamp)
                .then(gap)
                .then(key_length)
                .word,
            head_bytes,
            offset_shift: 8 * before_bytes,
            until: (1 << (7 * offset.bytes - 1)) - 1,
            value_length,
        })
    }
}

impl BatchEncoder {
    /// Appends records without headers, with keys of `key_bytes`, at most sixteen, and values of
    /// `value_bytes`, all of one timestamp. `key` gives the slot that begins with a record's key; `fill`
    /// writes its value, every byte of it, straight into the batch.
    #[inline]
    pub fn append_keyed<T: Copy>(
        &mut self,
        timestamp_ms: i64,
        (key_bytes, value_bytes): (usize, usize),
        records: impl Iterator<Item = T>,
        key: impl Fn(T) -> KeySlot,
        fill: impl Fn(T, &mut [u8]),
    ) {
        let timestamp_delta = timestamp_ms.wrapping_sub(self.base_timestamp_ms);
        let run_at = |offset| Run::of(timestamp_delta, offset, key_bytes, value_bytes);
        let mut run = run_at(self.records);
        for record in records {
            if run.is_none_or(|run| run.until < self.records) {
                run = run_at(self.records);
            }
            let slot = key(record);
            let Some(run) = run else {
                let key = &slot[..key_bytes];
                let fill = |to: &mut [u8]| fill(record, to);
                self.append_filled(timestamp_ms, Some(key), value_bytes, fill);
                continue;
            };
            self.make_room(key_bytes + value_bytes);
            let to = &mut self.buffer[self.end..];
            let (_, offset) = PackedBytes::deltas(0, self.records)
                .unwrap_or((PackedBytes::EMPTY, PackedBytes::EMPTY));
            let head = run.head | offset.word << run.offset_shift;
            to[..8].copy_from_slice(&head.to_le_bytes());
            let to = &mut to[run.head_bytes..];
            to[..slot.len()].copy_from_slice(&slot);
            let to = &mut to[key_bytes..];
            run.value_length.write(to, 0);
            // Cut to what is used, so that one comparison serves all that follows.
            let to = &mut to[run.value_length.bytes..=run.value_length.bytes + value_bytes];
            to[value_bytes] = 0; // No headers.
            fill(record, &mut to[..value_bytes]);
            self.end += run.head_bytes + key_bytes + run.value_length.bytes + value_bytes + 1;
            self.timestamp_delta_max = self.timestamp_delta_max.max(timestamp_delta);
            self.records += 1;
        }
    }
}
