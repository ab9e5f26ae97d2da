//! Counts what a Fetch response of any age brought.

use super::error::MessageError;
use super::iter::messages;
use super::message::MessageHead;
use super::{CRC_FROM, Format};
use crate::compress::{Codec, Decompressor};
use crate::record_batch::{self, BatchTally, MAGIC, TallyDepth};

/// What a walk needs beside the bytes.
struct Walk<'a, F> {
    depth: TallyDepth,
    from_offset: i64,
    decompressor: &'a mut Decompressor,
    scratch: &'a mut Vec<u8>,
    bytes_max: usize,
    each: F,
    sum: BatchTally,
}

/// Counts messages of the formats 0 and 1, and the record batches that may follow them, from
/// `from_offset` on; see [`record_batch::tally`].
///
/// A message counts as a batch. At depths that do not read records, the messages inside of a wrapper
/// are counted by the offsets, which is exact as long as the topic is not compacted.
pub fn tally(
    bytes: &[u8],
    from_offset: i64,
    depth: TallyDepth,
    (decompressor, scratch): (&mut Decompressor, &mut Vec<u8>),
    bytes_max: usize,
    each: impl FnMut(i64, Option<&[u8]>),
) -> Result<BatchTally, MessageError> {
    let is_batch = |bytes: &[u8]| {
        bytes
            .get(CRC_FROM)
            .is_some_and(|magic| *magic as i8 == MAGIC)
    };
    let mut walk = Walk {
        depth,
        from_offset,
        decompressor,
        scratch,
        bytes_max,
        each,
        sum: BatchTally::default(),
    };
    let mut entries = messages(bytes);
    while !is_batch(entries.rest()) {
        match entries.next() {
            Some(entry) => walk.add(&entry?)?,
            None => break,
        }
    }
    let (rest, sum) = (entries.rest(), walk.sum);
    if !is_batch(rest) {
        return Ok(BatchTally {
            incomplete_bytes: rest.len() as u64,
            ..sum
        });
    }
    let buffers = (walk.decompressor, walk.scratch);
    let after = record_batch::tally(rest, from_offset, depth, buffers, bytes_max, walk.each)?;
    Ok(BatchTally {
        batches: sum.batches + after.batches,
        batch_bytes: sum.batch_bytes + after.batch_bytes,
        records: sum.records + after.records,
        key_bytes: sum.key_bytes + after.key_bytes,
        value_bytes: sum.value_bytes + after.value_bytes,
        header_bytes: sum.header_bytes + after.header_bytes,
        next_offset: after.next_offset.or(sum.next_offset),
        incomplete_bytes: after.incomplete_bytes,
    })
}

impl<F: FnMut(i64, Option<&[u8]>)> Walk<'_, F> {
    fn add(&mut self, entry: &MessageHead<'_>) -> Result<(), MessageError> {
        let before = self.sum.next_offset.unwrap_or(self.from_offset);
        self.sum.batches += 1;
        self.sum.batch_bytes += entry.bytes().len() as u64;
        self.sum.next_offset = Some(entry.offset.saturating_add(1));
        if self.depth.checks() {
            entry.check_crc()?;
        }
        let codec = entry.codec()?;
        match (self.depth.reads(), codec) {
            (true, Codec::None) => self.count(entry.offset, entry),
            (true, codec) => self.unwrap(entry, codec),
            _ => {
                let from = match codec {
                    Codec::None => entry.offset.max(self.from_offset),
                    _ => before.max(self.from_offset),
                };
                let count = entry.offset.saturating_sub(from).saturating_add(1);
                self.sum.records += u64::try_from(count).unwrap_or(0);
                Ok(())
            }
        }
    }

    fn count(&mut self, offset: i64, entry: &MessageHead<'_>) -> Result<(), MessageError> {
        let message = entry.message()?;
        if offset >= self.from_offset {
            (self.each)(offset, message.value);
            self.sum.records += 1;
            self.sum.key_bytes += message.key.map_or(0, <[u8]>::len) as u64;
            self.sum.value_bytes += message.value.map_or(0, <[u8]>::len) as u64;
        }
        Ok(())
    }

    /// The messages inside of a wrapper. Their own CRCs are covered by the wrapper's, and checked
    /// too, as Kafka's consumer of that age did.
    fn unwrap(&mut self, wrapper: &MessageHead<'_>, codec: Codec) -> Result<(), MessageError> {
        let what = "has no value";
        let value = wrapper.message()?.value;
        let value = value.ok_or(MessageError::Wrapper { what })?;
        let mut inside = std::mem::take(self.scratch);
        inside.clear();
        let decompressed = self
            .decompressor
            .decompress(codec, value, &mut inside, self.bytes_max);
        let ended = match decompressed {
            Ok(_) => self.count_inside(wrapper, &inside),
            Err(source) => Err(MessageError::Decompress { codec, source }),
        };
        *self.scratch = inside;
        ended
    }

    fn count_inside(
        &mut self,
        wrapper: &MessageHead<'_>,
        inside: &[u8],
    ) -> Result<(), MessageError> {
        // Relative offsets end where the wrapper's absolute one does.
        let mut last = None;
        for entry in messages(inside) {
            last = Some(entry?.offset);
        }
        let what = "holds no messages";
        let last = last.ok_or(MessageError::Wrapper { what })?;
        let base = match wrapper.format {
            Format::V0 => 0,
            Format::V1 => wrapper.offset.saturating_sub(last),
        };
        let mut entries = messages(inside);
        for entry in entries.by_ref() {
            let entry = entry?;
            entry.check_crc()?;
            if entry.codec()? != Codec::None {
                let what = "holds compressed messages";
                return Err(MessageError::Wrapper { what });
            }
            self.count(base.saturating_add(entry.offset), &entry)?;
        }
        match entries.rest() {
            [] => Ok(()),
            _ => Err(MessageError::Wrapper {
                what: "ends within a message",
            }),
        }
    }
}
