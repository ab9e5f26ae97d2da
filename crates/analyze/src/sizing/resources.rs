//! How many brokers each resource of a machine type asks for.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::{BrokerWork, CostModel, quantile};
use super::demand::PeakLoad;
use super::machine::MachineType;
use super::need::SizingNeed;
use crate::statistics::Interval;

/// Brokers are planned to use at most so much of their CPU: the value of public calculators; above it, queues grow.
pub const CPU_PART_MAX: f64 = 0.60;
/// So much of a network card or of a disk's throughput.
pub const THROUGHPUT_PART_MAX: f64 = 0.80;
/// So much of the disk space; Kafka's users raise an alarm at 85 %.
pub const SPACE_PART_MAX: f64 = 0.70;
/// Kafka's documentation ("Hardware and OS") has the page cache hold 30 s of writes.
pub const CACHE_S: f64 = 30.0;
/// The same page gives brokers 6 GB of heap; smaller machines get half of their memory.
pub const HEAP_BYTES: f64 = 6e9;
/// Replicas of one broker that Confluent and AWS name as a limit for large machines.
pub const REPLICAS_MAX: f64 = 4_000.0;
/// More brokers than any cluster has: an answer beyond it is none.
pub const BROKERS_MAX: u32 = 100_000;

/// What a broker does without any load.
const OWN_WORK: BrokerWork = BrokerWork {
    in_bytes: 0.0,
    batches: 0.0,
    replicated_bytes: 0.0,
    out_bytes: 0.0,
    produce_requests: 0.0,
    fetch_requests: 0.0,
    tls_bytes: 0.0,
    brokers: 1.0,
};

/// What can be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizingResource {
    /// Replicas and brokers that may be lost need so many brokers.
    Replicas,
    /// Processors.
    Cpu,
    /// Bytes from producers and leaders.
    NetworkIn,
    /// Bytes to consumers and followers.
    NetworkOut,
    /// Bytes written.
    DiskThroughput,
    /// Memory without the heap.
    PageCache,
    /// Replicas per broker.
    Partitions,
    /// Bytes that a broker must receive when it comes back.
    CatchUp,
    /// The rate at which the response time was still short enough.
    Latency,
}

/// One resource of one machine type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResourceNeed {
    /// Which.
    pub resource: SizingResource,
    /// Brokers that it asks for, those that may be lost included.
    pub brokers: u32,
    /// 90 % interval, where it is measured rather than computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// How much of the machine's the busiest broker uses with the chosen number, after the loss; absent where the
    /// resource has no amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_part: Option<f64>,
}

/// What is known when brokers are counted.
pub(super) struct Sizing<'a> {
    pub(super) need: &'a SizingNeed,
    pub(super) load: &'a PeakLoad,
    pub(super) costs: &'a CostModel,
    pub(super) skew: f64,
    /// Partitions, all topics together.
    pub(super) partitions: f64,
    /// Bytes per second that a core of a broker took in while the response time was short enough; absent without a
    /// goal.
    pub(super) in_bytes_per_core_max: Option<f64>,
}

/// An amount per second, or of bytes, that all brokers share.
struct SharedAmount {
    resource: SizingResource,
    amount: f64,
    /// What one machine has of it.
    limit: f64,
    /// How much of that is planned to be used.
    part_max: f64,
}

