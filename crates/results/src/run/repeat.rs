//! `repeat.json`: the results of one repeat.

use kgauge_scenario::RepeatKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::AgentRecord;
use super::environment::TopicFacts;
use super::group::{GroupMemberRecord, GroupRecord};
use super::mirror::MirrorRecord;
use super::verification::VerificationRecord;
use crate::pace::PaceSeries;
use crate::stage::Stage;

/// The contents of `repeat.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatRecord {
    /// The repeat.
    pub key: RepeatKey,
    /// Its start (time 0), in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Its flows, in the order of the trial.
    pub flows: Vec<FlowRecord>,
    /// Its topics, before and after.
    pub topics: Vec<TopicRecord>,
    /// CPU time over the hold stage.
    #[serde(default)]
    pub cpu: Option<CpuRecord>,
    /// Whether the followers had caught up; `None` if not checked.
    #[serde(default)]
    pub replication: Option<Replication>,
    /// Node ids of the cluster's brokers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brokers: Vec<i32>,
    /// The check of every record; absent without `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationRecord>,
    /// The agents that generated its load; none if the process of the run did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentRecord>,
    /// How it ended.
    pub outcome: RepeatOutcome,
}

/// The results of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Its actual stages, in order; empty stages are missing.
    pub stages: Vec<StageSpan>,
    /// Number of its load threads.
    pub threads: u32,
    /// The other client that sent it, in separate processes; absent for kgauge's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverRecord>,
    /// Its consumer group; absent for flows without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupRecord>,
    /// The members of its consumer groups; absent in folders of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<GroupMemberRecord>,
    /// The transaction protocol of its producers; absent without transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<TransactionProtocol>,
    /// The copy on another cluster that it read; absent for flows that read none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorRecord>,
    /// Its connection failures; absent for other clients' flows and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionRecord>,
    /// Its ceiling on this machine; `None` if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<FlowCeiling>,
    /// The largest error of its end-to-end times, because its records were read on other agents than they were written
    /// on: two clocks were compared. Absent if one clock measured them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns: Option<u64>,
    /// Its records over time; absent in folders of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<PaceSeries>,
}

/// Connection failures of a flow's clients, all stages together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionRecord {
    /// Connections that were lost, for any reason.
    pub lost: u64,
    /// The number of them that kgauge closed because there was no response within `request.timeout.ms`.
    pub timed_out: u64,
    /// The number of them that kgauge closed because a response was malformed.
    pub malformed: u64,
}

impl ConnectionRecord {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            lost: self.lost.saturating_add(other.lost),
            timed_out: self.timed_out.saturating_add(other.timed_out),
            malformed: self.malformed.saturating_add(other.malformed),
        }
    }
}

/// The transaction protocol.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TransactionProtocol {
    /// KIP-98, of Kafka 0.11 and later.
    #[serde(rename = "kip-98")]
    Kip98,
    /// KIP-890, of Kafka 4 with `transaction.version` 2.
    #[serde(rename = "kip-890")]
    Kip890,
}

/// A client other than kgauge's engine, and its cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverRecord {
    /// Client and release, as it reports them.
    pub client: String,
    /// Number of its processes, one per producer.
    pub processes: u32,
    /// Their total CPU time over the hold stage; `None` if not measured.
    #[serde(default)]
    pub cpu_ns: Option<u64>,
    /// Their total time waiting for a record, over all stages.
    pub starved_ns: u64,
}

/// The cost of a flow at full speed: over loopback, into a sink that answers at once and stores nothing. Measured
/// before the trial, on one load thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowCeiling {
    /// Records that were acked or read during the measurement.
    pub records: u64,
    /// Duration of the measurement.
    pub span_ns: u64,
    /// CPU time of the load thread during the measurement.
    pub cpu_ns: u64,
}

