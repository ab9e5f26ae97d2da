//! The spread of one figure over repeats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::student::t_95;

/// The smallest gap that separates two groups, as a share of the whole range. With five or more evenly
/// spread values, no gap reaches half of the range.
const GAP_PART_MIN: f64 = 0.5;
/// The minimum number of values for two modes.
const MODES_VALUES_MIN: usize = 4;
/// A range below this share of the mean is noise, however it is grouped.
const MODES_RANGE_MIN: f64 = 0.10;

/// One figure over the repeats of a trial. With one repeat there is no interval: `ci95` is null.
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
    /// 95 % confidence interval; null with one repeat. Of rates and costs it is around the mean, by Student's t. Of
    /// times it is around the figure of all repeats together, by Student's t on the logarithms of the repeats.
    pub ci95: Option<Interval>,
    /// True when the values fall into two groups (at least four values, a gap of at least half
    /// their range, at least two values on one side and a range of at least 10 % of the mean):
    /// then the mean describes neither.
    pub two_modes: bool,
    /// The values, in the order of the repeats.
    pub values: Vec<f64>,
}

/// The ratio of two figures, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureRatio {
    /// The ratio of their geometric means.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
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

    /// How far the further end lies from a value, as a fraction of it: the "±" of reports. `None` around zero.
    pub fn reach(&self, value: f64) -> Option<f64> {
        let furthest = (self.high - value).max(value - self.low);
        (value != 0.0).then(|| (furthest / value).abs())
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
        let mut spread = Spread {
            n: u32::try_from(n).unwrap_or(u32::MAX),
            mean,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            stdev,
            cv: stdev
                .filter(|_| mean != 0.0)
                .map(|stdev| stdev / mean.abs()),
            ci95: None,
            two_modes: has_two_modes(values, mean),
            values: values.to_vec(),
        };
        spread.ci95 = half(&spread).map(|half| around(mean, half, values));
        Some(spread)
    }

    /// The spread of a time, such as a percentile, with the interval around `figure`, which is that time over all
    /// repeats together.
    ///
    /// Times spread in proportion to their size, and a slow repeat is further from the others than a fast one can be:
    /// so the t interval is made of logarithms. `docs/decisions/intervals.md` shows how often it holds the truth.
    pub fn of_time(values: &[f64], figure: f64) -> Option<Spread> {
        let mut spread = Spread::of(values)?;
        let is_positive = figure > 0.0 && values.iter().all(|value| *value > 0.0);
        if is_positive {
            let logs = values.iter().map(|value| value.ln()).collect::<Vec<_>>();
            let factor = Spread::of(&logs).and_then(|logs| half(&logs));
            spread.ci95 = factor.map(|half| Interval {
                low: figure * (-half).exp(),
                high: figure * half.exp(),
            });
        } else {
            // A wait of nothing has no logarithm.
            spread.ci95 = half(&spread).map(|half| around(figure, half, values));
        }
        Some(spread)
    }

    /// How far the interval reaches from the mean, as a fraction of it: the "±" of reports.
    pub(crate) fn ci95_relative(&self) -> Option<f64> {
        self.ci95?.reach(self.mean)
    }

    /// Each value times a factor, such as from bytes to megabytes.
    pub fn times(&self, factor: f64) -> Option<Spread> {
        let values = self.values.iter().map(|value| value * factor);
        Spread::of(&values.collect::<Vec<_>>())
    }
}

/// Half the width of the t interval of a mean.
fn half(spread: &Spread) -> Option<f64> {
    let n = spread.values.len();
    let (stdev, t) = spread.stdev.zip(t_95(n.checked_sub(1)?))?;
    Some(t * stdev / (n as f64).sqrt())
}

/// What cannot be negative has no interval that is.
fn around(figure: f64, half: f64, values: &[f64]) -> Interval {
    let is_below_zero = values.iter().any(|value| *value < 0.0);
    let lowest = if is_below_zero {
        f64::NEG_INFINITY
    } else {
        0.0
    };
    Interval {
        low: (figure - half).max(lowest),
        high: figure + half,
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
    fn the_interval_of_a_rate_does_not_reach_below_zero_and_its_reach_is_what_it_was() {
        // Mean 2, standard deviation 1.414, t(1) = 12.706: half of 12.7.
        let spread = Spread::of(&[1.0, 3.0]).unwrap();
        let interval = spread.ci95.unwrap();
        assert_eq!(interval.low, 0.0);
        assert!((spread.ci95_relative().unwrap() - 6.353).abs() < 0.001);
        assert!(Spread::of(&[-1.0, 1.0]).unwrap().ci95.unwrap().low < -12.0);
    }

    #[test]
    fn the_interval_of_a_time_is_as_many_times_up_as_down_around_the_figure_of_all_repeats() {
        // Logarithms 0, 1, 2: standard deviation 1, t(2) = 4.3027, half 4.3027 / sqrt(3) = 2.4842.
        let values = [0.0_f64, 1.0, 2.0].map(f64::exp);
        let spread = Spread::of_time(&values, 4.0).unwrap();
        let interval = spread.ci95.unwrap();
        let factor = 2.4842_f64.exp();
        assert!(
            (interval.high / (4.0 * factor) - 1.0).abs() < 1e-4,
            "{interval:?}"
        );
        assert!(
            (interval.low * factor / 4.0 - 1.0).abs() < 1e-4,
            "{interval:?}"
        );
        assert_eq!(Spread::of_time(&[7.0], 7.0).unwrap().ci95, None);
        let none = Spread::of_time(&[0.0, 2.0], 1.0).unwrap().ci95.unwrap();
        assert_eq!(none.low, 0.0, "a wait of nothing has no logarithm");
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
