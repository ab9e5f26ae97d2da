//! Which partition a record without a key goes to.

use kgauge_scenario::Partitioner;

use crate::payload::mix;

/// Chooses partitions.
///
/// `sticky` is Kafka's uniform sticky partitioner (KIP-794): a partition is kept until `batch.size`
/// bytes went to it, then another is drawn. Kafka's weighting by queue length
/// (`partitioner.adaptive.partitioning.enable`) is not done: it needs a broker that is slower than the
/// others, and would hide from the result that one is.
#[derive(Debug)]
pub(crate) struct PartitionChoice {
    partitioner: Partitioner,
    partitions: u32,
    current: u32,
    bytes: u64,
    bytes_max: u64,
    draws: u64,
    seed: u64,
}

impl PartitionChoice {
    pub(crate) fn new(
        partitioner: Partitioner,
        partitions: u32,
        batch_bytes: u32,
        seed: u64,
    ) -> Self {
        let mut choice = Self {
            partitioner,
            partitions: partitions.max(1),
            current: 0,
            bytes: 0,
            bytes_max: u64::from(batch_bytes),
            draws: 0,
            seed,
        };
        choice.current = choice.draw();
        choice
    }

    /// The partition of the next record.
    #[inline]
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// Whether records go to one partition after the other.
    pub(crate) fn changes_each_record(&self) -> bool {
        self.partitioner == Partitioner::RoundRobin
    }

    /// Takes note of what went to the current partition.
    #[inline]
    pub(crate) fn note(&mut self, bytes: u64) {
        match self.partitioner {
            Partitioner::Sticky => self.bytes += bytes,
            Partitioner::RoundRobin => {
                self.current += 1;
                if self.current >= self.partitions {
                    self.current = 0;
                }
            }
        }
    }

    /// A batch of the current partition is complete: time to go elsewhere, if enough went there.
    pub(crate) fn batch_complete(&mut self) {
        if self.partitioner == Partitioner::Sticky && self.bytes >= self.bytes_max / 2 {
            self.current = self.draw();
            self.bytes = 0;
        }
    }

    /// As [`Self::batch_complete`], for a batch that was sent before it was full.
    pub(crate) fn batch_complete_of(&mut self, partition: u32) {
        if partition == self.current {
            self.batch_complete();
        }
    }

    fn draw(&mut self) -> u32 {
        self.draws += 1;
        // The high half of a 32 × 32 bit product spreads a random number over 0..partitions.
        let random = mix(self.seed ^ self.draws) >> 32;
        ((random * u64::from(self.partitions)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticky_stays_until_a_batch_is_full_and_then_reaches_every_partition_alike() {
        let mut choice = PartitionChoice::new(Partitioner::Sticky, 6, 1_000, 42);
        let mut batches = [0_u32; 6];
        for _ in 0..60_000 {
            let partition = choice.current();
            for _ in 0..10 {
                assert_eq!(choice.current(), partition);
                choice.note(100);
            }
            batches[partition as usize] += 1;
            choice.batch_complete();
        }
        // 10,000 expected each; 5 standard deviations are 5 × sqrt(60,000 × 1/6 × 5/6) = 456.
        assert!(
            batches.iter().all(|&count| count.abs_diff(10_000) < 456),
            "{batches:?}"
        );
    }

    #[test]
    fn a_batch_sent_almost_empty_does_not_move_the_partition() {
        let mut choice = PartitionChoice::new(Partitioner::Sticky, 6, 1_000, 42);
        let partition = choice.current();
        choice.note(100);
        choice.batch_complete();
        assert_eq!(choice.current(), partition);
    }

    #[test]
    fn round_robin_takes_turns() {
        let mut choice = PartitionChoice::new(Partitioner::RoundRobin, 3, 1_000, 2);
        choice.current = 1;
        let turns: Vec<u32> = (0..5)
            .map(|_| {
                let partition = choice.current();
                choice.note(100);
                partition
            })
            .collect();
        assert_eq!(turns, [1, 2, 0, 1, 2]);
    }
}
