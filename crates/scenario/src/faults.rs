//! What a trial does to its cluster while it runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{ByteSize, Time};

/// One entry of a scenario's `faults`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// When it begins.
    pub at: FaultStart,
    /// It begins again and again, so far apart, until the hold ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// Whom it strikes.
    pub node: FaultNode,
    /// What happens.
    pub kind: FaultKind,
    /// How long it lasts: then it is lifted, or the node goes on or starts again. `None`: until the
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
    /// So long after the hold began; negative before it.
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

/// Whom a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultNode {
    /// The node of that number.
    Number(u16),
    /// Who leads partition 0 of the trial's topic when the fault begins.
    Leader,
    /// A node that keeps partition 0 and does not lead it.
    Follower,
    /// One of all, as the seed says; another each time.
    Random,
    /// Every node.
    All,
}

/// What happens to a node, or to requests to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// It stops in order, as by its operator.
    Stop,
    /// Its process dies; what it wrote survives.
    Kill,
    /// Its machine dies: what was not flushed is lost.
    Crash,
    /// It is stopped in order if it runs, and starts again at once.
    Restart,
    /// It stands still: it keeps its connections and answers nothing.
    Pause,
    /// Messages between it and others of the cluster are lost.
    Cut {
        /// Which of them.
        direction: CutDirection,
        /// The other end.
        end: CutEnd,
    },
    /// Something is wrong with requests.
    Requests {
        /// Of this API, such as `produce`; `None` for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        api: Option<String>,
        /// To so many of each node; `None` for all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
        /// What.
        what: RequestFault,
    },
    /// Its disk is full after so many more bytes, and it stops.
    DiskFull {
        /// Bytes that still fit.
        after_bytes: u64,
    },
    /// Its wall clock is so much ahead; negative behind.
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
}

/// What is wrong with requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestFault {
    /// They are served later.
    Delay(DelayPlan),
    /// They are held for so long from the beginning on, then served.
    Stall {
        /// How long.
        length_ns: u64,
    },
    /// They are answered with this error, by Kafka's name.
    Fail {
        /// Such as `NOT_LEADER_OR_FOLLOWER`.
        error: String,
    },
    /// Their connection is closed.
    Drop(DropPoint),
    /// Records come no faster than this.
    Capacity(CapacityPlan),
}

/// When the connection of a request is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropPoint {
    /// Before the request is carried out.
    Before,
    /// When it was carried out, instead of an answer.
    After,
}

/// How long requests are delayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayPlan {
    /// Always so long.
    Constant(u64),
    /// Between two times, each equally likely.
    Uniform {
        /// The least.
        low_ns: u64,
        /// The most.
        high_ns: u64,
    },
    /// Exponentially distributed.
    Exponential {
        /// The mean.
        mean_ns: u64,
    },
    /// (Parts in a million, delay), both rising, from 0 to 1,000,000; straight lines between.
    Quantiles(Vec<(u32, u64)>),
}

/// How many bytes or records a second pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityPlan {
    /// What is counted.
    pub unit: CapacityUnit,
    /// So many a second; at least 1.
    pub per_second: u64,
    /// So many at once after a rest; `None`: a hundredth of a second's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
}

/// What a capacity counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityUnit {
    /// Bytes of record batches.
    Bytes,
    /// Records.
    Records,
}

impl FaultKind {
    /// Whether Apache Kafka that kgauge started can be broken in this way.
    pub fn is_for_kafka(&self) -> bool {
        matches!(
            self,
            FaultKind::Stop | FaultKind::Kill | FaultKind::Restart | FaultKind::Pause
        )
    }

    /// Whether a node is down for as long as it lasts.
    pub fn takes_down(&self) -> bool {
        matches!(
            self,
            FaultKind::Stop | FaultKind::Kill | FaultKind::Crash | FaultKind::DiskFull { .. }
        )
    }
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

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Stop => write!(f, "stop"),
            FaultKind::Kill => write!(f, "kill"),
            FaultKind::Crash => write!(f, "crash"),
            FaultKind::Restart => write!(f, "restart"),
            FaultKind::Pause => write!(f, "pause"),
            FaultKind::Cut { direction, end } => write!(f, "cut off {direction} {end}"),
            FaultKind::Requests { api, times, what } => {
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
            FaultKind::DiskFull { after_bytes: 0 } => write!(f, "disk full"),
            FaultKind::DiskFull { after_bytes } => {
                write!(f, "disk full after {} more", ByteSize(*after_bytes))
            }
            FaultKind::ClockOffset { ahead_ms } => {
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
        }
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestFault::Delay(delay) => write!(f, "delayed by {delay}"),
            RequestFault::Stall { length_ns } => write!(f, "stalled for {}", Time(*length_ns)),
            RequestFault::Fail { error } => write!(f, "fail with {error}"),
            RequestFault::Drop(DropPoint::Before) => write!(f, "dropped before they are served"),
            RequestFault::Drop(DropPoint::After) => write!(f, "dropped after they were served"),
            RequestFault::Capacity(capacity) => {
                match capacity.unit {
                    CapacityUnit::Bytes => {
                        write!(f, "capped at {}/s", decimal_bytes(capacity.per_second))?;
                    }
                    CapacityUnit::Records => write!(f, "capped at {}/s", capacity.per_second)?,
                }
                match (capacity.burst, capacity.unit) {
                    (None, _) => Ok(()),
                    (Some(burst), CapacityUnit::Bytes) => {
                        write!(f, ", bursts of {}", ByteSize(burst))
                    }
                    (Some(burst), CapacityUnit::Records) => write!(f, ", bursts of {burst}"),
                }
            }
        }
    }
}

/// Rates are written with decimal units.
fn decimal_bytes(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let fits = |(factor, _): &(u64, &str)| bytes >= *factor && bytes.is_multiple_of(*factor);
    match units.into_iter().find(fits) {
        Some((factor, unit)) => format!("{} {unit}", bytes / factor),
        None => ByteSize(bytes).to_string(),
    }
}

impl fmt::Display for DelayPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DelayPlan::Constant(ns) => write!(f, "{}", Time(*ns)),
            DelayPlan::Uniform { low_ns, high_ns } => {
                write!(f, "{} to {} (uniform)", Time(*low_ns), Time(*high_ns))
            }
            DelayPlan::Exponential { mean_ns } => {
                write!(f, "{} on average (exponential)", Time(*mean_ns))
            }
            DelayPlan::Quantiles(points) => {
                write!(f, "quantiles")?;
                for (index, (part, ns)) in points.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    let percent = f64::from(*part) / 10_000.0;
                    write!(f, "{comma} p{percent} {}", Time(*ns))?;
                }
                Ok(())
            }
        }
    }
}
