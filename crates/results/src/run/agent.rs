//! What became of a repeat's agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One agent in one repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecord {
    /// From 0; the name of its files.
    pub index: u32,
    /// Its machine, or how the user named it.
    pub name: String,
    /// It runs on the lead's machine, started by the lead.
    #[serde(default)]
    pub is_local: bool,
    /// How far its start can be from the agreed time: the error of its clock's offset then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bound_ns: Option<u64>,
    /// How long after the agreed time it began, by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_late_ns: Option<u64>,
    /// Its clock, compared with the lead's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<AgentClockRecord>,
    /// Records that were acked, as far as it has reported.
    pub records_acked: u64,
    /// Its load threads.
    #[serde(default)]
    pub threads: u32,
    /// CPU time of its busiest load thread within the hold, without spinning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_cpu_ns_max: Option<u64>,
    /// CPU time of its process within the hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_cpu_ns: Option<u64>,
    /// 99th percentile of its lateness in the hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_ns_p99: Option<u64>,
    /// Its largest lateness in the hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_ns_max: Option<u64>,
    /// Periods of a limit on its CPU time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit_periods: Option<u64>,
    /// Those in which the limit held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit_periods_throttled: Option<u64>,
    /// CPU time that a load thread at full speed needs for its records of the hold: by its own ceilings, measured
    /// before the repeat. Absent if one of them is not known, and if the lead's machine generates the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_speed_ns: Option<u64>,
    /// The busiest network interface of its machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AgentNetworkRecord>,
    /// How it was lost; absent for an agent that ended with the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<AgentLossRecord>,
}

/// An agent's clock over a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentClockRecord {
    /// The largest error of the offset in the repeat.
    pub bound_ns_max: u64,
    /// Its offset at the end: its clock - the lead's.
    pub offset_ns: i64,
    /// How much faster it runs than the lead's, in nanoseconds per second.
    pub drift_ppb: i64,
    /// Exchanges with the lead's clock since the agent connected.
    pub exchanges: u64,
    /// Whether it stepped during the repeat.
    pub is_stepped: bool,
}

/// A network interface of an agent's machine within the hold, without loopback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentNetworkRecord {
    /// The kernel's name for it.
    pub interface: String,
    /// How much of the hold was sampled.
    pub span_ns: u64,
    /// Bytes received within it.
    pub received_bytes: u64,
    /// Bytes sent within it.
    pub sent_bytes: u64,
    /// Its speed in each direction in bits per second, if the driver reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits_per_s: Option<u64>,
    /// For how long it carried at least 90 % of its speed in one direction.
    #[serde(default)]
    pub full_ns: u64,
}

/// The loss of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentLossRecord {
    /// When the lead noticed, in nanoseconds since the start of the repeat.
    pub at_ns: u64,
    /// What the lead noticed, in words.
    pub why: String,
}
