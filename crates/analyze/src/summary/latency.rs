//! Distributions of times in the summary. Percentiles come from merged histograms, never from
//! other percentiles.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::{Interval, Spread};

/// The distributions of a flow's hold stage; null where nothing was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Latencies {
    /// acked - intended: the headline.
    pub response: Option<LatencySummary>,
    /// acked - sent.
    pub service: Option<LatencySummary>,
    /// sent - intended.
    pub lag: Option<LatencySummary>,
    /// consumed - intended, of echo flows.
    pub end_to_end: Option<LatencySummary>,
    /// Produce requests: answer read - request written.
    pub round_trip: Option<LatencySummary>,
    /// Fetch requests: answer read - request written.
    pub fetch_round_trip: Option<LatencySummary>,
    /// Waits for room in the producer's buffer.
    pub buffer_wait: Option<LatencySummary>,
    /// Echo flows: request written - sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_wait: Option<LatencySummary>,
    /// Echo flows: acked - request written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_wait: Option<LatencySummary>,
    /// Echo flows: consumed - acked; in transactions consumed - committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_wait: Option<LatencySummary>,
    /// Echo flows in transactions: committed - acked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_wait: Option<LatencySummary>,
    /// Commits of transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<LatencySummary>,
}

/// One distribution over all repeats of a trial. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// How many times were counted: every one.
    pub count: u64,
    /// Smallest, exact.
    pub min_ns: u64,
    /// Mean, from the exact sum.
    pub mean_ns: f64,
    /// The mean of each repeat, their spread, and the interval of `mean_ns`.
    pub mean_over_repeats: Option<Spread>,
    /// p50, p90, p95, p99, p99.9, p99.99.
    pub percentiles: Vec<Percentile>,
    /// Largest, exact.
    pub max_ns: u64,
    /// When the largest was.
    pub max_at: MaxAt,
}

/// When something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MaxAt {
    /// In which repeat, from 0.
    pub repeat: u32,
    /// Nanoseconds since the start of that repeat; of records the intended time.
    pub at_ns: u64,
}

/// A percentile of the merged histogram.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Percentile {
    /// `p99.9`
    pub name: String,
    /// 999,000 for p99.9.
    pub millionths: u32,
    /// The time that this part does not exceed, at most 0.1 % too high.
    pub value_ns: u64,
    /// How many samples lie beyond it.
    pub samples_beyond: u64,
    /// True when those are fewer than 100: then the percentile is a guess.
    pub few: bool,
    /// The same percentile of each repeat, their spread, and the interval of `value_ns`.
    pub over_repeats: Option<Spread>,
}

impl LatencySummary {
    /// A percentile by its millionths: 990,000 for p99.
    pub fn percentile(&self, millionths: u32) -> Option<&Percentile> {
        let mut percentiles = self.percentiles.iter();
        percentiles.find(|found| found.millionths == millionths)
    }

    /// 95 % confidence interval of the mean, over the repeats.
    pub fn mean_interval(&self) -> Option<Interval> {
        self.mean_over_repeats.as_ref()?.ci95
    }
}

impl Percentile {
    /// 95 % confidence interval of `value_ns`, over the repeats; `None` with one.
    pub fn interval(&self) -> Option<Interval> {
        self.over_repeats.as_ref()?.ci95
    }
}
