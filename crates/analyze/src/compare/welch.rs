//! The ratio of two figures from their repeats: Welch's t test on logarithms.
//!
//! Rates and times are positive and spread in proportion to their size, so their logarithms are
//! compared: the difference of mean logarithms is the logarithm of the ratio of geometric means.
//! The two runs need not spread equally, and the degrees of freedom are Welch's and Satterthwaite's
//! (B. L. Welch, "The generalization of 'Student's' problem when several different population
//! variances are involved", Biometrika 34, 1947, pages 28-35; NIST/SEMATECH e-Handbook, 7.3.1).
//!
//! Repeats of one run share the speed of its minutes, so their spread is not all of that between runs. Single runs get
//! the variance between runs added, as a known one; of several runs on both sides it is measured: the values are the
//! runs' means then.

use super::power::LogRatioError;
use super::student_t::{FREEDOM_MAX, t_quantile, t_two_sided};
use crate::search::CapacityBounds;
use crate::statistics::Interval;

/// What remains outside of an interval of 95 %.
pub(super) const ALPHA: f64 = 0.05;

/// A ratio of geometric means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    /// Of the values to the baseline's.
    pub(super) ratio: f64,
    /// Its 95 % interval, of this comparison alone.
    pub(super) interval: Interval,
    /// The chance of a difference at least so large where there is none.
    pub(super) p: f64,
    /// How well its logarithm is known.
    pub(super) error: LogRatioError,
}

/// What runs differ by beyond the spread of their repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RunSpread {
    /// The standard deviation between runs, as a part: 0.02 for two of a hundred.
    Assumed(f64),
    /// Each side has two runs or more, which show it.
    Measured,
}

/// The ratio of a side to the baseline, each the values of its runs; `None` where a run has fewer than two values and
/// the spread between runs is not measured, with fewer than two runs where it is, or with a value that is not above
/// zero.
///
/// Values are known only to the part `resolution` (0.001 for one of a thousand): so much of a
/// difference is none.
pub(super) fn ratio(
    runs: &[&[f64]],
    baseline: &[&[f64]],
    between: RunSpread,
    resolution: f64,
) -> Option<Ratio> {
    let (ours, theirs) = (LogMean::of(runs, between)?, LogMean::of(baseline, between)?);
    of_means(&ours, &theirs, resolution)
}

/// What searches of a side found.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchedValues<'a> {
    /// The lower bounds of each run.
    pub(super) runs: &'a [&'a [f64]],
    /// Both bounds of all searches.
    pub(super) bounds: &'a [CapacityBounds],
}

/// As [`ratio`], of what searches found. The truth lies anywhere between two bounds, so that even one search shows how
/// well it is known; `None` where a search has no upper bound.
pub(super) fn ratio_of_searches(
    ours: SearchedValues<'_>,
    theirs: SearchedValues<'_>,
    between: RunSpread,
    resolution: f64,
) -> Option<Ratio> {
    let ours = LogMean::of_searches(ours, between)?;
    let theirs = LogMean::of_searches(theirs, between)?;
    of_means(&ours, &theirs, resolution)
}

fn of_means(ours: &LogMean, theirs: &LogMean, resolution: f64) -> Option<Ratio> {
    let difference = ours.mean - theirs.mean;
    let tolerance = resolution.max(0.0).ln_1p();
    let beyond = (difference.abs() - tolerance).max(0.0);
    let measured = ours.estimated + theirs.estimated;
    let assumed = ours.assumed + theirs.assumed;
    let error = (measured + assumed).sqrt();
    // Welch and Satterthwaite: what is known beforehand adds to the sum and has no uncertainty of its own.
    let freedom = match ours.doubt + theirs.doubt {
        doubt if doubt > 0.0 => (error.powi(4) / doubt).min(FREEDOM_MAX),
        _ => FREEDOM_MAX,
    };
    let (half, p) = if error > 0.0 {
        (
            t_quantile(ALPHA, freedom) * error,
            t_two_sided(beyond / error, freedom),
        )
    } else if beyond > 0.0 {
        // Repeats without any spread, as records that all have one size: every difference is real.
        (0.0, 0.0)
    } else {
        (0.0, 1.0)
    };
    let half = half + tolerance;
    let found = Ratio {
        ratio: difference.exp(),
        interval: Interval {
            low: (difference - half).exp(),
            high: (difference + half).exp(),
        },
        p,
        error: LogRatioError {
            variance_measured: measured,
            variance_assumed: assumed,
            freedom,
            tolerance,
        },
    };
    let numbers = [
        found.ratio,
        found.interval.low,
        found.interval.high,
        found.p,
    ];
    numbers
        .iter()
        .all(|value| value.is_finite())
        .then_some(found)
}

