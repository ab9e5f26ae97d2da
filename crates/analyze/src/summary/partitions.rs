//! How many partitions rates need.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::Spread;

/// max(T / P, T / C), rounded up, with P and C as measured on one partition.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PartitionsNeeded {
    /// P: records a second of one producer into one partition.
    pub produce_per_s: Spread,
    /// C: records a second of one consumer out of one partition.
    pub consume_per_s: Spread,
    /// The rates that were asked for.
    pub rates: Vec<PartitionsOfRate>,
    /// True when the generator limited P or C, so that fewer partitions may be enough.
    pub is_limited: bool,
}

/// What one rate needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartitionsOfRate {
    /// T: records a second.
    pub rate_per_s: u64,
    /// Partitions, at least.
    pub partitions: u64,
    /// The same with the lower ends of the 95 % intervals of P and C; null where there are none, or they reach 0.
    pub partitions_cautious: Option<u64>,
}
