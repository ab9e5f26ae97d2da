//! Steadiness of repeats: what shows in all of them together, and from each to the next.

use super::steadiness::{Better, Shift, SteadinessCheck, check, check_logs};
use super::{mean, t_factor};

/// So many repeats are checked together. What moves one or two of them only is chance, and is in the interval of the
/// mean over the repeats.
pub const TOGETHER_MIN: usize = 3;

/// A change that the repeats share is larger than the interval of its mean over the repeats, which leaves out the truth
/// with this probability.
const SHARED_ALPHA: f64 = 0.13;

/// More than three repeats that follow one direction are a trend when they change by this much together.
const TREND_MIN: f64 = 0.15;

/// Of two or three repeats chance alone often makes a direction, and the interval of their mean is wide: only a change
/// by this much is a trend.
const TREND_MIN_OF_FEW: f64 = 0.30;

/// A trend is so many standard errors of the difference of two repeats.
const TREND_ERRORS: f64 = 3.0;

/// Looks for a change that repeats share, of series of positive values: in their mean at each moment, and from three
/// repeats on in each of them by itself. `None` of a single repeat, or if one has no positive mean.
pub fn check_repeats(repeats: &[Vec<f64>], better: Better) -> Option<SteadinessCheck> {
    let relative: Option<Vec<Vec<f64>>> = repeats
        .iter()
        .map(|values| {
            let mean = mean(values.iter().copied()).filter(|mean| *mean > 0.0)?;
            Some(values.iter().map(|value| value / mean).collect())
        })
        .collect();
    check_shared(&relative?, |values| check(values, better))
}

/// The same of logarithms of latencies.
pub fn check_repeats_of_logs(logs: &[Vec<f64>], better: Better) -> Option<SteadinessCheck> {
    check_shared(logs, |values| check_logs(values, better))
}

fn check_shared(
    repeats: &[Vec<f64>],
    check: impl Fn(&[f64]) -> SteadinessCheck,
) -> Option<SteadinessCheck> {
    let series = mean_over_repeats(repeats)?;
    let found = check(&series);
    let is_chance = || {
        let is_shared = Shift::of(&series).and_then(|shift| is_shared(repeats, shift.at));
        repeats.len() >= TOGETHER_MIN && is_shared == Some(false)
    };
    Some(match !found.steadiness.is_usable() && is_chance() {
        true => found.without_change(),
        false => found,
    })
}

/// Whether all repeats step in one direction at a moment, by amounts that are alike.
fn is_shared(repeats: &[Vec<f64>], at: usize) -> Option<bool> {
    let steps = repeats.iter().map(|values| {
        let (before, after) = values.split_at(at.min(values.len()));
        Some(mean(after.iter().copied())? - mean(before.iter().copied())?)
    });
    let steps: Option<Vec<f64>> = steps.collect();
    let steps = steps?;
    let count = steps.len();
    let average = mean(steps.iter().copied())?;
    let squares: f64 = steps.iter().map(|step| (step - average).powi(2)).sum();
    let degrees = count.checked_sub(1)?;
    let error = (squares / degrees as f64 / count as f64).sqrt();
    let is_one_way = steps.iter().all(|step| step * average > 0.0);
    Some(is_one_way && average.abs() > t_factor(degrees, SHARED_ALPHA)? * error)
}

/// The mean of several repeats at each moment, each repeat around the mean of all; `None` of a single one. The shortest
/// repeat gives the length.
fn mean_over_repeats(repeats: &[Vec<f64>]) -> Option<Vec<f64>> {
    let means = repeats.iter().map(|values| mean(values.iter().copied()));
    let means: Option<Vec<f64>> = means.collect();
    let means = means.filter(|means| means.len() > 1)?;
    let level = mean(means.iter().copied())?;
    let length = repeats.iter().map(Vec::len).min()?;
    let at = |index: usize| {
        let around = repeats.iter().zip(&means);
        mean(around.map(|(values, mean)| level + values[index] - mean))
    };
    (0..length).map(at).collect()
}

