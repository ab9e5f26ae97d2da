//! What a cluster must be able to do.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::Interval;

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
    /// Compression of the records; absent: as in the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<NeededCompression>,
    /// Topics have another codec than producers, so that brokers compress again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recompressed: bool,
    /// 99 % of the records must be acked within this time, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<f64>,
    /// The length of an outage of a broker, or of all consumers, in seconds ...
    pub outage_s: f64,
    /// ... after which they must have caught up within this time, in seconds.
    pub catch_up_s: f64,
    /// Availability zones that brokers and clients are spread over.
    pub zones: u32,
    /// Dedicated controllers, on machines of the cheapest type.
    pub controllers: u32,
}

/// How well records compress.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeededCompression {
    /// Kafka's name of the codec; absent if only the ratio is known.
    pub codec: Option<String>,
    /// Uncompressed by compressed bytes.
    pub ratio: f64,
    /// 90 % interval of the ratio; absent if it was given.
    pub interval: Option<Interval>,
}

impl NeededCompression {
    /// Ratios below this are no compression.
    const RATIO_MIN: f64 = 1.02;

    /// Whether batches are compressed.
    pub(crate) fn is_compressed(&self) -> bool {
        match &self.codec {
            Some(codec) => codec != "none",
            None => self.ratio > NeededCompression::RATIO_MIN,
        }
    }
}

impl SizingNeed {
    /// Bytes per second at the peak.
    pub fn peak_bytes_per_s(&self) -> f64 {
        self.rate_bytes_per_s * self.peak
    }

    /// Records per second at the peak.
    pub(crate) fn peak_records_per_s(&self) -> f64 {
        self.peak_bytes_per_s() / self.record_bytes
    }
}
