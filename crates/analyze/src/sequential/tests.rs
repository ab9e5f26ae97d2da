//! Simulated tests on a noisy machine: what they find, how often they are wrong, and what they cost.

use super::{PairDecision, PairOfEquals, decide, ratio_interval, resample};
use crate::statistics::RandomDraws;

/// No test is longer.
const PAIRS_MAX: usize = 80;
/// The width of the tests.
const WIDTH: f64 = 0.03;

/// A machine whose speed drifts, whose repeats differ by 2 %, whose second repeat of a pair is 1 % slower, and on which
/// other programs take 10 % of one repeat in twenty.
struct NoisyMachine {
    draws: RandomDraws,
    drift: f64,
}

impl NoisyMachine {
    fn new(seed: u64) -> NoisyMachine {
        let draws = RandomDraws::new(seed);
        NoisyMachine { draws, drift: 0.0 }
    }

    /// The logarithm of one measurement.
    fn measure(&mut self, is_second: bool) -> f64 {
        self.drift = 0.9 * self.drift + 0.03 * self.draws.normal();
        let is_hit = self.draws.uniform() < 0.05;
        let noise = 0.02 * self.draws.normal() - if is_hit { 0.10 } else { 0.0 };
        let order = if is_second { -0.01 } else { 0.0 };
        self.drift + noise + order
    }

    /// Two measurements, one after the other.
    fn pair(&mut self) -> PairOfEquals {
        PairOfEquals {
            first: self.measure(false),
            second: self.measure(true),
        }
    }

    /// The log ratio B / A of a block in random order, if B is `effect` more than A.
    fn log_ratio(&mut self, effect: f64) -> f64 {
        let pair = self.pair();
        let apart = pair.second - pair.first;
        let is_b_first = self.draws.uniform() < 0.5;
        effect.ln_1p() + if is_b_first { -apart } else { apart }
    }

    /// A whole test: its answer and the number of its pairs.
    fn test(&mut self, effect: f64, width: f64) -> (PairDecision, usize) {
        let mut log_ratios = Vec::new();
        for count in 1..=PAIRS_MAX {
            log_ratios.push(self.log_ratio(effect));
            let decision = decide(&log_ratios, width);
            if decision != PairDecision::Open {
                return (decision, count);
            }
        }
        (PairDecision::Open, PAIRS_MAX)
    }
}

fn tests(effect: f64, width: f64, seeds: std::ops::Range<u64>) -> Vec<(PairDecision, usize)> {
    let test = |seed| NoisyMachine::new(seed).test(effect, width);
    seeds.map(test).collect()
}

fn count(tests: &[(PairDecision, usize)], decision: PairDecision) -> usize {
    tests.iter().filter(|(found, _)| *found == decision).count()
}

#[test]
fn equal_sides_are_called_different_in_at_most_one_test_of_twenty() {
    // A width of 0 never ends a test early, which gives chance the most looks.
    for width in [WIDTH, 0.0] {
        let tests = tests(0.0, width, 0..400);
        let different = count(&tests, PairDecision::Different);
        assert!(different <= 20, "width {width}: {different} of 400");
    }
    let tests = tests(0.0, WIDTH, 0..400);
    let equal = count(&tests, PairDecision::Equal);
    assert!(equal >= 300, "only {equal} of 400 found that there is none");
}

#[test]
fn a_planted_difference_of_5_percent_is_found_in_nineteen_tests_of_twenty() {
    for effect in [0.05, -0.05] {
        let tests = tests(effect, WIDTH, 1_000..1_200);
        let found = count(&tests, PairDecision::Different);
        assert!(found >= 190, "{effect}: {found} of 200");
        let pairs: usize = tests.iter().map(|(_, pairs)| pairs).sum();
        let mean = pairs as f64 / tests.len() as f64;
        assert!(mean < 30.0, "{mean} pairs on average");
    }
}

#[test]
fn the_confidence_sequence_holds_the_ratio_at_all_times() {
    let effect: f64 = 0.02;
    let is_left_out = |seed: &u64| {
        let mut machine = NoisyMachine::new(*seed);
        let mut log_ratios = Vec::new();
        (0..PAIRS_MAX).any(|_| {
            log_ratios.push(machine.log_ratio(effect));
            ratio_interval(&log_ratios).is_some_and(|interval| !interval.contains(1.0 + effect))
        })
    };
    let left_out = (2_000..2_400).filter(is_left_out).count();
    assert!(left_out <= 20, "{left_out} of 400");
}

#[test]
fn pairs_of_equal_sides_show_false_alarms_and_what_a_difference_needs() {
    let mut machine = NoisyMachine::new(7);
    let pairs: Vec<PairOfEquals> = (0..40).map(|_| machine.pair()).collect();
    let equal = resample(&pairs, 0.0, WIDTH, 80, 1).unwrap();
    assert!(equal.different <= 50, "{equal:?}");
    let planted = resample(&pairs, 0.05_f64.ln_1p(), WIDTH, 80, 1).unwrap();
    assert!(planted.different >= 950, "{planted:?}");
    assert!(
        planted.pairs_median.is_some_and(|pairs| pairs < 30),
        "{planted:?}"
    );
    assert_eq!(resample(&pairs, 0.0, WIDTH, 80, 1), Some(equal));
    assert_eq!(resample(&pairs[..1], 0.0, WIDTH, 80, 1), None);
}
