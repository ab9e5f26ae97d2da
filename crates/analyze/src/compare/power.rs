//! What a comparison could have shown: the smallest change that it finds, and how much more has to be measured to find
//! a smaller one.

use schemars::JsonSchema;
use serde::Serialize;

use super::student_t::{FREEDOM_MAX, t_quantile, t_two_sided};

/// The chance with which a change of the smallest size that "would have shown" is found: the usual power of a test.
const POWER: f64 = 0.8;
/// More repeats or runs are not recommended: something else has to change.
const REPEATS_MAX: u32 = 30;
const RUNS_MAX: u32 = 10;
/// The changes that are worth measuring more for, as fractions.
const WORTH: [f64; 4] = [0.05, 0.10, 0.20, 0.50];

/// How well the logarithm of a ratio is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogRatioError {
    /// Square of the standard error, as repeats or runs show it.
    pub variance_measured: f64,
    /// Square of the standard error, as assumed between runs.
    pub variance_assumed: f64,
    /// Degrees of freedom of both together.
    pub freedom: f64,
    /// A smaller difference counts as none.
    pub tolerance: f64,
}

impl LogRatioError {
    fn size(self) -> f64 {
        (self.variance_measured + self.variance_assumed).sqrt()
    }

    /// The smallest difference of logarithms that a test with the chance `alpha` of a false alarm, both sides together,
    /// finds in 80 of 100 comparisons: `(t(alpha) + t(power)) x error`, the usual approximation of the noncentral t.
    pub(super) fn detectable(self, alpha: f64) -> f64 {
        let power = t_quantile(2.0 * (1.0 - POWER), self.freedom);
        (t_quantile(alpha, self.freedom) + power) * self.size() + self.tolerance
    }

    /// How far the truth may lie to either side of what was found, but for the chance `alpha`.
    pub(super) fn reach(self, alpha: f64) -> f64 {
        t_quantile(alpha, self.freedom) * self.size() + self.tolerance
    }

    /// The chance of a difference at least so large where there is none.
    pub(super) fn chance(self, difference: f64) -> f64 {
        let beyond = difference.abs() - self.tolerance;
        match (beyond > 0.0, self.size()) {
            (false, _) => 1.0,
            (true, size) if size > 0.0 => t_two_sided(beyond / size, self.freedom),
            (true, _) => 0.0,
        }
    }

    /// The same with this many times the repeats and the same assumed spread between runs.
    fn with_repeats(self, times: f64) -> LogRatioError {
        let (measured, assumed) = (self.variance_measured, self.variance_assumed);
        if measured <= 0.0 {
            return self;
        }
        // What is assumed adds freedom; of what was measured alone it grows with the repeats.
        let own = self.freedom * (measured / (measured + assumed)).powi(2) * times;
        let fewer = measured / times;
        let freedom = own * ((fewer + assumed) / fewer).powi(2);
        LogRatioError {
            variance_measured: fewer,
            freedom: freedom.min(FREEDOM_MAX),
            ..self
        }
    }

    /// With this many runs of each side instead of one, which show the spread between runs.
    fn with_runs(self, runs: u32) -> LogRatioError {
        LogRatioError {
            variance_measured: (self.variance_measured + self.variance_assumed) / f64::from(runs),
            variance_assumed: 0.0,
            freedom: 2.0 * f64::from(runs - 1),
            ..self
        }
    }
}

/// What to measure to find a smaller change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoreNeeded {
    /// The change, as a fraction: 0.05 for 5 %.
    pub change: f64,
    /// Repeats of each run that would find it; null where more repeats do not.
    pub repeats: Option<u32>,
    /// Runs of each side that would find it, where more repeats do not.
    pub runs: Option<u32>,
}

/// What sides were measured with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SampleSize {
    /// One run of each side, with this many repeats.
    Repeats(u32),
    /// So many runs each.
    Runs(u32),
}

