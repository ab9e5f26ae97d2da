//! Chooses the partition of a record whose key does not.

use kgauge_scenario::{Partitioner, ProducerSettings, mix};

use super::partition::PartitionQueue;

/// Chooses partitions.
///
/// `sticky` is Kafka's uniform sticky partitioner (KIP-794): a partition is kept until it got `batch.size` bytes. Then
/// another is drawn; the fewer batches wait for a partition, the more likely.
#[derive(Debug)]
pub(crate) struct PartitionChoice {
    method: DrawMethod,
    current: u32,
    partitions: u32,
    bytes: u64,
    bytes_max: u64,
    draws: u64,
    seed: u64,
    /// `partitioner.adaptive.partitioning.enable`
    is_adaptive: bool,
    /// `partitioner.availability.timeout.ms`; `u64::MAX` for never.
    stuck_ns_max: u64,
}

#[derive(Debug)]
enum DrawMethod {
    /// Draws from all partitions, or from some.
    Sticky(Option<Vec<u32>>),
    RoundRobin,
    Fixed,
}

/// The state of the partitions when one is drawn.
pub(crate) struct PartitionLoads<'a> {
    pub(crate) partitions: &'a [PartitionQueue],
    /// For each link since when ready batches could not be sent; `u64::MAX` if they can.
    pub(crate) stuck_since_ns: &'a [u64],
    pub(crate) now_ns: u64,
}

impl PartitionChoice {
    /// `candidates` are the partitions of the broker in [`Partitioner::Broker`].
    pub(crate) fn new(
        settings: &ProducerSettings,
        partitions: u32,
        candidates: Option<Vec<u32>>,
        seed: u64,
    ) -> Self {
        let method = match settings.partitioner {
            Partitioner::Sticky => DrawMethod::Sticky(None),
            Partitioner::Broker(_) => {
                DrawMethod::Sticky(candidates.filter(|some| !some.is_empty()))
            }
            Partitioner::RoundRobin => DrawMethod::RoundRobin,
            Partitioner::Partition(_) => DrawMethod::Fixed,
        };
        let timeout_ns = settings.partitioner_availability_ns;
        let mut choice = Self {
            method,
            partitions: partitions.max(1),
            current: 0,
            bytes: 0,
            bytes_max: u64::from(settings.batch_bytes),
            draws: 0,
            seed,
            is_adaptive: settings.partitioner_adaptive,
            stuck_ns_max: if timeout_ns == 0 {
                u64::MAX
            } else {
                timeout_ns
            },
        };
        choice.current = match settings.partitioner {
            Partitioner::Partition(one) => one.min(choice.partitions - 1),
            _ => choice.draw_evenly(),
        };
        choice
    }

    /// The partition of the next record.
    #[inline]
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// Whether records go to one partition after the other.
    pub(crate) fn changes_each_record(&self) -> bool {
        matches!(self.method, DrawMethod::RoundRobin)
    }

    /// Counts bytes for the current partition.
    #[inline]
    pub(crate) fn note(&mut self, bytes: u64) {
        match self.method {
            DrawMethod::Sticky(_) => self.bytes += bytes,
            DrawMethod::RoundRobin => {
                self.current += 1;
                if self.current >= self.partitions {
                    self.current = 0;
                }
            }
            DrawMethod::Fixed => {}
        }
    }

    /// A batch of the current partition is complete: moves on, if enough bytes went there.
    pub(crate) fn batch_complete(&mut self, loads: &PartitionLoads<'_>) {
        if matches!(self.method, DrawMethod::Sticky(_)) && self.bytes >= self.bytes_max / 2 {
            self.current = self.draw(loads);
            self.bytes = 0;
        }
    }

    /// As [`Self::batch_complete`], for a batch that was sent before it was full.
    pub(crate) fn batch_complete_of(&mut self, partition: u32, loads: &PartitionLoads<'_>) {
        if partition == self.current {
            self.batch_complete(loads);
        }
    }

