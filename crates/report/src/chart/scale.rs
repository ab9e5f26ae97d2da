//! From values to places on an axis, and which values get a label.

/// Labels that an axis carries at most, so that they do not touch on a phone.
const TICKS_MAX: usize = 7;
/// Steps between labels of a linear axis that the spacing aims for.
const STEPS_WANTED: f64 = 5.0;
/// Which multiples of a power of ten a log axis may label, finest first.
const LOG_FACTORS: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];

/// How an axis maps values to places from 0 (start) to 1 (end).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// Equal differences are equal distances.
    Linear {
        /// Value at the start.
        low: f64,
        /// Value at the end.
        high: f64,
    },
    /// Equal ratios are equal distances; both ends are above zero.
    Log {
        /// Value at the start.
        low: f64,
        /// Value at the end.
        high: f64,
    },
    /// Quantiles by 1/(1-q) on a log axis, so that each further nine takes one equal step.
    Tail {
        /// How many nines the axis ends with: 3 is 99.9 %.
        nines: f64,
    },
}

impl Default for Scale {
    fn default() -> Self {
        Self::from_zero(1.0)
    }
}

impl Scale {
    /// From zero to a round number at or above `high`.
    pub(crate) fn from_zero(high: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 {
            high
        } else {
            1.0
        };
        let step = round_step(high / STEPS_WANTED);
        Self::Linear {
            low: 0.0,
            high: (high / step - 1e-9).ceil() * step,
        }
    }

    /// The tightest log axis around `low` and `high` whose ends and labels are round: at 1-2-5, 1-3
    /// or whole decades, whichever is the finest that leaves room between labels.
    pub(crate) fn decades(low: f64, high: f64) -> Self {
        let low = if low.is_finite() && low > 0.0 {
            low
        } else {
            1.0
        };
        let high = if high.is_finite() && high > low {
            high
        } else {
            low * 10.0
        };
        let ends = |factors: &[f64]| (below(low, factors), above(high, factors));
        let fits = |factors: &&[f64]| {
            let (low, high) = ends(factors);
            labels_at(low, high, factors, 1).len() <= TICKS_MAX
        };
        let (low, high) = ends(LOG_FACTORS.into_iter().find(fits).unwrap_or(&[1.0]));
        Self::Log { low, high }
    }

    /// The place of a value, 0 to 1; `None` for what the axis cannot show (zero on a log axis).
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match *self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, high } => (value / low).ln() / (high / low).ln(),
            Self::Tail { nines } => (1.0 / (1.0 - value)).log10() / nines,
        };
        place.is_finite().then(|| place.clamp(0.0, 1.0))
    }

    /// Values that get a label, rising.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match *self {
            Self::Linear { low, high } => linear_ticks(low, high),
            Self::Log { low, high } => log_ticks(low, high),
            Self::Tail { nines } => tail_ticks(nines),
        }
    }

    /// Round times from zero to `end_seconds`, which need not be round itself.
    pub(crate) fn time_ticks(end_seconds: f64) -> Vec<f64> {
        const STEPS: [f64; 16] = [
            1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0,
            7200.0, 14_400.0, 43_200.0,
        ];
        let step = STEPS
            .into_iter()
            .find(|step| end_seconds / step <= TICKS_MAX as f64 - 1.0)
            .unwrap_or_else(|| round_step(end_seconds / STEPS_WANTED));
        steps(0.0, end_seconds, step)
    }
}

/// 1, 2 or 5 times a power of ten, at or above `rough`.
fn round_step(rough: f64) -> f64 {
    above(rough, &[1.0, 2.0, 5.0])
}

/// The nearest of the factors times a power of ten that is at or above a value.
fn above(value: f64, factors: &[f64]) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let steps = factors.iter().map(|factor| factor * decade);
    steps
        .into_iter()
        .find(|step| *step >= value * (1.0 - 1e-9))
        .unwrap_or(10.0 * decade)
}

