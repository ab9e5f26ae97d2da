//! Records per second over time: a line per repeat, and the mean with its interval.

use kgauge_analyze::statistics::Spread;

use crate::chart::{
    Axis, AxisUnit, Chart, ChartLine, Dash, LegendEntry, LineStyle, Mean, Point, Scale,
};
use crate::format;
use crate::view::{Flow, Timeline, TrialView};

/// Lines that get a legend entry of their own; beyond it a flow's repeats share one.
const NAMED_LINES_MAX: usize = 6;

/// The chart, unless nothing was recorded over time.
pub(super) fn chart(trial: &TrialView) -> Option<Chart> {
    let timelines = &trial.timelines;
    let names = super::flow_names(timelines);
    if names.is_empty() {
        return None;
    }
    // Dashes distinguish either repeats or flows, never both in one chart.
    let by_repeat = names.len() == 1 && timelines.len() <= NAMED_LINES_MAX;
    let (mut groups, mut lines) = (Vec::new(), Vec::new());
    for (colour, name) in names.iter().enumerate() {
        for (index, timeline) in timelines.iter().enumerate() {
            if by_repeat || index == 0 {
                let name = match by_repeat {
                    true => joined(name, &super::repeat_name(timelines, timeline.repeat)),
                    false => (*name).to_owned(),
                };
                groups.push(LegendEntry {
                    name,
                    look: match by_repeat {
                        true => LineStyle::line(colour, Dash::nth(index)),
                        false => LineStyle::nth(colour),
                    },
                });
            }
            let line_name = match by_repeat {
                true => String::new(),
                false => super::repeat_name(timelines, timeline.repeat),
            };
            let points = points(timeline, name);
            let faint = !by_repeat && index > 0;
            lines.push(ChartLine {
                group: groups.len() - 1,
                name: line_name,
                faint,
                points,
            });
        }
    }
    let means = means(trial, &names, &mut groups);
    let highest = lines
        .iter()
        .flat_map(|line| line.points.iter().filter_map(|point| point.y))
        .chain(
            means
                .iter()
                .map(|mean| mean.interval.map_or(mean.value, |ends| ends.high)),
        )
        .fold(0.0, f64::max);
    Some(Chart {
        id: format!("{}-throughput", trial.id),
        title: "Throughput over time".to_owned(),
        subtitle: subtitle(timelines),
        x: super::time_axis(timelines),
        y: Axis::new(
            "records/s",
            Scale::from_zero(highest),
            AxisUnit::RecordsPerSecond,
        ),
        bands: super::bands(timelines),
        marks: super::marks(timelines),
        groups,
        means,
        lines,
        notes: notes(trial),
        ..Chart::default()
    })
}

fn subtitle(timelines: &[Timeline]) -> String {
    match timelines
        .iter()
        .map(|timeline| timeline.seconds_per_point)
        .max()
    {
        None | Some(0 | 1) => "records per second".to_owned(),
        Some(seconds) => format!("records per second, mean of each {seconds} s"),
    }
}

fn joined(flow: &str, repeat: &str) -> String {
    match repeat {
        "" => flow.to_owned(),
        repeat => format!("{flow}, {repeat}"),
    }
}

fn points(timeline: &Timeline, name: &str) -> Vec<Point> {
    let flow = timeline.flows.iter().find(|flow| flow.name == name);
    let rates = flow.map_or(&[][..], |flow| &flow.rates);
    rates
        .iter()
        .map(|(at, rate)| Point::new(*at, Some(*rate)))
        .collect()
}

/// A mean for each flow that has one, with its legend entry.
fn means(trial: &TrialView, names: &[&str], groups: &mut Vec<LegendEntry>) -> Vec<Mean> {
    let mut means = Vec::new();
    for (colour, name) in names.iter().enumerate() {
        let figure = trial
            .flows
            .iter()
            .find(|flow| flow.name() == *name)
            .and_then(Flow::rate);
        let Some(figure) = figure else { continue };
        let what = if names.len() == 1 {
            "mean".to_owned()
        } else {
            format!("mean of {name}")
        };
        groups.push(LegendEntry {
            name: format!("{what}: {}", words(figure)),
            look: LineStyle::line(colour, Dash::Mixed),
        });
        means.push(Mean {
            group: groups.len() - 1,
            value: figure.mean,
            interval: figure.ci95,
        });
    }
    means
}

/// What each repeat gave, and how many records it was in all.
fn notes(trial: &TrialView) -> Vec<String> {
    let note = |flow: &Flow| {
        let rate = flow.rate()?;
        let who = match trial.flows.len() {
            1 => String::new(),
            _ => format!("{}: ", flow.name()),
        };
        let repeats = match rate.values.as_slice() {
            [] | [_] => String::new(),
            values => {
                let values: Vec<String> =
                    values.iter().map(|value| format::figure(*value)).collect();
                format!("; repeats: {} records/s", values.join(" · "))
            }
        };
        let records = format::counted(flow.records(), "record");
        Some(format!("{who}{records} in all stages{repeats}."))
    };
    let mut notes: Vec<String> = trial.flows.iter().filter_map(note).collect();
    if super::stages_differ(&trial.timelines) {
        notes.push("Repeats differ in length; stages are those of the first repeat.".to_owned());
    }
    notes.extend(super::mark_notes(&trial.timelines));
    notes
}

/// `1,284,000 ±2.4 %`.
fn words(figure: &Spread) -> String {
    let mean = format::figure(figure.mean);
    match figure.ci95 {
        Some(interval) => format!("{mean} {}", format::plus_minus(figure.mean, interval)),
        None => mean,
    }
}
