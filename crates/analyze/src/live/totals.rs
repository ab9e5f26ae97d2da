//! What a flow did since the run began, in a form that only ever grows.

use std::collections::BTreeMap;

use kgauge_results::histogram::Histogram;
use kgauge_results::slice::{Counts, Slice, TimeKind};

/// Upper bounds of the buckets in nanoseconds: from 100 µs to a minute, about three a decade.
pub const BOUNDS_NS: [u64; 18] = [
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
    20_000_000_000,
    60_000_000_000,
];

/// The exported distributions.
const KINDS: [TimeKind; 6] = [
    TimeKind::Response,
    TimeKind::Service,
    TimeKind::Lag,
    TimeKind::EndToEnd,
    TimeKind::RoundTrip,
    TimeKind::FetchRoundTrip,
];

/// Counts and times of one flow, all stages together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowTotals {
    /// What was counted.
    pub counts: Counts,
    /// The distributions in which anything was counted.
    pub times: BTreeMap<TimeKind, TimesTotals>,
}

/// A distribution by [`BOUNDS_NS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimesTotals {
    /// All times.
    pub count: u64,
    /// Their sum, exact.
    pub sum_ns: u128,
    /// How many lie in each bucket; those beyond the last bound only stand in `count`.
    buckets: [u64; BOUNDS_NS.len()],
}

impl TimesTotals {
    /// How many times were no longer than one of [`BOUNDS_NS`]. A time lies where its bucket of the histogram ends, so
    /// a border is true to 0.1 %.
    pub fn at_or_below(&self, bound_ns: u64) -> u64 {
        let bounds = BOUNDS_NS.iter().zip(&self.buckets);
        bounds
            .take_while(|(bound, _)| **bound <= bound_ns)
            .map(|(_, count)| count)
            .sum()
    }

    fn add_histogram(&mut self, times: &Histogram) {
        self.count += times.count();
        self.sum_ns += times.sum_ns();
        for (top_ns, count) in times.buckets() {
            // A bucket that reaches over a bound by its own width still counts as below it.
            let index = BOUNDS_NS.partition_point(|bound| bound + bound / 1_000 < top_ns);
            if let Some(bucket) = self.buckets.get_mut(index) {
                *bucket += count;
            }
        }
    }

    fn add(&mut self, other: &TimesTotals) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        let buckets = self.buckets.iter_mut().zip(&other.buckets);
        buckets.for_each(|(own, more)| *own += more);
    }
}

impl FlowTotals {
    /// Adds a settled slice.
    pub(super) fn add(&mut self, slice: &Slice) {
        self.counts.add(&slice.counts);
        for kind in KINDS {
            let times = slice.times(kind);
            if !times.is_empty() {
                self.times.entry(kind).or_default().add_histogram(times);
            }
        }
    }

    /// Adds the same flow's other repeats.
    pub fn add_all(&mut self, other: &FlowTotals) {
        self.counts.add(&other.counts);
        for (kind, times) in &other.times {
            self.times.entry(*kind).or_default().add(times);
        }
    }
}
