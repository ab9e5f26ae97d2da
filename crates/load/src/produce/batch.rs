//! Batches and their pool: `buffer.memory`.

use std::ops::{Index, IndexMut};

use super::encoder::{RecordsEncoder, RecordsFormat};
use crate::link::Bodies;

/// Records of a batch that were accepted at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SendRun {
    pub(crate) sent_ns: u64,
    pub(crate) records: u32,
    /// They were intended at that time, as all records of a closed loop are. Other intended times are stored
    /// separately.
    pub(crate) is_immediate: bool,
    /// Bytes of their keys, values and headers.
    pub(crate) logical_bytes: u64,
}

/// The times of a batch's records, in order.
#[derive(Debug, Default)]
pub(crate) struct Times {
    handed: Vec<SendRun>,
    /// For each record that was not accepted when intended.
    intended_ns: Vec<u64>,
}

impl Times {
    fn clear(&mut self) {
        self.handed.clear();
        self.intended_ns.clear();
    }

    /// Adds records that were accepted at `sent_ns`, when they were intended.
    #[inline]
    pub(crate) fn add_immediate(&mut self, sent_ns: u64, records: u32, bytes: u64) {
        self.add(sent_ns, records, true, bytes);
    }

    /// Adds records that were accepted at `sent_ns` and intended at these times.
    #[inline]
    pub(crate) fn add_due(&mut self, intended_ns: &[u64], sent_ns: u64, bytes: u64) {
        self.intended_ns.extend_from_slice(intended_ns);
        self.add(sent_ns, intended_ns.len() as u32, false, bytes);
    }

    /// The same for times that are not adjacent in memory.
    #[inline]
    pub(crate) fn add_some_due(
        &mut self,
        intended_ns: impl ExactSizeIterator<Item = u64>,
        sent_ns: u64,
        bytes: u64,
    ) {
        let records = intended_ns.len() as u32;
        self.intended_ns.extend(intended_ns);
        self.add(sent_ns, records, false, bytes);
    }

    #[inline]
    fn add(&mut self, sent_ns: u64, records: u32, is_immediate: bool, bytes: u64) {
        if let Some(last) = self.handed.last_mut()
            && last.sent_ns == sent_ns
            && last.is_immediate == is_immediate
        {
            last.records += records;
            last.logical_bytes += bytes;
        } else {
            self.handed.push(SendRun {
                sent_ns,
                records,
                is_immediate,
                logical_bytes: bytes,
            });
        }
    }

    /// Each group of records with its intended times: one for all of them, or one each.
    pub(crate) fn each(&self) -> impl Iterator<Item = (SendRun, &[u64])> {
        let mut rest = self.intended_ns.as_slice();
        self.handed.iter().map(move |handed| {
            if handed.is_immediate {
                return (*handed, std::slice::from_ref(&handed.sent_ns));
            }
            let count = (handed.records as usize).min(rest.len());
            let (own, others) = rest.split_at(count);
            rest = others;
            (*handed, own)
        })
    }

    /// Calls `each` with every intended time and the number of records that have it.
    pub(crate) fn each_intended(&self, mut each: impl FnMut(u64, u64)) {
        for (handed, intended_ns) in self.each() {
            let records = if handed.is_immediate {
                u64::from(handed.records)
            } else {
                1
            };
            for &intended_ns in intended_ns {
                each(intended_ns, records);
            }
        }
    }
}

/// A batch, from its first record until its response.
#[derive(Debug)]
pub(crate) struct OpenBatch {
    pub(crate) encoder: RecordsEncoder,
    pub(crate) times: Times,
    pub(crate) partition: u32,
    /// Its position among the batches of its partition, which retries must not change.
    pub(crate) order: u64,
    pub(crate) created_ns: u64,
    /// Sequence of the first record, fixed when it is first sent; -1 before.
    pub(crate) base_sequence: i32,
    pub(crate) attempts: u32,
    /// Why it must be sent again.
    pub(crate) last_error: i16,
    /// Header and CRC are written: the encoder's contents can be sent again unchanged.
    pub(crate) is_finished: bool,
    /// Its size before compression; 0 if it was not compressed.
    pub(crate) plain_bytes: usize,
    /// The sequence of its first record among the producer's records of the partition, if it is verified.
    pub(crate) first_record: u64,
    /// An attempt ended without certainty that it was not appended.
    pub(crate) may_be_in_log: bool,
    /// It was sent, and got a new producer id afterwards.
    pub(crate) is_renumbered: bool,
    /// Its share of `buffer.memory`.
    pool_bytes: u64,
}

