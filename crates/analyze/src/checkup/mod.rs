//! The result of a checkup: the cluster's facts, the figures of its parts, and the findings, the most severe first.

mod facts;
mod findings;
mod load;
mod points;
mod practice;
mod speed;

use kgauge_results::RunRead;
use kgauge_results::run::{
    CheckupLimits, ClusterCensus, HealthStop, LimitedLoad, QuotaLevel, SkippedPart,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::{Bottleneck, CapacitySummary, TrialSummary};

pub use practice::{Practice, SettingDeviation};

/// A checkup: facts, figures and findings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckupSummary {
    /// The goal of the capacity search, as written.
    pub goal: String,
    /// What it was allowed to do.
    pub limits: CheckupLimits,
    /// The cluster before any load.
    pub before: ClusterCensus,
    /// The cluster after all load; null if it was not read again.
    pub after: Option<ClusterCensus>,
    /// From producer to consumer without other load of kgauge; null if not measured.
    pub idle: Option<CheckupPoint>,
    /// From producer to consumer at shares of the capacity, by rising rate.
    pub end_to_end: Vec<CheckupPoint>,
    /// Values of `acks` at a quarter of the capacity, on replicated topics.
    pub acks: Vec<CheckupPoint>,
    /// Numbers of replicas at a quarter of the capacity.
    pub replication: Vec<CheckupPoint>,
    /// Consumers that read what is being written; null if not measured.
    pub tail: Option<ReadPoint>,
    /// Consumers that read from the start of a topic, from the page cache; null if not measured.
    pub from_start: Option<ReadPoint>,
    /// The same after the records left the page cache, so from disk; null if not measured.
    pub from_disk: Option<ReadPoint>,
    /// How fast brokers answered the smallest request, over all loads.
    pub brokers: Vec<BrokerSpeed>,
    /// Settings that deviate from good practice.
    pub deviations: Vec<SettingDeviation>,
    /// Parts that did not run.
    pub skipped: Vec<SkippedPart>,
    /// Loads that were too much for a broker.
    pub limited_loads: Vec<LimitedLoad>,
    /// Why the load ended before its time; null if the cluster stayed healthy.
    pub stop: Option<HealthStop>,
    /// What matters, the gravest first.
    pub findings: Vec<CheckupFinding>,
}

/// One load of a part.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckupPoint {
    /// The varied value: `all` for acks, `3` for replicas; empty if nothing varies.
    pub value: String,
    /// The share of the capacity; absent if that is the same for all loads of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The offered rate in records per second.
    pub planned_per_s: Option<f64>,
    /// Acked records per second.
    pub records_per_s: f64,
    /// Whether the target kept up with the offered rate.
    pub kept_rate: bool,
    /// Median time in nanoseconds: response of producers, end to end of echo flows; null if not measured.
    pub p50_ns: Option<f64>,
    /// Its 99th percentile.
    pub p99_ns: Option<f64>,
}

/// Consumers of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReadPoint {
    /// Records read per second.
    pub read_per_s: f64,
    /// Bytes of keys, values and headers per second.
    pub bytes_per_s: f64,
    /// Records written per second meanwhile; null if nothing was written.
    pub written_per_s: Option<f64>,
    /// The largest consumer lag in records; null if not sampled.
    pub lag_max: Option<f64>,
}

/// How fast a broker answers the smallest request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerSpeed {
    /// Its node id.
    pub broker: i32,
    /// Loads with enough answers.
    pub loads: u32,
    /// Those of them in which it was much slower than the others.
    pub slow_loads: u32,
    /// The median of the loads' medians in nanoseconds.
    pub p50_ns: f64,
    /// The median of the loads' 99th percentiles.
    pub p99_ns: f64,
    /// The same of the other brokers: the median of theirs; null with one broker.
    pub others_p99_ns: Option<f64>,
    /// Requests without an answer.
    pub lost: u32,
}

/// Something that matters about a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckupFinding {
    /// How much it matters: above 80 availability is lost, above 60 records may be lost or throughput is limited,
    /// below 40 it is a habit.
    pub weight: u32,
    /// What was found.
    #[serde(flatten)]
    pub fact: CheckupFact,
}

