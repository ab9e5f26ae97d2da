//! Which brokers led what was written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the records of one repeat were shared out among the brokers that lead partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrokerShares {
    /// Which repeat, from 0.
    pub repeat: u32,
    /// A broker each, also those that led nothing, the busiest first.
    pub brokers: Vec<BrokerShare>,
}

/// What one broker led.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
