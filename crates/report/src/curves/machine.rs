//! The machine over time: disks, memory, network, and how long tasks stood still; and clients and replicas. Only what
//! did anything.

use std::collections::BTreeMap;

use kgauge_results::metrics::{Panel, PanelSection, PanelUnit};

use crate::chart::{Axis, AxisUnit, Chart, LegendEntry, LineStyle, Point, Scale};
use crate::format;
use crate::view::{MachineLine, MachineTimeline, TrialView};

/// A line that never reaches this part of its chart's highest is not drawn, but named.
const VISIBLE: f64 = 0.005;
/// Lines that are named without being drawn, at most.
const SMALL_MAX: usize = 20;

fn unit(panel: Panel) -> AxisUnit {
    match panel.row().unit {
        PanelUnit::Bytes => AxisUnit::Bytes,
        PanelUnit::MegabytesPerSecond => AxisUnit::MegabytesPerSecond,
        PanelUnit::Nanoseconds => AxisUnit::Nanoseconds,
        PanelUnit::Percent => AxisUnit::Percent,
        PanelUnit::RecordsPerSecond => AxisUnit::RecordsPerSecond,
        PanelUnit::Plain => AxisUnit::Plain,
    }
}

/// The charts of a section, in the order of the page.
pub(super) fn charts(trial: &TrialView, section: PanelSection) -> Vec<Chart> {
    let panels = Panel::of(section);
    panels.filter_map(|panel| chart(trial, panel)).collect()
}

fn chart(trial: &TrialView, panel: Panel) -> Option<Chart> {
    let timelines = &trial.timelines;
    let by_name: Vec<BTreeMap<&str, &MachineLine>> = timelines
        .iter()
        .map(|timeline| lines_of(timeline.of(panel.row().section), panel))
        .collect();
    let (names, small) = names(trial, panel)?;
    let mut lines = Vec::new();
    for (group, name) in names.iter().enumerate() {
        lines.extend(super::repeat_lines(timelines, group, |index, _| {
            let points = by_name.get(index)?.get(name)?.points.iter();
            Some(points.map(|(at, y)| Point::new(*at, *y)).collect())
        }));
    }
    let (row, unit) = (panel.row(), unit(panel));
    let values = lines.iter().flat_map(|line| &line.points);
    let values: Vec<f64> = values.filter_map(|point| point.y).collect();
    let highest = values.iter().copied().fold(0.0, f64::max);
    let scale = match unit {
        AxisUnit::Nanoseconds => {
            let above = values.iter().copied().filter(|value| *value > 0.0);
            Scale::decades(above.fold(f64::INFINITY, f64::min), highest)
        }
        _ => Scale::from_zero(highest),
    };
    let group = |(colour, name): (usize, &&str)| LegendEntry {
        name: (*name).to_owned(),
        look: LineStyle::nth(colour),
    };
    Some(Chart {
        id: format!("{}-{}", trial.id, row.id),
        title: row.title.to_owned(),
        subtitle: format!("{}; {}", row.subtitle, each_point(trial, panel)),
        x: super::time_axis(timelines),
        y: Axis::new(row.axis, scale, unit),
        bands: super::bands(timelines),
        marks: super::marks(timelines),
        groups: names.iter().enumerate().map(group).collect(),
        lines,
        notes: small.into_iter().collect(),
        ..Chart::default()
    })
}

fn lines_of(machine: &MachineTimeline, panel: Panel) -> BTreeMap<&str, &MachineLine> {
    let lines = machine.lines.iter().filter(|line| line.panel == panel);
    let mut by_name = BTreeMap::new();
    for line in lines {
        by_name.entry(line.name.as_str()).or_insert(line);
    }
    by_name
}

/// The names of a panel's lines, and a word on those that are too small to be seen.
fn names<'a>(trial: &'a TrialView<'_>, panel: Panel) -> Option<(Vec<&'a str>, Option<String>)> {
    let mut found: Vec<(&str, f64)> = Vec::new();
    let mut places = BTreeMap::<&str, usize>::new();
    let machines = trial
        .timelines
        .iter()
        .map(|timeline| timeline.of(panel.row().section));
    let lines = machines.flat_map(|machine| &machine.lines);
    for line in lines.filter(|line| line.panel == panel) {
        let values = line.points.iter().filter_map(|(_, value)| *value);
        let highest = values.fold(0.0, f64::max);
        let place = *places.entry(&line.name).or_insert(found.len());
        match found.get_mut(place) {
            Some((_, known)) => *known = known.max(highest),
            None => found.push((&line.name, highest)),
        }
    }
    let highest = found
        .iter()
        .map(|(_, highest)| *highest)
        .fold(0.0, f64::max);
    let least = if panel.row().unit == PanelUnit::Nanoseconds {
        // On a logarithmic axis small values are as clear as large ones.
        0.0
    } else if panel == Panel::Idle {
        // A thread that never rests is the one that matters.
        -1.0
    } else {
        highest * VISIBLE
    };
    let (seen, small): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, high)| *high > least);
    let small = small.into_iter().map(|(name, _)| name.to_owned());
    let small: Vec<String> = small.collect();
    let words = (!small.is_empty()).then(|| {
        let percent = VISIBLE * 100.0;
        let named = format::few(&small, SMALL_MAX);
        format!("Omitted, below {percent} % of the highest: {named}.")
    });
    (!seen.is_empty()).then(|| (seen.into_iter().map(|(name, _)| name).collect(), words))
}

/// `each second`, `mean of each 10 s`.
fn each_point(trial: &TrialView, panel: Panel) -> String {
    let timelines = trial.timelines.iter();
    let seconds = timelines.map(|timeline| timeline.of(panel.row().section).seconds_per_point);
    match seconds.max() {
        None | Some(0 | 1) => "per second".to_owned(),
        Some(seconds) => format!("mean of each {seconds} s"),
    }
}