/// What was found, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum CheckupFact {
    /// Partitions without a leader.
    OfflinePartitions { partitions: u32, of: u32 },
    /// Partitions with replicas that are not in sync, and brokers that have these replicas.
    UnderReplicated {
        partitions: u32,
        of: u32,
        brokers: Vec<i32>,
    },
    /// Brokers that are registered, but fenced.
    FencedBrokers { brokers: Vec<i32> },
    /// The health of the cluster fell during the load.
    HealthFell { stop: HealthStop },
    /// A directory of logs is offline.
    LogDirOffline {
        broker: i32,
        path: String,
        error: String,
    },
    /// A disk with logs is filled to a large part.
    DiskFilled {
        broker: i32,
        path: String,
        used_part: f64,
    },
    /// A setting deviates from good practice.
    Setting(SettingDeviation),
    /// Topics whose partitions have one replica.
    SingleReplica { partitions: u32, of: u32 },
    /// A broker that answers much more slowly than the others.
    SlowBroker { speed: BrokerSpeed },
    /// A broker leads many more partitions than the others.
    LeaderSkew {
        broker: i32,
        leaders: u32,
        mean: f64,
    },
    /// Partitions that another broker leads than the preferred one.
    NotPreferred { partitions: u32, of: u32 },
    /// A quota that applies to kgauge.
    Quota {
        key: String,
        value: f64,
        level: QuotaLevel,
        /// It decided the highest rate of the checkup, or brokers throttled its clients.
        limits: bool,
    },
    /// No rate keeps the goal.
    NoRateHolds { lowest_broken_per_s: f64 },
    /// What limits the cluster at its capacity.
    LimitedBy {
        bottleneck: Bottleneck,
        records_per_s: f64,
    },
    /// `acks=all` adds much latency.
    AcksCost {
        one_p99_ns: f64,
        all_p99_ns: f64,
        records_per_s: f64,
    },
    /// Replicas add much latency.
    ReplicationCost {
        replicas: String,
        one_p99_ns: f64,
        replicated_p99_ns: f64,
        records_per_s: f64,
    },
    /// Consumers do not keep up at half of the capacity.
    ConsumersBehind { reads: ReadPoint },
    /// Latency rises steeply below the capacity.
    SteepLatency {
        half_p99_ns: f64,
        near_p99_ns: f64,
        near_per_s: f64,
    },
    /// Records take long even without load.
    SlowWithoutLoad { p50_ns: f64, p99_ns: f64 },
    /// Brokers without a rack, although others have one.
    RacksMissing { brokers: Vec<i32> },
    /// All brokers are in one rack, or none has one.
    OneRack { brokers: u32 },
    /// Brokers of different releases.
    MixedReleases { releases: Vec<String> },
}

/// The checkup of a run, if it is one.
pub(crate) fn summary(
    run: &RunRead,
    trials: &[TrialSummary],
    capacities: &[CapacitySummary],
) -> Option<CheckupSummary> {
    let record = run.checkup.as_ref()?;
    let brokers = speed::speeds(&record.round_trips);
    let mut summary = CheckupSummary {
        goal: record.goal.clone(),
        limits: record.limits.clone(),
        before: record.before.clone(),
        after: record.after.clone(),
        idle: None,
        end_to_end: Vec::new(),
        acks: Vec::new(),
        replication: Vec::new(),
        tail: None,
        from_start: None,
        from_disk: None,
        brokers,
        deviations: practice::deviations(&record.before),
        skipped: record.skipped.clone(),
        limited_loads: record.limited_loads.clone(),
        stop: record.stop.clone(),
        findings: Vec::new(),
    };
    points::fill(&mut summary, trials);
    let capacity = capacities.first();
    summary.findings = findings::ranked(&summary, capacity, trials);
    Some(summary)
}

/// Adds a finding.
fn push(findings: &mut Vec<CheckupFinding>, weight: u32, fact: CheckupFact) {
    findings.push(CheckupFinding { weight, fact });
}
