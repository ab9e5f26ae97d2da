//! The charts of a search: the curve of its loads with both bounds and the goal, and the bounds over time.

use kgauge_analyze::summary::{CapacitySearch, CapacitySummary, CapacityWindow};

use super::{NamedLine, grouped};
use crate::chart::{
    Axis, AxisUnit, Band, Chart, Dash, LegendEntry, LineStyle, Marker, Mean, Point, Scale,
};
use crate::text;

/// Values that span more than this ratio get a log axis.
const LOG_RATIO: f64 = 20.0;

/// The charts of one search.
pub(super) fn charts(capacity: &CapacitySummary, search: &CapacitySearch) -> Vec<Chart> {
    let id = format!("capacity-{}-{}", capacity.trial + 1, search.repeat + 1);
    let charts = [curve(capacity, search, &id), progress(search, &id)];
    charts.into_iter().flatten().collect()
}

/// The figure of each window against the offered rate.
fn curve(capacity: &CapacitySummary, search: &CapacitySearch, id: &str) -> Option<Chart> {
    let name = text::capacity::figure_name(capacity).filter(|_| !search.loads.is_empty())?;
    let windows = |kept: bool| {
        let windows = search.loads.iter().flat_map(move |load| {
            let is_kept = move |window: &&CapacityWindow| window.kept == kept;
            let values = load.windows.iter().filter(is_kept);
            values.filter_map(move |window| Some(Point::new(load.rate, Some(window.value_ns?))))
        });
        windows.collect::<Vec<Point>>()
    };
    let medians = search
        .loads
        .iter()
        .map(|load| Point::new(load.rate, load.value_ns));
    let void = search.steps.iter().filter(|step| step.void.is_some());
    let void = void.map(|step| Point::new(step.rate, step.value_ns));
    let (line, dots, diamonds) = window_styles();
    let lines: Vec<NamedLine> = vec![
        (format!("median {name} of a load"), line, medians.collect()),
        ("window that kept the goals".to_owned(), dots, windows(true)),
        (
            "window that broke a goal".to_owned(),
            diamonds,
            windows(false),
        ),
        ("void load, median".to_owned(), void_style(), void.collect()),
    ];
    let y = value_scale(&lines, capacity.limit_ns)?;
    let rates = search.loads.iter().map(|load| load.rate);
    let x = Scale::from_zero(rates.fold(0.0, f64::max));
    let (mut groups, drawn) = grouped(lines);
    let means = capacity.limit_ns.map(|value| {
        groups.push(LegendEntry {
            name: format!("goal {}", text::capacity::goals(capacity)),
            look: LineStyle::line(3, Dash::Dashed),
        });
        Mean {
            group: groups.len() - 1,
            value,
            interval: None,
        }
    });
    let between = search.strict.lower.zip(search.strict.upper);
    let bands = between.map(|(from, to)| Band {
        from,
        to,
        label: "bounds".to_owned(),
        measured: false,
    });
    Some(Chart {
        id: format!("{id}-curve"),
        title: format!("{name} against offered rate"),
        subtitle: "each window of each load that counts, and void loads".to_owned(),
        x: Axis::new("offered records per second", x, AxisUnit::RecordsPerSecond),
        y: Axis::new(name, y, AxisUnit::Nanoseconds),
        bands: bands.into_iter().collect(),
        groups,
        means: means.into_iter().collect(),
        lines: drawn,
        ..Chart::default()
    })
}

/// A scale for the points of lines and the goal; `None` if there are none.
fn value_scale(lines: &[NamedLine], limit: Option<f64>) -> Option<Scale> {
    let values = || {
        let points = lines.iter().flat_map(|(_, _, points)| points);
        points.filter_map(|point| point.y).chain(limit)
    };
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    low.is_finite()
        .then(|| match high / low.max(1.0) > LOG_RATIO {
            true => Scale::decades(low, high),
            false => Scale::from_zero(high),
        })
}

/// The measured loads in their order, and the bounds after each.
fn progress(search: &CapacitySearch, id: &str) -> Option<Chart> {
    let steps = || (1_u32..).map(f64::from).zip(&search.steps);
    if search.steps.len() < 2 {
        return None;
    }
    let loads = |is_shown: fn(u32, bool) -> bool| {
        let steps = steps().filter(move |(_, step)| is_shown(step.broken, step.void.is_some()));
        steps
            .map(|(at, step)| Point::new(at, Some(step.rate)))
            .collect::<Vec<Point>>()
    };
    let (line, dots, diamonds) = window_styles();
    let upper = LineStyle::line(3, Dash::Dashed);
    let lower_points = steps().map(|(at, step)| Point::new(at, step.strict.lower));
    let upper_points = steps().map(|(at, step)| Point::new(at, step.strict.upper));
    let lines = vec![
        ("lower bound".to_owned(), line, lower_points.collect()),
        ("upper bound".to_owned(), upper, upper_points.collect()),
        (
            "kept the goals".to_owned(),
            dots,
            loads(|broken, is_void| broken == 0 && !is_void),
        ),
        (
            "broke a goal".to_owned(),
            diamonds,
            loads(|broken, is_void| broken > 0 && !is_void),
        ),
        ("void".to_owned(), void_style(), loads(|_, is_void| is_void)),
    ];
    let high = search
        .steps
        .iter()
        .map(|step| step.rate)
        .fold(0.0, f64::max);
    let (groups, lines) = grouped(lines);
    let x = Scale::Linear {
        low: 0.0,
        high: search.steps.len() as f64 + 1.0,
    };
    Some(Chart {
        id: format!("{id}-progress"),
        title: "The search over time".to_owned(),
        subtitle: "each measurement, and the bounds after it".to_owned(),
        x: Axis::new("measurement", x, AxisUnit::Plain),
        y: Axis::new(
            "offered records per second",
            Scale::from_zero(high),
            AxisUnit::RecordsPerSecond,
        ),
        groups,
        lines,
        ..Chart::default()
    })
}

/// A joined line, and single points of two kinds.
fn window_styles() -> (LineStyle, LineStyle, LineStyle) {
    (
        LineStyle::line(2, Dash::Solid),
        LineStyle::dots(0, Marker::Disc),
        LineStyle::dots(1, Marker::Diamond),
    )
}

/// Points that do not count.
fn void_style() -> LineStyle {
    LineStyle {
        dash: Dash::Dotted,
        ..LineStyle::dots(4, Marker::Diamond)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::text::capacity::tests::capacity;

    #[test]
    fn windows_are_dots_and_the_goal_is_a_line() {
        let capacity = capacity();
        let charts = charts(&capacity, &capacity.searches[0]);
        let [curve, progress] = charts.as_slice() else {
            panic!("{} charts", charts.len());
        };
        let points: Vec<usize> = curve.lines.iter().map(|line| line.points.len()).collect();
        assert_eq!(points, [6, 8, 2, 1]);
        assert_eq!(curve.means[0].value, 20e6);
        assert_eq!((curve.bands[0].from, curve.bands[0].to), (412e3, 420e3));
        // One of the three measurements is void, and one broke a goal.
        let points: Vec<usize> = progress
            .lines
            .iter()
            .map(|line| line.points.len())
            .collect();
        assert_eq!(points, [3, 3, 1, 1, 1]);
    }
}
