//! Faults of a target while it is measured: the messages between kgauge and its embedded cluster, and their execution
//! on either kind of target.

mod carry_out;
pub(crate) mod kafka;
mod refusal;

use kgauge_broker::NodeCounts;
use kgauge_faults::Fault;
use serde::{Deserialize, Serialize};

use crate::embedded_error::EmbeddedError;
use crate::kafka::KafkaError;

pub(crate) use carry_out::Instrument;
pub use carry_out::delays_drawn;
pub use refusal::refusals;

/// A request to a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Instruction {
    /// Inject a fault.
    Inject(Injection),
    /// Lift it: requests are served as usual, a cut is mended, a node resumes or starts again.
    Lift(Injection),
    /// Lift everything, and start the nodes that are down.
    Restore,
    /// Report the states of the nodes.
    Sample,
    /// Report the counters of the nodes.
    Count,
}

/// A fault to inject or lift.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// Distinguishes the faults of requests that are active together.
    pub key: u64,
    /// The node; `None` for all, which only faults of requests allow.
    pub node: Option<u16>,
    /// The fault.
    pub fault: Fault,
    /// Seed of its random numbers.
    pub seed: u64,
}

/// The result of an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// Bytes that a crash lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_bytes: Option<u64>,
    /// The effect of a lifted fault of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub struck: Option<FaultCounts>,
    /// When each node executed a lifted stall.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<WallClockStall>,
    /// The states of the nodes: the answer to [`Instruction::Sample`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeStatus>,
    /// The counters of the nodes: the answer to [`Instruction::Count`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<NodeReport>,
}

/// One node's counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeReport {
    /// The node.
    pub node: u16,
    /// Its counters, or the reason why it reports none.
    pub counts: Result<NodeCounts, String>,
}

/// The effect of a fault, as counted by the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultCounts {
    /// The affected requests.
    pub requests: u64,
    /// Their records; `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
}

/// A stall as one node executed it. Times are nanoseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WallClockStall {
    /// The node.
    pub node: u16,
    /// When it began to hold requests.
    pub begin_unix_ns: u64,
    /// The first answers to requests that came during and after the stall, in order: when each was sent, and how many
    /// records its request carried.
    pub answers: Vec<(u64, u64)>,
}

/// The state of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeStatus {
    /// The node.
    pub node: u16,
    /// Its state.
    pub state: NodeState,
    /// Why it is down, unless an instruction stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// The states of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It runs, and the cluster knows it.
    Up,
    /// It runs, and the cluster does not know it yet.
    Starting,
    /// It still runs after an instruction to stop.
    Ending,
    /// It does not run.
    Down,
}

/// Why a target did not execute an instruction.
#[derive(Debug, thiserror::Error)]
pub enum InstructError {
    /// The target explains why.
    #[error("{0}")]
    Refused(String),
    /// The embedded cluster's process does not answer.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// A broker refuses, or fails.
    #[error(transparent)]
    Kafka(#[from] KafkaError),
}
