//! The whole distribution: latency against quantile on an axis where each further nine takes one
//! step.

use kgauge_analyze::series::CurvePoint;
use kgauge_analyze::summary::LatencySummary;

use super::LatencyScope;
use crate::chart::{Axis, AxisUnit, Chart, ChartLine, LegendEntry, LineStyle, Point, Scale};
use crate::format;
use crate::view::{Flow, Latency, TrialView};

/// The farthest end of the axis: 99.999 %.
const NINES_MAX: f64 = 5.0;
/// The nearest end of the axis: 99 %.
const NINES_MIN: f64 = 2.0;
/// Samples that must lie beyond a point, or it is chance and not drawn.
const BEYOND_MIN: u64 = 10;

/// The chart, unless there are no latencies of this scope.
pub(super) fn chart(trial: &TrialView, scope: LatencyScope) -> Option<Chart> {
    let (mut groups, mut lines, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for flow in trial.flows.iter().filter(|flow| scope.has(flow)) {
        for latency in flow.latencies() {
            let points = points(latency.times);
            if points.is_empty() {
                continue;
            }
            let name = match trial.flows.len() {
                1 => latency.kind.title().to_owned(),
                _ => format!("{}, {}", flow.name(), latency.kind.title()),
            };
            let look = LineStyle::nth(groups.len());
            groups.push(LegendEntry { name, look });
            lines.push(ChartLine {
                group: groups.len() - 1,
                name: String::new(),
                faint: false,
                points,
            });
        }
        notes.extend(flow.latency().map(|found| beyond(flow, found, trial)));
        notes.extend(flow.late().map(|late| late.sentence));
        notes.extend(flow.closed().or_else(|| flow.littles_law()));
    }
    let all = || lines.iter().flat_map(|line| &line.points);
    let low = all()
        .filter_map(|point| point.y)
        .fold(f64::INFINITY, f64::min);
    let high = all().filter_map(|point| point.y).fold(0.0, f64::max);
    let farthest = all().map(|point| point.x).fold(0.0, f64::max);
    if lines.is_empty() {
        return None;
    }
    let nines = (-(1.0 - farthest).log10() - 1e-6)
        .ceil()
        .clamp(NINES_MIN, NINES_MAX);
    let id = match scope {
        LatencyScope::Callers => "percentiles",
        LatencyScope::Others => "other-percentiles",
    };
    Some(Chart {
        id: format!("{}-{id}", trial.id),
        title: "Latency by percentile".to_owned(),
        subtitle: "all repeats merged; one step per additional nine, log axis".to_owned(),
        x: Axis::new("percentile", Scale::Tail { nines }, AxisUnit::Quantile),
        y: Axis::new("latency", Scale::decades(low, high), AxisUnit::Nanoseconds),
        groups,
        lines,
        notes,
        ..Chart::default()
    })
}

/// The part of the curve that enough samples carry.
fn points(times: &LatencySummary) -> Vec<Point> {
    let point =
        |point: CurvePoint| Point::new(point.quantile.as_fraction(), Some(point.value_ns as f64));
    carried(times).map(point).collect()
}

/// The same with their counts. Counts decide, not quantiles: they are whole numbers.
fn carried(times: &LatencySummary) -> impl DoubleEndedIterator<Item = CurvePoint> {
    let points = times.curve();
    points.filter(|point| point.samples_beyond >= BEYOND_MIN && point.value_ns > 0)
}

/// How many samples there are, where the curve ends, and how many it leaves out.
fn beyond(flow: &Flow, latency: Latency, trial: &TrialView) -> String {
    let times = latency.times;
    let who = match trial.flows.len() {
        1 => String::new(),
        _ => format!("{}: ", flow.name()),
    };
    let beyond = carried(times).next_back().map_or(String::new(), |last| {
        format!(
            "; the curve ends at {} %, {} samples beyond",
            format::percentile_number(last.quantile.as_fraction()),
            format::count(last.samples_beyond)
        )
    });
    let interval = times.mean_interval().map_or_else(String::new, |ends| {
        format!(" ({})", format::nanoseconds_between(ends))
    });
    format!(
        "{who}{}{beyond}; mean {}{interval}, maximum {} {}.",
        format::counted(times.count, "sample"),
        format::nanoseconds(times.mean_ns),
        latency.kind.title(),
        format::nanoseconds(times.max_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use kgauge_results::Histogram;

    use super::*;

    /// The last point that is drawn for `count` different samples.
    fn end(count: u64) -> Option<(f64, u64)> {
        let mut times = Histogram::new();
        (1..=count).for_each(|n| times.record(n * 1_000, 1, 0));
        let summary = LatencySummary::of(&[(0, &times)])?;
        let last = carried(&summary).next_back()?;
        Some((last.quantile.as_fraction(), last.samples_beyond))
    }

    #[test]
    fn a_million_samples_carry_the_curve_to_five_nines() {
        assert_eq!(end(1_000_000), Some((0.999_99, 10)));
        assert_eq!(end(3_000_000), Some((0.999_99, 30)));
        assert!(end(999_000).is_some_and(|(quantile, _)| quantile < 0.999_99));
    }

    #[test]
    fn the_curve_ends_where_fewer_than_ten_lie_beyond() {
        assert_eq!(end(1_000), Some((0.99, 10)));
        assert_eq!(end(10_000), Some((0.999, 10)));
        assert_eq!(end(10), None);
    }
}
