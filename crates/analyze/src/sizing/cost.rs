//! What a broker's work costs in CPU time: a sum over kinds of work, fitted to measured trials.

use schemars::JsonSchema;
use serde::Serialize;

use super::facts::TrialFacts;
use super::least_squares::non_negative_least_squares;
use crate::statistics::Interval;
use kgauge_scenario::Random;

/// Fewer trials cannot separate the kinds of work.
pub const TRIALS_MIN: usize = 4;
/// So many sets of trials are drawn for the intervals.
const DRAWS: usize = 400;
/// The draws begin here, so that the same trials give the same answer.
const SEED: u64 = 0x51_2e;

/// A kind of work of brokers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CostTerm {
    /// A byte of a produce request.
    InByte,
    /// A record batch.
    Batch,
    /// A byte that a follower fetches and writes.
    ReplicatedByte,
    /// A byte sent to a consumer.
    OutByte,
    /// A produce request.
    ProduceRequest,
    /// A fetch request of a consumer.
    FetchRequest,
    /// A byte from or to a client over TLS.
    TlsByte,
    /// A second of a broker, whatever it does.
    BrokerSecond,
}

impl CostTerm {
    /// All, the most important first: with few trials, the last ones are left out.
    pub const ALL: [CostTerm; 8] = [
        CostTerm::InByte,
        CostTerm::Batch,
        CostTerm::ReplicatedByte,
        CostTerm::OutByte,
        CostTerm::ProduceRequest,
        CostTerm::FetchRequest,
        CostTerm::TlsByte,
        CostTerm::BrokerSecond,
    ];
}

/// The work of a whole cluster in one second: one amount per [`CostTerm`], in the order of [`CostTerm::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BrokerWork {
    pub(super) in_bytes: f64,
    pub(super) batches: f64,
    pub(super) replicated_bytes: f64,
    pub(super) out_bytes: f64,
    pub(super) produce_requests: f64,
    pub(super) fetch_requests: f64,
    pub(super) tls_bytes: f64,
    pub(super) brokers: f64,
}

impl BrokerWork {
    pub(super) fn of(facts: &TrialFacts) -> BrokerWork {
        BrokerWork {
            in_bytes: facts.in_bytes,
            batches: facts.batches,
            replicated_bytes: facts.replicated_bytes(),
            out_bytes: facts.out_bytes,
            produce_requests: facts.produce_requests,
            fetch_requests: facts.fetch_requests,
            tls_bytes: if facts.tls {
                facts.in_bytes + facts.out_bytes
            } else {
                0.0
            },
            brokers: f64::from(facts.brokers),
        }
    }

    fn amounts(&self) -> [f64; CostTerm::ALL.len()] {
        [
            self.in_bytes,
            self.batches,
            self.replicated_bytes,
            self.out_bytes,
            self.produce_requests,
            self.fetch_requests,
            self.tls_bytes,
            self.brokers,
        ]
    }
}

/// The cost of one kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TermCost {
    /// The kind.
    pub term: CostTerm,
    /// CPU time of one unit, in nanoseconds. Where two kinds always came together, one has the cost of both.
    pub cpu_ns: f64,
    /// 90 % interval, from resampled trials.
    pub interval: Interval,
}

/// CPU cost of brokers' work.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CostModel {
    /// Cores per unit a second, in the order of [`CostTerm::ALL`]; 0 for kinds that no trial had.
    cores: Vec<f64>,
    /// The same of each resampled set.
    draws: Vec<Vec<f64>>,
    /// Measured by predicted CPU of each trial, predicted without it.
    errors: Vec<f64>,
}

