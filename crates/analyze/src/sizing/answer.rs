//! The answer: machines, partitions, disk and money, each with its interval and what asks for it.

use schemars::JsonSchema;
use serde::Serialize;

use super::compression::RecordSample;
use super::cost::{CostTerm, TermCost};
use super::curve::LatencyReading;
use super::demand::{ClientHabits, PeakLoad};
use super::facts::{MeasuredRelease, SizingMachine, UnusableTrial};
use super::machine::MachineType;
use super::need::SizingNeed;
use super::price::MonthlyPrice;
use super::range::Extrapolation;
use super::resources::{ResourceNeed, SizingResource};
use super::rules::RuleAnswer;
use crate::statistics::Interval;

/// How large a cluster must be. All intervals are 90 % intervals from resampled trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "kgauge size")]
pub struct SizeAnswer {
    /// What it must be able to do.
    pub need: SizingNeed,
    /// The trials that the answer rests on.
    pub basis: SizingBasis,
    /// A sample of the user's records, compressed; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<RecordSample>,
    /// How clients are expected to behave: as in the runs.
    pub habits: ClientHabits,
    /// The load at the peak.
    pub load: PeakLoad,
    /// CPU cost of each kind of work.
    pub costs: Vec<TermCost>,
    /// The median error, as a fraction, with which a trial's CPU is predicted from trials of other setups.
    pub cost_error: f64,
    /// Kinds of work that the need lacks and every trial had: their cost is part of that of other work, and so of the
    /// answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entangled: Vec<CostTerm>,
    /// Partitions that throughput needs.
    pub partitions: PartitionNeed,
    /// The machine types, the cheapest first; those without a price follow, the fewest machines first.
    pub choices: Vec<MachineChoice>,
    /// In which respects the need lies outside of what was measured, by at most a factor of two.
    pub extrapolated: Vec<Extrapolation>,
}

/// The trials that an answer rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
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

/// How many partitions the throughput of the peak needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PartitionNeed {
    /// At least this number.
    pub partitions: u32,
    /// 90 % interval.
    pub interval: Interval,
    /// Bytes per second that one producer wrote into one partition; absent if not measured.
    pub produce_bytes_per_s: Option<f64>,
    /// Bytes per second that one consumer read from one partition; absent if not measured.
    pub consume_bytes_per_s: Option<f64>,
    /// What the example of the dcos-2018 study does: producers only, rounded down. Absent if not measured.
    pub rule_partitions: Option<u32>,
}

/// A cluster of one machine type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MachineChoice {
    /// The type.
    pub machine: MachineType,
    /// Brokers, those that may be lost included.
    pub brokers: u32,
    /// 90 % interval of that number. With an upper end of 10,000, it is uncertain whether any number is enough.
    pub brokers_interval: Interval,
    /// The resource that asks for the most.
    pub binding: SizingResource,
    /// Partitions that throughput needs, and more until brokers lead about equally many.
    pub partitions: u32,
    /// 90 % interval of that number.
    pub partitions_interval: Interval,
    /// Each resource.
    pub resources: Vec<ResourceNeed>,
    /// Bytes on all disks, with all replicas.
    pub stored_bytes: f64,
    /// 90 % interval of that.
    pub stored_interval: Interval,
    /// Bytes of disk for each broker, with free space.
    pub disk_bytes_each: f64,
    /// 90 % interval of that.
    pub disk_interval: Interval,
    /// Price of a month; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<MonthlyPrice>,
    /// 90 % interval of its sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_interval: Option<Interval>,
    /// The response time at the measured load that is the nearest; absent if none is near.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyReading>,
    /// In which respects this cluster lies outside of what was measured, by at most a factor of two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extrapolated: Vec<Extrapolation>,
    /// What rules of thumb would have said.
    pub rules: Vec<RuleAnswer>,
}
