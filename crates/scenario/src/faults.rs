//! What a trial does to its cluster while it runs.

use std::fmt;

use kgauge_faults::{Fault, Time};
use serde::{Deserialize, Serialize};

/// One entry of a scenario's `faults`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// When it begins.
    pub at: FaultStart,
    /// The interval at which it is repeated until the hold ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// The affected node.
    pub node: FaultNode,
    /// What happens.
    pub kind: Fault,
    /// How long it lasts; then it is lifted, or the node resumes or starts again. `None`: until the
    /// repeat ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_ns: Option<u64>,
}

/// When a fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultStart {
    /// With the load, before the warm-up.
    Start,
    /// This long after the start of the hold; negative before it.
    Hold(i64),
}

impl FaultStart {
    /// Nanoseconds since the load began, with a warm-up of that length.
    pub fn at_ns(self, warm_up_ns: u64) -> u64 {
        match self {
            FaultStart::Start => 0,
            FaultStart::Hold(ns) => warm_up_ns.saturating_add_signed(ns),
        }
    }
}

/// The node that a fault affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultNode {
    /// The node of that number.
    Number(u16),
    /// The leader of partition 0 of the trial's topic when the fault begins.
    Leader,
    /// A node with a replica of partition 0 that does not lead it.
    Follower,
    /// One of all, drawn from the seed each time.
    Random,
    /// Every node.
    All,
}

/// The whole entry in words, as a plan is announced.
impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            FaultStart::Start => write!(f, "at the start")?,
            FaultStart::Hold(ns) if ns < 0 => {
                write!(f, "{} before the hold", Time(ns.unsigned_abs()))?;
            }
            FaultStart::Hold(ns) => write!(f, "at {}", Time(ns.unsigned_abs()))?,
        }
        if let Some(every_ns) = self.every_ns {
            write!(f, " and every {} from then on", Time(every_ns))?;
        }
        write!(f, ", {}: {}", self.node, self.kind)?;
        match (self.for_ns, &self.kind) {
            (None, _) => Ok(()),
            (Some(ns), kind) if kind.takes_down() => {
                write!(f, ", started again after {}", Time(ns))
            }
            (Some(ns), _) => write!(f, ", for {}", Time(ns)),
        }
    }
}

impl fmt::Display for FaultNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultNode::Number(number) => write!(f, "node {number}"),
            FaultNode::Leader => write!(f, "the leader of partition 0"),
            FaultNode::Follower => write!(f, "a follower of partition 0"),
            FaultNode::Random => write!(f, "a random node"),
            FaultNode::All => write!(f, "all nodes"),
        }
    }
}
