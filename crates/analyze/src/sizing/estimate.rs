//! All that is estimated from trials, and what other trials might have shown.

use super::cost::{CostModel, DRAWS, UnitCosts};
use super::curve::LatencyCurves;
use super::demand::{ClientHabits, HabitTrials};
use super::draws::{begin_draws, quantile};
use super::facts::TrialFacts;
use super::need::SizingNeed;
use crate::statistics::{Interval, mean};

/// One set of estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) costs: UnitCosts,
    pub(super) habits: ClientHabits,
    /// Memory of a broker's process, in bytes; `None` if not measured.
    pub(super) resident_bytes: Option<f64>,
    /// Bytes per second that one producer wrote into one partition; `None` if not measured.
    pub(super) produce_bytes_per_s: Option<f64>,
    /// Bytes per second that one consumer read from one partition; `None` if not measured.
    pub(super) consume_bytes_per_s: Option<f64>,
    /// The share of its CPU up to which the busiest broker kept the goal; `None` without a goal.
    pub(super) latency_part: Option<f64>,
    /// Cores that a broker can use, whatever its machine has; `None` without a limit.
    pub(super) cores_max: Option<f64>,
}

/// The estimates of all trials, and of resampled ones.
pub(super) struct Estimates {
    pub(super) expected: Estimate,
    pub(super) draws: Vec<Estimate>,
    pub(super) model: CostModel,
    pub(super) curves: LatencyCurves,
}

impl Estimates {
    /// `None` if there is a goal for response times and no load kept it.
    pub(super) fn of(trials: &[&TrialFacts], need: &SizingNeed) -> Option<Estimates> {
        let habits = HabitTrials::of(trials, need);
        let curves = LatencyCurves::of(&habits.near, trials);
        let expected_habits = habits.expected(need);
        let model = CostModel::fit(trials, need, expected_habits.is_compressed);
        let resident: Vec<f64> = trials
            .iter()
            .filter_map(|facts| facts.resident_bytes)
            .collect();
        let one_partition = PartitionRates::of(trials, need);
        let is_embedded = trials.iter().any(|facts| facts.release.is_embedded);
        let expected = Estimate {
            costs: model.expected(),
            habits: expected_habits,
            resident_bytes: resident.iter().copied().reduce(f64::max),
            produce_bytes_per_s: mean(one_partition.produce.iter().copied()),
            consume_bytes_per_s: mean(one_partition.consume.iter().copied()),
            latency_part: match need.latency_ns_p99 {
                Some(goal) => Some(curves.expected_part(goal)?),
                None => None,
            },
            // A node of the embedded cluster is one thread.
            cores_max: is_embedded.then_some(1.0),
        };
        let draw = |draw: usize| {
            let mut draws = begin_draws("memory and partitions", draw);
            let again = resident.iter().filter_map(|_| draws.choose(&resident));
            Estimate {
                costs: model.drawn(draw),
                habits: habits.drawn(need, draw),
                resident_bytes: again.copied().reduce(f64::max),
                produce_bytes_per_s: draws.choose(&one_partition.produce).copied(),
                consume_bytes_per_s: draws.choose(&one_partition.consume).copied(),
                latency_part: need
                    .latency_ns_p99
                    .and_then(|goal| curves.drawn_part(goal, draw)),
                ..expected
            }
        };
        Some(Estimates {
            expected,
            draws: (0..DRAWS).map(draw).collect(),
            model,
            curves,
        })
    }

    /// The 90 % interval of a figure of the estimates, which has the expected value in it.
    pub(super) fn interval(&self, expected: f64, of: impl Fn(&Estimate) -> f64) -> Interval {
        let values: Vec<f64> = self.draws.iter().map(of).collect();
        interval_of(&values, expected)
    }
}

/// From the 5th to the 95th percentile of drawn values. The expected value is in it.
pub(super) fn interval_of(drawn: &[f64], expected: f64) -> Interval {
    let end = |part: f64| quantile(drawn.iter().copied(), part).unwrap_or(expected);
    Interval {
        low: end(0.05).min(expected),
        high: end(0.95).max(expected),
    }
}

/// What one producer and one consumer did with one partition, each repeat.
struct PartitionRates {
    produce: Vec<f64>,
    consume: Vec<f64>,
}

impl PartitionRates {
    /// Of the trial that wrote most, and of the one that was read fastest, among those with the most similar records.
    /// Trials with a schedule show what they were asked for, and not what a partition can do.
    fn of(trials: &[&TrialFacts], need: &SizingNeed) -> PartitionRates {
        let of_one = trials.iter().copied();
        let of_one: Vec<&TrialFacts> = of_one
            .filter(|facts| facts.partitions == 1 && !facts.is_generator_limited)
            .filter(|facts| !facts.is_capped)
            .collect();
        let near = HabitTrials::of(&of_one, need).near;
        let closed = near.iter().filter(|facts| facts.is_closed_loop);
        let produce = closed.map(|facts| facts.logical_bytes_repeats.clone());
        // Only load on a schedule has response times.
        let read = near.iter().filter(|facts| facts.latency_ns_p99.is_none());
        let read = read.filter(|facts| facts.out_bytes > 0.0);
        // Several consumers that each read all share the rate.
        let consume = read.map(|facts| {
            let readers = facts.fan_out().round().max(1.0);
            let repeats = facts.read_bytes_repeats.iter();
            repeats.map(|bytes| bytes / readers).collect()
        });
        PartitionRates {
            produce: fastest(produce),
            consume: fastest(consume),
        }
    }
}

fn fastest(trials: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let rate = |repeats: &[f64]| mean(repeats.iter().copied()).unwrap_or(0.0);
    let fastest = trials.max_by(|one, other| rate(one).total_cmp(&rate(other)));
    fastest.unwrap_or_default()
}
