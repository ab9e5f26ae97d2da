//! Crate `faults`: what can be done to a cluster on purpose. Scenarios, targets and the embedded broker share these
//! types.
//!
//! Goals: one serialisable description of a fault, from the scenario file to the node that has it.
//!
//! Non-goals: when a fault begins, which node it affects, and how a node carries it out.
//!
//! Start with [`Fault`].

mod amounts;
mod means;
mod request;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use amounts::{ByteSize, Time};
pub use means::{FaultMeans, KafkaMeans};
pub use request::{CapacityPlan, CapacityUnit, DelayPlan, DropPoint, RequestFault};

/// What happens to a node, or to requests to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It shuts down cleanly, as by its operator.
    Stop,
    /// Its process is killed; what it wrote survives.
    Kill,
    /// Its machine fails: data that was not flushed is lost.
    Crash,
    /// It shuts down cleanly if it runs, and starts again at once.
    Restart,
    /// It hangs: it keeps its connections but does not respond.
    Pause,
    /// Messages between it and others of the cluster are lost.
    Cut {
        /// Which of them.
        direction: CutDirection,
        /// The other end.
        end: CutEnd,
    },
    /// Requests to it are delayed, rejected or limited.
    Requests {
        /// The affected API, such as `produce`; `None` for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        api: Option<String>,
        /// The number of affected requests per node; `None` for all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
        /// What happens to them.
        what: RequestFault,
    },
    /// Its files are flushed late, or not at all.
    Flush(FlushFault),
    /// Its disk is full after this many more bytes, and it stops.
    DiskFull {
        /// Bytes that still fit.
        after_bytes: u64,
    },
    /// Its wall clock is ahead, or behind if negative.
    ClockOffset {
        /// Milliseconds.
        ahead_ms: i64,
    },
}

/// Which messages are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutDirection {
    /// Both ways.
    With,
    /// From the node to the other end.
    To,
    /// From the other end to the node.
    From,
}

/// The other end of a way between members of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutEnd {
    /// A node.
    Node(u16),
    /// Every other node.
    Nodes,
    /// The controller.
    Controller,
    /// Every other node, and the controller.
    Others,
    /// Everybody outside of the cluster.
    Clients,
}

/// What is wrong with flushes (`fsync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushFault {
    /// They fail with an I/O error, and the node stops.
    Fail,
    /// Each takes that much longer.
    Delay {
        /// How much.
        length_ns: u64,
    },
}

impl Fault {
    /// Whether a node is down for as long as it lasts.
    pub fn takes_down(&self) -> bool {
        matches!(self, Fault::Stop | Fault::Kill | Fault::Crash) || self.stops_node()
    }

    /// Whether the node stops by itself, sooner or later: Kafka halts when its only data folder is offline.
    pub fn stops_node(&self) -> bool {
        matches!(
            self,
            Fault::DiskFull { .. } | Fault::Flush(FlushFault::Fail)
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Stop => write!(f, "stop"),
            Fault::Kill => write!(f, "kill"),
            Fault::Crash => write!(f, "crash"),
            Fault::Restart => write!(f, "restart"),
            Fault::Pause => write!(f, "pause"),
            Fault::Cut { direction, end } => write!(f, "cut off {direction} {end}"),
            Fault::Requests { api, times, what } => {
                match api {
                    Some(api) => write!(f, "{api} requests ")?,
                    None => write!(f, "all requests ")?,
                }
                write!(f, "{what}")?;
                match times {
                    Some(times) => write!(f, ", {times} of them"),
                    None => Ok(()),
                }
            }
            Fault::Flush(FlushFault::Fail) => write!(f, "flushes fail"),
            Fault::Flush(FlushFault::Delay { length_ns }) => {
                write!(f, "flushes delayed by {}", Time(*length_ns))
            }
            Fault::DiskFull { after_bytes: 0 } => write!(f, "disk full"),
            Fault::DiskFull { after_bytes } => {
                write!(f, "disk full after {} more", ByteSize(*after_bytes))
            }
            Fault::ClockOffset { ahead_ms } => {
                let way = if *ahead_ms < 0 { "behind" } else { "ahead" };
                let ms = ahead_ms.unsigned_abs();
                write!(f, "clock {} {way}", Time(ms.saturating_mul(1_000_000)))
            }
        }
    }
}

impl fmt::Display for CutDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CutDirection::With => "in both directions from",
            CutDirection::To => "in its messages to",
            CutDirection::From => "from messages of",
        })
    }
}

impl fmt::Display for CutEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutEnd::Node(number) => write!(f, "node {number}"),
            CutEnd::Nodes => write!(f, "all other nodes"),
            CutEnd::Controller => write!(f, "the controller"),
            CutEnd::Others => write!(f, "all other nodes and the controller"),
            CutEnd::Clients => write!(f, "clients"),
        }
    }
}
