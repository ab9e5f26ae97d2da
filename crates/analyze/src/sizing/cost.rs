//! What a broker's work costs in CPU time: a sum over kinds of work, fitted to measured trials.

use schemars::JsonSchema;
use serde::Serialize;

use super::draws::{begin_draws, quantile};
use super::facts::TrialFacts;
use super::least_squares::non_negative_least_squares;
use super::need::SizingNeed;
use crate::statistics::Interval;

/// Fewer trials cannot separate the kinds of work.
pub(super) const TRIALS_MIN: usize = 4;
/// So many sets of trials are drawn for the intervals.
pub(super) const DRAWS: usize = 400;
/// Kinds of work.
const TERMS: usize = CostTerm::ALL.len();
/// Numbers of followers or readers that differ by less do not show what each costs.
const MULTIPLE_MIN: f64 = 1.5;

/// A kind of work of brokers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CostTerm {
    /// A byte of a produce request.
    InByte,
    /// A record batch of a produce request.
    Batch,
    /// A byte that a follower fetches and writes.
    ReplicatedByte,
    /// A second of a broker, whatever it does.
    BrokerSecond,
    /// A byte sent to a consumer.
    OutByte,
    /// A produce request.
    ProduceRequest,
    /// A record.
    Record,
    /// A byte from or to a client over TLS.
    TlsByte,
    /// An uncompressed byte of a compressed batch, which brokers check.
    CompressedByte,
    /// An uncompressed byte that brokers compress again.
    RecompressedByte,
    /// A record batch that a follower writes.
    ReplicatedBatch,
    /// A fetch request of a consumer.
    FetchRequest,
}

impl CostTerm {
    /// All, the most important first: with few trials, the last ones are left out.
    pub const ALL: [CostTerm; 12] = [
        CostTerm::InByte,
        CostTerm::Batch,
        CostTerm::ReplicatedByte,
        CostTerm::BrokerSecond,
        CostTerm::OutByte,
        CostTerm::ProduceRequest,
        CostTerm::Record,
        CostTerm::TlsByte,
        CostTerm::CompressedByte,
        CostTerm::RecompressedByte,
        CostTerm::ReplicatedBatch,
        CostTerm::FetchRequest,
    ];

    /// Whether a need cannot be sized without its cost.
    fn is_needed(self, need: &SizingNeed, is_compressed: bool) -> bool {
        match self {
            CostTerm::InByte | CostTerm::Batch => true,
            CostTerm::ReplicatedByte => need.replication > 1,
            CostTerm::OutByte => need.fan_out > 0.0,
            CostTerm::TlsByte => need.tls,
            CostTerm::CompressedByte => is_compressed,
            CostTerm::RecompressedByte => need.recompressed,
            CostTerm::BrokerSecond
            | CostTerm::ProduceRequest
            | CostTerm::Record
            | CostTerm::ReplicatedBatch
            | CostTerm::FetchRequest => false,
        }
    }

    /// Whether a need has this kind of work at all.
    fn is_in(self, need: &SizingNeed, is_compressed: bool) -> bool {
        match self {
            CostTerm::ReplicatedBatch => need.replication > 1,
            CostTerm::FetchRequest => need.fan_out > 0.0,
            CostTerm::BrokerSecond | CostTerm::ProduceRequest | CostTerm::Record => true,
            CostTerm::InByte
            | CostTerm::Batch
            | CostTerm::ReplicatedByte
            | CostTerm::OutByte
            | CostTerm::TlsByte
            | CostTerm::CompressedByte
            | CostTerm::RecompressedByte => self.is_needed(need, is_compressed),
        }
    }

    /// The work of which each trial has a multiple of its own: as many times as it has followers or readers.
    fn base(self) -> Option<CostTerm> {
        match self {
            CostTerm::ReplicatedByte | CostTerm::OutByte | CostTerm::FetchRequest => {
                Some(CostTerm::InByte)
            }
            CostTerm::ReplicatedBatch => Some(CostTerm::Batch),
            CostTerm::InByte
            | CostTerm::Batch
            | CostTerm::BrokerSecond
            | CostTerm::ProduceRequest
            | CostTerm::Record
            | CostTerm::TlsByte
            | CostTerm::CompressedByte
            | CostTerm::RecompressedByte => None,
        }
    }
}

