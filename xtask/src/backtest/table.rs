//! How well capacities were predicted, as a table.

use std::fmt::Write as _;

use kgauge_analyze::sizing::{PredictedCapacity, SizingRule};

use super::points::BacktestPoint;

/// What is demanded: the median of the errors, their 90th percentile, and the share of intervals with the truth.
const MEDIAN_MAX: f64 = 0.10;
const P90_MAX: f64 = 0.25;
const COVERAGE_MIN: f64 = 0.85;

/// A predicted point.
#[derive(Clone, Debug)]
pub(super) struct PredictedPoint {
    pub(super) point: BacktestPoint,
    /// The bounds of the measured capacity, in bytes per second.
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) predicted: PredictedCapacity,
}

impl PredictedPoint {
    /// The error as a fraction of the measured lower bound; predictions that are too high are positive.
    fn error(&self) -> f64 {
        self.predicted.bytes_per_s / self.lower - 1.0
    }

    /// Whether the interval and the measured bounds have anything in common.
    fn is_covered(&self) -> bool {
        self.predicted.interval.low <= self.upper && self.predicted.interval.high >= self.lower
    }

    /// What a rule of thumb expects of the whole cluster, by the measured capacity.
    fn rule_factor(&self, rule: SizingRule) -> Option<f64> {
        let cluster = self.point.cluster();
        let each = rule.bytes_per_s_each(&self.point.need(), &cluster.machine)?;
        Some(each * f64::from(cluster.brokers) / self.lower)
    }
}

/// The table, and whether the errors are as small as they must be.
pub(super) fn table(points: &[PredictedPoint]) -> (String, bool) {
    let mut text = format!(
        "{:<28} {:>18} {:>9} {:>18} {:>7}  {:<8} {:>7} {:>7}  limited by\n",
        "held out", "measured MB/s", "predicted", "90 %", "error", "covered", "rule 1", "rule 2"
    );
    let mb = |bytes: f64| bytes / 1e6;
    for point in points {
        let factor = |rule| {
            let factor = point.rule_factor(rule);
            factor.map_or("none".to_owned(), |factor| format!("{factor:.2}×"))
        };
        let predicted = &point.predicted;
        let _ = writeln!(
            text,
            "{:<28} {:>18} {:>9.2} {:>18} {:>6.1}%  {:<8} {:>7} {:>7}  {:?}",
            point.point.name(),
            format!("{:.2}..{:.2}", mb(point.lower), mb(point.upper)),
            mb(predicted.bytes_per_s),
            format!(
                "{:.2}..{:.2}",
                mb(predicted.interval.low),
                mb(predicted.interval.high)
            ),
            point.error() * 100.0,
            if point.is_covered() { "yes" } else { "no" },
            factor(SizingRule::CoreRates),
            factor(SizingRule::Throughput),
            predicted.binding,
        );
    }
    let errors: Vec<f64> = points.iter().map(|point| point.error().abs()).collect();
    let covered = points.iter().filter(|point| point.is_covered()).count();
    let coverage = covered as f64 / points.len().max(1) as f64;
    let (median, p90) = (quantile(&errors, 0.5), quantile(&errors, 0.9));
    let _ = writeln!(
        text,
        "{} held-out points: median error {:.1} % (at most {:.0} %), 90th percentile {:.1} % (at most {:.0} %), {:.0} % \
         of the 90 % intervals hold the truth (at least {:.0} %)\nrule 1: 5 MiB/s per core in (AKalculator); rule 2: \
         network and disk without CPU (AWS); both by the measured capacity",
        points.len(),
        median * 100.0,
        MEDIAN_MAX * 100.0,
        p90 * 100.0,
        P90_MAX * 100.0,
        coverage * 100.0,
        COVERAGE_MIN * 100.0,
    );
    let is_good =
        !points.is_empty() && median <= MEDIAN_MAX && p90 <= P90_MAX && coverage >= COVERAGE_MIN;
    (text, is_good)
}

/// The smallest value that this part of the values does not exceed; 0 of none.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let rank = (part * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::sizing::SizingResource;
    use kgauge_analyze::statistics::Interval;

    use super::super::points::points;
    use super::*;

    fn predicted(bytes_per_s: f64) -> PredictedPoint {
        PredictedPoint {
            point: points()[0],
            lower: 10e6,
            upper: 10.4e6,
            predicted: PredictedCapacity {
                bytes_per_s,
                interval: Interval {
                    low: bytes_per_s * 0.9,
                    high: bytes_per_s * 1.1,
                },
                binding: SizingResource::Cpu,
                extrapolated: Vec::new(),
            },
        }
    }

    #[test]
    fn errors_and_coverage_decide() {
        let close = predicted(10.5e6);
        assert!((close.error() - 0.05).abs() < 1e-9);
        assert!(close.is_covered());
        let far = predicted(13e6);
        assert!(!far.is_covered());
        let mut points = vec![close; 9];
        points.push(far);
        let (text, is_good) = table(&points);
        assert!(is_good, "{text}");
        assert!(
            text.contains("10 held-out points: median error 5.0 %"),
            "{text}"
        );
        points.push(predicted(13e6));
        points.push(predicted(13e6));
        assert!(!table(&points).1);
        assert!(!table(&[]).1);
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.9)), (2.0, 4.0));
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