impl CostModel {
    /// Fits the cost of each kind of work; every trial counts alike, however small its load. At least [`TRIALS_MIN`]
    /// trials with known CPU time.
    pub(super) fn fit(trials: &[&TrialFacts]) -> CostModel {
        let points: Vec<Point> = trials.iter().filter_map(|facts| Point::of(facts)).collect();
        let all: Vec<usize> = (0..points.len()).collect();
        let terms = terms(&points);
        let without = |left_out: usize| {
            let others: Vec<usize> = all.iter().copied().filter(|&one| one != left_out).collect();
            let cores = fitted(&points, &others, terms);
            points[left_out].cores / predicted(&cores, &points[left_out].amounts)
        };
        let errors = all
            .iter()
            .map(|&one| without(one))
            .filter(|error| error.is_finite());
        let random = Random::new(SEED);
        let draw = |draw: usize| {
            let pick = |at: usize| index(random, (draw * points.len() + at) as u64, points.len());
            let drawn: Vec<usize> = (0..points.len()).map(pick).collect();
            fitted(&points, &drawn, terms)
        };
        CostModel {
            cores: fitted(&points, &all, terms),
            draws: (0..DRAWS).map(draw).collect(),
            errors: errors.collect(),
        }
    }

    /// Cores that some work needs.
    pub(super) fn cores(&self, work: &BrokerWork) -> f64 {
        predicted(&self.cores, &work.amounts())
    }

    /// The same for each draw of trials and of prediction errors: what the next trial might show. In no order.
    pub(super) fn drawn_cores<'a>(
        &'a self,
        work: &'a BrokerWork,
    ) -> impl Iterator<Item = f64> + 'a {
        let errors = self.errors.iter().cycle();
        let draws = self.draws.iter().zip(errors);
        draws.map(|(cores, error)| predicted(cores, &work.amounts()) * error)
    }

    /// The median error of predicting a trial from the others, as a fraction.
    pub(super) fn error_median(&self) -> f64 {
        let errors = self.errors.iter().map(|error| (error - 1.0).abs());
        quantile(errors, 0.5).unwrap_or(f64::NAN)
    }

    /// The cost of each kind that costs anything.
    pub(super) fn terms(&self) -> Vec<TermCost> {
        let cost = |(index, term): (usize, CostTerm)| {
            let cores = *self.cores.get(index)?;
            let drawn = || {
                self.draws
                    .iter()
                    .filter_map(|draw| draw.get(index).copied())
            };
            (cores > 0.0).then(|| TermCost {
                term,
                cpu_ns: cores * 1e9,
                interval: Interval {
                    low: quantile(drawn(), 0.05).unwrap_or(cores) * 1e9,
                    high: quantile(drawn(), 0.95).unwrap_or(cores) * 1e9,
                },
            })
        };
        CostTerm::ALL
            .into_iter()
            .enumerate()
            .filter_map(cost)
            .collect()
    }
}

/// A trial's work and its CPU.
struct Point {
    amounts: [f64; CostTerm::ALL.len()],
    cores: f64,
}

impl Point {
    fn of(facts: &TrialFacts) -> Option<Point> {
        let cores = facts.cpu_cores.filter(|cores| *cores > 0.0)?;
        let amounts = BrokerWork::of(facts).amounts();
        Some(Point { amounts, cores })
    }
}

/// Which kinds can be told apart: those that occur, one fewer than there are trials.
fn terms(points: &[Point]) -> [bool; CostTerm::ALL.len()] {
    let mut left = points.len().saturating_sub(1);
    std::array::from_fn(|term| {
        let occurs = points.iter().any(|point| point.amounts[term] > 0.0);
        let is_taken = occurs && left > 0;
        left -= usize::from(is_taken);
        is_taken
    })
}

/// Each trial's equation is divided by its CPU, so that errors count as fractions.
fn fitted(points: &[Point], chosen: &[usize], terms: [bool; CostTerm::ALL.len()]) -> Vec<f64> {
    let row = |&index: &usize| {
        let point = &points[index];
        let cells = point.amounts.iter().zip(terms);
        cells
            .map(|(amount, is_taken)| if is_taken { amount / point.cores } else { 0.0 })
            .collect()
    };
    let rows: Vec<Vec<f64>> = chosen.iter().map(row).collect();
    non_negative_least_squares(&rows, &vec![1.0; rows.len()])
}

