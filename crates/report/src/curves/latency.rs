//! Response over time on a log axis: median, 99th percentile and largest value of each second.

use crate::chart::{Axis, Chart, Dash, Group, Line, Look, Point, Scale, Unit};
use crate::view::{FlowTimeline, Second, Timeline, Trial};

/// What is drawn of each second.
const SHOWN: [(&str, Dash, fn(&Second) -> Option<u64>); 3] = [
    ("p50", Dash::Solid, |second| second.p50_ns),
    ("p99", Dash::Dashed, |second| second.p99_ns),
    ("max", Dash::Dotted, |second| second.max_ns),
];

/// The short form of what the percentile chart says with numbers.
const CLOSED: &str =
    "Closed loop: this is records in flight ÷ throughput, not the broker's latency.";

/// One chart for each flow that has latencies.
pub(super) fn charts(trial: &Trial) -> Vec<Chart> {
    let names = super::flow_names(&trial.timelines);
    let alone = names.len() == 1;
    names
        .iter()
        .enumerate()
        .filter_map(|(index, name)| chart(trial, index, name, alone))
        .collect()
}

fn chart(trial: &Trial, index: usize, flow: &str, alone: bool) -> Option<Chart> {
    let timelines = &trial.timelines;
    let lines = lines(timelines, flow);
    let values: Vec<f64> = lines
        .iter()
        .flat_map(|line| line.points.iter().filter_map(|point| point.y))
        .collect();
    if values.is_empty() {
        return None;
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let title = match alone {
        true => "Response over time".to_owned(),
        false => format!("Response over time: {flow}"),
    };
    Some(Chart {
        id: format!("{}-latency-{}", trial.id, index + 1),
        title,
        subtitle: "from intended to acked; median, p99 and largest of each second, log axis"
            .to_owned(),
        x: super::time_axis(timelines),
        y: Axis::new("response", Scale::decades(low, high), Unit::Nanoseconds),
        bands: super::bands(timelines),
        groups: SHOWN
            .iter()
            .enumerate()
            .map(|(colour, (name, dash, _))| Group {
                name: (*name).to_owned(),
                look: Look::line(colour, *dash),
            })
            .collect(),
        means: Vec::new(),
        lines,
        end_labels: true,
        notes: notes(trial, flow),
    })
}

fn lines(timelines: &[Timeline], flow: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (group, (_, _, value)) in SHOWN.iter().enumerate() {
        // The first repeat is drawn last, so that it lies above the faint ones.
        for (index, timeline) in timelines.iter().enumerate().rev() {
            let seconds = seconds(timeline, flow);
            lines.push(Line {
                group,
                name: super::repeat_name(timelines, timeline.repeat),
                faint: index > 0,
                points: seconds
                    .iter()
                    .map(|second| Point::new(second.at_s, value(second).map(|ns| ns as f64)))
                    .collect(),
            });
        }
    }
    lines
}

fn seconds<'a>(timeline: &'a Timeline, flow: &str) -> &'a [Second] {
    let found: Option<&FlowTimeline> = timeline.flows.iter().find(|entry| entry.name == flow);
    found.map_or(&[], |found| &found.seconds)
}

fn notes(trial: &Trial, name: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if trial.timelines.len() > 1 {
        notes.push("Strong lines: first repeat. Faint lines: the others.".to_owned());
    }
    let flow = trial.flows.iter().find(|flow| flow.name == name);
    notes.extend(flow.and_then(|flow| flow.late.clone()));
    if flow.is_some_and(|flow| flow.closed.is_some()) {
        notes.push(CLOSED.to_owned());
    }
    notes
}
