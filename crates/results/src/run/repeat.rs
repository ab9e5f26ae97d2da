//! `repeat.json`: what is known of one repeat when it has ended.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::environment::TopicFacts;
use super::group::GroupRecord;
use super::mirror::MirrorRecord;
use crate::pace::PaceSeries;
use crate::stage::Stage;

/// Names one repeat of one trial.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct RepeatKey {
    /// Position of the trial in the plan.
    pub trial: u32,
    /// From 0.
    pub repeat: u32,
}

impl RepeatKey {
    /// The name of its folder under `repeats/`.
    pub fn folder_name(self) -> String {
        format!("{:04}-{:02}", self.trial, self.repeat)
    }

    /// Reads a folder's name back.
    pub fn from_folder_name(name: &str) -> Option<RepeatKey> {
        let (trial, repeat) = name.split_once('-')?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(trial) || !digits(repeat) {
            return None;
        }
        Some(RepeatKey {
            trial: trial.parse().ok()?,
            repeat: repeat.parse().ok()?,
        })
    }
}

impl fmt::Display for RepeatKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "repeat {} of trial {}", self.repeat, self.trial)
    }
}

/// The content of `repeat.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatRecord {
    /// Which repeat.
    pub key: RepeatKey,
    /// When it began (time 0), milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Its flows, in the order of the trial.
    pub flows: Vec<FlowRecord>,
    /// Its topics, before and after.
    pub topics: Vec<TopicRecord>,
    /// CPU time over the hold stage.
    #[serde(default)]
    pub cpu: Option<CpuRecord>,
    /// Whether the followers had caught up; `None` when nobody looked.
    #[serde(default)]
    pub replication: Option<Replication>,
    /// Node ids of the cluster's brokers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brokers: Vec<i32>,
    /// How it ended.
    pub outcome: RepeatOutcome,
}

/// What a flow really did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Its stages as they were, in order; a stage of no length is missing.
    pub stages: Vec<StageSpan>,
    /// Threads that made it.
    pub threads: u32,
    /// The other client that sent it, in processes of its own; missing for kgauge's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverRecord>,
    /// What its consumer group did; missing for flows without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupRecord>,
    /// What its producers spoke with the coordinators of their transactions; missing without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<TransactionProtocol>,
    /// The copy on another cluster that it read; missing for flows that read none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorRecord>,
    /// How its connections fared; missing for other clients' flows and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionRecord>,
    /// What this machine can do of it at full speed; `None` when nobody measured that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<FlowCeiling>,
    /// What it did over time; missing in folders of earlier versions.
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
            lost: self.lost + other.lost,
            timed_out: self.timed_out + other.timed_out,
            malformed: self.malformed + other.malformed,
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

/// A client beside kgauge's engine, and what it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverRecord {
    /// Client and release, as it reports them.
    pub client: String,
    /// Its processes, one a producer.
    pub processes: u32,
    /// Their CPU time over the hold stage, together; `None` when nobody could look.
    #[serde(default)]
    pub cpu_ns: Option<u64>,
    /// How long they would have taken a record and were fed none, together, over all stages.
    pub starved_ns: u64,
}

/// What a flow cost at full speed: over loopback, into a sink that answers at once and keeps nothing.
/// Measured before the trial, on one load thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowCeiling {
    /// Records that were acked or read while it was looked.
    pub records: u64,
    /// How long was looked.
    pub span_ns: u64,
    /// CPU time of the load thread meanwhile.
    pub cpu_ns: u64,
}

impl FlowCeiling {
    /// Records a second of a load thread that has a core for itself; `None` when nothing was measured.
    pub fn records_per_s_thread(&self) -> Option<f64> {
        let measured = self.records > 0 && self.cpu_ns > 0;
        measured.then(|| self.records as f64 * 1e9 / self.cpu_ns as f64)
    }
}

impl FlowRecord {
    /// The span of a stage.
    pub fn stage(&self, stage: Stage) -> Option<StageSpan> {
        self.stages.iter().copied().find(|span| span.stage == stage)
    }
}

/// A stage as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSpan {
    /// Which.
    pub stage: Stage,
    /// Nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// The first moment that does not belong to it.
    pub end_ns: u64,
}

impl StageSpan {
    /// How long it was; 0 when the end lies before the start.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// A topic and what stood in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicRecord {
    /// As the cluster says that it is.
    pub facts: TopicFacts,
    /// Its partitions.
    pub partitions: Vec<PartitionOffsets>,
}

impl TopicRecord {
    /// Records that the brokers counted during the repeat: the growth of the end offsets.
    /// `None` when an end is not known.
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
    /// How long was looked: nearly the hold stage.
    pub span_ns: u64,
    /// The threads that made load, and the processes of other clients that did, together; without what was spun away.
    pub generator_threads_ns: u64,
    /// How many threads those are.
    pub generator_threads: u32,
    /// The busiest of them, without what it spun away.
    pub generator_thread_ns_max: u64,
    /// What load threads spun away before scheduled sends, so as to be exact: CPU time that no record needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_spun_ns: Option<u64>,
    /// How long load threads did not spin, because others waited for processors; all threads together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_gave_way_ns: Option<u64>,
    /// The whole process that made load, and those of other clients; with what was spun away.
    #[serde(default)]
    pub generator_process_ns: Option<u64>,
    /// Threads of kgauge that fed records to other clients; counted in neither of the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding_ns: Option<u64>,
    /// The target's processes on this machine, together.
    #[serde(default)]
    pub target_process_ns: Option<u64>,
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