/// The mean logarithm of a side, and how well it is known.
struct LogMean {
    mean: f64,
    /// Of that mean, from the values' own spread.
    estimated: f64,
    /// Of that mean, known beforehand.
    assumed: f64,
    /// The squares of what was estimated over their degrees of freedom, summed.
    doubt: f64,
}

impl LogMean {
    fn of(runs: &[&[f64]], between: RunSpread) -> Option<LogMean> {
        let of_runs = |logs: &[Logs], assumed: f64| {
            let count = logs.len() as f64;
            let each = |logs: &Logs| logs.variance_of_mean() / (count * count);
            LogMean {
                mean: logs.iter().map(|logs| logs.mean).sum::<f64>() / count,
                estimated: logs.iter().map(each).sum(),
                assumed: assumed / count,
                doubt: logs
                    .iter()
                    .map(|logs| each(logs).powi(2) / logs.freedom())
                    .sum(),
            }
        };
        match between {
            RunSpread::Assumed(part) => {
                let logs = runs.iter().map(|values| Logs::of(values));
                let logs = logs.collect::<Option<Vec<Logs>>>()?;
                let assumed = part.max(0.0).ln_1p().powi(2);
                (!logs.is_empty()).then(|| of_runs(&logs, assumed))
            }
            RunSpread::Measured => {
                let means = runs.iter().map(|values| geometric_mean(values));
                let means = means.collect::<Option<Vec<f64>>>()?;
                Some(of_runs(&[Logs::of(&means)?], 0.0))
            }
        }
    }

    /// Of lower bounds, each known to a rectangle of the width of its bracket, whose variance is a twelfth of the
    /// squared width (JCGM 100:2008, 4.3.7).
    fn of_searches(searched: SearchedValues<'_>, between: RunSpread) -> Option<LogMean> {
        let widths = searched.bounds.iter().map(|bounds| {
            let width = (bounds.upper? / bounds.lower?).ln();
            width.is_finite().then_some(width)
        });
        let widths = widths.collect::<Option<Vec<f64>>>()?;
        let count = widths.len() as f64;
        if widths.is_empty() {
            return None;
        }
        let of_bounds = widths.iter().map(|width| width * width / 12.0).sum::<f64>();
        let mut mean = match between {
            RunSpread::Assumed(part) if searched.runs.iter().any(|values| values.len() < 2) => {
                LogMean::of_single(searched.runs, part)?
            }
            between => LogMean::of(searched.runs, between)?,
        };
        mean.estimated += of_bounds / (count * count);
        Some(mean)
    }

    /// Of runs that show no spread of their own.
    fn of_single(runs: &[&[f64]], assumed: f64) -> Option<LogMean> {
        let means = runs.iter().map(|values| geometric_mean(values));
        let means = means.collect::<Option<Vec<f64>>>()?;
        let count = means.len() as f64;
        (!means.is_empty()).then(|| LogMean {
            mean: means.iter().map(|mean| mean.ln()).sum::<f64>() / count,
            estimated: 0.0,
            assumed: assumed.max(0.0).ln_1p().powi(2) / count,
            doubt: 0.0,
        })
    }
}

fn usable(value: &f64) -> bool {
    value.is_finite() && *value > 0.0
}

/// `None` without values, or where one is not above zero.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    if !values.iter().all(usable) {
        return None;
    }
    // As ratios to the first: equal values have exactly that mean.
    let logs = values.iter().map(|value| (value / first).ln());
    Some(first * (logs.sum::<f64>() / values.len() as f64).exp())
}

/// Mean and variance of logarithms.
struct Logs {
    n: f64,
    mean: f64,
    variance: f64,
}

impl Logs {
    fn of(values: &[f64]) -> Option<Logs> {
        if values.len() < 2 || !values.iter().all(usable) {
            return None;
        }
        let n = values.len() as f64;
        // Logarithms of ratios to the first: equal values then have exactly no spread.
        let first = *values.first()?;
        let logs = || values.iter().map(|value| (value / first).ln());
        let mean = logs().sum::<f64>() / n;
        let variance = logs().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Some(Logs {
            n,
            mean: mean + first.ln(),
            variance,
        })
    }

    fn freedom(&self) -> f64 {
        self.n - 1.0
    }

