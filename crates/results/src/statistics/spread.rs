//! The spread of one figure over repeats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::student::t_95;

/// Two groups are told apart when the gap between them is so much of the whole range: of evenly
/// spread values no gap reaches half of it from five values on.
const GAP_PART_MIN: f64 = 0.5;
/// Below so many values no two modes are claimed.
const MODES_VALUES_MIN: usize = 4;
/// A range below so much of the mean is noise, however it is grouped.
const MODES_RANGE_MIN: f64 = 0.10;

/// One figure over the repeats of a trial. With one repeat there is no interval, and that is
/// said by `ci95` being null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Number of repeats.
    pub n: u32,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Sample standard deviation (n - 1); null with one repeat.
    pub stdev: Option<f64>,
    /// Coefficient of variation, standard deviation / mean; null with one repeat or a mean of 0.
    pub cv: Option<f64>,
    /// 95 % interval of the mean by Student's t; null with one repeat.
    pub ci95: Option<Interval>,
    /// True when the values fall into two groups (at least four values, a gap of at least half
    /// their range, at least two values on one side and a range of at least 10 % of the mean):
    /// then the mean describes neither.
    pub two_modes: bool,
    /// The values, in the order of the repeats.
    pub values: Vec<f64>,
}

/// From where to where.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// True when the value lies inside or on an end.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl Spread {
    /// The spread of values; `None` without a value or with one that is no number.
    pub fn of(values: &[f64]) -> Option<Spread> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let stdev = (n > 1).then(|| {
            let squares = values.iter().map(|value| (value - mean).powi(2));
            (squares.sum::<f64>() / (n - 1) as f64).sqrt()
        });
        let half = stdev.zip(t_95(n - 1));
        let half = half.map(|(stdev, t)| t * stdev / (n as f64).sqrt());
        Some(Spread {
            n: u32::try_from(n).unwrap_or(u32::MAX),
            mean,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            stdev,
            cv: stdev
                .filter(|_| mean != 0.0)
                .map(|stdev| stdev / mean.abs()),
            ci95: half.map(|half| Interval {
                low: mean - half,
                high: mean + half,
            }),
            two_modes: has_two_modes(values, mean),
            values: values.to_vec(),
        })
    }

    /// Half the width of the interval as part of the mean: the "± %".
    pub fn ci95_relative(&self) -> Option<f64> {
        let interval = self.ci95.filter(|_| self.mean != 0.0)?;
        Some((interval.high - interval.low) / 2.0 / self.mean.abs())
    }

    /// Each value times a factor, such as from bytes to megabytes.
    pub fn times(&self, factor: f64) -> Option<Spread> {
        let values = self.values.iter().map(|value| value * factor);
        Spread::of(&values.collect::<Vec<_>>())
    }
}

/// The gap rule: the widest gap between neighbours against the whole range.
fn has_two_modes(values: &[f64], mean: f64) -> bool {
    if values.len() < MODES_VALUES_MIN {
        return false;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let range = sorted[sorted.len() - 1] - sorted[0];
    if range <= mean.abs() * MODES_RANGE_MIN {
        return false;
    }
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let widest = gaps.enumerate().max_by(|one, two| one.1.total_cmp(&two.1));
    widest.is_some_and(|(below, gap)| {
        let (low_count, high_count) = (below + 1, sorted.len() - below - 1);
        // A lone straggler is an outlier, not a mode.
        gap / range >= GAP_PART_MIN && low_count.min(high_count) >= 2
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repeats_of_the_dcos_study_have_35_percent_and_two_modes() {
        // Five runs of 1 kB, published 2018 as "average 91,198" without a spread.
        let runs = [107_000.0, 63_000.0, 114_000.0, 63_000.0, 109_000.0];
        let spread = Spread::of(&runs).unwrap();
        assert!((spread.mean - 91_200.0).abs() < 0.01);
        assert!((spread.cv.unwrap() - 0.284).abs() < 0.001, "{spread:?}");
        assert!(
            (spread.ci95_relative().unwrap() - 0.352).abs() < 0.001,
            "{spread:?}"
        );
        assert!(spread.two_modes);
    }

    #[test]
    fn the_textbook_interval_comes_out() {
        // 1..=10: mean 5.5, standard deviation 3.0277, t(9) = 2.2622.
        let values = (1..=10).map(f64::from).collect::<Vec<_>>();
        let spread = Spread::of(&values).unwrap();
        let interval = spread.ci95.unwrap();
        assert!((spread.stdev.unwrap() - 3.027_65).abs() < 1e-5);
        assert!((interval.low - 3.334_15).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - 7.665_85).abs() < 1e-4, "{interval:?}");
        assert!(!spread.two_modes);
    }

    #[test]
    fn one_value_has_no_interval_and_none_is_nothing() {
        let spread = Spread::of(&[7.0]).unwrap();
        assert_eq!((spread.ci95, spread.stdev, spread.cv), (None, None, None));
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[f64::NAN]), None);
    }

    #[test]
    fn an_outlier_or_a_narrow_range_is_no_second_mode() {
        assert!(!Spread::of(&[100.0, 101.0, 102.0, 150.0]).unwrap().two_modes);
        assert!(!Spread::of(&[100.0, 100.1, 101.0, 101.1]).unwrap().two_modes);
        assert!(Spread::of(&[100.0, 101.0, 150.0, 151.0]).unwrap().two_modes);
    }
}
