//! Which brokers led what was written.

use schemars::JsonSchema;
use serde::Serialize;

/// How the records of one repeat were shared out among the brokers that lead partitions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerShares {
    /// Which repeat, from 0.
    pub repeat: u32,
    /// A broker each, also those that led nothing, the busiest first.
    pub brokers: Vec<BrokerShare>,
}

/// What one broker led.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerShare {
    /// Its node id.
    pub broker: i32,
    /// Partitions of the topic that it led at the end of the repeat.
    pub partitions: u32,
    /// Records written to these during the repeat.
    pub records: u64,
    /// Their part of all records, 0 to 1.
    pub part: f64,
}

/// A broker that led much more than its part, in the repeat in which it was most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerSkew {
    /// Its node id.
    pub broker: i32,
    /// What it led of the records, 0 to 1.
    pub part: f64,
    /// Brokers that share the records.
    pub brokers: u32,
    /// Of them, those that led nothing that was written to.
    pub idle: u32,
    /// Partitions of the topic; null without a plan.
    pub partitions: Option<u32>,
    /// Copies of each partition; null without a plan.
    pub replication: Option<u16>,
}
