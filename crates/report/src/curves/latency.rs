//! Latency over time on a log axis: median, 99th percentile and largest value of each second.

use super::LatencyScope;
use crate::chart::{Axis, AxisUnit, Chart, ChartLine, Dash, LegendEntry, LineStyle, Point, Scale};
use crate::format;
use crate::view::{FlowTimeline, Timeline, TimesAt, TrialView};

/// One of the lines: its name, its look and its value.
struct LatencyLine {
    name: &'static str,
    dash: Dash,
    value: fn(&TimesAt) -> u64,
}

/// What is drawn of each second.
const SHOWN: [LatencyLine; 3] = [
    LatencyLine {
        name: "p50",
        dash: Dash::Solid,
        value: |times| times.p50_ns,
    },
    LatencyLine {
        name: "p99",
        dash: Dash::Dashed,
        value: |times| times.p99_ns,
    },
    LatencyLine {
        name: "max",
        dash: Dash::Dotted,
        value: |times| times.max_ns,
    },
];

/// The short form of a note of the percentile chart.
pub(super) const CLOSED: &str = "Closed loop: records in flight ÷ throughput, not broker latency.";

/// One chart for each flow that has latencies of this scope.
pub(super) fn charts(trial: &TrialView, scope: LatencyScope) -> Vec<Chart> {
    let names = super::flow_names(&trial.timelines);
    let alone = names.len() == 1;
    names
        .iter()
        .enumerate()
        .filter(|(_, name)| scope.has_name(trial, name))
        .filter_map(|(index, name)| chart(trial, index, name, alone))
        .collect()
}

fn chart(trial: &TrialView, index: usize, flow: &str, alone: bool) -> Option<Chart> {
    let timelines = &trial.timelines;
    let lines = lines(timelines, flow);
    let values: Vec<f64> = lines
        .iter()
        .flat_map(|line| line.points.iter().filter_map(|point| point.y))
        .filter(|value| *value > 0.0)
        .collect();
    if values.is_empty() {
        return None;
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let mut drawn = timelines.iter().flat_map(|one| &one.flows);
    let kind = drawn.find(|drawn| drawn.name == flow)?.kind;
    let mut title = format!("{} over time", format::capital(kind.title()));
    if !alone {
        title = format!("{title}: {flow}");
    }
    Some(Chart {
        id: format!("{}-latency-{}", trial.id, index + 1),
        title,
        subtitle: format!("{}; {}", kind.meaning(), super::each_point(timelines)),
        x: super::time_axis(timelines),
        y: Axis::new(
            kind.title(),
            Scale::decades(low, high),
            AxisUnit::Nanoseconds,
        ),
        bands: super::bands(timelines),
        marks: super::marks(timelines),
        groups: SHOWN
            .iter()
            .enumerate()
            .map(|(colour, shown)| LegendEntry {
                name: shown.name.to_owned(),
                look: LineStyle::line(colour, shown.dash),
            })
            .collect(),
        lines,
        end_labels: true,
        notes: notes(trial, flow),
        ..Chart::default()
    })
}

/// The values, with a gap for each second without any: a stall must not look like a slope.
fn points(times: &[TimesAt], value: fn(&TimesAt) -> u64, seconds_per_point: u64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(times.len());
    for times in times {
        if let Some(last) = points.last().map(|point| point.x)
            && times.at_s - last > 1.6 * seconds_per_point as f64
        {
            points.push(Point::new((last + times.at_s) / 2.0, None));
        }
        points.push(Point::new(times.at_s, Some(value(times) as f64)));
    }
    points
}

fn lines(timelines: &[Timeline], flow: &str) -> Vec<ChartLine> {
    let mut lines = Vec::new();
    for (group, shown) in SHOWN.iter().enumerate() {
        lines.extend(super::repeat_lines(timelines, group, |_, timeline| {
            let times = times(timeline, flow);
            Some(points(times, shown.value, timeline.seconds_per_point))
        }));
    }
    lines
}

fn times<'a>(timeline: &'a Timeline, flow: &str) -> &'a [TimesAt] {
    let found: Option<&FlowTimeline> = timeline.flows.iter().find(|entry| entry.name == flow);
    found.map_or(&[], |found| &found.times)
}

fn notes(trial: &TrialView, name: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if trial.timelines.len() > 1 {
        notes.push("Bold lines: first repeat. Faint lines: other repeats.".to_owned());
    }
    let flow = trial.flows.iter().find(|flow| flow.name() == name);
    notes.extend(flow.and_then(|flow| Some(flow.late()?.sentence)));
    if flow.is_some_and(|flow| flow.summary.closed_loop) {
        notes.push(CLOSED.to_owned());
    }
    notes
}
