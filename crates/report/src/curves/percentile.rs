//! The whole distribution: latency against quantile on an axis where each further nine takes one
//! step.

use crate::chart::{Axis, Chart, Dash, Group, Line, Look, Point, Scale, Unit};
use crate::format;
use crate::view::{Distribution, Flow, Latency, Trial};

/// The farthest quantile that is drawn: 99.999 %.
const NINES_MAX: f64 = 5.0;
/// The nearest end of the axis: 99 %.
const NINES_MIN: f64 = 2.0;
/// Samples that must lie beyond a point, or it is chance and not drawn.
const BEYOND_MIN: f64 = 10.0;

/// The chart, unless there are no latencies.
pub(super) fn chart(trial: &Trial) -> Option<Chart> {
    let (mut groups, mut lines, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (colour, flow) in trial.flows.iter().enumerate() {
        for (index, latency) in flow.latencies.iter().enumerate() {
            let points = points(&latency.distribution);
            if points.is_empty() {
                continue;
            }
            let name = match trial.flows.len() {
                1 => latency.kind.name().to_owned(),
                _ => format!("{}, {}", flow.name, latency.kind.name()),
            };
            let look = Look::line(colour + trial.flows.len() * index, Dash::nth(index));
            groups.push(Group { name, look });
            lines.push(Line {
                group: groups.len() - 1,
                name: String::new(),
                faint: false,
                points,
            });
        }
        notes.extend(flow.latency().map(|found| beyond(flow, found, trial)));
        notes.extend(flow.late.clone());
        notes.extend(flow.closed.clone().or_else(|| flow.little.clone()));
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
    Some(Chart {
        id: format!("{}-percentiles", trial.id),
        title: "Latency by percentile".to_owned(),
        subtitle: "all repeats together; each further nine takes one step, log axis".to_owned(),
        x: Axis::new("share at or below", Scale::Tail { nines }, Unit::Quantile),
        y: Axis::new("latency", Scale::decades(low, high), Unit::Nanoseconds),
        bands: Vec::new(),
        marks: Vec::new(),
        groups,
        means: Vec::new(),
        lines,
        end_labels: false,
        notes,
    })
}

/// The part of the curve that enough samples carry.
fn points(distribution: &Distribution) -> Vec<Point> {
    let carried = 1.0 - BEYOND_MIN / (distribution.count.max(1) as f64);
    let end = carried.min(1.0 - 10_f64.powf(-NINES_MAX) + 1e-12);
    distribution
        .curve
        .iter()
        .filter(|(quantile, ns)| *quantile <= end && *ns > 0)
        .map(|(quantile, ns)| Point::new(*quantile, Some(*ns as f64)))
        .collect()
}

/// How many samples there are, and how many the curve leaves out.
fn beyond(flow: &Flow, latency: &Latency, trial: &Trial) -> String {
    let distribution = &latency.distribution;
    let who = match trial.flows.len() {
        1 => String::new(),
        _ => format!("{}: ", flow.name),
    };
    let last = distribution.percentiles.iter().rfind(|found| !found.few);
    let beyond = last.map_or(String::new(), |last| {
        let name = format::percentile_name(last.millionths);
        format!("; {} lie beyond {name}", format::count(last.beyond))
    });
    format!(
        "{who}{}{beyond}; mean {}, the largest {} {}.",
        format::plural(distribution.count, "sample", "samples"),
        format::nanoseconds(distribution.mean_ns),
        latency.kind.name(),
        format::nanoseconds(distribution.max_ns as f64)
    )
}