impl FlowCeiling {
    /// Records per second of a load thread with its own core; `None` if nothing was measured.
    pub fn records_per_s_thread(&self) -> Option<f64> {
        let measured = self.records > 0 && self.cpu_ns > 0;
        measured.then(|| self.records as f64 * 1e9 / self.cpu_ns as f64)
    }
}

impl FlowRecord {
    /// A record with the results that every flow has.
    pub fn new(name: String, stages: Vec<StageSpan>, threads: u32) -> Self {
        Self {
            name,
            stages,
            threads,
            driver: None,
            group: None,
            members: Vec::new(),
            transactions: None,
            mirror: None,
            connections: None,
            ceiling: None,
            clock_bound_ns: None,
            pace: None,
        }
    }

    /// The span of a stage.
    pub fn stage(&self, stage: Stage) -> Option<StageSpan> {
        self.stages.iter().copied().find(|span| span.stage == stage)
    }
}

/// The actual span of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSpan {
    /// Which.
    pub stage: Stage,
    /// Nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// The first time after it.
    pub end_ns: u64,
}

impl StageSpan {
    /// Its duration; 0 if the end is before the start.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// A topic and its offsets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicRecord {
    /// As described by the cluster.
    pub facts: TopicFacts,
    /// Its partitions.
    pub partitions: Vec<PartitionOffsets>,
}

impl TopicRecord {
    /// Records that the brokers counted during the repeat: the growth of the end offsets. `None` if an end is unknown.
    pub fn records_counted(&self) -> Option<u64> {
        self.partitions.iter().try_fold(0_u64, |sum, partition| {
            let grown = partition.end_after?.checked_sub(partition.end_before?)?;
            sum.checked_add(u64::try_from(grown).ok()?)
        })
    }
}

/// A partition's offsets around a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionOffsets {
    /// Its number.
    pub partition: i32,
    /// Node id of its leader at the end.
    #[serde(default)]
    pub leader: Option<i32>,
    /// End offset before the first send of the flows (after any preload).
    #[serde(default)]
    pub end_before: Option<i64>,
    /// End offset after the drain.
    #[serde(default)]
    pub end_after: Option<i64>,
}

/// CPU time used during the hold stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuRecord {
    /// Duration of the measurement: nearly the hold stage.
    pub span_ns: u64,
    /// Total of the load threads and of other clients' processes, without spinning.
    pub generator_threads_ns: u64,
    /// Number of those threads.
    pub generator_threads: u32,
    /// The busiest of them, without spinning.
    pub generator_thread_ns_max: u64,
    /// Time that load threads spent spinning before scheduled sends: CPU time that no record needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_spun_ns: Option<u64>,
    /// Time in which load threads did not spin, because others waited for processors; all threads together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_gave_way_ns: Option<u64>,
    /// The whole load generator's process, and those of other clients, including spinning.
    #[serde(default)]
    pub generator_process_ns: Option<u64>,
    /// Threads of kgauge that fed records to other clients; counted in neither of the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding_ns: Option<u64>,
    /// The target's processes on this machine, together.
    #[serde(default)]
    pub target_process_ns: Option<u64>,
    /// The part of it that the JVMs' compilers used. Absent if they cannot be told from other threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_compiling_ns: Option<u64>,
}

/// Whether followers had caught up after the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "replication", rename_all = "kebab-case")]
pub enum Replication {
    /// There are no followers (replication factor 1).
    NoFollowers,
    /// All caught up after this time.
    CaughtUp {
        /// Time since the end of the drain.
        after_ns: u64,
    },
    /// Not all had caught up when the wait ended.
    Behind {
        /// Duration of the wait.
        waited_ns: u64,
        /// Records that the slowest follower was missing.
        records_missing_max: u64,
    },
}

/// How a repeat ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum RepeatOutcome {
    /// As planned.
    Complete,
    /// It had to stop; its figures cover what was measured until then.
    Failed {
        /// In words.
        why: String,
    },
    /// The user stopped it.
    Interrupted,
}
