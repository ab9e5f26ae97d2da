//! Batches and the pool that they come from: `buffer.memory`.

use std::ops::{Index, IndexMut};

use super::encoder::{RecordsEncoder, RecordsFormat};
use crate::link::Bodies;

/// Records of a batch with equal times. In a closed loop a whole stretch of records has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) intended_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) records: u32,
}

/// A batch from its first record until its answer.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) encoder: RecordsEncoder,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) partition: u32,
    /// Its place among the batches of its partition, which retries must not change.
    pub(crate) order: u64,
    pub(crate) created_ns: u64,
    /// Sequence of the first record, from the first sending on, -1 before.
    pub(crate) base_sequence: i32,
    pub(crate) attempts: u32,
    /// Why it has to be sent again.
    pub(crate) last_error: i16,
    /// Header and CRC are written: what stands in the encoder can go out again as it is.
    pub(crate) is_finished: bool,
    /// What it takes of `buffer.memory`.
    pool_bytes: u64,
}

impl Batch {
    /// Adds records with these times to the last stretch, or begins one.
    #[inline]
    pub(crate) fn note(&mut self, intended_ns: u64, sent_ns: u64, records: u32) {
        if let Some(last) = self.stretches.last_mut()
            && last.intended_ns == intended_ns
            && last.sent_ns == sent_ns
        {
            last.records += records;
        } else {
            self.stretches.push(Stretch {
                intended_ns,
                sent_ns,
                records,
            });
        }
    }
}

/// All batches of one producer. A place in here is a batch's name until it is given back.
#[derive(Debug)]
pub(crate) struct BatchPool {
    batches: Vec<Batch>,
    /// Places that are free, the warmest last.
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
            bytes_free: buffer_bytes,
            batch_bytes,
        }
    }

    /// A batch with room for at least `bytes`, or `None` when `buffer.memory` is used up.
    ///
    /// As Kafka's producer does, a batch takes `batch.size` of the memory however little is put into
    /// it, and more for a record that is larger than that.
    pub(crate) fn take(&mut self, bytes: usize, partition: u32, now_ns: u64) -> Option<u32> {
        let pool_bytes = self.batch_bytes.max(bytes) as u64;
        self.bytes_free = self.bytes_free.checked_sub(pool_bytes)?;
        let place = self.free.pop().unwrap_or_else(|| {
            self.batches.push(Batch {
                encoder: RecordsEncoder::new(self.format, self.batch_bytes.max(bytes)),
                stretches: Vec::new(),
                partition: 0,
                order: 0,
                created_ns: 0,
                base_sequence: -1,
                attempts: 0,
                last_error: 0,
                is_finished: false,
                pool_bytes: 0,
            });
            (self.batches.len() - 1) as u32
        });
        let batch = &mut self[place];
        batch.stretches.clear();
        batch.partition = partition;
        batch.created_ns = now_ns;
        batch.base_sequence = -1;
        batch.attempts = 0;
        batch.is_finished = false;
        batch.pool_bytes = pool_bytes;
        Some(place)
    }

    /// How the records of its batches are laid out.
    pub(crate) fn format(&self) -> RecordsFormat {
        self.format
    }

    /// Gives a batch back.
    pub(crate) fn give_back(&mut self, place: u32) {
        self.bytes_free += self[place].pool_bytes;
        self.free.push(place);
    }
}

impl Index<u32> for BatchPool {
    type Output = Batch;

    fn index(&self, place: u32) -> &Batch {
        &self.batches[place as usize]
    }
}

impl IndexMut<u32> for BatchPool {
    fn index_mut(&mut self, place: u32) -> &mut Batch {
        &mut self.batches[place as usize]
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
    fn records_with_equal_times_make_one_stretch() {
        let mut pool = BatchPool::new(RecordsFormat::Batch, 1_000, 400);
        let place = pool.take(10, 0, 0).unwrap();
        let batch = &mut pool[place];
        batch.note(5, 5, 2);
        batch.note(5, 5, 1);
        batch.note(6, 7, 1);
        let expected = [
            Stretch {
                intended_ns: 5,
                sent_ns: 5,
                records: 3,
            },
            Stretch {
                intended_ns: 6,
                sent_ns: 7,
                records: 1,
            },
        ];
        assert_eq!(batch.stretches, expected);
    }
}
