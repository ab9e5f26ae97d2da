//! `events.jsonl`: what happened during a run, each with its time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::repeat::{Outcome, RepeatKey};
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
        outcome: Outcome,
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
        /// How many brokers it has.
        brokers: u32,
        /// Broker settings that the trials want.
        settings: BTreeMap<String, String>,
    },
    /// A trial was not begun: the target cannot be what it wants.
    TrialLeftOut {
        /// Position in the plan.
        trial: u32,
        /// In words.
        why: String,
    },
    /// A trial was given up; the run went on with others.
    TrialFailed {
        /// Position in the plan.
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
    },
    /// Partitions of the run's topic have other leaders or other replicas in sync than when brokers were last asked, up to
    /// some seconds before.
    ReplicasChanged {
        /// In words, with partitions and brokers.
        text: String,
        /// What of it counts.
        #[serde(flatten)]
        changes: ReplicaChanges,
    },
    /// The user asked to stop.
    Interrupted,
    /// An event of a newer kgauge.
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
