//! Figures against the one number that a scenario varies, with intervals and published points.

use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::PublishedComparison;

use crate::chart::{
    Axis, AxisUnit, Chart, ChartLine, Dash, LegendEntry, LineStyle, Marker, Point, Scale,
};
use crate::view::{Flow, Sweep, published};

/// A factor that spans more than this ratio gets a log axis.
const LOG_RATIO: f64 = 20.0;
/// Values that get their own label; with more, the scale chooses.
const LABELS_MAX: usize = 8;

/// What one of the two charts shows.
struct SweepChart {
    key: &'static str,
    title: &'static str,
    unit: AxisUnit,
    figure: fn(&Flow) -> Option<Spread>,
    /// The published figure's name, and how many of its units are one of the axis.
    published: &'static str,
    divisor: f64,
}

const SHOWN: [SweepChart; 2] = [
    SweepChart {
        key: "rate",
        title: "Records per second",
        unit: AxisUnit::RecordsPerSecond,
        figure: |flow| flow.rate().cloned(),
        published: "throughput",
        divisor: 1.0,
    },
    SweepChart {
        key: "megabytes",
        title: "Megabytes per second",
        unit: AxisUnit::MegabytesPerSecond,
        figure: |flow| flow.megabytes(),
        published: "throughput.bytes",
        divisor: 1e6,
    },
];

/// Records/s and MB/s against the factor.
pub(super) fn charts(sweep: &Sweep, id: &str) -> Vec<Chart> {
    SHOWN
        .iter()
        .filter_map(|shown| chart(sweep, id, shown))
        .collect()
}

fn chart(sweep: &Sweep, id: &str, shown: &SweepChart) -> Option<Chart> {
    let (mut groups, mut lines) = (Vec::new(), Vec::new());
    for (colour, flow) in sweep.flows.iter().enumerate() {
        let prefix = match sweep.flows.len() {
            1 => String::new(),
            _ => format!("{}, ", flow.name),
        };
        let points = flow.points.iter();
        let measured = points.clone().filter_map(|(factor, flow)| {
            let figure = (shown.figure)(flow)?;
            Some(Point {
                x: *factor,
                y: Some(figure.mean),
                interval: figure.ci95,
            })
        });
        let published = points.filter_map(|(factor, flow)| {
            let is_shown =
                |found: &&PublishedComparison| published::metric(found) == shown.published;
            let found = flow.published().find(is_shown)?;
            Some(Point::new(*factor, Some(found.published / shown.divisor)))
        });
        let line = LineStyle::line(colour * 2, Dash::nth(colour));
        let looks = [
            (
                "measured",
                LineStyle {
                    marker: Some(Marker::Disc),
                    ..line
                },
                measured.collect::<Vec<_>>(),
            ),
            ("published", published_look(colour), published.collect()),
        ];
        for (name, look, points) in looks {
            if !points.is_empty() {
                groups.push(LegendEntry {
                    name: format!("{prefix}{name}"),
                    look,
                });
                let group = groups.len() - 1;
                lines.push(ChartLine {
                    group,
                    name: String::new(),
                    faint: false,
                    points,
                });
            }
        }
    }
    let all = || lines.iter().flat_map(|line| &line.points);
    let highs = all().filter_map(|point| Some(point.interval.map_or(point.y?, |ends| ends.high)));
    let y = y_scale(highs.collect(), all().filter_map(|point| point.y).collect());
    if lines.is_empty() {
        return None;
    }
    Some(Chart {
        id: format!("{id}-{}", shown.key),
        title: format!("{} against {}", shown.title, sweep.factor),
        subtitle: subtitle(&y),
        x: factor_axis(sweep)?,
        y: Axis::new(shown.unit.key(), y, shown.unit),
        bands: Vec::new(),
        marks: Vec::new(),
        groups,
        means: Vec::new(),
        lines,
        end_labels: false,
        notes: Vec::new(),
    })
}

fn published_look(colour: usize) -> LineStyle {
    LineStyle {
        marker: Some(Marker::Diamond),
        joined: false,
        ..LineStyle::line(colour * 2 + 1, Dash::Solid)
    }
}

/// A log axis where the figures span more than a linear one can show.
fn y_scale(highs: Vec<f64>, values: Vec<f64>) -> Scale {
    let high = highs.into_iter().fold(0.0, f64::max);
    let low = values
        .into_iter()
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    match high / low > 4.0 * LOG_RATIO {
        true => Scale::decades(low, high),
        false => Scale::from_zero(high),
    }
}

fn subtitle(scale: &Scale) -> String {
    let words = "mean of the repeats, with its 95 % interval";
    match scale {
        Scale::Log { .. } => format!("{words}, log axes"),
        _ => words.to_owned(),
    }
}

fn factor_axis(sweep: &Sweep) -> Option<Axis> {
    let mut values: Vec<f64> = sweep
        .flows
        .iter()
        .flat_map(|flow| flow.points.iter().map(|(factor, _)| *factor))
        .collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (low, high) = (*values.first()?, *values.last()?);
    // A margin on both sides keeps the outer points off the plot's edge.
    let scale = match low > 0.0 && high / low > LOG_RATIO {
        true => Scale::Log {
            low: low / 1.6,
            high: high * 1.6,
        },
        false => {
            let margin = (high - low).max(1.0) * 0.05;
            Scale::Linear {
                low: low - margin,
                high: high + margin,
            }
        }
    };
    let mut axis = Axis::new(&sweep.factor, scale, sweep.unit);
    if values.len() <= LABELS_MAX {
        axis.ticks = values;
    }
    Some(axis)
}
