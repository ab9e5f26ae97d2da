//! What kgauge's own producers know of themselves and slices do not have.

use serde::{Deserialize, Serialize};

/// What a flow's producers held, looked at some twenty times a second; all sums only rise. What two looks differ by,
/// each sum divided by `looks`, is a mean.
///
/// What was sent, batched, answered, retried, throttled and read stands in the slices, by second and exactly: it is not
/// written a second time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientSample {
    /// How many times one producer was looked at.
    pub looks: u64,
    /// What of `buffer.memory` was in use, in bytes, summed over looks.
    pub buffer_bytes_sum: u64,
    /// `buffer.memory`, summed over looks.
    pub buffer_bytes_allowed_sum: u64,
    /// Requests whose answers were awaited, summed over looks.
    pub requests_in_flight_sum: u64,
    /// How many might have been: `max.in.flight.requests.per.connection` for each of the producer's connections, summed
    /// over looks.
    pub requests_allowed_sum: u64,
    /// Looks at which a record waited for room in the buffer.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_waiting: u64,
    /// Of those, the ones at which records were ready for a broker to which there was no connection.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_unconnected: u64,
    /// Of those, the ones at which a partition with records had no leader, or its leader was being looked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_leaderless: u64,
    /// Of those, the ones at which a broker had asked for a pause.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks_throttled: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl ClientSample {
    /// Both together.
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
