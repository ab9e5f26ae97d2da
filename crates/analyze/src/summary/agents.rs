//! The agents that generated a trial's load.

use schemars::JsonSchema;
use serde::Serialize;

/// The agents of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentsSummary {
    /// Their number.
    pub count: u32,
    /// In each repeat, every agent began within this time of the agreed start: the largest error of a clock's offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bound_ns: Option<u64>,
    /// The longest time that an agent took to begin, by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_late_ns_max: Option<u64>,
    /// The largest error of a clock's offset during the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns_max: Option<u64>,
    /// Each of them, over all measured repeats.
    pub agents: Vec<AgentSummary>,
    /// Agents that were lost, in any repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<AgentLossSummary>,
}

/// One agent, over all measured repeats.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentSummary {
    /// Its machine, or its number on this one.
    pub name: String,
    /// Records that were acked.
    pub records_acked: u64,
    /// Load threads.
    pub threads: u32,
    /// Use of its busiest load thread in the hold, at its largest; 1 is a whole core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_use_max: Option<f64>,
    /// CPU cores of its process in the hold, at their most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores_max: Option<f64>,
    /// The largest 99th percentile of its lateness in a repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_ns_p99: Option<u64>,
    /// The part of periods in which a limit on its CPU time held it back; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_part: Option<f64>,
    /// The largest error of its clock's offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns_max: Option<u64>,
    /// How much of what its load threads can do at full speed it used, at its most; absent if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_part: Option<f64>,
    /// The busiest network interface of its machine, in the repeat in which it carried most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AgentNetworkSummary>,
}

/// A network interface of an agent's machine in a hold.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentNetworkSummary {
    /// The kernel's name for it.
    pub interface: String,
    /// What it received.
    pub received_bytes_per_s: f64,
    /// What it sent.
    pub sent_bytes_per_s: f64,
    /// Its speed in each direction, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bytes_per_s: Option<f64>,
    /// The part of its speed that it carried in the busier direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_part: Option<f64>,
    /// The part of the time in which it was full.
    pub full_time_part: f64,
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentLossSummary {
    /// The repeat.
    pub repeat: u32,
    /// The agent.
    pub name: String,
    /// When, since the start of the repeat; 0 if it was lost before.
    pub at_ns: u64,
    /// What the lead noticed.
    pub why: String,
}
