//! Keyed records in blocks: the keys of the next records and their partitions are computed together, and the records of
//! one partition are appended together.
//!
//! A single record is one dependency chain: its key's digits, their hash, the remainder, the batch. In a block, chains
//! overlap, and the state of a batch's encoder stays in registers between records.

use kgauge_wire::record_batch::KeySlot;

use super::due::AHEAD;
use super::encoder::RecordsEncoder;
use super::full_record::{AROUND_BYTES_MAX, RecordTimes};
use super::murmur::{follows_keys, partition_for_key};
use super::{Producer, ProducerSetup};
use crate::payload::Payload;

/// Keys and partitions of a producer's next records.
#[derive(Debug)]
pub(super) struct KeyBlock {
    /// The number of the producer's record with the first key.
    first: u64,
    /// Number of keys: none at the start.
    made: u64,
    keys: [KeySlot; AHEAD],
    key_bytes: usize,
    value_bytes: usize,
    partitions: [u32; AHEAD],
    /// For each record the next one of the same partition.
    next: [u8; AHEAD],
    /// One for each partition, empty between blocks.
    chains: Vec<Chain>,
    /// The partitions with a chain, in the order of their first records.
    chained: Vec<u32>,
}

/// The records of a block for one partition.
#[derive(Debug, Clone, Copy, Default)]
struct Chain {
    first: u8,
    last: u8,
    records: u8,
    /// The remaining space of the partition's batch.
    room_bytes: usize,
}

impl KeyBlock {
    /// A block for a producer whose records all go to the partitions of their keys and have short keys and values of
    /// one size; `None` for others.
    pub(super) fn of(setup: &ProducerSetup) -> Option<Self> {
        let is_alone = setup.echo.is_none() && setup.proof.is_none();
        let is_keyed = follows_keys(&setup.flow.settings) && is_alone;
        is_keyed
            .then(|| Self::of_payload(&setup.payload, setup.leaders.len()))
            .flatten()
    }

    fn of_payload(payload: &Payload, partitions: usize) -> Option<Self> {
        let (key_bytes, value_bytes) = payload.sizes_in_place()?;
        (key_bytes <= size_of::<KeySlot>()).then(|| Self {
            first: 0,
            made: 0,
            keys: [KeySlot::default(); AHEAD],
            key_bytes,
            value_bytes,
            partitions: [0; AHEAD],
            next: [0; AHEAD],
            chains: vec![Chain::default(); partitions],
            chained: Vec::with_capacity(AHEAD.min(partitions)),
        })
    }

    /// Bytes of a record's key and value.
    fn logical_bytes(&self) -> usize {
        self.key_bytes + self.value_bytes
    }

    /// Makes the keys from the producer's record `first` on.
    fn make(&mut self, payload: &Payload, first: u64, number: impl Fn(u64) -> u64) {
        (self.first, self.made) = (first, AHEAD as u64);
        let partitions = self.chains.len() as u32;
        // Keys of eight bytes are common, and a hash of known length takes half of the time.
        if self.key_bytes == 8 {
            for (n, key) in (first..).zip(&mut self.keys) {
                payload.write_key(number(n), &mut key[..8]);
            }
            for (partition, key) in self.partitions.iter_mut().zip(&self.keys) {
                *partition = partition_for_key(&key[..8], partitions);
            }
        } else {
            for (n, key) in (first..).zip(&mut self.keys) {
                payload.write_key(number(n), &mut key[..self.key_bytes]);
            }
            for (partition, key) in self.partitions.iter_mut().zip(&self.keys) {
                *partition = partition_for_key(&key[..self.key_bytes], partitions);
            }
        }
    }

    /// The indexes of a chain's records.
    #[inline]
    fn records_of(&self, chain: Chain) -> impl ExactSizeIterator<Item = usize> + Clone {
        let mut at = chain.first;
        (0..chain.records).map(move |_| {
            let this = usize::from(at);
            at = self.next[this];
            this
        })
    }
}

impl Producer {
    /// Puts up to `count` records of a block into open batches; returns how many. The next record finds its batch full
    /// or missing, or starts a new block: it must be appended separately.
    pub(super) fn take_block(
        &mut self,
        block: &mut KeyBlock,
        payload: &Payload,
        count: usize,
        times: &RecordTimes<'_>,
    ) -> u32 {
        let n = self.next_record;
        let member = self.member;
        if n.wrapping_sub(block.first) >= block.made {
            block.make(payload, n, |n| member.record_number(n));
        }
        let from = (n - block.first) as usize;
        let end = self.chain(block, from, (from + count).min(AHEAD));
        let mut chained = std::mem::take(&mut block.chained);
        for partition in chained.drain(..) {
            let chain = std::mem::take(&mut block.chains[partition as usize]);
            self.append_chain(block, payload, (partition, chain), (times, from));
        }
        block.chained = chained;
        self.next_record += (end - from) as u64;
        (end - from) as u32
    }

