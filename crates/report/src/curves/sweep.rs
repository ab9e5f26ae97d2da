//! Figures against the one number that a scenario varies, with intervals and published points: latency against the
//! achieved rate where that number is a rate.

use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::{GoalVerdict, PublishedComparison};
use kgauge_results::Quantile;

use crate::chart::{
    Axis, AxisUnit, Chart, ChartLine, Dash, LegendEntry, LineStyle, Marker, Mean, Point, Scale,
};
use crate::view::{Flow, Sweep, SweepFlow, published};

/// A factor that spans more than this ratio gets a log axis.
const LOG_RATIO: f64 = 20.0;
/// Values that get their own label; with more, the scale chooses.
const LABELS_MAX: usize = 8;
/// The percentiles that are drawn.
const SHOWN_TIMES: [(&str, Quantile); 2] = [("p99", Quantile::P99), ("p50", Quantile::P50)];

/// What one of the charts of rates shows.
struct RateChart {
    key: &'static str,
    title: &'static str,
    unit: AxisUnit,
    figure: fn(&Flow) -> Option<Spread>,
    /// The published figure's name, and how many of its units are one of the axis.
    published: &'static str,
    divisor: f64,
}

const SHOWN_RATES: [RateChart; 2] = [
    RateChart {
        key: "rate",
        title: "Records per second",
        unit: AxisUnit::RecordsPerSecond,
        figure: |flow| flow.rate().cloned(),
        published: "throughput",
        divisor: 1.0,
    },
    RateChart {
        key: "megabytes",
        title: "Megabytes per second",
        unit: AxisUnit::MegabytesPerSecond,
        figure: |flow| flow.megabytes(),
        published: "throughput.bytes",
        divisor: 1e6,
    },
];

/// Latency of the flows that have a rate, then records/s and MB/s of the others: a rate that is set is no result.
pub(super) fn charts(sweep: &Sweep, id: &str) -> Vec<Chart> {
    let rates = SHOWN_RATES.iter();
    let rates = rates.filter_map(|shown| rate_chart(sweep, id, shown));
    latency_chart(sweep, id).into_iter().chain(rates).collect()
}

/// p99 and p50 against the achieved rate, or against the factor, with the goals as lines.
fn latency_chart(sweep: &Sweep, id: &str) -> Option<Chart> {
    let (mut groups, mut lines) = (Vec::new(), Vec::new());
    let is_timed = |flow: &&SweepFlow| {
        let mut points = flow.points.iter();
        points.any(|(_, flow)| flow.has_caller_latency())
    };
    let flows: Vec<&SweepFlow> = sweep.flows.iter().filter(is_timed).collect();
    for (index, flow) in flows.iter().enumerate() {
        for (offset, (name, quantile)) in SHOWN_TIMES.into_iter().enumerate() {
            let nth = index * SHOWN_TIMES.len() + offset;
            let points = times(sweep, flow, quantile);
            if points.is_empty() {
                continue;
            }
            groups.push(LegendEntry {
                name: named(flow.name, name, flows.len()),
                look: LineStyle {
                    marker: Some(Marker::Disc),
                    ..LineStyle::line(nth, Dash::nth(nth))
                },
            });
            lines.push(line(groups.len() - 1, points));
        }
    }
    if lines.is_empty() {
        return None;
    }
    let goals = goals(&flows, &mut groups);
    let mut values: Vec<f64> = goals.iter().map(|goal| goal.value).collect();
    let points = lines.iter().flat_map(|line| &line.points);
    values.extend(points.filter_map(|point| point.y));
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let (x, against) = match sweep.flow_of_rate() {
        Some(_) => (rate_axis(&lines), "achieved rate"),
        None => (factor_axis(sweep)?, sweep.name()),
    };
    Some(Chart {
        id: format!("{id}-latency"),
        title: format!("Latency against {against}"),
        subtitle: "over all repeats, with the 95 % confidence interval; log axis".to_owned(),
        x,
        y: Axis::new("latency", Scale::decades(low, high), AxisUnit::Nanoseconds),
        groups,
        means: goals,
        lines,
        ..Chart::default()
    })
}

