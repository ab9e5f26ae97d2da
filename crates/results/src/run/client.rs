//! The state of kgauge's own producers, which slices do not contain.

use serde::{Deserialize, Serialize};

/// Buffer and in-flight use of a flow's producers, sampled about twenty times per second; all sums only increase. The
/// mean over a span is the difference of a sum divided by the difference of `looks`.
///
/// Records sent, batched, answered, retried, throttled and read are in the slices, exactly and per second, and are not
/// repeated here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientSample {
    /// Number of samples of one producer.
    pub looks: u64,
    /// Used bytes of `buffer.memory`, summed over samples.
    pub buffer_bytes_sum: u64,
    /// `buffer.memory`, summed over samples.
    pub buffer_bytes_allowed_sum: u64,
    /// Requests in flight, summed over samples.
    pub requests_in_flight_sum: u64,
    /// Their maximum: `max.in.flight.requests.per.connection` for each of the producer's connections, summed over
    /// samples.
    pub requests_allowed_sum: u64,
    /// Samples in which a record waited for buffer space.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_waiting: u64,
    /// The part in which records were ready for a broker without a connection.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_unconnected: u64,
    /// The part in which a partition with records had no known leader.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_leaderless: u64,
    /// The part in which a broker throttled the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_throttled: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl ClientSample {
    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &ClientSample) -> ClientSample {
        ClientSample {
            looks: self.looks.saturating_add(other.looks),
            buffer_bytes_sum: self.buffer_bytes_sum.saturating_add(other.buffer_bytes_sum),
            buffer_bytes_allowed_sum: self
                .buffer_bytes_allowed_sum
                .saturating_add(other.buffer_bytes_allowed_sum),
            requests_in_flight_sum: self
                .requests_in_flight_sum
                .saturating_add(other.requests_in_flight_sum),
            requests_allowed_sum: self
                .requests_allowed_sum
                .saturating_add(other.requests_allowed_sum),
            looks_waiting: self.looks_waiting.saturating_add(other.looks_waiting),
            looks_unconnected: self
                .looks_unconnected
                .saturating_add(other.looks_unconnected),
            looks_leaderless: self.looks_leaderless.saturating_add(other.looks_leaderless),
            looks_throttled: self.looks_throttled.saturating_add(other.looks_throttled),
        }
    }
}