    /// Sorts records by partition, from `from` to `end` or the first that does not fit; returns where that is.
    fn chain(&self, block: &mut KeyBlock, from: usize, end: usize) -> usize {
        let ratio = self.ratio().max(1.0);
        let most = block.logical_bytes() + AROUND_BYTES_MAX;
        let most = match self.compressor {
            None => most,
            Some(_) => (most as f32 * ratio) as usize + 1,
        };
        for at in from..end {
            let partition = block.partitions[at];
            let chain = &mut block.chains[partition as usize];
            if chain.records == 0 {
                let Some(slot) = self.partitions[partition as usize].open else {
                    return at;
                };
                chain.room_bytes = self.room_bytes(slot);
            }
            match chain.room_bytes.checked_sub(most) {
                Some(left) => chain.room_bytes = left,
                None => return at,
            }
            if chain.records == 0 {
                chain.first = at as u8;
                block.chained.push(partition);
            } else {
                block.next[chain.last as usize] = at as u8;
            }
            chain.last = at as u8;
            chain.records += 1;
        }
        end
    }

    /// Appends the records of a chain; the first of the times is that of the record at `from`.
    fn append_chain(
        &mut self,
        block: &KeyBlock,
        payload: &Payload,
        (partition, chain): (u32, Chain),
        (times, from): (&RecordTimes<'_>, usize),
    ) {
        let Some(slot) = self.partitions[partition as usize].open else {
            return;
        };
        let member = self.member;
        let timestamp_ms = times.timestamp_ms;
        let value_bytes = block.value_bytes;
        let each = block.records_of(chain);
        let batch = &mut self.pool[slot];
        match &mut batch.encoder {
            RecordsEncoder::Batch(encoder) => {
                let sizes = (block.key_bytes, value_bytes);
                let key = |at: usize| block.keys[at];
                encoder.append_keyed(timestamp_ms, sizes, each.clone(), key, |at, to| {
                    let n = block.first + at as u64;
                    payload.fill(member.record_number(n), n, to);
                });
            }
            RecordsEncoder::Set(set) => {
                for at in each.clone() {
                    let n = block.first + at as u64;
                    let fill = |to: &mut [u8]| payload.fill(member.record_number(n), n, to);
                    let key = &block.keys[at][..block.key_bytes];
                    set.append_filled(timestamp_ms, Some(key), value_bytes, fill);
                }
            }
        }
        let logical_bytes = (block.logical_bytes() * usize::from(chain.records)) as u64;
        match times.intended {
            Some(intended) => {
                let own = each.map(|at| intended[at - from]);
                batch.times.add_some_due(own, times.sent_ns, logical_bytes);
            }
            None => batch
                .times
                .add_immediate(times.sent_ns, chain.records.into(), logical_bytes),
        }
        if self.flow.settings.linger_ns == 0 {
            self.list_ready(partition);
        }
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{KeyChoice, KeyPlan, RecordPlan};

    use super::*;
    use crate::payload::RecordDraft;

    #[test]
    fn keys_of_a_block_are_those_of_its_records() {
        for key_bytes in [1_u32, 3, 7, 8, 9, 16] {
            let plan = RecordPlan {
                key: Some(KeyPlan {
                    key_bytes,
                    keys: Some(1 << (4 * key_bytes.min(7))),
                    choice: KeyChoice::Uniform,
                }),
                ..RecordPlan::of_values(100)
            };
            let payload = Payload::of_plan(&plan, 3);
            let mut block = KeyBlock::of_payload(&payload, 7).unwrap();
            assert_eq!(block.logical_bytes(), key_bytes as usize + 100);
            // The third of five producers: its records are 2, 7, 12 and so on.
            block.make(&payload, 1_000, |n| 5 * n + 2);
            let mut draft = RecordDraft::default();
            for at in 0..AHEAD {
                payload.make_key(5 * (1_000 + at as u64) + 2, &mut draft);
                let key = draft.key().unwrap();
                assert_eq!(&block.keys[at][..block.key_bytes], key);
                assert_eq!(block.partitions[at], partition_for_key(key, 7));
            }
        }
    }

    #[test]
    fn records_without_keys_of_a_known_size_have_no_block() {
        let key = |key_bytes| {
            Some(KeyPlan {
                key_bytes,
                keys: None,
                choice: KeyChoice::Sequence,
            })
        };
        let of = |key, null_values| {
            let plan = RecordPlan {
                key,
                null_values,
                ..RecordPlan::of_values(100)
            };
            KeyBlock::of_payload(&Payload::of_plan(&plan, 3), 7)
        };
        assert!(of(key(16), 0.0).is_some());
        assert!(of(key(17), 0.0).is_none());
        assert!(of(None, 0.0).is_none());
        assert!(of(key(8), 0.1).is_none());
    }
}
