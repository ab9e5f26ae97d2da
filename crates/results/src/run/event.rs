//! `events.jsonl`: what happened during a run, each with its time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repeat::{RepeatKey, RepeatOutcome};
use super::wire::ReplicaChanges;
use crate::stage::Stage;

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When, on the wall clock: milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// The repeat during which it happened; none before, between and after repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatKey>,
    /// When, in nanoseconds since the start of that repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The load that warmed brokers, which is in no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokerWarming {
    /// How long it took, nanoseconds.
    pub length_ns: u64,
    /// Throughput and CPU time per record had stopped improving; else it ended at a limit.
    pub is_steady: bool,
    /// Records per second in its first second.
    pub records_per_s_first: u64,
    /// Records per second in its last second.
    pub records_per_s_last: u64,
}

/// A stall as one node carried it out, in nanoseconds since the start of the repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStall {
    /// The node.
    pub node: u16,
    /// When it began to hold requests.
    pub begin_ns: u64,
    /// The first answers to requests that came during and after the stall, in order: when each was sent, and how many
    /// records its request carried.
    pub answers: Vec<(u64, u64)>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// A topic of the run was created.
    TopicCreated {
        /// Its name.
        topic: String,
    },
    /// A topic of the run was deleted.
    TopicDeleted {
        /// Its name.
        topic: String,
    },
    /// A repeat began: this is its time 0.
    RepeatStarted,
    /// A repeat ended.
    RepeatEnded {
        /// How.
        outcome: RepeatOutcome,
    },
    /// A flow entered a stage.
    StageStarted {
        /// Position of the flow in its trial.
        flow: u16,
        /// The stage.
        stage: Stage,
    },
    /// The run goes on with another cluster than before: trials want different ones, or the one before was broken.
    ClusterStarted {
        /// Number of brokers.
        brokers: u32,
        /// Broker settings that the trials want.
        settings: BTreeMap<String, String>,
    },
    /// Brokers that had just started were warmed before the first trial.
    BrokersWarmed(BrokerWarming),
    /// A trial was not begun: the target cannot be what it wants.
    TrialLeftOut {
        /// Index in the plan.
        trial: u32,
        /// In words.
        why: String,
    },
    /// A trial was given up; the run went on with others.
    TrialFailed {
        /// Index in the plan.
        trial: u32,
        /// In words.
        why: String,
    },
    /// Something that a reader of the figures should know.
    Warning {
        /// In words.
        text: String,
    },
    /// Something went wrong.
    Error {
        /// In words: topic, partition and the broker's own words where there are any.
        text: String,
        /// Kafka's error code, if one came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i16>,
    },
    /// A fault was put into the target, or taken out.
    Fault {
        /// Which, in words.
        text: String,
        /// False when it is taken out.
        active: bool,
        /// Which of the trial's faults it is, from 0; none for what follows from several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry: Option<u32>,
        /// The nodes that it strikes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<u16>,
        /// Bytes that a crash lost, because they had not been flushed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes_lost: Option<u64>,
        /// Requests that it has struck until it was taken out, as the nodes themselves counted them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests: Option<u64>,
        /// Records in those requests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        records: Option<u64>,
        /// When each node carried out a stall; only at its end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stalls: Vec<NodeStall>,
    },
    /// Partitions of the run's topic have other leaders or other replicas in sync than when brokers were last asked, up
    /// to some seconds before.
    ReplicasChanged {
        /// In words, with partitions and brokers.
        text: String,
        /// What of it counts.
        #[serde(flatten)]
        changes: ReplicaChanges,
    },
    /// A broker of the run's topics stopped answering. It is written about two seconds later, once for each outage.
    /// [`EventKind::BrokerBack`] ends the outage; without one, it lasted to the end of the repeat.
    BrokerUnreachable {
        /// Its node id.
        broker: i32,
        /// Where clients connect to it, `host:port`.
        address: String,
        /// When it stopped, in nanoseconds since the start of the repeat: the connection was lost or refused, or the
        /// oldest request that it has not answered was sent.
        since_ns: u64,
        /// How clients noticed.
        cause: OutageCause,
        /// Partitions of the run's topics.
        #[serde(default)]
        partitions: u32,
        /// How many of them have no leader that answers; missing where no broker could be asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partitions_without_leader: Option<u32>,
    },
    /// A broker has not answered requests of the run for two seconds, although it answers on a new connection: it holds
    /// them, for its disk or for followers. [`EventKind::BrokerBack`] ends it, or a [`EventKind::BrokerUnreachable`].
    BrokerSlow {
        /// Its node id.
        broker: i32,
        /// Where clients connect to it, `host:port`.
        address: String,
        /// When the oldest request that it has not answered was sent, in nanoseconds since the start of the repeat.
        since_ns: u64,
    },
    /// A broker that had stopped answering, or was slow, answers again.
    BrokerBack {
        /// Its node id.
        broker: i32,
        /// Where clients connect to it, `host:port`.
        address: String,
        /// When the outage began, as in the event that reported it. It ended at the event's own time.
        since_ns: u64,
    },
    /// The user asked to stop.
    Interrupted,
    /// An event of a newer kgauge.
    #[serde(other)]
    Unknown,
}

/// How clients notice that a broker does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutageCause {
    /// Connections to it were lost, and new ones fail: nothing listens there, or no network leads there.
    Unconnected,
    /// Connections to it are open, and requests stay without an answer: it is paused, or cut off without a word.
    Silent,
    /// A cause of a newer kgauge.
    #[serde(other)]
    Unknown,
}

impl EventKind {
    /// Which trial has no figures, or not all, and why.
    pub fn not_measured(&self) -> Option<(u32, &str)> {
        match self {
            EventKind::TrialLeftOut { trial, why } | EventKind::TrialFailed { trial, why } => {
                Some((*trial, why))
            }
            _ => None,
        }
    }
}
