//! What a cluster must be able to do.

use schemars::JsonSchema;
use serde::Serialize;

/// What a cluster must be able to do, in base units. Bytes are those of keys, values and headers before compression.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SizingNeed {
    /// Bytes per second that producers send on average.
    pub rate_bytes_per_s: f64,
    /// Bytes of a record.
    pub record_bytes: f64,
    /// How many times the average the highest rate is; at least 1.
    pub peak: f64,
    /// How long records are kept, in seconds.
    pub retention_s: f64,
    /// How often each record is read by consumers that keep up.
    pub fan_out: f64,
    /// Replicas of each partition.
    pub replication: u32,
    /// Brokers that may be down at the peak.
    pub lose: u32,
    /// Encrypted connections of clients.
    pub tls: bool,
    /// Uncompressed bytes by compressed bytes, if measured on records like those that will be sent; otherwise that of
    /// the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression_ratio: Option<f64>,
    /// 99 % of the records must be acked within so many nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<f64>,
    /// A broker that was down for so many seconds ...
    pub outage_s: f64,
    /// ... must have all records again so many seconds after it came back.
    pub catch_up_s: f64,
}

impl SizingNeed {
    /// Bytes per second at the peak.
    pub fn peak_bytes_per_s(&self) -> f64 {
        self.rate_bytes_per_s * self.peak
    }

    /// Records per second at the peak.
    pub fn peak_records_per_s(&self) -> f64 {
        self.peak_bytes_per_s() / self.record_bytes
    }
}
