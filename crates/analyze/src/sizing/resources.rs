//! What the busiest broker needs of each resource, and how many brokers each resource asks for.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::BrokerWork;
use super::demand::PeakLoad;
use super::estimate::Estimate;
use super::facts::imbalance;
use super::machine::MachineType;
use super::need::SizingNeed;
use crate::statistics::Interval;

/// Kafka's documentation ("Hardware and OS") gives brokers 6 GB of heap; smaller machines get half of their memory.
/// Used if the runs did not measure the brokers' memory.
pub const HEAP_BYTES: f64 = 6e9;
/// Replicas of one broker that Confluent and AWS name as a limit for large machines.
pub const REPLICAS_MAX: f64 = 4_000.0;
/// More brokers than any cluster has: an answer beyond it is none.
pub const BROKERS_MAX: u32 = 10_000;
/// Partitions are chosen so that the busiest broker leads at most this many times the mean, also after the losses.
const IMBALANCE_MAX: f64 = 1.05;
/// Each partition's newest segment is not deleted, however old its records are; Kafka's default size.
const SEGMENT_BYTES: f64 = 1_073_741_824.0;
/// Kafka's default age at which a segment is closed.
const SEGMENT_S: f64 = 604_800.0;

/// How much of each resource is used at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedUse {
    /// Of the CPU, as a fraction.
    pub cpu_part: f64,
    /// Of network and disk throughput, and of the CPU while a broker catches up.
    pub throughput_part: f64,
    /// Of the disk's space.
    pub space_part: f64,
    /// How many seconds of writes the page cache holds.
    pub cache_s: f64,
}

impl PlannedUse {
    /// For planning. CPU: the value of public calculators; above it, queues grow. Space: Kafka's users raise an alarm
    /// at 85 %. Page cache: Kafka's documentation ("Hardware and OS").
    pub const SAFE: PlannedUse = PlannedUse {
        cpu_part: 0.60,
        throughput_part: 0.80,
        space_part: 0.70,
        cache_s: 30.0,
    };
    /// All there is.
    pub const ALL: PlannedUse = PlannedUse {
        cpu_part: 1.0,
        throughput_part: 1.0,
        space_part: 1.0,
        cache_s: 0.0,
    };
}

/// What can be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizingResource {
    /// Replicas and brokers that may be lost need this many brokers.
    Replicas,
    /// Cores.
    Cpu,
    /// Bytes per second from producers and leaders.
    NetworkIn,
    /// Bytes per second to consumers and followers.
    NetworkOut,
    /// Bytes per second written.
    DiskThroughput,
    /// Bytes on disk.
    Storage,
    /// Bytes of the broker's process and of the page cache.
    Memory,
    /// Replicas per broker.
    Partitions,
    /// The used part of network, disk or CPU, whichever is the largest, while a broker or the consumers catch up.
    CatchUp,
    /// The used part of the CPU, of which no more may be used lest response times become too long.
    Latency,
}

impl SizingResource {
    /// All; of equal needs, the first is named.
    pub const ALL: [SizingResource; 10] = [
        SizingResource::Replicas,
        SizingResource::Cpu,
        SizingResource::NetworkIn,
        SizingResource::NetworkOut,
        SizingResource::DiskThroughput,
        SizingResource::Storage,
        SizingResource::Memory,
        SizingResource::Partitions,
        SizingResource::CatchUp,
        SizingResource::Latency,
    ];
}

/// One resource of one machine type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResourceNeed {
    /// Which.
    pub resource: SizingResource,
    /// Brokers that it asks for, those that may be lost included; absent if the machine's limit is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brokers: Option<u32>,
    /// 90 % interval of that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brokers_interval: Option<Interval>,
    /// What the busiest broker uses of it with the chosen number of brokers, after the losses.
    pub amount: f64,
    /// 90 % interval of that.
    pub amount_interval: Interval,
    /// What the machine has of it; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

impl ResourceNeed {
    /// The used part; `None` where the limit is unknown.
    pub fn used_part(&self) -> Option<f64> {
        self.limit.map(|limit| self.amount / limit)
    }
}

/// What the busiest of some brokers uses of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ResourceUse {
    pub(super) amount: f64,
    pub(super) limit: Option<f64>,
    /// The part of the limit that may be used.
    part_max: f64,
}

impl ResourceUse {
    fn is_kept(&self) -> bool {
        // Sums of fractions end a little beside whole numbers.
        let is_below = |limit: f64| self.amount <= limit * self.part_max * (1.0 + 1e-9);
        self.limit.is_none_or(is_below)
    }
}

/// A need, and one set of estimates.
pub(super) struct Sizing<'a> {
    pub(super) need: &'a SizingNeed,
    pub(super) estimate: &'a Estimate,
    pub(super) load: PeakLoad,
    planned: PlannedUse,
    /// Cores that all brokers share, and those that each has beside.
    shared_cores: f64,
    own_cores: f64,
    /// Partitions, if they are given.
    partitions: Option<u32>,
}