fn predicted(cores: &[f64], amounts: &[f64]) -> f64 {
    cores
        .iter()
        .zip(amounts)
        .map(|(cores, amount)| cores * amount)
        .sum()
}

/// A number below `count`, the same for the same place.
fn index(random: Random, at: u64, count: usize) -> usize {
    let count = (count as u64).max(1);
    usize::try_from(random.bits(at) % count).unwrap_or_default()
}

/// The value that so much of the others do not exceed; `None` without values.
pub(super) fn quantile(values: impl Iterator<Item = f64>, part: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values.get((part * last as f64).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brokers that need 2 ns for a byte in, 1 ns for one replicated, 20 µs for a batch and 0.01 cores each.
    fn trial(in_bytes: f64, batches: f64, replication: u32, noise: f64) -> TrialFacts {
        let replicated = in_bytes * f64::from(replication - 1);
        let cores = 2e-9 * in_bytes + 1e-9 * replicated + 20e-6 * batches + 0.01 * 3.0;
        TrialFacts {
            brokers: 3,
            replication,
            in_bytes,
            batches,
            cpu_cores: Some(cores * noise),
            ..TrialFacts::default()
        }
    }

    fn trials(noise: &[f64]) -> Vec<TrialFacts> {
        let shapes = [
            (1e6, 1e3, 1),
            (1e8, 1e3, 1),
            (2e7, 2e4, 3),
            (1e8, 5e4, 3),
            (5e7, 1e4, 2),
            (3e8, 2e4, 1),
            (1e7, 3e4, 2),
            (2e8, 1e4, 3),
        ];
        let with = shapes.into_iter().zip(noise.iter().cycle());
        with.map(|((bytes, batches, replicas), noise)| trial(bytes, batches, replicas, *noise))
            .collect()
    }

    #[test]
    fn known_costs_are_found() {
        let trials = trials(&[1.0]);
        let model = CostModel::fit(&trials.iter().collect::<Vec<_>>());
        let cost = |term| {
            model
                .terms()
                .into_iter()
                .find(|cost| cost.term == term)
                .map_or(0.0, |cost| cost.cpu_ns)
        };
        for (term, truth) in [
            (CostTerm::InByte, 2.0),
            (CostTerm::ReplicatedByte, 1.0),
            (CostTerm::Batch, 20_000.0),
            (CostTerm::BrokerSecond, 0.01e9),
        ] {
            assert!(
                (cost(term) / truth - 1.0).abs() < 1e-6,
                "{term:?}: {}",
                cost(term)
            );
        }
        assert!(model.error_median() < 1e-6);
    }

    #[test]
    fn intervals_of_noisy_trials_hold_the_truth() {
        let trials = trials(&[1.05, 0.97, 1.02, 0.94, 1.03, 0.99, 0.96, 1.04]);
        let model = CostModel::fit(&trials.iter().collect::<Vec<_>>());
        let work = BrokerWork {
            in_bytes: 1.5e8,
            batches: 2e4,
            replicated_bytes: 3e8,
            brokers: 3.0,
            ..BrokerWork::default()
        };
        let truth = 0.3 + 0.3 + 0.4 + 0.03;
        let drawn: Vec<f64> = model.drawn_cores(&work).collect();
        let low = quantile(drawn.iter().copied(), 0.05).expect("draws");
        let high = quantile(drawn.iter().copied(), 0.95).expect("draws");
        assert!(low < truth && truth < high, "{low} to {high}");
        assert!(high / low < 1.6, "{low} to {high}");
        assert!((model.cores(&work) / truth - 1.0).abs() < 0.1);
    }

    #[test]
    fn few_trials_fit_few_kinds() {
        let trials = trials(&[1.0]);
        let model = CostModel::fit(&trials.iter().take(4).collect::<Vec<_>>());
        assert!(model.terms().len() <= 3);
    }
}