impl Sizing<'_> {
    /// What each resource of a machine type asks for, and the largest of them.
    pub(super) fn resources(&self, machine: &MachineType) -> (u32, Vec<ResourceNeed>) {
        let mut needs = vec![self.replicas(), self.cpu(machine)];
        let shared = self.shared(machine);
        needs.extend(shared.iter().map(|shared| self.of_shared(shared)));
        let rates = [machine.network_bytes_per_s, machine.disk_bytes_per_s];
        let slower = rates.into_iter().flatten().reduce(f64::min);
        needs.extend(slower.map(|limit| self.catch_up(limit * THROUGHPUT_PART_MAX)));
        let brokers = needs.iter().map(|need| need.brokers).max().unwrap_or(1);
        let left = self.left(brokers);
        for need in &mut needs {
            let shared = shared
                .iter()
                .find(|shared| shared.resource == need.resource);
            need.used_part = match need.resource {
                SizingResource::Cpu => Some(self.cores_of_one(left) / machine.vcpus),
                _ => shared.map(|shared| shared.amount * self.skew / left / shared.limit),
            };
        }
        (brokers, needs)
    }

    /// Everything that brokers share, the busiest of which has `skew` times an equal part.
    fn shared(&self, machine: &MachineType) -> Vec<SharedAmount> {
        use SizingResource as R;
        let written = self.load.written_bytes_per_s();
        let sent = self.load.replicated_bytes_per_s + self.load.out_bytes_per_s;
        let cache = machine.memory_bytes - HEAP_BYTES.min(machine.memory_bytes / 2.0);
        let replicas = self.partitions * f64::from(self.need.replication);
        let latency = self
            .in_bytes_per_core_max
            .map(|bytes| bytes * machine.vcpus);
        let amounts = [
            (
                R::NetworkIn,
                written,
                machine.network_bytes_per_s,
                THROUGHPUT_PART_MAX,
            ),
            (
                R::NetworkOut,
                sent,
                machine.network_bytes_per_s,
                THROUGHPUT_PART_MAX,
            ),
            (
                R::DiskThroughput,
                written,
                machine.disk_bytes_per_s,
                THROUGHPUT_PART_MAX,
            ),
            (R::PageCache, written * CACHE_S, Some(cache), 1.0),
            (R::Partitions, replicas, Some(REPLICAS_MAX), 1.0),
            (R::Latency, self.load.in_bytes_per_s, latency, 1.0),
        ];
        let known = |(resource, amount, limit, part_max): (R, f64, Option<f64>, f64)| {
            let limit = limit?;
            Some(SharedAmount {
                resource,
                amount,
                limit,
                part_max,
            })
        };
        amounts.into_iter().filter_map(known).collect()
    }

    fn of_shared(&self, shared: &SharedAmount) -> ResourceNeed {
        let brokers =
            self.brokers_for(shared.amount * self.skew / (shared.limit * shared.part_max));
        bare(shared.resource, brokers)
    }

    /// Brokers that hold the load when the planned ones are lost.
    fn left(&self, brokers: u32) -> f64 {
        f64::from(brokers.saturating_sub(self.need.lose).max(1))
    }

    fn replicas(&self) -> ResourceNeed {
        let brokers = self.need.replication.max(self.need.lose.saturating_add(1));
        bare(SizingResource::Replicas, brokers)
    }

    /// So many brokers, and those that may be lost.
    fn brokers_for(&self, left: f64) -> u32 {
        let left = left.ceil().clamp(1.0, f64::from(BROKERS_MAX));
        (left as u32)
            .saturating_add(self.need.lose)
            .min(BROKERS_MAX)
    }

    fn cpu(&self, machine: &MachineType) -> ResourceNeed {
        let shared_work = self.load.work(self.need, 0.0);
        let usable = machine.vcpus * CPU_PART_MAX;
        // Each broker costs something by itself, whatever it does; the rest is shared.
        let brokers = |own: f64, shared: f64| match usable > own {
            true => self.brokers_for(shared * self.skew / (usable - own)),
            false => BROKERS_MAX,
        };
        let own = self.costs.drawn_cores(&OWN_WORK);
        let pairs = own.zip(self.costs.drawn_cores(&shared_work));
        let drawn: Vec<f64> = pairs
            .map(|(own, shared)| f64::from(brokers(own, shared)))
            .collect();
        let end = |part: f64| quantile(drawn.iter().copied(), part);
        let interval = end(0.05)
            .zip(end(0.95))
            .map(|(low, high)| Interval { low, high });
        let expected = brokers(self.costs.cores(&OWN_WORK), self.costs.cores(&shared_work));
        ResourceNeed {
            interval,
            ..bare(SizingResource::Cpu, expected)
        }
    }

    /// Cores that the busiest of so many brokers uses.
    fn cores_of_one(&self, brokers: f64) -> f64 {
        let shared = self.costs.cores(&self.load.work(self.need, 0.0));
        shared * self.skew / brokers + self.costs.cores(&OWN_WORK)
    }

    /// A broker comes back after the outage: it receives its part of the peak and, within the time to catch up, all
    /// that it missed at the average rate.
    fn catch_up(&self, limit: f64) -> ResourceNeed {
        let average = self.load.written_bytes_per_s() / self.need.peak;
        let missed = average * self.need.outage_s / self.need.catch_up_s;
        let amount = (self.load.written_bytes_per_s() + missed) * self.skew;
        // It is there again, so no broker is missing.
        let brokers = (amount / limit).ceil().clamp(1.0, f64::from(BROKERS_MAX)) as u32;
        bare(SizingResource::CatchUp, brokers)
    }
}

fn bare(resource: SizingResource, brokers: u32) -> ResourceNeed {
    ResourceNeed {
        resource,
        brokers,
        interval: None,
        used_part: None,
    }
}