/// The nearest that is at or below it.
fn below(value: f64, factors: &[f64]) -> f64 {
    let decade = 10_f64.powf((value.log10() + 1e-9).floor());
    let steps = factors.iter().rev().map(|factor| factor * decade);
    steps
        .into_iter()
        .find(|step| *step <= value * (1.0 + 1e-9))
        .unwrap_or(decade)
}

fn steps(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    steps(low, high, round_step((high - low) / STEPS_WANTED))
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    for factors in LOG_FACTORS {
        let found = labels_at(low, high, factors, 1);
        if found.len() <= TICKS_MAX {
            return found;
        }
    }
    let decades = (high / low).log10().ceil() as usize + 1;
    labels_at(low, high, &[1.0], decades.div_ceil(TICKS_MAX))
}

/// The factors times every `stride`-th power of ten between two values.
fn labels_at(low: f64, high: f64, factors: &[f64], stride: usize) -> Vec<f64> {
    let first = (low.log10() + 1e-9).floor() as i32;
    let last = (high.log10() + 1e-9).floor() as i32;
    (first..=last)
        .step_by(stride.max(1))
        .flat_map(|power| {
            factors
                .iter()
                .map(move |factor| factor * 10_f64.powi(power))
        })
        .filter(|tick| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9))
        .collect()
}

fn tail_ticks(nines: f64) -> Vec<f64> {
    let mut ticks = vec![0.5];
    ticks.extend((1..=nines.floor() as i32).map(|nine| 1.0 - 10_f64.powi(-nine)));
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_ends_on_a_round_number() {
        assert_eq!(
            Scale::from_zero(821_557.0),
            Scale::Linear {
                low: 0.0,
                high: 1_000_000.0
            }
        );
        assert_eq!(
            Scale::from_zero(1_000_000.0),
            Scale::Linear {
                low: 0.0,
                high: 1_000_000.0
            }
        );
        assert_eq!(
            Scale::from_zero(0.0),
            Scale::Linear {
                low: 0.0,
                high: 1.0
            }
        );
        assert_eq!(
            Scale::from_zero(1_000_000.0).ticks(),
            [0.0, 2e5, 4e5, 6e5, 8e5, 1e6]
        );
    }

    #[test]
    fn a_log_axis_spans_whole_decades_and_refuses_zero() {
        let scale = Scale::decades(300.0, 4_500_000.0);
        assert_eq!(scale.place(0.0), None);
        assert!((scale.place(1000.0).expect("on the axis") - 0.2).abs() < 1e-9);
        assert_eq!(scale.ticks(), [100.0, 1e3, 1e4, 1e5, 1e6, 1e7]);
        assert_eq!(
            Scale::decades(1.0, 1e9).ticks().len(),
            5,
            "every other decade"
        );
    }

    #[test]
    fn a_narrow_log_axis_is_labelled_at_one_two_five() {
        let ticks = Scale::decades(1.2e6, 8e6).ticks();
        let expected = [1e6, 2e6, 5e6, 1e7];
        assert_eq!(ticks.len(), expected.len());
        for (tick, expected) in ticks.iter().zip(expected) {
            assert!((tick / expected - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn each_nine_takes_one_equal_step() {
        let scale = Scale::Tail { nines: 5.0 };
        for (quantile, place) in [(0.0, 0.0), (0.9, 0.2), (0.99, 0.4), (0.99999, 1.0)] {
            let found = scale.place(quantile).expect("on the axis");
            assert!((found - place).abs() < 1e-6, "{quantile} stands at {found}");
        }
        assert_eq!(
            scale.place(1.0),
            None,
            "the maximum has no place on this axis"
        );
    }

    #[test]
    fn time_is_labelled_in_round_seconds_and_minutes() {
        assert_eq!(Scale::time_ticks(24.3), [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(
            Scale::time_ticks(300.0),
            [0.0, 60.0, 120.0, 180.0, 240.0, 300.0]
        );
    }
}