    fn random(&mut self) -> u64 {
        self.draws += 1;
        mix(self.seed ^ self.draws) >> 32
    }

    /// The number of partitions to draw from.
    fn count(&self) -> u32 {
        match &self.method {
            DrawMethod::Sticky(Some(some)) => some.len() as u32,
            _ => self.partitions,
        }
    }

    fn candidate(&self, index: u32) -> u32 {
        match &self.method {
            DrawMethod::Sticky(Some(some)) => some[index as usize],
            _ => index,
        }
    }

    fn draw_evenly(&mut self) -> u32 {
        // The high half of a 32 × 32 bit product spreads a random number over 0..count.
        let random = self.random();
        self.candidate(((random * u64::from(self.count())) >> 32) as u32)
    }

    /// Kafka's `BuiltInPartitioner`: a partition's weight is the longest queue plus one, minus its own queue.
    /// Partitions of brokers that accept nothing have weight 0, unless all are like that.
    fn draw(&mut self, loads: &PartitionLoads<'_>) -> u32 {
        if !self.is_adaptive {
            return self.draw_evenly();
        }
        let (mut longest, mut shortest, mut queued, mut open) = (0, usize::MAX, 0, 0);
        for index in 0..self.count() {
            let Some(batches) = self.queue_of(index, loads) else {
                continue;
            };
            longest = longest.max(batches);
            shortest = shortest.min(batches);
            queued += batches;
            open += 1;
        }
        if open == 0 || (open == self.count() as usize && longest == shortest) {
            return self.draw_evenly();
        }
        let all = (open * (longest + 1) - queued) as u64;
        let mut left = (self.random() * all) >> 32;
        for index in 0..self.count() {
            let Some(batches) = self.queue_of(index, loads) else {
                continue;
            };
            let weight = (longest + 1 - batches) as u64;
            if left < weight {
                return self.candidate(index);
            }
            left -= weight;
        }
        self.draw_evenly()
    }

    /// Batches that wait for a partition; `None` if its broker accepts nothing.
    fn queue_of(&self, index: u32, loads: &PartitionLoads<'_>) -> Option<usize> {
        let partition = loads.partitions.get(self.candidate(index) as usize)?;
        let leader = partition.leader;
        let since_ns = leader
            .and_then(|link| loads.stuck_since_ns.get(link))
            .copied();
        let stuck_ns = loads.now_ns.saturating_sub(since_ns.unwrap_or(u64::MAX));
        (stuck_ns <= self.stuck_ns_max || stuck_ns == 0).then(|| partition.batches())
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::BatchPool;
    use super::super::encoder::RecordsFormat;
    use super::*;

    fn settings(partitioner: Partitioner, batch_bytes: u32) -> ProducerSettings {
        ProducerSettings {
            partitioner,
            batch_bytes,
            ..ProducerSettings::default()
        }
    }

    fn partitions(count: usize) -> Vec<PartitionQueue> {
        (0..count).map(|_| PartitionQueue::new(Some(0))).collect()
    }

    fn loads(partitions: &[PartitionQueue]) -> PartitionLoads<'_> {
        PartitionLoads {
            partitions,
            stuck_since_ns: &[u64::MAX],
            now_ns: 0,
        }
    }

    /// How often each partition is drawn when a full batch goes to it each time.
    fn drawn(choice: &mut PartitionChoice, loads: &PartitionLoads<'_>, draws: u32) -> Vec<u32> {
        let mut batches = vec![0; loads.partitions.len()];
        for _ in 0..draws {
            choice.note(1_000);
            batches[choice.current() as usize] += 1;
            choice.batch_complete(loads);
        }
        batches
    }