/// Work of brokers in one second: one amount per [`CostTerm`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BrokerWork {
    pub(super) in_bytes: f64,
    pub(super) batches: f64,
    pub(super) records: f64,
    pub(super) replicated_bytes: f64,
    pub(super) replicated_batches: f64,
    pub(super) out_bytes: f64,
    pub(super) produce_requests: f64,
    pub(super) fetch_requests: f64,
    pub(super) tls_bytes: f64,
    pub(super) compressed_bytes: f64,
    pub(super) recompressed_bytes: f64,
    pub(super) brokers: f64,
}

impl BrokerWork {
    pub(super) fn of(facts: &TrialFacts) -> BrokerWork {
        let if_true = |is: bool, amount: f64| if is { amount } else { 0.0 };
        BrokerWork {
            in_bytes: facts.in_bytes,
            batches: facts.batches,
            records: facts.records,
            replicated_bytes: facts.replicated_bytes(),
            replicated_batches: facts.batches * facts.copies(),
            out_bytes: facts.out_bytes,
            produce_requests: facts.produce_requests,
            fetch_requests: facts.fetch_requests,
            tls_bytes: if_true(facts.tls, facts.in_bytes + facts.out_bytes),
            compressed_bytes: if_true(facts.codec.is_some(), facts.logical_bytes),
            recompressed_bytes: if_true(facts.is_recompressed, facts.logical_bytes),
            brokers: f64::from(facts.brokers),
        }
    }

    fn amount(&self, term: CostTerm) -> f64 {
        match term {
            CostTerm::InByte => self.in_bytes,
            CostTerm::Batch => self.batches,
            CostTerm::ReplicatedByte => self.replicated_bytes,
            CostTerm::BrokerSecond => self.brokers,
            CostTerm::OutByte => self.out_bytes,
            CostTerm::ProduceRequest => self.produce_requests,
            CostTerm::Record => self.records,
            CostTerm::TlsByte => self.tls_bytes,
            CostTerm::CompressedByte => self.compressed_bytes,
            CostTerm::RecompressedByte => self.recompressed_bytes,
            CostTerm::ReplicatedBatch => self.replicated_batches,
            CostTerm::FetchRequest => self.fetch_requests,
        }
    }

    fn amounts(&self) -> [f64; TERMS] {
        CostTerm::ALL.map(|term| self.amount(term))
    }
}

/// Cores per unit per second, in the order of [`CostTerm::ALL`]; 0 for kinds that no trial had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnitCosts([f64; TERMS]);

impl UnitCosts {
    /// Cores that some work needs.
    pub(super) fn cores(&self, work: &BrokerWork) -> f64 {
        self.cores_of(&work.amounts())
    }

    fn cores_of(&self, amounts: &[f64; TERMS]) -> f64 {
        let pairs = self.0.iter().zip(amounts);
        pairs.map(|(cores, amount)| cores * amount).sum()
    }

    /// All costs times a factor.
    fn times(self, factor: f64) -> UnitCosts {
        UnitCosts(self.0.map(|cores| cores * factor))
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
    costs: UnitCosts,
    /// The same of each resampled set of trials.
    draws: Vec<UnitCosts>,
    /// Measured by predicted CPU of trials, predicted without their setup.
    errors: Vec<f64>,
    /// Kinds of work that the need lacks, and whose cost is in that of other work.
    pub(super) entangled: Vec<CostTerm>,
}

impl CostModel {
    /// Fits the cost of each kind of work; every trial counts alike, however small its load. At least [`TRIALS_MIN`]
    /// trials with known CPU time.
    pub(super) fn fit(trials: &[&TrialFacts], need: &SizingNeed, is_compressed: bool) -> CostModel {
        let points: Vec<Point> = trials.iter().filter_map(|facts| Point::of(facts)).collect();
        let setups = setups(&points);
        let folds = folds(&setups);
        let entangled = entangled(&points, need, is_compressed);
        let terms = terms(&points, folds.len(), need, is_compressed, &entangled);
        let all: Vec<usize> = (0..points.len()).collect();
        let costs = fitted(&points, &all, terms);
        let draw = |draw: usize| {
            let drawn = fitted(&points, &resampled(&setups, draw), terms);
            // What is missing in a draw costs as much as in all trials.
            let occurs = |term: usize| drawn.1[term];
            let cost = |term: usize| match occurs(term) {
                true => drawn.0.0[term],
                false => costs.0.0[term],
            };
            UnitCosts(std::array::from_fn(cost))
        };
        CostModel {
            costs: costs.0,
            draws: (0..DRAWS).map(draw).collect(),
            errors: folds
                .iter()
                .filter_map(|fold| left_out_error(&points, fold, terms))
                .collect(),
            entangled,
        }
    }