    fn variance_of_mean(&self) -> f64 {
        self.variance / self.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of single runs, with nothing between them.
    fn plain(values: &[f64], baseline: &[f64], resolution: f64) -> Option<Ratio> {
        ratio(&[values], &[baseline], RunSpread::Assumed(0.0), resolution)
    }

    fn near(one: f64, other: f64, part: f64) -> bool {
        (one - other).abs() <= part * other.abs()
    }

    #[test]
    fn the_answer_worked_out_on_paper_comes_out() {
        // Logarithms 4, 5, 6 against 1, 2, 3: difference 3, both variances 1, so the error is
        // sqrt(2/3), t = 3.6742 with exactly 4 degrees of freedom, whose quantile is 2.7764.
        let values = [4.0_f64, 5.0, 6.0].map(f64::exp);
        let baseline = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let found = plain(&values, &baseline, 0.0).unwrap();
        assert!(near(found.ratio.ln(), 3.0, 1e-12));
        assert!(
            near(found.interval.low.ln(), 3.0 - 2.266_96, 1e-4),
            "{found:?}"
        );
        assert!(near(found.interval.high.ln(), 3.0 + 2.266_96, 1e-4));
        // With 4 degrees the chance inside is s (1 + (1 - s^2) / 2), s^2 = 13.5 / 17.5.
        assert!(near(found.p, 0.021_312, 1e-4), "{found:?}");
    }

    #[test]
    fn unequal_spreads_take_welchs_degrees_of_freedom() {
        // Variances of the means 1/2 and 0.01/3: (0.50333)^2 / (0.25 / 1 + 0.000011111 / 2) =
        // 1.01333 degrees, nearly those of the wide run alone, whose quantile is about 12.5.
        let values = [0.0_f64, 2.0_f64.sqrt()].map(f64::exp);
        let baseline = [5.0_f64, 5.1, 5.2].map(f64::exp);
        let found = plain(&values, &baseline, 0.0).unwrap();
        let half = found.interval.high.ln() - found.ratio.ln();
        let quantile = half / (0.5 + 0.01_f64 / 3.0).sqrt();
        assert!((12.2..12.7).contains(&quantile), "{quantile}");
        assert!(near(quantile, t_quantile(0.05, 1.013_33), 1e-4));
    }

    #[test]
    fn quantiles_of_the_published_table_come_out() {
        // NIST/SEMATECH e-Handbook, 1.3.6.7.2.
        for (freedom, published) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (4.0, 2.776),
            (30.0, 2.042),
            (100.0, 1.984),
        ] {
            assert!(
                (t_quantile(0.05, freedom) - published).abs() < 0.000_6,
                "{freedom}"
            );
        }
        assert!((t_quantile(0.01, 10.0) - 3.169).abs() < 0.000_6);
        assert!(
            near(t_two_sided(1.0, 1.0), 0.5, 1e-12),
            "of Cauchy's, by hand"
        );
        assert!(near(
            t_two_sided(2.0_f64.sqrt(), 2.0),
            1.0 - 0.5_f64.sqrt(),
            1e-12
        ));
    }

    #[test]
    fn what_cannot_be_compared_gives_nothing() {
        assert_eq!(plain(&[1.0], &[1.0, 2.0], 0.0), None);
        assert_eq!(plain(&[1.0, 0.0], &[1.0, 2.0], 0.0), None);
        assert_eq!(plain(&[1.0, 2.0], &[1.0, f64::NAN], 0.0), None);
        assert_eq!(
            plain(&[1e308, 1e308], &[1e-308, 1e-308], 0.0),
            None,
            "no such number"
        );
    }

    #[test]
    fn figures_without_spread_differ_by_more_than_their_resolution_or_not() {
        let found = plain(&[200.0, 200.0], &[100.0, 100.0], 0.001).unwrap();
        assert!(near(found.ratio, 2.0, 1e-12));
        assert_eq!(found.p, 0.0);
        assert!(near(found.interval.low, 2.0 / 1.001, 1e-12));
        let found = plain(&[100.05, 100.05], &[100.0, 100.0], 0.001).unwrap();
        assert_eq!(found.p, 1.0);
        assert!(found.interval.contains(1.0));
    }

