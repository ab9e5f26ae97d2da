//! What a need means in requests, batches and bytes: producers and consumers are expected to behave as in the runs.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::{BrokerWork, quantile};
use super::facts::TrialFacts;
use super::need::SizingNeed;

/// How clients behaved in the trials with the most similar records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClientHabits {
    /// Bytes of keys, values and headers in a record batch.
    pub batch_bytes: f64,
    /// The same in a produce request.
    pub produce_request_bytes: f64,
    /// Bytes in a fetch response to a consumer; absent if no trial had consumers.
    pub fetch_bytes: Option<f64>,
    /// Uncompressed bytes by bytes on the wire.
    pub compression_ratio: f64,
    /// The busiest broker's share by that of an equal one, at least 1.
    pub skew: f64,
}

impl ClientHabits {
    /// Those of the trials whose records are the most similar in size, all trials that are equally similar.
    pub(super) fn of(trials: &[&TrialFacts], need: &SizingNeed) -> ClientHabits {
        let distance =
            |facts: &TrialFacts| (mean_record_bytes(facts) / need.record_bytes).ln().abs();
        let nearest = trials
            .iter()
            .map(|facts| distance(facts))
            .fold(f64::INFINITY, f64::min);
        let is_near = |facts: &&&TrialFacts| distance(facts) <= nearest + 0.01;
        let near = || trials.iter().filter(is_near);
        let median = |values: &mut dyn Iterator<Item = f64>| quantile(values, 0.5);
        let measured = median(&mut near().map(|facts| facts.compression_ratio())).unwrap_or(1.0);
        let readers = trials.iter().filter(|facts| facts.fetch_requests > 0.0);
        let skews = trials.iter().filter_map(|facts| facts.skew);
        ClientHabits {
            batch_bytes: median(&mut near().map(|facts| facts.logical_bytes / facts.batches))
                .unwrap_or(need.record_bytes),
            produce_request_bytes: median(
                &mut near().map(|facts| facts.logical_bytes / facts.produce_requests),
            )
            .unwrap_or(need.record_bytes),
            fetch_bytes: median(&mut readers.map(|facts| facts.out_bytes / facts.fetch_requests)),
            compression_ratio: need.compression_ratio.unwrap_or(measured),
            skew: median(&mut skews.map(|skew| skew.max(1.0))).unwrap_or(1.0),
        }
    }
}

/// Bytes per second of the whole cluster at the peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeakLoad {
    /// Records.
    pub records_per_s: f64,
    /// From producers, on the wire.
    pub in_bytes_per_s: f64,
    /// From leaders to followers.
    pub replicated_bytes_per_s: f64,
    /// To consumers.
    pub out_bytes_per_s: f64,
    /// Record batches.
    pub batches_per_s: f64,
    /// Produce requests.
    pub produce_requests_per_s: f64,
    /// Fetch requests of consumers.
    pub fetch_requests_per_s: f64,
}

impl PeakLoad {
    pub(super) fn of(need: &SizingNeed, habits: &ClientHabits) -> PeakLoad {
        let logical = need.peak_bytes_per_s();
        let wire = logical / habits.compression_ratio;
        let out = wire * need.fan_out;
        PeakLoad {
            records_per_s: need.peak_records_per_s(),
            in_bytes_per_s: wire,
            replicated_bytes_per_s: wire * f64::from(need.replication.saturating_sub(1)),
            out_bytes_per_s: out,
            // A record that is larger than the runs' batches is a batch of its own.
            batches_per_s: logical / habits.batch_bytes.max(need.record_bytes),
            produce_requests_per_s: logical / habits.produce_request_bytes.max(need.record_bytes),
            fetch_requests_per_s: habits.fetch_bytes.map_or(0.0, |bytes| out / bytes),
        }
    }

    /// What all replicas write.
    pub(super) fn written_bytes_per_s(&self) -> f64 {
        self.in_bytes_per_s + self.replicated_bytes_per_s
    }

    /// The work of so many brokers.
    pub(super) fn work(&self, need: &SizingNeed, brokers: f64) -> BrokerWork {
        BrokerWork {
            in_bytes: self.in_bytes_per_s,
            batches: self.batches_per_s,
            replicated_bytes: self.replicated_bytes_per_s,
            out_bytes: self.out_bytes_per_s,
            produce_requests: self.produce_requests_per_s,
            fetch_requests: self.fetch_requests_per_s,
            tls_bytes: if need.tls {
                self.in_bytes_per_s + self.out_bytes_per_s
            } else {
                0.0
            },
            brokers,
        }
    }
}

/// Bytes of an average record of a trial.
pub(super) fn mean_record_bytes(facts: &TrialFacts) -> f64 {
    facts
        .record_bytes
        .unwrap_or(facts.logical_bytes / facts.records)
}
