//! How well capacities were predicted, as a table: every point, the errors, and what others would have said.

use std::fmt::Write as _;

use kgauge_analyze::sizing::{PredictedCapacity, SizingRule};

use super::points::{BacktestPoint, PointTarget};

/// What is demanded: the median of the errors, their 90th percentile, and the share of intervals with the truth ...
const MEDIAN_MAX: f64 = 0.10;
const P90_MAX: f64 = 0.25;
const COVERAGE_MIN: f64 = 0.85;
/// ... of at least this number of points.
const HELD_OUT_MIN: usize = 24;

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

/// All points of a back-test.
#[derive(Debug, Default)]
pub(super) struct BacktestTable {
    pub(super) predicted: Vec<PredictedPoint>,
    /// Fitted points with the bounds of their capacity, in bytes per second.
    pub(super) fitted: Vec<(BacktestPoint, [f64; 2])>,
    /// Points that are measured and say nothing, and why.
    pub(super) left_out: Vec<(BacktestPoint, &'static str)>,
    /// Points that are still to be measured.
    pub(super) open: Vec<BacktestPoint>,
    /// The machine and the build.
    pub(super) setup: Option<String>,
    /// Whether it has all points, and not a selection of them.
    pub(super) is_whole: bool,
}

/// The errors of some points.
struct PredictionErrors {
    count: usize,
    median: f64,
    p90: f64,
    coverage: f64,
}

impl PredictionErrors {
    fn of<'a>(points: impl Iterator<Item = &'a PredictedPoint> + Clone) -> PredictionErrors {
        let errors: Vec<f64> = points.clone().map(|point| point.error().abs()).collect();
        let covered = points.filter(|point| point.is_covered()).count();
        PredictionErrors {
            count: errors.len(),
            median: quantile(&errors, 0.5),
            p90: quantile(&errors, 0.9),
            coverage: covered as f64 / errors.len().max(1) as f64,
        }
    }

    fn is_small(&self) -> bool {
        self.count > 0
            && self.median <= MEDIAN_MAX
            && self.p90 <= P90_MAX
            && self.coverage >= COVERAGE_MIN
    }

    fn text(&self) -> String {
        format!(
            "{} held-out points: median error {:.1} %, 90th percentile {:.1} %, {:.0} % of the 90 % intervals hold the truth",
            self.count,
            self.median * 100.0,
            self.p90 * 100.0,
            self.coverage * 100.0,
        )
    }
}

impl BacktestTable {
    /// Whether the errors are as small as they must be; of all points, that they are enough and none is open.
    pub(super) fn is_good(&self) -> bool {
        let errors = PredictionErrors::of(self.predicted.iter());
        let is_enough = !self.is_whole || errors.count >= HELD_OUT_MIN;
        errors.is_small() && is_enough && self.open.is_empty()
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{:<28} {:>18} {:>9} {:>18} {:>7}  {:<8} {:>7} {:>7} {:>7}  limited by\n",
            "held out",
            "measured MB/s",
            "predicted",
            "90 %",
            "error",
            "covered",
            "rule 1",
            "rule 2",
            "rule 3"
        );
        for point in &self.predicted {
            text.push_str(&line(point));
        }
        let _ = writeln!(text, "\n{:<28} {:>18}", "fitted", "measured MB/s");
        for (point, bounds) in &self.fitted {
            let _ = writeln!(text, "{:<28} {:>18}", point.name(), between(*bounds));
        }
        for (point, why) in &self.left_out {
            let _ = writeln!(text, "left out: {}: {why}", point.name());
        }
        for point in &self.open {
            let _ = writeln!(text, "to be measured: {}", point.name());
        }
        text.push('\n');
        for target in [PointTarget::Embedded, PointTarget::Kafka] {
            let of_target = self.predicted.iter();
            let of_target = of_target.filter(|one| one.point.target == target);
            let errors = PredictionErrors::of(of_target);
            let _ = writeln!(text, "{target:?}: {}", errors.text());
        }
        let _ = writeln!(
            text,
            "{}  all: {}\ndemanded: at least {HELD_OUT_MIN} points, median at most {:.0} %, 90th percentile at most {:.0} %, \
             at least {:.0} % of the intervals\nrule 1: 5 MiB/s in per core (AKalculator); rule 2: network and disk without \
             CPU (AWS); rule 3: 2.4 MB/s in per core (Amazon MSK); all by the measured capacity",
            match (self.is_good(), self.open.is_empty()) {
                (true, _) => "ok  ",
                (false, true) => "FAIL",
                (false, false) => "open",
            },
            PredictionErrors::of(self.predicted.iter()).text(),
            MEDIAN_MAX * 100.0,
            P90_MAX * 100.0,
            COVERAGE_MIN * 100.0,
        );
        text
    }
}

fn between(bounds: [f64; 2]) -> String {
    let [lower, upper] = bounds.map(|bound| bound / 1e6);
    format!("{lower:.2}..{upper:.2}")
}

fn line(point: &PredictedPoint) -> String {
    let factor = |rule| {
        let factor = point.rule_factor(rule);
        factor.map_or("none".to_owned(), |factor| format!("{factor:.2}×"))
    };
    let predicted = &point.predicted;
    format!(
        "{:<28} {:>18} {:>9.2} {:>18} {:>6.1}%  {:<8} {:>7} {:>7} {:>7}  {:?}\n",
        point.point.name(),
        between([point.lower, point.upper]),
        predicted.bytes_per_s / 1e6,
        between([predicted.interval.low, predicted.interval.high]),
        point.error() * 100.0,
        if point.is_covered() { "yes" } else { "no" },
        factor(SizingRule::CoreRates),
        factor(SizingRule::Throughput),
        factor(SizingRule::MskRate),
        predicted.binding,
    )
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

    fn table(close: usize, far: usize) -> BacktestTable {
        let mut points = vec![predicted(10.5e6); close];
        points.extend(vec![predicted(13e6); far]);
        BacktestTable {
            predicted: points,
            ..BacktestTable::default()
        }
    }

    #[test]
    fn errors_and_coverage_decide() {
        let close = predicted(10.5e6);
        assert!((close.error() - 0.05).abs() < 1e-9);
        assert!(close.is_covered());
        let far = predicted(13e6);
        assert!(!far.is_covered());
        let text = table(9, 1).text();
        assert!(table(9, 1).is_good(), "{text}");
        assert!(
            text.contains("ok    all: 10 held-out points: median error 5.0 %"),
            "{text}"
        );
        assert!(!table(9, 3).is_good());
        assert!(!table(0, 0).is_good());
    }

    #[test]
    fn a_whole_test_has_enough_points_and_none_is_open() {
        let whole = |count| BacktestTable {
            is_whole: true,
            fitted: vec![(points()[1], [1e6, 2e6])],
            left_out: vec![(points()[2], "why")],
            ..table(count, 0)
        };
        assert!(whole(24).is_good());
        assert!(!whole(23).is_good());
        let text = whole(24).text();
        let left_out = format!("left out: {}: why", points()[2].name());
        assert!(text.contains("1.00..2.00"), "{text}");
        assert!(text.contains(&left_out), "{text}");
        let mut open = whole(24);
        open.open.push(points()[3]);
        assert!(!open.is_good());
        assert!(open.text().contains("to be measured: "), "{}", open.text());
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.9)), (2.0, 4.0));
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
