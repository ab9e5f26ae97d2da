//! Whether a series of measurements is steady: where its warm-up ends, and whether it changes afterwards.
//!
//! The warm-up ends where MSER-5 cuts (White 1997; Hoad, Robinson and Davies 2010): of all cuts the one that leaves the
//! remaining means of five values with the smallest squared standard error. Whether the rest changes is decided by the
//! largest deviation of its partial sums (CUSUM, Ploberger and Krämer 1992) against the long-run standard deviation,
//! and by how large the change is: a drift that no reader would care about is not called one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steadiness of a figure during measurement.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// No relevant change.
    #[default]
    Steady,
    /// Too short or too noisy for a change to show.
    Undecided,
    /// It shifted between levels.
    Shifting,
    /// It got worse: fewer records per second, longer latencies.
    Slowing,
    /// It got better, as during warm-up.
    Warming,
}

impl Steadiness {
    /// Whether a figure of it may be used as that of a system in its normal state.
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Steady | Self::Undecided)
    }
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Throughput.
    Higher,
    /// Latency.
    Lower,
}

/// The result for a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadinessCheck {
    /// The finding.
    pub steadiness: Steadiness,
    /// The relative change from the earlier part to the later one: 0.1 is 10 % more.
    pub change: f64,
    /// The smallest detectable change, in the same unit.
    pub detectable: f64,
}

impl SteadinessCheck {
    /// The same for a change that is none: it would have shown, or it could not.
    pub(super) fn without_change(self) -> SteadinessCheck {
        let steadiness = match self.detectable > DETECTABLE_MAX {
            true => Steadiness::Undecided,
            false => Steadiness::Steady,
        };
        SteadinessCheck { steadiness, ..self }
    }

    /// The standard error of the mean of the series, relative to it: what is correlated within the series is accounted
    /// for. Zero if nothing is known of it.
    pub(super) fn standard_error(&self) -> f64 {
        match self.detectable < f64::MAX {
            true => self.detectable / DETECTABLE_ERRORS,
            false => 0.0,
        }
    }
}

/// MSER-5 uses means of this many values.
const MSER_BATCH: usize = 5;

/// Fewer values show nothing.
const VALUES_MIN: usize = 8;

/// The smallest share of the series on either side of a change point.
const EDGE: f64 = 0.1;

/// The 1 % point of the largest absolute value of a Brownian bridge (Kolmogorov's distribution).
const CUSUM_CRITICAL: f64 = 1.628;

/// The smallest detectable change in standard errors of the mean. Of a step in the middle the partial sums reach a
/// quarter of its height times the number of values.
const DETECTABLE_ERRORS: f64 = 4.0 * CUSUM_CRITICAL;

/// Changes of a throughput smaller than this are no reason to doubt it.
const CHANGE_MIN: f64 = 0.08;

/// The same for latencies, whose percentiles are rarely known to a fifth.
const LOG_CHANGE_MIN: f64 = 0.20;

/// A series in which only a change larger than this would have shown decides nothing.
const DETECTABLE_MAX: f64 = 0.35;

/// Where the warm-up ends, in values; `None` if that is unknown: with fewer than ten values, or if the best cut lies in
/// the second half of the series.
pub fn warm_up_end(values: &[f64]) -> Option<usize> {
    let batches = values.chunks_exact(MSER_BATCH);
    let means: Vec<f64> = batches.map(mean).collect();
    let half = means.len() / 2;
    if means.len() < 2 {
        return None;
    }
    // Sums from the end, so that each cut costs a step.
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // Relative to the mean, so that squares of large numbers cost no digits.
    let all = mean(&means);
    for (cut, value) in means.iter().enumerate().rev() {
        sum += value - all;
        squares += (value - all).powi(2);
        let left = (means.len() - cut) as f64;
        if means.len() - cut < MSER_LEFT_MIN.min(means.len() - half) {
            continue;
        }
        let statistic = (squares - sum * sum / left).max(0.0) / (left * left);
        if statistic <= best.0 {
            best = (statistic, cut);
        }
    }
    let (_, cut) = best;
    (cut <= half).then_some(cut * MSER_BATCH)
}

