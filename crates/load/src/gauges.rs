//! Buffer and in-flight use of producers, sampled by their own threads and summed for others to read.
//!
//! Not on a record's path: a worker samples its producers when it updates live totals, about twenty times per second.

use std::sync::atomic::{AtomicU64, Ordering};

use kgauge_results::run::ClientSample;

/// The sums over all samples of one flow's producers.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    looks: AtomicU64,
    buffer_bytes: AtomicU64,
    buffer_bytes_allowed: AtomicU64,
    requests_in_flight: AtomicU64,
    requests_allowed: AtomicU64,
    looks_waiting: AtomicU64,
    looks_unconnected: AtomicU64,
    looks_leaderless: AtomicU64,
    looks_throttled: AtomicU64,
}

impl Gauges {
    /// Adds one sample of one producer.
    pub(crate) fn add(&self, look: &ClientSample) {
        let add = |to: &AtomicU64, part: u64| to.fetch_add(part, Ordering::Relaxed);
        add(&self.looks, look.looks);
        add(&self.buffer_bytes, look.buffer_bytes_sum);
        add(&self.buffer_bytes_allowed, look.buffer_bytes_allowed_sum);
        add(&self.requests_in_flight, look.requests_in_flight_sum);
        add(&self.requests_allowed, look.requests_allowed_sum);
        add(&self.looks_waiting, look.looks_waiting);
        add(&self.looks_unconnected, look.looks_unconnected);
        add(&self.looks_leaderless, look.looks_leaderless);
        add(&self.looks_throttled, look.looks_throttled);
    }

    /// The sums; a sample that is just being added may be included in part.
    pub(crate) fn sample(&self) -> ClientSample {
        let of = |from: &AtomicU64| from.load(Ordering::Relaxed);
        ClientSample {
            looks: of(&self.looks),
            buffer_bytes_sum: of(&self.buffer_bytes),
            buffer_bytes_allowed_sum: of(&self.buffer_bytes_allowed),
            requests_in_flight_sum: of(&self.requests_in_flight),
            requests_allowed_sum: of(&self.requests_allowed),
            looks_waiting: of(&self.looks_waiting),
            looks_unconnected: of(&self.looks_unconnected),
            looks_leaderless: of(&self.looks_leaderless),
            looks_throttled: of(&self.looks_throttled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_add_up() {
        let gauges = Gauges::default();
        let look = ClientSample {
            looks: 1,
            buffer_bytes_sum: 100,
            buffer_bytes_allowed_sum: 1_000,
            requests_in_flight_sum: 3,
            requests_allowed_sum: 5,
            looks_waiting: 1,
            looks_unconnected: 1,
            looks_leaderless: 0,
            looks_throttled: 0,
        };
        gauges.add(&look);
        gauges.add(&look);
        assert_eq!(gauges.sample(), look.plus(&look));
    }
}