    /// What is expected.
    pub(super) fn expected(&self) -> UnitCosts {
        self.costs
    }

    /// What other trials might have shown, with the error of predicting one of them from the others.
    pub(super) fn drawn(&self, draw: usize) -> UnitCosts {
        let mut draws = begin_draws("errors", draw);
        let error = draws.choose(&self.errors).copied().unwrap_or(1.0);
        let costs = self.draws.get(draw).copied().unwrap_or(self.costs);
        costs.times(error)
    }

    /// The median error of predicting trials without their setup, as a fraction.
    pub(super) fn error_median(&self) -> f64 {
        let errors = self.errors.iter().map(|error| (error - 1.0).abs());
        quantile(errors, 0.5).unwrap_or(f64::NAN)
    }

    /// The cost of each kind that costs anything.
    pub(super) fn terms(&self) -> Vec<TermCost> {
        let cost = |(index, term): (usize, CostTerm)| {
            let cores = self.costs.0[index];
            let end = |part: f64| {
                let drawn = self.draws.iter().map(|draw| draw.0[index]);
                quantile(drawn, part).unwrap_or(cores) * 1e9
            };
            (cores > 0.0).then(|| TermCost {
                term,
                cpu_ns: cores * 1e9,
                interval: Interval {
                    low: end(0.05),
                    high: end(0.95),
                },
            })
        };
        let terms = CostTerm::ALL.into_iter().enumerate();
        terms.filter_map(cost).collect()
    }
}

/// How many setups a fit needs to have all kinds of work of a need.
pub(super) fn setups_needed(need: &SizingNeed, is_compressed: bool) -> usize {
    let needed = CostTerm::ALL.iter();
    let needed = needed.filter(|term| term.is_needed(need, is_compressed));
    // As many as `terms_max` needs for that many kinds.
    (needed.count() * 3).div_ceil(2).max(TRIALS_MIN)
}

/// How many kinds of work so many setups can tell apart.
fn terms_max(setups: usize) -> usize {
    (setups * 2 / 3).max(2)
}

/// How many setups trials have: trials that differ in their rates only are one, unless there are hardly others.
pub(super) fn setup_count(trials: &[&TrialFacts]) -> usize {
    let points: Vec<Point> = trials.iter().filter_map(|facts| Point::of(facts)).collect();
    folds(&setups(&points)).len()
}

/// A trial's work and its CPU.
struct Point<'a> {
    setup: &'a str,
    amounts: [f64; TERMS],
    cores: f64,
}