/// What finds a change of a given size, a difference of logarithms; neither repeats nor runs where nothing does.
pub(super) fn needed(
    error: LogRatioError,
    alpha: f64,
    measured: SampleSize,
    difference: f64,
) -> (Option<u32>, Option<u32>) {
    let finds = |error: LogRatioError| error.detectable(alpha) <= difference;
    let (now, most) = match measured {
        SampleSize::Repeats(now) => (now.max(1), REPEATS_MAX),
        SampleSize::Runs(now) => (now.max(1), RUNS_MAX),
    };
    let times = |count: u32| f64::from(count) / f64::from(now);
    let more = first(now + 1, most, |count| {
        finds(error.with_repeats(times(count)))
    });
    match measured {
        SampleSize::Runs(_) => (None, more),
        SampleSize::Repeats(_) if more.is_some() => (more, None),
        SampleSize::Repeats(_) => (
            None,
            first(2, RUNS_MAX, |runs| finds(error.with_runs(runs))),
        ),
    }
}

/// The first number of a range from which on something holds; `None` where it does not even hold for the last.
fn first(from: u32, to: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    if from > to || !holds(to) {
        return None;
    }
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low.midpoint(high);
        match holds(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(high)
}

/// The smallest change worth it that a bearable number of repeats or runs would find, if it is smaller than what this
/// comparison found.
pub(super) fn more_needed(
    error: LogRatioError,
    alpha: f64,
    measured: SampleSize,
) -> Option<MoreNeeded> {
    let now = error.detectable(alpha);
    let mut worth = WORTH.into_iter();
    worth.find_map(|change| {
        let difference = change.ln_1p();
        if difference >= now {
            return None;
        }
        let (repeats, runs) = needed(error, alpha, measured, difference);
        (repeats.is_some() || runs.is_some()).then_some(MoreNeeded {
            change,
            repeats,
            runs,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sides with this many repeats, this standard deviation, and this spread between runs.
    fn error(repeats: u32, within: f64, between: f64) -> LogRatioError {
        let n = f64::from(repeats);
        let measured = 2.0 * within * within / n;
        let assumed = 2.0 * between * between;
        let freedom = 2.0 * (n - 1.0) * ((measured + assumed) / measured).powi(2);
        LogRatioError {
            variance_measured: measured,
            variance_assumed: assumed,
            freedom,
            tolerance: 0.0,
        }
    }

    #[test]
    fn the_smallest_change_is_that_of_the_textbook() {
        // Known error: (1.960 + 0.8416) x 0.02.
        let known = LogRatioError {
            variance_measured: 0.0,
            variance_assumed: 0.0004,
            freedom: 1e4,
            tolerance: 0.0,
        };
        assert!((known.detectable(0.05) - 0.05603).abs() < 2e-5);
        // t(4) of 5 %: 2.776, of 20 % on one side: 0.941.
        let few = LogRatioError {
            freedom: 4.0,
            ..known
        };
        assert!((few.detectable(0.05) - 0.07434).abs() < 2e-5);
        assert!((known.chance(-0.0392) - 0.05).abs() < 2e-4);
        assert!((known.reach(0.05) - 0.0392).abs() < 1e-5);
        assert_eq!(known.chance(0.0), 1.0);
    }

    #[test]
    fn more_repeats_find_less_until_what_runs_differ_by_is_left() {
        let wide = error(3, 0.10, 0.0);
        let (repeats, runs) = needed(wide, 0.05, SampleSize::Repeats(3), 0.10);
        // 2.1 x 0.1 x sqrt(2 / n) + 0.86 of the same: n = 18 gives 0.096.
        assert_eq!((repeats, runs), (Some(18), None));
        // Runs that differ by 8 % hide 10 %, however many repeats they have.
        let between = error(5, 0.02, 0.08);
        let (repeats, runs) = needed(between, 0.05, SampleSize::Repeats(5), 0.10);
        assert_eq!(repeats, None);
        assert!(runs.is_none_or(|runs| runs > 5), "{runs:?}");
        let more = more_needed(between, 0.05, SampleSize::Repeats(5)).unwrap();
        assert!(more.change > 0.10 && more.runs.is_some(), "{more:?}");
    }

    #[test]
    fn what_is_found_anyway_needs_nothing_more() {
        let narrow = error(5, 0.005, 0.0);
        assert_eq!(more_needed(narrow, 0.05, SampleSize::Repeats(5)), None);
    }
}
