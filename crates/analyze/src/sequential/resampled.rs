//! What tests of this machine's noise would do: measured pairs of equal sides, drawn again and again.

use kgauge_scenario::{Random, derive_seed};

use super::decision::{PairDecision, decide};

/// How many tests are drawn for each rate.
const TESTS: u32 = 1_000;

/// A pair of measurements of the same thing, in the order in which they were made; as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOfEquals {
    /// The first measurement.
    pub first: f64,
    /// The second one.
    pub second: f64,
}

/// What became of tests that were drawn from pairs of equal sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResampledTests {
    /// Their number.
    pub tests: u32,
    /// Those that found a difference.
    pub different: u32,
    /// Those that found that there is none above the width.
    pub equal: u32,
    /// After how many pairs half of the tests had an answer; absent if fewer than half ever had one.
    pub pairs_median: Option<u32>,
}

/// Draws tests from pairs of equal sides: each pair of a test is one of the measured pairs, and a coin decides which of
/// its measurements is side A. `planted` is added to the logarithm of B / A: the difference that the tests should find.
/// A test ends with its answer, or after `pairs_max` pairs. `None` with fewer than two pairs.
pub fn resample(
    pairs: &[PairOfEquals],
    planted: f64,
    width: f64,
    pairs_max: u32,
    seed: u64,
) -> Option<ResampledTests> {
    if pairs.len() < 2 {
        return None;
    }
    let random = Random::new(derive_seed(seed, "resampled pairs"));
    let mut at = 0;
    let mut result = ResampledTests {
        tests: TESTS,
        different: 0,
        equal: 0,
        pairs_median: None,
    };
    let mut lengths = Vec::new();
    let mut log_ratios: Vec<f64> = Vec::new();
    for _ in 0..TESTS {
        log_ratios.clear();
        for count in 1..=pairs_max {
            let bits = random.bits(at);
            at += 1;
            // The high half of a product is uniform; the lowest bit is the coin.
            let chosen = (u128::from(bits) * pairs.len() as u128) >> 64;
            let Some(pair) = pairs.get(chosen as usize) else {
                continue;
            };
            let apart = pair.second - pair.first;
            let is_swapped = bits & 1 == 1;
            log_ratios.push(planted + if is_swapped { -apart } else { apart });
            match decide(&log_ratios, width) {
                PairDecision::Open => continue,
                PairDecision::Different => result.different += 1,
                PairDecision::Equal => result.equal += 1,
            }
            lengths.push(count);
            break;
        }
    }
    lengths.sort_unstable();
    result.pairs_median = lengths.get(TESTS as usize / 2).copied();
    Some(result)
}