/// The statistic of the last few means is small by chance, so cuts that leave fewer are skipped.
const MSER_LEFT_MIN: usize = 5;

/// Looks for a change in a series of positive values, or of logarithms with [`check_logs`].
pub fn check(values: &[f64], better: Better) -> SteadinessCheck {
    let mean = mean(values);
    if mean <= 0.0 || !mean.is_finite() {
        return undecided();
    }
    let relative: Vec<f64> = values.iter().map(|value| value / mean).collect();
    let shift = Shift::of(&relative);
    let change_of = |shift: &Shift| shift.after / shift.before.max(f64::EPSILON) - 1.0;
    judge(&relative, shift, (better, CHANGE_MIN), change_of)
}

/// The same of logarithms of latencies, whose differences are ratios. A fall by a sixth is as large as a rise by a
/// fifth.
pub fn check_logs(logs: &[f64], better: Better) -> SteadinessCheck {
    let change_of = |shift: &Shift| (shift.after - shift.before).exp() - 1.0;
    judge(logs, Shift::of(logs), (better, LOG_CHANGE_MIN), change_of)
}

fn undecided() -> SteadinessCheck {
    SteadinessCheck {
        steadiness: Steadiness::Undecided,
        change: 0.0,
        detectable: f64::MAX,
    }
}

fn judge(
    values: &[f64],
    shift: Option<Shift>,
    (better, change_min): (Better, f64),
    change_of: impl Fn(&Shift) -> f64,
) -> SteadinessCheck {
    let Some(shift) = shift.filter(|_| values.len() >= VALUES_MIN) else {
        return undecided();
    };
    let n = values.len() as f64;
    let deviation = long_run_deviation(values, &shift);
    let largest = largest_partial_sum(values) / n.sqrt();
    let change = change_of(&shift);
    let detectable = DETECTABLE_ERRORS * deviation / n.sqrt();
    let is_seen = largest > CUSUM_CRITICAL * deviation;
    let is_large = (1.0 + change).ln().abs() >= (1.0 + change_min).ln();
    let steadiness = if is_seen && is_large {
        kind_of_change(values, &shift, change, better)
    } else {
        Steadiness::Steady
    };
    let found = SteadinessCheck {
        steadiness,
        change,
        detectable,
    };
    match steadiness {
        Steadiness::Steady => found.without_change(),
        _ => found,
    }
}

/// A jump has one level before and one after; a drift has none.
fn kind_of_change(values: &[f64], shift: &Shift, change: f64, better: Better) -> Steadiness {
    let is_jump = shift.squares_left < 0.8 * squares_around_line(values);
    let improves = match better {
        Better::Higher => change > 0.0,
        Better::Lower => change < 0.0,
    };
    match (is_jump, improves) {
        (true, _) => Steadiness::Shifting,
        (false, true) => Steadiness::Warming,
        (false, false) => Steadiness::Slowing,
    }
}

/// The shift into two levels that leaves the least.
pub(super) struct Shift {
    pub(super) at: usize,
    before: f64,
    after: f64,
    squares_left: f64,
}

impl Shift {
    pub(super) fn of(values: &[f64]) -> Option<Shift> {
        let n = values.len();
        let edge = ((n as f64 * EDGE) as usize).max(2);
        if n < 2 * edge + 1 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let total: f64 = values.iter().sum();
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let mut sum: f64 = values[..edge - 1].iter().sum();
        let mut best: Option<Shift> = None;
        for at in edge..=n - edge {
            sum += values[at - 1];
            let (before, after) = (sum / at as f64, (total - sum) / (n - at) as f64);
            let left = squares - before * sum - after * (total - sum);
            if best.as_ref().is_none_or(|best| left < best.squares_left) {
                best = Some(Shift {
                    at,
                    before,
                    after,
                    squares_left: left.max(0.0),
                });
            }
        }
        best
    }
}