/// The relative change of a figure from the first repeat to the last, where all go in one direction, it is large, and
/// noise within the repeats does not explain it. `repeats` has each repeat's mean, and the check of its series.
pub fn trend(repeats: &[(f64, SteadinessCheck)]) -> Option<f64> {
    let ((first, first_check), (last, last_check)) = (repeats.first()?, repeats.last()?);
    let rises = repeats.windows(2).all(|pair| pair[1].0 > pair[0].0);
    let falls = repeats.windows(2).all(|pair| pair[1].0 < pair[0].0);
    let least = match repeats.len() {
        0 | 1 => return None,
        2 | 3 => TREND_MIN_OF_FEW,
        _ => TREND_MIN,
    };
    if *first <= 0.0 || !(rises || falls) {
        return None;
    }
    let error = first_check
        .standard_error()
        .hypot(last_check.standard_error());
    // A fall by a third is as large as a rise by a half.
    let change = (last / first).ln().abs();
    (change >= (1.0 + least).ln().max(TREND_ERRORS * error)).then_some(last / first - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Steadiness;

    /// Percent of change over repeats of these means, each with a standard error of so many percent.
    fn percent(means: &[f64], error: f64) -> Option<f64> {
        let check = SteadinessCheck {
            steadiness: Steadiness::Steady,
            change: 0.0,
            detectable: error / 100.0 * 6.512,
        };
        let repeats: Vec<_> = means.iter().map(|mean| (*mean, check)).collect();
        trend(&repeats).map(|change| (change * 100.0).round())
    }

    #[test]
    fn repeats_that_go_one_way_are_a_trend() {
        assert_eq!(percent(&[100.0, 110.0, 115.0, 120.0], 1.0), Some(20.0));
        assert_eq!(percent(&[120.0, 115.0, 110.0, 100.0], 1.0), Some(-17.0));
        assert_eq!(percent(&[100.0, 130.0, 125.0, 120.0], 1.0), None);
        assert_eq!(percent(&[100.0, 102.0, 103.0, 104.0], 1.0), None);
        // Two repeats always go one way, and one of three series of three does.
        assert_eq!(percent(&[100.0, 120.0], 1.0), None);
        assert_eq!(percent(&[100.0, 110.0, 120.0], 1.0), None);
        assert_eq!(percent(&[100.0, 120.0, 131.0], 1.0), Some(31.0));
        assert_eq!(percent(&[210.0, 382.0], 1.0), Some(82.0));
        assert_eq!(percent(&[100.0], 1.0), None);
    }

    #[test]
    fn what_the_noise_within_repeats_explains_is_no_trend() {
        // ln 1.2 is 0.182. Three standard errors of a difference are 0.17 with 4 % for each mean, and 0.21 with 5 %.
        assert_eq!(percent(&[100.0, 110.0, 115.0, 120.0], 4.0), Some(20.0));
        assert_eq!(percent(&[100.0, 110.0, 115.0, 120.0], 5.0), None);
    }

    #[test]
    fn repeats_share_a_step_that_is_larger_than_it_differs() {
        let step = |height: f64| [1.0, 1.0, 1.0 + height, 1.0 + height].to_vec();
        let is_shared = |heights: [f64; 3]| is_shared(&heights.map(step), 2).unwrap();
        // Steps of 0.2, 0.3 and 0.4 have the mean 0.3 and the standard error 0.1/1.732 = 0.058, of which Student's
        // factor for 87 % and two degrees of freedom, 2.50, makes 0.14.
        assert!(is_shared([0.2, 0.3, 0.4]));
        // 0.1, 0.1 and 0.7: the mean is 0.3, and the factor times the standard error 0.2 is 0.50.
        assert!(!is_shared([0.1, 0.1, 0.7]));
        assert!(!is_shared([0.3, -0.3, 0.3]));
        assert!(is_shared([-0.3, -0.3, -0.3]));
    }

    #[test]
    fn the_mean_over_repeats_keeps_what_they_share() {
        let repeats = [vec![1.0, 3.0, 9.0], vec![6.0, 4.0]];
        // Around the means 13/3 and 5, with their mean 14/3 added.
        let level = 14.0 / 3.0;
        let expected = [
            level + (1.0 - 13.0 / 3.0 + 6.0 - 5.0) / 2.0,
            level + (3.0 - 13.0 / 3.0 + 4.0 - 5.0) / 2.0,
        ];
        let found = mean_over_repeats(&repeats).unwrap();
        assert_eq!(found.len(), 2);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
        assert_eq!(mean_over_repeats(&repeats[..1]), None);
    }
}
