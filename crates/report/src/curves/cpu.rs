//! CPU cores in use over time, by process.

use std::collections::{BTreeMap, BTreeSet};

use crate::chart::{Axis, AxisUnit, Chart, LegendEntry, LineStyle, Point, Scale};
use crate::view::{ProcessTimeline, Timeline, TrialView};

/// Longer names do not fit next to the plot; the legend has them.
const END_LABEL_LETTERS_MAX: usize = 10;

/// The chart, unless no process was observed.
pub(super) fn chart(trial: &TrialView) -> Option<Chart> {
    let timelines = &trial.timelines;
    let mut names: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for process in timelines.iter().flat_map(|timeline| &timeline.processes) {
        if known.insert(process.name.as_str()) {
            names.push(&process.name);
        }
    }
    let by_name: Vec<BTreeMap<&str, &ProcessTimeline>> = timelines.iter().map(by_name).collect();
    let mut lines = Vec::new();
    for (group, name) in names.iter().enumerate() {
        lines.extend(super::repeat_lines(timelines, group, |index, _| {
            let cores = by_name.get(index)?.get(name)?.cores.iter();
            Some(
                cores
                    .map(|(at, cores)| Point::new(*at, Some(*cores)))
                    .collect(),
            )
        }));
    }
    let highest = lines
        .iter()
        .flat_map(|line| line.points.iter().filter_map(|point| point.y))
        .fold(0.0, f64::max);
    if lines.is_empty() {
        return None;
    }
    Some(Chart {
        id: format!("{}-cpu", trial.id),
        title: "CPU".to_owned(),
        subtitle: "CPU cores in use, per second".to_owned(),
        x: super::time_axis(timelines),
        y: Axis::new("cores", Scale::from_zero(highest), AxisUnit::Cores),
        bands: super::bands(timelines),
        marks: super::marks(timelines),
        groups: names
            .iter()
            .enumerate()
            .map(|(colour, name)| LegendEntry {
                name: (*name).to_owned(),
                look: LineStyle::nth(colour),
            })
            .collect(),
        lines,
        end_labels: names
            .iter()
            .all(|name| name.chars().count() <= END_LABEL_LETTERS_MAX),
        ..Chart::default()
    })
}

/// Of two processes with one name the first is drawn.
fn by_name(timeline: &Timeline) -> BTreeMap<&str, &ProcessTimeline> {
    let mut by_name = BTreeMap::new();
    for process in &timeline.processes {
        by_name.entry(process.name.as_str()).or_insert(process);
    }
    by_name
}