/// The largest absolute sum of the first k deviations from the mean.
fn largest_partial_sum(values: &[f64]) -> f64 {
    let mean = mean(values);
    let mut sum = 0.0_f64;
    let sums = values.iter().map(|value| {
        sum += value - mean;
        sum.abs()
    });
    sums.fold(0.0, f64::max)
}

/// The standard deviation that a mean of dependent values has, times the root of their number: by Bartlett's weights
/// over the residuals around the two levels, with Newey and West's bandwidth.
fn long_run_deviation(values: &[f64], shift: &Shift) -> f64 {
    let n = values.len();
    let level = |index| {
        if index < shift.at {
            shift.before
        } else {
            shift.after
        }
    };
    let residuals: Vec<f64> = (0..n).map(|index| values[index] - level(index)).collect();
    let covariance = |lag: usize| {
        let pairs = residuals.iter().zip(&residuals[lag..]);
        pairs.map(|(one, other)| one * other).sum::<f64>() / n as f64
    };
    let variance = covariance(0);
    if variance <= 0.0 {
        return 0.0;
    }
    // Andrews' rule for a first-order process: the more a value resembles the one before it, the wider.
    let likeness = (covariance(1) / variance).clamp(0.0, 0.97);
    let strength = 4.0 * likeness.powi(2) / (1.0 - likeness.powi(2)).powi(2);
    let bandwidth = (1.1447 * (strength * n as f64).cbrt()).ceil() as usize;
    let bandwidth = bandwidth.clamp(1, n / 4);
    let weighted = (1..=bandwidth).map(|lag| {
        let weight = 1.0 - lag as f64 / (bandwidth + 1) as f64;
        2.0 * weight * covariance(lag)
    });
    (variance + weighted.sum::<f64>())
        .max(variance / (n as f64))
        .sqrt()
}

/// What a straight line leaves.
fn squares_around_line(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (mean_x, mean_y) = ((n - 1.0) / 2.0, mean(values));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let (x, y) = (index as f64 - mean_x, value - mean_y);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if xx > 0.0 {
        (yy - xy * xy / xx).max(0.0)
    } else {
        yy
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mser_cuts_where_the_level_is_reached() {
        // Ten values on the way up, forty at 10: means of five 2, 6, 10, 10, ...
        let rise = [0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let mut values = rise.to_vec();
        values.extend([9.0, 11.0].repeat(20));
        assert_eq!(warm_up_end(&values), Some(10));
    }

    #[test]
    fn a_series_that_rises_to_its_end_has_no_end_of_a_warm_up() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(warm_up_end(&values), None);
        assert_eq!(warm_up_end(&[1.0; 9]), None);
    }

    #[test]
    fn a_jump_and_a_drift_have_their_names() {
        let noise = |index: u32| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
        let jump: Vec<f64> = (0..60)
            .map(|index| if index < 30 { 100.0 } else { 130.0 } + noise(index))
            .collect();
        let found = check(&jump, Better::Higher);
        assert_eq!(found.steadiness, Steadiness::Shifting);
        assert!((found.change - 0.30).abs() < 0.01, "{found:?}");
        let drift: Vec<f64> = (0..60)
            .map(|index| 100.0 + f64::from(index) + noise(index))
            .collect();
        assert_eq!(
            check(&drift, Better::Higher).steadiness,
            Steadiness::Warming
        );
        assert_eq!(check(&drift, Better::Lower).steadiness, Steadiness::Slowing);
        let level: Vec<f64> = (0..60).map(|index| 100.0 + noise(index)).collect();
        assert_eq!(check(&level, Better::Higher).steadiness, Steadiness::Steady);
    }

    #[test]
    fn few_values_and_no_values_decide_nothing() {
        for values in [&[][..], &[1.0], &[5.0; 4], &[0.0; 60]] {
            let found = check(values, Better::Higher);
            assert_eq!(found.steadiness, Steadiness::Undecided, "{values:?}");
        }
    }
}