impl<'a> Point<'a> {
    fn of(facts: &'a TrialFacts) -> Option<Point<'a>> {
        let cores = facts.cpu_cores.filter(|cores| *cores > 0.0)?;
        Some(Point {
            setup: &facts.setup,
            amounts: BrokerWork::of(facts).amounts(),
            cores,
        })
    }

    fn amount(&self, term: CostTerm) -> f64 {
        let mut pairs = CostTerm::ALL.iter().zip(self.amounts);
        let found = pairs.find(|(known, _)| **known == term);
        found.map_or(0.0, |(_, amount)| amount)
    }
}

/// The indices of the trials of each setup.
fn setups(points: &[Point<'_>]) -> Vec<Vec<usize>> {
    let mut setups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        match setups.iter_mut().find(|(setup, _)| *setup == point.setup) {
            Some((_, trials)) => trials.push(index),
            None => setups.push((point.setup, vec![index])),
        }
    }
    setups.into_iter().map(|(_, trials)| trials).collect()
}

/// What is left out together to see how well the rest predicts it.
fn folds(setups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    match setups.len() < TRIALS_MIN {
        true => setups.iter().flatten().map(|trial| vec![*trial]).collect(),
        false => setups.to_vec(),
    }
}

/// As many setups, drawn with replacement, and of each as many trials.
fn resampled(setups: &[Vec<usize>], draw: usize) -> Vec<usize> {
    let mut draws = begin_draws("trials", draw);
    let mut drawn = Vec::new();
    for _ in setups {
        if let Some(setup) = draws.choose(setups) {
            drawn.extend(setup.iter().filter_map(|_| draws.choose(setup).copied()));
        }
    }
    drawn
}

/// Kinds of work that the need lacks and that every trial had, so that nobody knows their cost apart from that of the
/// work that they came with. They are not fitted: the answer has their cost, and is too large rather than too small.
fn entangled(points: &[Point<'_>], need: &SizingNeed, is_compressed: bool) -> Vec<CostTerm> {
    let is_entangled = |term: &CostTerm| {
        let multiple = |point: &Point<'_>| match term.base() {
            Some(base) => point.amount(*term) / point.amount(base),
            // What TLS and compression are about is all bytes of a trial, so only trials without them show their cost.
            None => f64::from(u8::from(point.amount(*term) > 0.0)),
        };
        let multiples = || points.iter().map(multiple);
        let least = multiples().fold(f64::INFINITY, f64::min);
        let most = multiples().fold(0.0, f64::max);
        !term.is_in(need, is_compressed) && least > 0.0 && most < MULTIPLE_MIN * least
    };
    CostTerm::ALL.into_iter().filter(is_entangled).collect()
}

/// Which kinds of work are fitted: those that occur, the needed ones first.
fn terms(
    points: &[Point<'_>],
    setups: usize,
    need: &SizingNeed,
    is_compressed: bool,
    entangled: &[CostTerm],
) -> [bool; TERMS] {
    let mut left = terms_max(setups);
    let mut taken = [false; TERMS];
    for needed in [true, false] {
        for (index, term) in CostTerm::ALL.into_iter().enumerate() {
            let is_there = points.iter().any(|point| point.amounts[index] > 0.0);
            let occurs = is_there && !entangled.contains(&term);
            if left > 0 && occurs && term.is_needed(need, is_compressed) == needed {
                taken[index] = true;
                left -= 1;
            }
        }
    }
    taken
}

/// Costs of the chosen trials, and which kinds of work they had. Each trial's equation is divided by its CPU, so that
/// errors count as fractions.
fn fitted(
    points: &[Point<'_>],
    chosen: &[usize],
    terms: [bool; TERMS],
) -> (UnitCosts, [bool; TERMS]) {
    let row = |&index: &usize| {
        let point = &points[index];
        let cells = point.amounts.iter().zip(terms);
        cells
            .map(|(amount, is_taken)| if is_taken { amount / point.cores } else { 0.0 })
            .collect()
    };
    let rows: Vec<Vec<f64>> = chosen.iter().map(row).collect();
    let costs = non_negative_least_squares(&rows, &vec![1.0; rows.len()]);
    let cost = |term: usize| costs.get(term).copied().unwrap_or(0.0);
    let occurs = |term: usize| rows.iter().any(|row| row[term] > 0.0);
    (
        UnitCosts(std::array::from_fn(cost)),
        std::array::from_fn(occurs),
    )
}

/// Measured by predicted CPU, the median of the trials that are left out.
fn left_out_error(points: &[Point<'_>], fold: &[usize], terms: [bool; TERMS]) -> Option<f64> {
    let others: Vec<usize> = (0..points.len())
        .filter(|index| !fold.contains(index))
        .collect();
    let (costs, _) = fitted(points, &others, terms);
    let error = |&index: &usize| points[index].cores / costs.cores_of(&points[index].amounts);
    quantile(fold.iter().map(error), 0.5)
}

#[cfg(test)]
mod tests {
    use super::super::tests::need;
    use super::*;

    /// Brokers that need 2 ns for a byte in, 1 ns for one replicated, 20 µs for a batch and 0.01 cores each.
    fn trial(in_bytes: f64, batches: f64, replication: u32, noise: f64) -> TrialFacts {
        let replicated = in_bytes * f64::from(replication - 1);
        let cores = 2e-9 * in_bytes + 1e-9 * replicated + 20e-6 * batches + 0.01 * 3.0;
        TrialFacts {
            setup: format!("{in_bytes} {batches} {replication}"),
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

    fn model(trials: &[TrialFacts]) -> CostModel {
        CostModel::fit(&trials.iter().collect::<Vec<_>>(), &need(), false)
    }

    #[test]
    fn known_costs_are_found() {
        let model = model(&trials(&[1.0]));
        let cost = |term| {
            let terms = model.terms();
            let mut terms = terms.iter();
            terms
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
        let model = model(&trials(&[1.05, 0.97, 1.02, 0.94, 1.03, 0.99, 0.96, 1.04]));
        let work = BrokerWork {
            in_bytes: 1.5e8,
            batches: 2e4,
            replicated_bytes: 3e8,
            brokers: 3.0,
            ..BrokerWork::default()
        };
        let truth = 0.3 + 0.3 + 0.4 + 0.03;
        let drawn: Vec<f64> = (0..DRAWS)
            .map(|draw| model.drawn(draw).cores(&work))
            .collect();
        let low = quantile(drawn.iter().copied(), 0.05).expect("draws");
        let high = quantile(drawn.iter().copied(), 0.95).expect("draws");
        assert!(low < truth && truth < high, "{low} to {high}");
        assert!(high / low < 1.6, "{low} to {high}");
        assert!((model.expected().cores(&work) / truth - 1.0).abs() < 0.1);
    }

    #[test]
    fn few_trials_fit_few_kinds_the_needed_ones_first() {
        let few: Vec<TrialFacts> = trials(&[1.0]).into_iter().take(4).collect();
        assert!(model(&few).terms().len() <= 2);
        // Two kinds of four: bytes and batches. Replicas and readers too need six setups.
        assert_eq!(terms_max(4), 2);
        assert_eq!(setups_needed(&need(), false), 6);
        assert_eq!(terms_max(6), 4);
    }

    #[test]
    fn what_every_trial_had_stays_in_the_cost_of_other_work() {
        let cost_of_a_byte = |model: &CostModel| {
            let terms = model.terms();
            let mut terms = terms.iter();
            let found = terms.find(|cost| cost.term == CostTerm::InByte);
            found.map_or(0.0, |cost| cost.cpu_ns)
        };
        // 2 ns for a byte, and 1 ns for its encryption.
        let mut trials = trials(&[1.0]);
        let add_tls = |facts: &mut TrialFacts| {
            facts.tls = true;
            facts.cpu_cores = facts.cpu_cores.map(|cores| cores + 1e-9 * facts.in_bytes);
        };
        let plain = trials[5].clone();
        trials.iter_mut().for_each(add_tls);
        let all = model(&trials);
        assert_eq!(all.entangled, [CostTerm::TlsByte]);
        assert!((cost_of_a_byte(&all) - 3.0).abs() < 1e-6);
        trials[5] = plain;
        let some = model(&trials);
        assert!(some.entangled.is_empty());
        assert!((cost_of_a_byte(&some) - 2.0).abs() < 1e-6);
        // Two followers of every trial are no matter for a need with three replicas, but for one without.
        let followed: Vec<TrialFacts> = (1_u8..=6)
            .map(|load| trial(1e7 * f64::from(load), 3e4 / f64::from(load), 3, 1.0))
            .collect();
        assert!(model(&followed).entangled.is_empty());
        let alone = SizingNeed {
            replication: 1,
            ..need()
        };
        let followed: Vec<&TrialFacts> = followed.iter().collect();
        let entangled = CostModel::fit(&followed, &alone, false).entangled;
        assert_eq!(
            entangled,
            [CostTerm::ReplicatedByte, CostTerm::ReplicatedBatch]
        );
    }

    #[test]
    fn trials_that_differ_in_their_rates_are_left_out_together() {
        let mut trials = trials(&[1.0]);
        for facts in &mut trials {
            facts.setup = facts.replication.to_string();
        }
        // Three setups are too few to leave one out, so each trial is left out by itself.
        assert_eq!(setup_count(&trials.iter().collect::<Vec<_>>()), 8);
        trials[0].setup = "other".to_owned();
        assert_eq!(setup_count(&trials.iter().collect::<Vec<_>>()), 4);
    }
}
