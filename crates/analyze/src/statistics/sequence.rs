//! A mean whose interval stays valid if it is checked after every value.
//!
//! Whoever repeats a comparison until its ordinary 95 % interval leaves out "equal" finds a difference where there is
//! none in far more than 5 % of all cases. A confidence sequence leaves out the truth at any time in at most 5 %, so
//! the comparison may stop as soon as the answer is clear.
//!
//! The sequence is that of the t statistic under a normal mixture over the standardised mean (T. L. Lai, "On confidence
//! sequences", Annals of Statistics 4, 1976; H. Wang and A. Ramdas, "Anytime-valid t-tests and confidence sequences for
//! Gaussian means with unknown variance", 2023). Of `n` values with mean `m` and variance `v` (divided by `n`), it
//! contains each `x` with `(m - x)^2 <= v (n + c) (T - 1) / (n + c - T c)`, where
//! `T = (sqrt(1 + n / c) / alpha)^(2 / n)` and `c` is the mixture's precision.

use super::Interval;

/// The precision of the mixture: the value at which effects of one to two standard deviations are found soonest, after
/// 15 and 6 values on average.
const PRECISION: f64 = 0.1;

/// Where the mean of the values lies, valid at any stopping time with the confidence `1 - alpha`. `None` while it may
/// lie anywhere: with fewer than two values at least, or with one that is not a number.
pub fn anytime_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let variance = squares.sum::<f64>() / count;
    let threshold = ((1.0 + count / PRECISION).sqrt() / alpha).powf(2.0 / count);
    let rest = count + PRECISION - threshold * PRECISION;
    if rest <= 0.0 {
        return None;
    }
    let half = (variance * (count + PRECISION) * (threshold - 1.0) / rest).sqrt();
    Some(Interval {
        low: mean - half,
        high: mean + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::RandomDraws;

    #[test]
    fn a_worked_example_comes_out() {
        // 1, 2, 3: mean 2, variance 2/3. T = (sqrt(31) / 0.05)^(2/3) = 23.146, so the half width is
        // sqrt(2/3 * 3.1 * 22.146 / (3.1 - 2.3146)) = 7.634.
        let interval = anytime_interval(&[1.0, 2.0, 3.0], 0.05).unwrap();
        assert!((interval.high - 9.634).abs() < 0.01, "{interval:?}");
        assert!((interval.low + 5.634).abs() < 0.01, "{interval:?}");
        assert_eq!(anytime_interval(&[1.0], 0.05), None);
        assert_eq!(anytime_interval(&[1.0, f64::NAN, 2.0], 0.05), None);
    }

    /// After how many of at most 200 values the interval leaves out 0.
    fn values_until_zero_is_out(seed: u64, effect: f64) -> Option<usize> {
        let mut draws = RandomDraws::new(seed);
        let mut values = Vec::new();
        (1..=200).find(|_| {
            values.push(effect + draws.normal());
            anytime_interval(&values, 0.05).is_some_and(|interval| !interval.contains(0.0))
        })
    }

    #[test]
    fn looking_after_every_value_raises_few_false_alarms() {
        let alarms = (0..500).filter(|seed| values_until_zero_is_out(*seed, 0.0).is_some());
        let alarms = alarms.count();
        // At most 5 %, and the error of 500 draws.
        assert!(alarms <= 35, "{alarms} of 500");
    }

    #[test]
    fn a_clear_effect_ends_a_comparison_early() {
        let needed = (0..200).map(|seed| values_until_zero_is_out(seed, 2.0).unwrap());
        let mean = needed.sum::<usize>() as f64 / 200.0;
        assert!(mean < 10.0, "{mean}");
    }
}
