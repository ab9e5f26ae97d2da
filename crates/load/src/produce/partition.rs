//! A partition as its producer sees it: the open batch, the closed ones, and their order.

use std::collections::VecDeque;

use super::batch::BatchPool;

/// One partition of the topic.
#[derive(Debug)]
pub(crate) struct PartitionQueue {
    /// The link to its leader, if known.
    pub(crate) leader: Option<usize>,
    /// The batch that accepts records.
    pub(crate) open: Option<u32>,
    /// Batches that wait to be sent, in order; retried ones return to their position.
    queue: VecDeque<u32>,
    /// It is in its leader's list of partitions with something to send.
    pub(crate) is_listed: bool,
    /// Batches in flight.
    pub(crate) in_flight: u32,
    /// Sequence of the next record of an idempotent producer.
    pub(crate) next_sequence: i32,
    /// Sequence after the last acked record of a transactional producer.
    pub(crate) acked_sequence: i32,
    /// No sending before this, after an error.
    pub(crate) retry_at_ns: u64,
    next_order: u64,
}

impl PartitionQueue {
    pub(crate) fn new(leader: Option<usize>) -> Self {
        Self {
            leader,
            open: None,
            queue: VecDeque::new(),
            is_listed: false,
            in_flight: 0,
            next_sequence: 0,
            acked_sequence: 0,
            retry_at_ns: 0,
            next_order: 0,
        }
    }

    /// Closes the open batch: it accepts no more records and waits to be sent.
    pub(crate) fn close_open(&mut self, pool: &mut BatchPool) -> Option<u32> {
        let slot = self.open.take()?;
        pool[slot].order = self.next_order;
        self.next_order += 1;
        self.queue.push_back(slot);
        Some(slot)
    }

    /// Returns a batch that must be sent again to its position.
    pub(crate) fn put_back(&mut self, slot: u32, pool: &BatchPool) {
        let order = pool[slot].order;
        let at = self
            .queue
            .partition_point(|&other| pool[other].order < order);
        self.queue.insert(at, slot);
    }

    /// Whether there is anything to send, now or once the open batch is closed.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.open.is_some()
    }

    /// The batch to send next.
    pub(crate) fn front(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// Takes the batch to send next.
    pub(crate) fn pop_front(&mut self) -> Option<u32> {
        self.queue.pop_front()
    }

    /// Number of batches, including the open one.
    pub(crate) fn batches(&self) -> usize {
        self.queue.len() + usize::from(self.open.is_some())
    }

    /// Waiting batches, the oldest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> {
        self.queue.iter().copied()
    }

    /// Sequence numbers for a batch of `records`. They wrap from `i32::MAX` to 0, as Kafka's
    /// `DefaultRecordBatch.incrementSequence` has it.
    pub(crate) fn take_sequences(&mut self, records: u32) -> i32 {
        let base = self.next_sequence;
        self.next_sequence = sequence_after(base, records);
        base
    }
}

/// The sequence after this many records.
pub(crate) fn sequence_after(base: i32, records: u32) -> i32 {
    ((i64::from(base) + i64::from(records)) % (1 << 31)) as i32
}

#[cfg(test)]
mod tests {
    use super::super::encoder::RecordsFormat;
    use super::*;

    #[test]
    fn sequences_wrap_to_zero() {
        let mut partition = PartitionQueue::new(None);
        partition.next_sequence = i32::MAX - 1;
        assert_eq!(partition.take_sequences(3), i32::MAX - 1);
        assert_eq!(partition.next_sequence, 1);
        partition.next_sequence = i32::MAX;
        assert_eq!(partition.take_sequences(1), i32::MAX);
        assert_eq!(partition.next_sequence, 0);
    }

    #[test]
    fn a_retried_batch_returns_to_its_place() {
        let mut pool = BatchPool::new(RecordsFormat::Batch, 10_000, 100);
        let mut partition = PartitionQueue::new(None);
        let slots: Vec<u32> = (0..4)
            .map(|_| {
                let slot = pool.take(10, 0, 0).unwrap();
                partition.open = Some(slot);
                partition.close_open(&mut pool);
                slot
            })
            .collect();
        let (first, second) = (
            partition.pop_front().unwrap(),
            partition.pop_front().unwrap(),
        );
        partition.put_back(second, &pool);
        partition.put_back(first, &pool);
        assert_eq!(partition.waiting().collect::<Vec<_>>(), slots);
    }
}
