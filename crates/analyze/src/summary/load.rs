//! Which brokers led what was written.

use schemars::JsonSchema;
use serde::Serialize;

/// The distribution of one repeat's records over the leading brokers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerShares {
    /// The repeat, from 0.
    pub repeat: u32,
    /// All brokers, including those that led nothing, the busiest first.
    pub brokers: Vec<BrokerShare>,
}

/// The records that one broker led.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerShare {
    /// Its node id.
    pub broker: i32,
    /// Partitions of the topic that it led at the end of the repeat.
    pub partitions: u32,
    /// Records written to these during the repeat.
    pub records: u64,
    /// Their share of all records, 0 to 1.
    pub part: f64,
}

/// A broker that led much more than its share, in the repeat with the largest share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokerSkew {
    /// Its node id.
    pub broker: i32,
    /// Its share of the records, 0 to 1.
    pub part: f64,
    /// Brokers that share the records.
    pub brokers: u32,
    /// The number of them that led no partition with records.
    pub idle: u32,
    /// Partitions of the topic; null without a plan.
    pub partitions: Option<u32>,
    /// Replicas of each partition; null without a plan.
    pub replication: Option<u16>,
}
