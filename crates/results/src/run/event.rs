//! `events.jsonl`: the events of a run with their times.

use std::collections::BTreeMap;

use kgauge_scenario::RepeatKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repeat::RepeatOutcome;
use super::wire::{PartitionChange, ReplicaChanges};

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Wall-clock time, in milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// The repeat during which it happened; none outside repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatKey>,
    /// Nanoseconds since the start of that repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// The event.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Warm-up of new brokers, which no figure includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokerWarming {
    /// Its duration in nanoseconds.
    pub length_ns: u64,
    /// Whether throughput and CPU time per record had stopped improving, and the brokers hardly compiled any more;
    /// otherwise it ended at a limit.
    pub is_steady: bool,
    /// Records per second in the first second of its first load.
    pub records_per_s_first: u64,
    /// Records per second in the last second of its last load.
    pub records_per_s_last: u64,
}

/// A stall as carried out by one node, in nanoseconds since the start of the repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStall {
    /// The node.
    pub node: u16,
    /// When it started to hold requests.
    pub begin_ns: u64,
    /// The first responses to requests that arrived during and after the stall, in order: when each was sent, and the
    /// number of records in its request.
    pub answers: Vec<(u64, u64)>,
}

/// The kinds of events.
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
    /// A repeat started: this is its time 0.
    RepeatStarted,
    /// A repeat ended.
    RepeatEnded {
        /// Its outcome.
        outcome: RepeatOutcome,
    },
    /// The run continues on another cluster: trials need different ones, or the previous one was damaged.
    ClusterStarted {
        /// Number of brokers.
        brokers: u32,
        /// The release, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<String>,
        /// Broker settings of the trials.
        settings: BTreeMap<String, String>,
    },
    /// Newly started brokers were warmed up before the first trial.
    BrokersWarmed(BrokerWarming),
    /// A trial was skipped: the target does not support it.
    TrialLeftOut {
        /// Index in the plan.
        trial: u32,
        /// The reason.
        why: String,
    },
    /// A trial was abandoned; the run continued with others.
    TrialFailed {
        /// Index in the plan.
        trial: u32,
        /// The reason.
        why: String,
    },
    /// A note for readers of the figures.
    Warning {
        /// The note.
        text: String,
    },
    /// An error.
    Error {
        /// The topic, the partition and the broker's message, as far as they apply.
        text: String,
        /// Kafka's error code, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i16>,
    },
    /// A fault was injected or ended.
    Fault {
        /// The fault, as text.
        text: String,
        /// False if it ended.
        active: bool,
        /// Index of the trial's fault; none for the consequence of several faults.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry: Option<u32>,
        /// The affected nodes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<u16>,
        /// Unflushed bytes that a crash lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes_lost: Option<u64>,
        /// Number of requests that it affected until it ended, as counted by the nodes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests: Option<u64>,
        /// Records in those requests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        records: Option<u64>,
        /// When each node carried out a stall; only at its end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stalls: Vec<NodeStall>,
    },
    /// Leaders or in-sync replicas of the run's topic changed since the last sample, which may be some seconds ago.
    ReplicasChanged {
        /// The sentence of earlier versions, which had no `partitions`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Numbers of the changes.
        #[serde(flatten)]
        changes: ReplicaChanges,
        /// The first of the changed partitions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        partitions: Vec<PartitionChange>,
        /// The number of the other ones.
        #[serde(default)]
        further: u32,
    },
    /// A broker of the run's topics stopped responding. Written about two seconds later, once per outage.
    /// [`EventKind::BrokerBack`] ends the outage; without one, it lasted until the end of the repeat.
    BrokerUnreachable {
        /// Its node id.
        broker: i32,
        /// Its advertised address, `host:port`.
        address: String,
        /// When it stopped, in nanoseconds since the start of the repeat: when the connection was lost or refused, or
        /// when its oldest unanswered request was sent.
        since_ns: u64,
        /// The symptom.
        cause: OutageCause,
        /// Partitions of the run's topics.
        #[serde(default)]
        partitions: u32,
        /// How many of them have no leader that responds; absent if no broker could be asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partitions_without_leader: Option<u32>,
    },
    /// A broker has not answered requests of the run for two seconds, but answers on a new connection: it holds them,
    /// for its disk or for followers. [`EventKind::BrokerBack`] or [`EventKind::BrokerUnreachable`] ends it.
    BrokerSlow {
        /// Its node id.
        broker: i32,
        /// Its advertised address, `host:port`.
        address: String,
        /// When its oldest unanswered request was sent, in nanoseconds since the start of the repeat.
        since_ns: u64,
    },
    /// A broker that had stopped responding, or was slow, responds again.
    BrokerBack {
        /// Its node id.
        broker: i32,
        /// Its advertised address, `host:port`.
        address: String,
        /// When the outage started, as in the event that reported it. It ended at this event's time.
        since_ns: u64,
    },
    /// The user asked to stop.
    Interrupted,
    /// An event of a newer kgauge.
    #[serde(other)]
    Unknown,
}

/// The symptom of a broker that does not respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutageCause {
    /// Connections to it were lost, and new ones fail: nothing listens there, or there is no route.
    Unconnected,
    /// Connections to it are open, but requests get no response: it is paused or cut off.
    Silent,
    /// A cause of a newer kgauge.
    #[serde(other)]
    Unknown,
}

impl EventKind {
    /// The trial without complete figures, and the reason.
    pub fn not_measured(&self) -> Option<(u32, &str)> {
        match self {
            EventKind::TrialLeftOut { trial, why } | EventKind::TrialFailed { trial, why } => {
                Some((*trial, why))
            }
            _ => None,
        }
    }
}
