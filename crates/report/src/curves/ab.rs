//! The charts of an A/B test: the pairs with the confidence sequence, and the values of both sides.

use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{AbSummary, MetricUnit};
use kgauge_scenario::AbSide;

use super::{NamedLine, equal, equal_zone, grouped, percent};
use crate::chart::{Axis, AxisUnit, Chart, ChartLine, Dash, LineStyle, Marker, Point, Scale};
use crate::format;
use crate::text::ab as words;

/// The charts, as far as there are pairs for them.
pub(super) fn charts(test: &AbSummary) -> Vec<Chart> {
    let charts = [ratios(test), values(test)];
    charts.into_iter().flatten().collect()
}

/// One point per block, from 1.
fn points(test: &AbSummary, value: impl Fn(usize) -> Option<f64>) -> Vec<Point> {
    let numbers = 0..test.blocks.len();
    numbers
        .map(|index| Point::new((index + 1) as f64, value(index)))
        .collect()
}

/// The pairs, their mean so far, and both ends of its interval.
fn ratio_lines(test: &AbSummary) -> Vec<NamedLine> {
    let step = |index: usize| test.blocks.get(index);
    let of_pair = |index: usize| {
        let block = &step(index)?.block;
        let ratio = block.b? / block.a?;
        block.void.is_none().then(|| percent(ratio))
    };
    let pairs = points(test, of_pair);
    // The first intervals are so wide that they would hide the pairs.
    let values = pairs.iter().filter_map(|point| point.y);
    let most = values.fold(percent(1.0 + test.width), |most, value| {
        most.max(value.abs())
    });
    let end = |index: usize, end: fn(Interval) -> f64| {
        let value = percent(end(step(index)?.interval?));
        (value.abs() <= 2.0 * most).then_some(value)
    };
    vec![
        ("pair".to_owned(), LineStyle::dots(0, Marker::Disc), pairs),
        (
            "all pairs so far".to_owned(),
            LineStyle::line(2, Dash::Solid),
            points(test, |index| step(index)?.ratio.map(percent)),
        ),
        (
            "95 % interval, upper end".to_owned(),
            LineStyle::line(2, Dash::Dashed),
            points(test, |index| end(index, |interval| interval.high)),
        ),
        (
            "95 % interval, lower end".to_owned(),
            LineStyle::line(2, Dash::Mixed),
            points(test, |index| end(index, |interval| interval.low)),
        ),
    ]
}

/// The percentage that B is above A, pair by pair, and where the mean lies after each.
fn ratios(test: &AbSummary) -> Option<Chart> {
    if test.pairs == 0 {
        return None;
    }
    let (mut groups, lines) = grouped(ratio_lines(test));
    let equal = equal(test.width);
    let points = lines.iter().flat_map(|line| &line.points);
    let values = points.filter_map(|point| point.y);
    let (low, high) = values.fold((equal.low, equal.high), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let zone = equal_zone(test.width, &mut groups);
    let scale = Scale::Linear {
        low: low.floor(),
        high: high.ceil(),
    };
    let name = format::capital(&words::metric_name(test));
    Some(Chart {
        id: "ab-ratios".to_owned(),
        title: format!("{name} of B compared with A"),
        subtitle: "each pair, and the 95 % interval of the mean after each".to_owned(),
        x: Axis::new("pair", block_scale(test), AxisUnit::Plain),
        y: Axis::new("difference", scale, AxisUnit::Percent),
        groups,
        means: vec![zone],
        lines,
        ..Chart::default()
    })
}

/// The values of both sides.
fn values(test: &AbSummary) -> Option<Chart> {
    let lines = vec![
        (
            words::side(test, AbSide::A),
            LineStyle::dots(0, Marker::Disc),
            points(test, |index| test.blocks.get(index)?.block.a),
        ),
        (
            words::side(test, AbSide::B),
            LineStyle::dots(1, Marker::Diamond),
            points(test, |index| test.blocks.get(index)?.block.b),
        ),
    ];
    let (groups, lines) = grouped(lines);
    let points = lines.iter().flat_map(|line| &line.points);
    let high = points.filter_map(|point| point.y).reduce(f64::max)?;
    let (name, unit, factor) = match test.unit {
        MetricUnit::RecordsPerSecond => ("records per second", AxisUnit::RecordsPerSecond, 1.0),
        MetricUnit::BytesPerSecond => ("MB/s", AxisUnit::MegabytesPerSecond, 1e-6),
        MetricUnit::Nanoseconds => ("time", AxisUnit::Nanoseconds, 1.0),
        MetricUnit::Records => ("records", AxisUnit::Plain, 1.0),
    };
    let scaled = |line: ChartLine| {
        let points = line.points.iter();
        let points = points.map(|point| Point::new(point.x, point.y.map(|value| value * factor)));
        ChartLine {
            points: points.collect(),
            ..line
        }
    };
    Some(Chart {
        id: "ab-values".to_owned(),
        title: format!(
            "{} of both sides",
            format::capital(&words::metric_name(test))
        ),
        subtitle: "one repeat of each side per pair".to_owned(),
        x: Axis::new("pair", block_scale(test), AxisUnit::Plain),
        y: Axis::new(name, Scale::from_zero(high * factor), unit),
        groups,
        lines: lines.into_iter().map(scaled).collect(),
        ..Chart::default()
    })
}

fn block_scale(test: &AbSummary) -> Scale {
    Scale::Linear {
        low: 0.0,
        high: test.blocks.len() as f64 + 1.0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::text::ab::tests::{different, test_of};

    #[test]
    fn pairs_are_dots_and_the_sequence_closes_in() {
        let charts = charts(&different());
        let [ratios, values] = charts.as_slice() else {
            panic!("{} charts", charts.len());
        };
        let [pairs, mean, upper, lower] = ratios.lines.as_slice() else {
            panic!("{} lines", ratios.lines.len());
        };
        assert_eq!((pairs.points.len(), mean.points.len()), (7, 7));
        assert!(pairs.points[0].y.is_some_and(|y| (y - 5.0).abs() < 1e-9));
        let width = |index: usize| Some(upper.points[index].y? - lower.points[index].y?);
        // Three pairs have no interval that fits into the chart; later ones close in.
        assert_eq!(width(1), None);
        assert!(width(6).unwrap() < width(4).unwrap_or(f64::INFINITY));
        assert_eq!(ratios.means[0].value, 0.0);
        assert_eq!(values.lines.len(), 2);
    }

    #[test]
    fn a_test_without_pairs_has_no_chart() {
        let test = test_of(kgauge_scenario::AbKind::Settings, "writers.throughput", &[]);
        assert!(charts(&test).is_empty());
    }
}
