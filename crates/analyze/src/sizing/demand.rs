//! What a need means in requests, batches and bytes: producers and consumers are expected to behave as in the runs.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::BrokerWork;
use super::draws::{begin_draws, quantile};
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
    /// Bytes of requests by bytes of keys, values and headers, without compression.
    pub framing: f64,
    /// Uncompressed by compressed bytes of record batches; 1 without compression.
    pub compression_ratio: f64,
    /// Whether batches are compressed.
    pub is_compressed: bool,
    /// How much more than an equal part the busiest broker led, beyond what numbers of partitions explain; at least 1.
    pub skew: f64,
}

/// The trials that show how clients behave with a need's records.
pub(super) struct HabitTrials<'a> {
    /// Those with the most similar records, with compression as needed where there are such.
    pub(super) near: Vec<&'a TrialFacts>,
    /// Those with consumers.
    readers: Vec<&'a TrialFacts>,
    /// Skew of each trial.
    skews: Vec<f64>,
    is_compressed: bool,
}

impl<'a> HabitTrials<'a> {
    pub(super) fn of(trials: &[&'a TrialFacts], need: &SizingNeed) -> HabitTrials<'a> {
        let distance =
            |facts: &TrialFacts| (facts.mean_record_bytes() / need.record_bytes).ln().abs();
        let nearest = trials
            .iter()
            .map(|facts| distance(facts))
            .fold(f64::INFINITY, f64::min);
        let trials_near = trials.iter().copied();
        let mut near: Vec<&TrialFacts> = trials_near
            .filter(|facts| distance(facts) <= nearest + 0.01)
            .collect();
        let is_compressed = match &need.compression {
            Some(compression) => compression.is_compressed(),
            None => !near.is_empty() && near.iter().all(|facts| facts.codec.is_some()),
        };
        if near
            .iter()
            .any(|facts| facts.codec.is_some() == is_compressed)
        {
            near.retain(|facts| facts.codec.is_some() == is_compressed);
        }
        let readers = trials.iter().copied();
        HabitTrials {
            near,
            readers: readers.filter(|facts| facts.fetch_requests > 0.0).collect(),
            skews: trials.iter().filter_map(|facts| facts.own_skew()).collect(),
            is_compressed,
        }
    }

    /// What is expected: medians.
    pub(super) fn expected(&self, need: &SizingNeed) -> ClientHabits {
        let skew = quantile(self.skews.iter().copied(), 0.5);
        self.habits(need, &self.near, &self.readers, skew)
    }

    /// What another set of the same kind of trials might have shown. The ratio of a sample has its own interval.
    pub(super) fn drawn(&self, need: &SizingNeed, draw: usize) -> ClientHabits {
        let mut draws = begin_draws("clients", draw);
        let mut again = |from: &[&'a TrialFacts]| -> Vec<&'a TrialFacts> {
            from.iter()
                .filter_map(|_| draws.choose(from).copied())
                .collect()
        };
        let (near, readers) = (again(&self.near), again(&self.readers));
        let skew = draws.choose(&self.skews).copied();
        let mut habits = self.habits(need, &near, &readers, skew);
        let compression = need.compression.as_ref();
        if let Some(interval) = compression.and_then(|compression| compression.interval) {
            // The interval is ±1.645 standard deviations of the logarithm.
            let deviation = (interval.high / interval.low).ln() / (2.0 * 1.645);
            habits.compression_ratio *= (deviation * draws.normal()).exp();
        }
        habits
    }

    fn habits(
        &self,
        need: &SizingNeed,
        near: &[&TrialFacts],
        readers: &[&TrialFacts],
        skew: Option<f64>,
    ) -> ClientHabits {
        let median = |value: fn(&TrialFacts) -> f64, of: &[&TrialFacts]| {
            quantile(of.iter().map(|facts| value(facts)), 0.5)
        };
        let record = need.record_bytes;
        let measured = || median(|facts| facts.compression_ratio.unwrap_or(1.0), near);
        let ratio = match (&need.compression, self.is_compressed) {
            (Some(compression), _) => Some(compression.ratio),
            (None, true) => measured(),
            (None, false) => None,
        };
        ClientHabits {
            batch_bytes: median(|facts| facts.logical_bytes / facts.batches, near)
                .unwrap_or(record),
            produce_request_bytes: median(
                |facts| facts.logical_bytes / facts.produce_requests,
                near,
            )
            .unwrap_or(record),
            fetch_bytes: median(|facts| facts.out_bytes / facts.fetch_requests, readers),
            framing: median(TrialFacts::framing, near).unwrap_or(1.0),
            compression_ratio: ratio.unwrap_or(1.0),
            is_compressed: self.is_compressed,
            skew: skew.unwrap_or(1.0).max(1.0),
        }
    }
}

/// Bytes per second of the whole cluster at the peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeakLoad {
    /// Records.
    pub records_per_s: f64,
    /// Bytes of keys, values and headers from producers.
    pub logical_bytes_per_s: f64,
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
        let wire = logical * habits.framing / habits.compression_ratio;
        let out = wire * need.fan_out;
        PeakLoad {
            records_per_s: need.peak_records_per_s(),
            logical_bytes_per_s: logical,
            in_bytes_per_s: wire,
            replicated_bytes_per_s: wire * f64::from(need.replication.saturating_sub(1)),
            out_bytes_per_s: out,
            // A record that is larger than the runs' batches is a batch of its own.
            batches_per_s: logical / habits.batch_bytes.max(need.record_bytes),
            produce_requests_per_s: logical / habits.produce_request_bytes.max(need.record_bytes),
            fetch_requests_per_s: habits.fetch_bytes.map_or(0.0, |bytes| out / bytes),
        }
    }

    /// The work that all brokers share.
    pub(super) fn work(&self, need: &SizingNeed, habits: &ClientHabits) -> BrokerWork {
        let copies = f64::from(need.replication.saturating_sub(1));
        let if_true = |is: bool, amount: f64| if is { amount } else { 0.0 };
        BrokerWork {
            in_bytes: self.in_bytes_per_s,
            batches: self.batches_per_s,
            records: self.records_per_s,
            replicated_bytes: self.replicated_bytes_per_s,
            replicated_batches: self.batches_per_s * copies,
            out_bytes: self.out_bytes_per_s,
            produce_requests: self.produce_requests_per_s,
            fetch_requests: self.fetch_requests_per_s,
            tls_bytes: if_true(need.tls, self.in_bytes_per_s + self.out_bytes_per_s),
            compressed_bytes: if_true(habits.is_compressed, self.logical_bytes_per_s),
            recompressed_bytes: if_true(need.recompressed, self.logical_bytes_per_s),
            brokers: 0.0,
        }
    }
}
