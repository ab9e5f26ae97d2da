//! The answer: machines, partitions, disk and money, each with what asks for it.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::TermCost;
use super::demand::{ClientHabits, PeakLoad};
use super::facts::{MeasuredRelease, SizingMachine, UnusableTrial};
use super::machine::MachineType;
use super::need::SizingNeed;
use super::resources::{ResourceNeed, SizingResource};
use super::rules::RuleAnswer;

/// How large a cluster must be.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "kgauge size")]
pub struct SizeAnswer {
    /// What it must be able to do.
    pub need: SizingNeed,
    /// The trials that the answer rests on.
    pub basis: SizingBasis,
    /// How clients are expected to behave: as in the runs.
    pub habits: ClientHabits,
    /// The load at the peak.
    pub load: PeakLoad,
    /// CPU cost of each kind of work.
    pub costs: Vec<TermCost>,
    /// The median error, as a fraction, with which a trial's CPU is predicted from the other trials.
    pub cost_error: f64,
    /// Partitions.
    pub partitions: PartitionNeed,
    /// Bytes on all disks, with all replicas.
    pub stored_bytes: f64,
    /// The machine types, the cheapest first; those without a price follow, the fewest machines first.
    pub choices: Vec<MachineChoice>,
    /// In which respects the need lies outside what was measured, by at most a factor of two.
    pub extrapolated: Vec<Extrapolation>,
}

/// The trials that an answer rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SizingBasis {
    /// How many.
    pub trials: u32,
    /// The runs' ids.
    pub runs: Vec<String>,
    /// The software.
    pub release: MeasuredRelease,
    /// The machine.
    pub machine: SizingMachine,
    /// Trials that say nothing, and why.
    pub unusable: Vec<UnusableTrials>,
    /// Trials in which the generator was the limit: they show costs, but not what brokers can do.
    pub generator_limited: u32,
}

/// Trials that say nothing, for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnusableTrials {
    /// Why.
    pub why: UnusableTrial,
    /// How many.
    pub trials: u32,
}

/// How many partitions the peak needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PartitionNeed {
    /// At least so many.
    pub partitions: u32,
    /// Bytes per second that one producer wrote into one partition; absent if not measured.
    pub produce_bytes_per_s: Option<f64>,
    /// Bytes per second that one consumer read from one partition; absent if not measured.
    pub consume_bytes_per_s: Option<f64>,
}

/// A cluster of one machine type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MachineChoice {
    /// The type.
    pub machine: MachineType,
    /// Brokers, those that may be lost included.
    pub brokers: u32,
    /// The smallest and largest number that the measured costs allow, 90 %.
    pub brokers_low: u32,
    /// The larger end.
    pub brokers_high: u32,
    /// The resource that asks for the most.
    pub binding: SizingResource,
    /// Each resource.
    pub resources: Vec<ResourceNeed>,
    /// Bytes of disk for each broker, with free space.
    pub disk_bytes_each: f64,
    /// Price of brokers and disks for a month of 730 hours; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_month: Option<f64>,
    /// What rules of thumb would have said.
    pub rules: Vec<RuleAnswer>,
}

/// A respect in which a need lies outside what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Extrapolation {
    /// Which.
    pub respect: SizingRespect,
    /// What is needed.
    pub needed: f64,
    /// The nearest that was measured.
    pub measured: f64,
}

impl Extrapolation {
    /// How far it is, as a factor of at least 1.
    pub fn factor(&self) -> f64 {
        (self.needed / self.measured).max(self.measured / self.needed)
    }
}

/// Respects in which loads differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizingRespect {
    /// Bytes of a record.
    RecordBytes,
}

/// A trial that would have to be made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingTrial {
    /// At least so many more, with other batch sizes.
    More {
        /// How many.
        trials: u32,
    },
    /// With replicas.
    Replication,
    /// With consumers.
    Consumers,
    /// With TLS.
    Tls,
    /// With records of about this size.
    RecordBytes {
        /// The size.
        bytes: f64,
    },
    /// At a rate that is planned, for latencies.
    ScheduledRate,
}
