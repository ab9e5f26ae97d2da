//! What the pairs measured so far say.

use super::signs::{EVIDENCE_MIN, SignCount};
use crate::statistics::{Interval, anytime_interval};

/// Fewer pairs decide nothing: what is rare has not been seen yet.
pub(crate) const PAIRS_MIN: usize = 5;

/// What pairs say about two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairDecision {
    /// Neither of the others so far.
    Open,
    /// The sides differ.
    Different,
    /// If they differ, then by less than the width.
    Equal,
}

/// Decides by all pairs so far: logarithms of the ratio of the sides. `width` is a share: 0.03 for 3 %.
///
/// Equal sides are called different in at most 5 % of tests of any length if each pair's order was drawn at random. The
/// interval leaves the mean out in at most 5 % of tests of any length, and so does `Equal` for a difference above the
/// width.
pub fn decide(log_ratios: &[f64], width: f64) -> PairDecision {
    if log_ratios.len() < PAIRS_MIN {
        return PairDecision::Open;
    }
    let Some(interval) = anytime_interval(log_ratios, super::ALPHA) else {
        return PairDecision::Open;
    };
    let margin = width.ln_1p();
    if -margin <= interval.low && interval.high <= margin {
        PairDecision::Equal
    } else if !interval.contains(0.0) && SignCount::of(log_ratios).evidence() >= EVIDENCE_MIN {
        PairDecision::Different
    } else {
        PairDecision::Open
    }
}

/// The interval of the ratio of the sides, valid after any number of checks; `None` with too few pairs for a decision.
pub fn ratio_interval(log_ratios: &[f64]) -> Option<Interval> {
    let interval = anytime_interval(log_ratios, super::ALPHA)?;
    let (low, high) = (interval.low.exp(), interval.high.exp());
    high.is_finite().then_some(Interval { low, high })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn seven_wins_in_a_row_are_a_difference_and_six_are_not() {
        let wins = [0.050, 0.048, 0.052, 0.049, 0.051, 0.050, 0.050];
        assert_eq!(decide(&wins[..6], 0.03), PairDecision::Open);
        assert_eq!(decide(&wins, 0.03), PairDecision::Different);
        let losses = wins.map(|value| -value);
        assert_eq!(decide(&losses, 0.03), PairDecision::Different);
    }

    #[test]
    fn equal_needs_the_whole_interval_within_the_width() {
        let pairs = [0.001, -0.002, 0.0, 0.002, -0.001];
        // Mean 0, variance 2e-6; T = (sqrt(51) / 0.05)^(2/5) = 7.276, so the half width is
        // sqrt(2e-6 * 5.1 * 6.276 / (5.1 - 0.7276)) = 0.00383.
        let interval = ratio_interval(&pairs).unwrap();
        assert!((interval.high.ln() - 0.003_83).abs() < 2e-5, "{interval:?}");
        assert_eq!(decide(&pairs[..4], 0.03), PairDecision::Open);
        assert_eq!(decide(&pairs, 0.03), PairDecision::Equal);
        assert_eq!(decide(&pairs, 0.003), PairDecision::Open);
    }

    #[test]
    fn a_value_that_is_no_number_decides_nothing() {
        let pairs = [0.05, 0.05, f64::NAN, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05];
        assert_eq!(decide(&pairs, 0.03), PairDecision::Open);
        assert_eq!(ratio_interval(&pairs), None);
    }
}