/// A percentile of each trial at its achieved rate or factor.
fn times(sweep: &Sweep, flow: &SweepFlow, quantile: Quantile) -> Vec<Point> {
    let of_rate = sweep.flow_of_rate();
    let varied = of_rate.and_then(|name| sweep.flows.iter().find(|flow| flow.name == name));
    let place = |factor: f64| match varied {
        None => Some(factor),
        Some(varied) => {
            let mut trials = varied.points.iter();
            let (_, trial) = trials.find(|(value, _)| *value == factor)?;
            Some(trial.rate()?.mean)
        }
    };
    let point = |(factor, flow): &(f64, Flow)| {
        let latency = flow.latency().filter(|_| flow.has_caller_latency())?;
        let found = latency.times.percentile(quantile)?;
        Some(Point {
            x: place(*factor)?,
            y: Some(found.value_ns as f64).filter(|ns| *ns > 0.0),
            interval: found.interval(),
        })
    };
    let mut points: Vec<Point> = flow.points.iter().filter_map(point).collect();
    // More load than the target takes may give a lower rate.
    points.sort_by(|one, next| one.x.total_cmp(&next.x));
    points
}

/// A line for each goal on a percentile that is drawn.
fn goals(flows: &[&SweepFlow], groups: &mut Vec<LegendEntry>) -> Vec<Mean> {
    let mut goals: Vec<&GoalVerdict> = Vec::new();
    for (_, flow) in flows.iter().flat_map(|flow| &flow.points) {
        for goal in flow.latency_goals() {
            let percentile = goal.figure.rsplit('.').next();
            let mut shown = SHOWN_TIMES.iter();
            let is_drawn = shown.any(|(name, _)| percentile == Some(*name));
            if is_drawn && !goals.iter().any(|known| known.goal == goal.goal) {
                goals.push(goal);
            }
        }
    }
    let line = |(index, goal): (usize, &GoalVerdict)| {
        groups.push(LegendEntry {
            name: format!("goal: {}", goal.goal),
            look: LineStyle::line(flows.len() * SHOWN_TIMES.len() + index, Dash::Double),
        });
        Mean {
            group: groups.len() - 1,
            value: goal.threshold,
            interval: None,
        }
    };
    goals.into_iter().enumerate().map(line).collect()
}

fn line(group: usize, points: Vec<Point>) -> ChartLine {
    ChartLine {
        group,
        name: String::new(),
        faint: false,
        points,
    }
}

/// `p99`, `writers, p99`.
fn named(flow: &str, what: &str, flows: usize) -> String {
    match flows {
        1 => what.to_owned(),
        _ => format!("{flow}, {what}"),
    }
}

/// The scale of values that span more than a linear axis can show.
fn log_scale(low: f64, high: f64) -> Option<Scale> {
    (low > 0.0 && high / low > LOG_RATIO).then(|| Scale::Log {
        low: low / 1.6,
        high: high * 1.6,
    })
}

/// From zero, unless the rates span more than a linear axis can show.
fn rate_axis(lines: &[ChartLine]) -> Axis {
    let points = lines.iter().flat_map(|line| &line.points);
    let rates: Vec<f64> = points.map(|point| point.x).collect();
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    let scale = log_scale(low, high).unwrap_or_else(|| Scale::from_zero(high));
    let name = "achieved rate (records/s)";
    Axis::new(name, scale, AxisUnit::RecordsPerSecond)
}

fn rate_chart(sweep: &Sweep, id: &str, shown: &RateChart) -> Option<Chart> {
    let (mut groups, mut lines) = (Vec::new(), Vec::new());
    let is_free = |flow: &&SweepFlow| flow.points.iter().any(|(_, flow)| flow.has_free_rate());
    let flows: Vec<&SweepFlow> = sweep.flows.iter().filter(is_free).collect();
    for (colour, flow) in flows.iter().enumerate() {
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
        let style = LineStyle::line(colour * 2, Dash::nth(colour));
        let styles = [
            (
                "measured",
                LineStyle {
                    marker: Some(Marker::Disc),
                    ..style
                },
                measured.collect::<Vec<_>>(),
            ),
            ("published", published_style(colour), published.collect()),
        ];
        for (name, look, points) in styles {
            if !points.is_empty() {
                let name = named(flow.name, name, flows.len());
                groups.push(LegendEntry { name, look });
                lines.push(line(groups.len() - 1, points));
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
        title: format!("{} against {}", shown.title, sweep.name()),
        subtitle: subtitle(&y),
        x: factor_axis(sweep)?,
        y: Axis::new(shown.unit.key(), y, shown.unit),
        groups,
        lines,
        ..Chart::default()
    })
}

fn published_style(colour: usize) -> LineStyle {
    LineStyle::dots(colour * 2 + 1, Marker::Diamond)
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
    let scale = log_scale(low, high).unwrap_or_else(|| {
        let margin = (high - low).max(1.0) * 0.05;
        Scale::Linear {
            low: low - margin,
            high: high + margin,
        }
    });
    let mut axis = Axis::new(sweep.name(), scale, sweep.unit);
    if values.len() <= LABELS_MAX {
        axis.ticks = values;
    }
    Some(axis)
}