    #[test]
    fn what_is_assumed_between_runs_is_added_and_takes_no_freedom() {
        // Variances of the means 1/3 each, and 2 x ln(2.718...)^2 = 2 on top: error sqrt(8/3), freedom
        // (8/3)^2 / (2 x (1/9) / 2) = 64, whose quantile is 1.9977.
        let values = [4.0_f64, 5.0, 6.0].map(f64::exp);
        let baseline = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let part = 1.0_f64.exp_m1();
        let found = ratio(&[&values], &[&baseline], RunSpread::Assumed(part), 0.0).unwrap();
        let half = found.interval.high.ln() - found.ratio.ln();
        assert!(near(half, 1.9977 * (8.0_f64 / 3.0).sqrt(), 1e-4), "{half}");
        // Repeats without spread: only what is assumed counts, with the normal distribution's quantile.
        let found = ratio(
            &[&[2.0, 2.0]],
            &[&[1.0, 1.0]],
            RunSpread::Assumed(part),
            0.0,
        )
        .unwrap();
        let half = found.interval.high.ln() - found.ratio.ln();
        assert!(near(half, 1.96 * 2.0_f64.sqrt(), 2e-4), "{half}");
        // Of three runs a third of both variances.
        let three = |values: &[f64; 3]| vec![values.to_vec(); 3];
        let (ours, theirs) = (three(&values), three(&baseline));
        let ours: Vec<&[f64]> = ours.iter().map(Vec::as_slice).collect();
        let theirs: Vec<&[f64]> = theirs.iter().map(Vec::as_slice).collect();
        let found = ratio(&ours, &theirs, RunSpread::Assumed(part), 0.0).unwrap();
        let half = found.interval.high.ln() - found.ratio.ln();
        // (8/9)^2 / (6 x (1/27)^2 / 2) = 192 degrees: 1.9724.
        assert!(near(half, 1.9724 * (8.0_f64 / 9.0).sqrt(), 1e-4), "{half}");
    }

    #[test]
    fn one_search_is_known_as_well_as_its_bounds() {
        let bounds = |lower: f64| CapacityBounds {
            lower: Some(lower),
            upper: Some(lower * 0.12_f64.exp()),
        };
        let (one, other) = ([bounds(1_200.0)], [bounds(1_000.0)]);
        let runs: [&[f64]; 2] = [&[1_200.0], &[1_000.0]];
        let ratio = |between: f64| {
            let ours = SearchedValues {
                runs: &runs[..1],
                bounds: &one,
            };
            let theirs = SearchedValues {
                runs: &runs[1..],
                bounds: &other,
            };
            ratio_of_searches(ours, theirs, RunSpread::Assumed(between), 0.0).unwrap()
        };
        let found = ratio(0.0);
        assert!(near(found.ratio, 1.2, 1e-12));
        // 0.12^2 / 12 = 0.0012 on either side: error sqrt(0.0024), with the normal distribution's quantile.
        let half = found.interval.high.ln() - found.ratio.ln();
        assert!(near(half, 1.96 * 0.0024_f64.sqrt(), 2e-4), "{half}");
        // Between runs ln(1.05)^2 = 0.0023805 on either side on top.
        let half = ratio(0.05).interval.high.ln() - found.ratio.ln();
        assert!(near(half, 1.96 * 0.007_161_f64.sqrt(), 5e-4), "{half}");
        let open = [CapacityBounds {
            upper: None,
            ..bounds(1.0)
        }];
        let open = SearchedValues {
            runs: &runs[..1],
            bounds: &open,
        };
        let between = RunSpread::Assumed(0.0);
        assert_eq!(ratio_of_searches(open, open, between, 0.0), None);
    }

    #[test]
    fn of_several_runs_the_means_are_the_values() {
        // Means of logarithms 4, 5, 6 against 1, 2, 3, whatever the repeats within do.
        let spread = |mean: f64, width: f64| vec![(mean - width).exp(), (mean + width).exp()];
        let runs = [spread(4.0, 0.5), spread(5.0, 2.0), vec![6.0_f64.exp()]];
        let baseline = [spread(1.0, 0.0), spread(2.0, 1.0), spread(3.0, 0.1)];
        let (runs, baseline) = (
            runs.each_ref().map(Vec::as_slice),
            baseline.each_ref().map(Vec::as_slice),
        );
        let found = ratio(&runs, &baseline, RunSpread::Measured, 0.0).unwrap();
        assert!(near(found.interval.low.ln(), 3.0 - 2.266_96, 1e-4));
        assert!(near(found.p, 0.021_312, 1e-4), "{found:?}");
        assert_eq!(
            ratio(&runs[..1], &baseline, RunSpread::Measured, 0.0),
            None,
            "one run shows nothing between runs"
        );
        assert_eq!(
            ratio(&runs, &baseline, RunSpread::Assumed(0.02), 0.0),
            None,
            "one repeat shows nothing within its run"
        );
    }
}