impl<'a> Sizing<'a> {
    pub(super) fn new(
        need: &'a SizingNeed,
        estimate: &'a Estimate,
        planned: PlannedUse,
    ) -> Sizing<'a> {
        let load = PeakLoad::of(need, &estimate.habits);
        let own = BrokerWork {
            brokers: 1.0,
            ..BrokerWork::default()
        };
        Sizing {
            need,
            estimate,
            shared_cores: estimate.costs.cores(&load.work(need, &estimate.habits)),
            own_cores: estimate.costs.cores(&own),
            load,
            planned,
            partitions: None,
        }
    }

    /// The same with a given number of partitions.
    pub(super) fn with_partitions(self, partitions: u32) -> Sizing<'a> {
        Sizing {
            partitions: Some(partitions),
            ..self
        }
    }

    /// The fewest brokers with which a resource suffices; `None` if no number does.
    pub(super) fn brokers(&self, resource: SizingResource, machine: &MachineType) -> Option<u32> {
        let floor = self.need.replication.max(self.need.lose + 1);
        let holds = |brokers: u32| self.usage(resource, machine, brokers).is_kept();
        let mut low = floor.saturating_sub(1);
        let mut high = floor;
        while !holds(high) {
            low = high;
            high = high.saturating_mul(2);
            if low >= BROKERS_MAX {
                return None;
            }
        }
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            match holds(middle) {
                true => high = middle,
                false => low = middle,
            }
        }
        Some(high)
    }

    /// The fewest brokers with which all resources suffice.
    pub(super) fn all_brokers(&self, machine: &MachineType) -> Option<u32> {
        let mut brokers = 1;
        for resource in SizingResource::ALL {
            brokers = brokers.max(self.brokers(resource, machine)?);
        }
        Some(brokers)
    }

    /// Whether some brokers suffice, and the resource that is used most.
    pub(super) fn holds(&self, machine: &MachineType, brokers: u32) -> (bool, SizingResource) {
        let mut holds = true;
        let mut most = (0.0, SizingResource::Cpu);
        for resource in SizingResource::ALL {
            let usage = self.usage(resource, machine, brokers);
            holds &= usage.is_kept();
            let part = usage
                .limit
                .map_or(0.0, |limit| usage.amount / (limit * usage.part_max));
            if part > most.0 {
                most = (part, resource);
            }
        }
        (holds, most.1)
    }

    /// What the busiest of some brokers uses of a resource, after the losses where these matter.
    pub(super) fn usage(
        &self,
        resource: SizingResource,
        machine: &MachineType,
        brokers: u32,
    ) -> ResourceUse {
        use SizingResource as R;
        let left = brokers.saturating_sub(self.need.lose).max(1);
        let cores = self.cores(machine);
        let throughput = self.planned.throughput_part;
        let (amount, limit, part_max) = match resource {
            R::Replicas => (0.0, None, 1.0),
            R::Cpu => (
                self.busiest_cores(brokers, left),
                Some(cores),
                self.planned.cpu_part,
            ),
            R::NetworkIn => (
                self.written(brokers, left),
                machine.network_bytes_per_s,
                throughput,
            ),
            R::NetworkOut => (
                self.sent(brokers, left),
                machine.network_bytes_per_s,
                throughput,
            ),
            R::DiskThroughput => (
                self.written(brokers, left),
                machine.disk_bytes_per_s,
                throughput,
            ),
            R::Storage => (
                self.stored_each(brokers),
                machine.disk_bytes,
                self.planned.space_part,
            ),
            R::Memory => {
                let process = self.process_bytes(machine);
                let cache = self.planned.cache_s * self.written(brokers, left);
                (process + cache, Some(machine.memory_bytes), 1.0)
            }
            R::Partitions => (self.replicas_each(brokers), Some(REPLICAS_MAX), 1.0),
            R::CatchUp => {
                let part = self.catch_up_part(machine, brokers);
                (part, (self.need.outage_s > 0.0).then_some(1.0), throughput)
            }
            R::Latency => (
                self.busiest_cores(brokers, left) / cores,
                self.estimate.latency_part,
                1.0,
            ),
        };
        ResourceUse {
            amount,
            limit,
            part_max,
        }
    }

    /// Partitions of a cluster: as many as throughput needs, and more until brokers lead about equally many.
    pub(super) fn partitions(&self, brokers: u32) -> u32 {
        if let Some(partitions) = self.partitions {
            return partitions;
        }
        let brokers = brokers.max(1);
        let left = brokers.saturating_sub(self.need.lose).max(1);
        let mut partitions = self
            .partitions_min()
            .div_ceil(brokers)
            .saturating_mul(brokers);
        // With `brokers * left` partitions both are even, so this ends.
        while imbalance(partitions, left) > IMBALANCE_MAX {
            partitions = partitions.saturating_add(brokers);
        }
        partitions
    }

    /// max(T / P, T / C), with P and C as measured on one partition; 1 if neither was. Rao, "How to choose the number
    /// of topics/partitions in a Kafka cluster?", 2015.
    pub(super) fn partitions_min(&self) -> u32 {
        let rates = [
            self.estimate.produce_bytes_per_s,
            self.estimate.consume_bytes_per_s,
        ];
        let slowest = rates.into_iter().flatten().reduce(f64::min);
        let peak = self.need.peak_bytes_per_s();
        let count = slowest.map_or(1.0, |slowest| (peak / slowest).ceil());
        count.clamp(1.0, 1e6) as u32
    }

    /// Bytes on all disks: retention at the average rate, and the newest segment of each replica.
    pub(super) fn stored(&self, brokers: u32) -> f64 {
        let partitions = f64::from(self.partitions(brokers));
        let rate = self.average(self.load.in_bytes_per_s);
        let segment = SEGMENT_BYTES.min(rate / partitions * SEGMENT_S);
        let kept = rate * self.need.retention_s + partitions * segment;
        kept * f64::from(self.need.replication)
    }

    /// The same of the fullest broker. Losses move no data.
    pub(super) fn stored_each(&self, brokers: u32) -> f64 {
        let each = self.stored(brokers) / f64::from(self.need.replication);
        each * self.replica_share(brokers, brokers)
    }

    /// Replicas of the broker that has most.
    pub(super) fn replicas_each(&self, brokers: u32) -> f64 {
        let replicas = f64::from(self.partitions(brokers)) * f64::from(self.need.replication);
        (replicas / f64::from(brokers)).ceil()
    }

    fn cores(&self, machine: &MachineType) -> f64 {
        machine
            .vcpus
            .min(self.estimate.cores_max.unwrap_or(f64::INFINITY))
    }

    fn process_bytes(&self, machine: &MachineType) -> f64 {
        let documented = HEAP_BYTES.min(machine.memory_bytes / 2.0);
        self.estimate.resident_bytes.unwrap_or(documented)
    }

    /// A rate at the peak as one on average.
    fn average(&self, peak: f64) -> f64 {
        peak / self.need.peak
    }

    /// The part of all records that the busiest of `left` brokers leads.
    fn leader_share(&self, brokers: u32, left: u32) -> f64 {
        let share = self.estimate.habits.skew * imbalance(self.partitions(brokers), left);
        (share / f64::from(left)).min(1.0)
    }

    /// How much of what producers send the busiest broker writes, its copies of other leaders' partitions included.
    /// These are spread evenly over the others.
    fn replica_share(&self, brokers: u32, left: u32) -> f64 {
        let leads = self.leader_share(brokers, left);
        let copies = self.need.replication.min(left).saturating_sub(1);
        match left {
            0 | 1 => leads,
            _ => leads + f64::from(copies) * (1.0 - leads) / f64::from(left - 1),
        }
    }

    fn written(&self, brokers: u32, left: u32) -> f64 {
        self.load.in_bytes_per_s * self.replica_share(brokers, left)
    }

    fn sent(&self, brokers: u32, left: u32) -> f64 {
        let sent = self.load.replicated_bytes_per_s + self.load.out_bytes_per_s;
        sent * self.leader_share(brokers, left)
    }

    fn busiest_cores(&self, brokers: u32, left: u32) -> f64 {
        self.own_cores + self.shared_cores * self.leader_share(brokers, left)
    }

    /// A broker, or the consumers, come back after the outage: within the time to catch up, the broker receives, and
    /// the consumers read, what they missed at the average rate, beside the peak. The largest used part of network,
    /// disk and CPU.
    fn catch_up_part(&self, machine: &MachineType, brokers: u32) -> f64 {
        let missed = self.need.outage_s / self.need.catch_up_s;
        let written = self.written(brokers, brokers);
        let missed_bytes = self.average(written) * missed;
        let received = written + missed_bytes;
        let read_again =
            self.average(self.load.out_bytes_per_s) * missed * self.leader_share(brokers, brokers);
        let sent = self.sent(brokers, brokers) + read_again;
        let batch = self.load.in_bytes_per_s / self.load.batches_per_s;
        let again = BrokerWork {
            replicated_bytes: missed_bytes,
            replicated_batches: missed_bytes / batch,
            ..BrokerWork::default()
        };
        let cores = self.busiest_cores(brokers, brokers) + self.estimate.costs.cores(&again);
        let network = machine.network_bytes_per_s;
        let parts = [
            Some(cores / self.cores(machine)),
            network.map(|limit| received.max(sent) / limit),
            machine.disk_bytes_per_s.map(|limit| received / limit),
        ];
        parts.into_iter().flatten().fold(0.0, f64::max)
    }
}