    #[test]
    fn sticky_stays_until_a_batch_is_full_and_then_reaches_every_partition_alike() {
        let settings = settings(Partitioner::Sticky, 1_000);
        let mut choice = PartitionChoice::new(&settings, 6, None, 42);
        let partitions = partitions(6);
        let mut batches = [0_u32; 6];
        for _ in 0..60_000 {
            let partition = choice.current();
            for _ in 0..10 {
                assert_eq!(choice.current(), partition);
                choice.note(100);
            }
            batches[partition as usize] += 1;
            choice.batch_complete(&loads(&partitions));
        }
        // 10,000 expected each; 5 standard deviations are 5 × sqrt(60,000 × 1/6 × 5/6) = 456.
        assert!(
            batches.iter().all(|&count| count.abs_diff(10_000) < 456),
            "{batches:?}"
        );
    }

    #[test]
    fn a_batch_sent_almost_empty_does_not_move_the_partition() {
        let settings = settings(Partitioner::Sticky, 1_000);
        let mut choice = PartitionChoice::new(&settings, 6, None, 42);
        let partition = choice.current();
        choice.note(100);
        choice.batch_complete(&loads(&partitions(6)));
        assert_eq!(choice.current(), partition);
    }

    #[test]
    fn round_robin_takes_turns() {
        let settings = settings(Partitioner::RoundRobin, 1_000);
        let mut choice = PartitionChoice::new(&settings, 3, None, 2);
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

    #[test]
    fn one_partition_or_those_of_one_broker() {
        let fixed = settings(Partitioner::Partition(4), 1_000);
        let mut choice = PartitionChoice::new(&fixed, 6, None, 1);
        assert_eq!(drawn(&mut choice, &loads(&partitions(6)), 10)[4], 10);
        let broker = settings(Partitioner::Broker(2), 1_000);
        let mut choice = PartitionChoice::new(&broker, 6, Some(vec![1, 5]), 1);
        let batches = drawn(&mut choice, &loads(&partitions(6)), 1_000);
        assert_eq!((batches[1] + batches[5], batches[0]), (1_000, 0));
        assert!(batches[1] > 400 && batches[5] > 400, "{batches:?}");
    }

    #[test]
    fn long_queues_are_drawn_less_and_a_stuck_broker_not_at_all() {
        let mut pool = BatchPool::new(RecordsFormat::Batch, 1_000_000, 100);
        let mut partitions = partitions(3);
        // Queues of 3, 1 and 0: the weights are 1, 3 and 4.
        for (index, waiting) in [3, 1, 0].into_iter().enumerate() {
            for _ in 0..waiting {
                partitions[index].open = pool.take(10, index as u32, 0);
                partitions[index].close_open(&mut pool);
            }
        }
        partitions[2].leader = Some(1);
        let settings = ProducerSettings {
            partitioner_availability_ns: 50,
            ..settings(Partitioner::Sticky, 1_000)
        };
        let mut choice = PartitionChoice::new(&settings, 3, None, 9);
        let batches = drawn(&mut choice, &loads(&partitions), 80_000);
        for (count, expected) in batches.iter().zip([10_000_u32, 30_000, 40_000]) {
            assert!(count.abs_diff(expected) < 800, "{batches:?}");
        }
        let stuck = PartitionLoads {
            stuck_since_ns: &[u64::MAX, 100],
            now_ns: 200,
            ..loads(&partitions)
        };
        let batches = drawn(&mut choice, &stuck, 40_000);
        // The first draw was made before. The weights of the others are 1 and 3.
        assert!(
            batches[2] <= 1 && batches[0].abs_diff(10_000) < 600,
            "{batches:?}"
        );
        let even = ProducerSettings {
            partitioner_adaptive: false,
            ..settings
        };
        let mut choice = PartitionChoice::new(&even, 3, None, 9);
        let batches = drawn(&mut choice, &loads(&partitions), 30_000);
        assert!(
            batches.iter().all(|count| count.abs_diff(10_000) < 500),
            "{batches:?}"
        );
    }
}