/// All batches of one producer. A batch is identified by its index until it is returned.
#[derive(Debug)]
pub(crate) struct BatchPool {
    batches: Vec<OpenBatch>,
    /// `buffer.memory`.
    bytes_max: u64,
    /// Free indexes, the most recently used last.
    free: Vec<u32>,
    bytes_free: u64,
    batch_bytes: usize,
    format: RecordsFormat,
}

impl BatchPool {
    /// A pool of `buffer_bytes` for batches of `batch_bytes`.
    pub(crate) fn new(format: RecordsFormat, buffer_bytes: u64, batch_bytes: usize) -> Self {
        Self {
            format,
            batches: Vec::new(),
            free: Vec::new(),
            bytes_max: buffer_bytes,
            bytes_free: buffer_bytes,
            batch_bytes,
        }
    }

    /// A batch with space for at least `bytes`, or `None` when `buffer.memory` is used up.
    ///
    /// As in Kafka's producer, a batch takes `batch.size` of the memory however little it contains, and more for a
    /// larger record.
    pub(crate) fn take(&mut self, bytes: usize, partition: u32, now_ns: u64) -> Option<u32> {
        let pool_bytes = self.batch_bytes.max(bytes) as u64;
        self.bytes_free = self.bytes_free.checked_sub(pool_bytes)?;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.batches.push(OpenBatch {
                encoder: RecordsEncoder::new(self.format, self.batch_bytes.max(bytes)),
                times: Times::default(),
                partition: 0,
                order: 0,
                created_ns: 0,
                base_sequence: -1,
                attempts: 0,
                last_error: 0,
                is_finished: false,
                plain_bytes: 0,
                first_record: 0,
                may_be_in_log: false,
                is_renumbered: false,
                pool_bytes: 0,
            });
            (self.batches.len() - 1) as u32
        });
        let batch = &mut self[slot];
        batch.times.clear();
        batch.partition = partition;
        batch.created_ns = now_ns;
        batch.base_sequence = -1;
        batch.attempts = 0;
        batch.is_finished = false;
        batch.plain_bytes = 0;
        batch.pool_bytes = pool_bytes;
        Some(slot)
    }

    /// Bytes of memory that batches have taken.
    pub(crate) fn bytes_used(&self) -> u64 {
        self.bytes_max - self.bytes_free
    }

    /// The format of the records in its batches.
    pub(crate) fn format(&self) -> RecordsFormat {
        self.format
    }

    /// Returns a batch.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.bytes_free += self[slot].pool_bytes;
        self.free.push(slot);
    }
}

impl Index<u32> for BatchPool {
    type Output = OpenBatch;

    fn index(&self, slot: u32) -> &OpenBatch {
        &self.batches[slot as usize]
    }
}

impl IndexMut<u32> for BatchPool {
    fn index_mut(&mut self, slot: u32) -> &mut OpenBatch {
        &mut self.batches[slot as usize]
    }
}

impl Bodies for BatchPool {
    fn body(&self, batch: u32) -> &[u8] {
        self[batch].encoder.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_bounds_the_batches_and_comes_back() {
        let mut pool = BatchPool::new(RecordsFormat::Batch, 1_000, 400);
        let first = pool.take(10, 0, 0).unwrap();
        let second = pool.take(10, 1, 0).unwrap();
        assert_eq!(pool.take(10, 2, 0), None, "800 of 1,000 bytes are taken");
        pool.give_back(first);
        assert_eq!(
            pool.take(10, 2, 0),
            Some(first),
            "the warmest buffer is used again"
        );
        pool.give_back(second);
        assert_eq!(
            pool.take(700, 2, 0),
            None,
            "a large record waits for its own size"
        );
    }

    #[test]
    fn records_are_grouped_by_send_time_and_intended_time() {
        let mut times = Times::default();
        times.add_immediate(5, 2, 200);
        times.add_immediate(5, 1, 50);
        times.add_due(&[6, 7], 9, 20);
        times.add_due(&[8], 9, 10);
        times.add_immediate(9, 1, 1);
        let groups: Vec<(u64, u32, u64, Vec<u64>)> = times
            .each()
            .map(|(one, intended)| {
                let (sent, records, bytes) = (one.sent_ns, one.records, one.logical_bytes);
                (sent, records, bytes, intended.to_vec())
            })
            .collect();
        let expected = [
            (5, 3, 250, vec![5]),
            (9, 3, 30, vec![6, 7, 8]),
            (9, 1, 1, vec![9]),
        ];
        assert_eq!(groups, expected);
        let mut all = Vec::new();
        times.each_intended(|intended_ns, records| all.push((intended_ns, records)));
        assert_eq!(all, [(5, 3), (6, 1), (7, 1), (8, 1), (9, 1)]);
    }
}
