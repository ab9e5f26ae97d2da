//! The machine over time: disks, memory, network, and how long tasks stood still; and clients and replicas. Only what
//! did anything.

mod broker_words;

use std::collections::BTreeMap;

use super::PanelWords;
use crate::chart::{Axis, AxisUnit, Chart, ChartLine, LegendEntry, LineStyle, Point, Scale};
use crate::view::{MachineLine, MachineTimeline, Panel, TrialView};

/// A line that never reaches this part of its chart's highest is not drawn, but named.
const VISIBLE: f64 = 0.005;
/// Lines that are named without being drawn, at most.
const SMALL_MAX: usize = 20;

/// What stands above a panel, the name of its vertical axis, and its unit.
fn words(panel: Panel) -> (PanelWords, (&'static str, AxisUnit)) {
    super::traffic::words(panel).unwrap_or_else(|| (machine_words(panel), axis(panel)))
}

fn machine_words(panel: Panel) -> PanelWords {
    let (id, title, subtitle) = match panel {
        _ if panel.is_of_brokers() => broker_words::words(panel),
        Panel::Memory => (
            "memory",
            "Machine memory",
            "available memory and page cache",
        ),
        Panel::ProcessMemory => ("resident", "Process memory", "resident"),
        Panel::Unwritten => ("unwritten", "Dirty pages", "written pages not yet on disk"),
        Panel::DiskBytes => (
            "disk-bytes",
            "Disks",
            "megabytes per second to and from disks, and from processes to the page cache",
        ),
        Panel::DiskUse => (
            "disk-use",
            "Disk utilisation",
            "share of time with any I/O in flight",
        ),
        Panel::DiskQueue => (
            "disk-queue",
            "Disk queues",
            "mean number of reads and writes in flight",
        ),
        Panel::DiskTimes => (
            "disk-times",
            "Disk latency",
            "mean time of reads, writes and flushes, including queueing",
        ),
        Panel::Network => (
            "network",
            "Network",
            "megabytes per second by interface; for lo, one direction",
        ),
        Panel::NetworkUse => (
            "network-use",
            "Network utilisation",
            "share of each interface's speed, by direction, where the speed is known",
        ),
        Panel::Drops => (
            "drops",
            "Packets dropped",
            "packets per second by interface, both directions",
        ),
        // All others are of brokers, clients and replicas, and told above.
        _ => (
            "waits",
            "Pressure stall (PSI)",
            "share of time in which tasks stalled on a resource",
        ),
    };
    PanelWords {
        id,
        title,
        subtitle,
    }
}

/// The name of a panel's vertical axis, and its unit.
fn axis(panel: Panel) -> (&'static str, AxisUnit) {
    match panel {
        Panel::Memory | Panel::ProcessMemory | Panel::Unwritten => ("bytes", AxisUnit::Bytes),
        Panel::DiskBytes | Panel::Network => ("MB/s", AxisUnit::MegabytesPerSecond),
        Panel::DiskUse => ("% of the time", AxisUnit::Percent),
        Panel::NetworkUse => ("% of link speed", AxisUnit::Percent),
        Panel::DiskQueue => ("in flight", AxisUnit::Plain),
        Panel::DiskTimes => ("mean time", AxisUnit::Nanoseconds),
        Panel::Drops => ("packets/s", AxisUnit::Plain),
        _ => broker_words::axis(panel),
    }
}

/// The charts of some panels, in the order of the page.
pub(super) fn charts(trial: &TrialView, panels: &[Panel]) -> Vec<Chart> {
    let panels = panels.iter().copied();
    panels.filter_map(|panel| chart(trial, panel)).collect()
}

fn chart(trial: &TrialView, panel: Panel) -> Option<Chart> {
    let timelines = &trial.timelines;
    let by_name: Vec<BTreeMap<&str, &MachineLine>> = timelines
        .iter()
        .map(|timeline| lines_of(timeline.of(panel), panel))
        .collect();
    let (names, small) = names(trial, panel)?;
    let mut lines = Vec::new();
    for (group, name) in names.iter().enumerate() {
        // The first repeat is drawn last, so that it lies above the faint ones.
        for (index, timeline) in timelines.iter().enumerate().rev() {
            let Some(line) = by_name.get(index).and_then(|lines| lines.get(name)) else {
                continue;
            };
            lines.push(ChartLine {
                group,
                name: super::repeat_name(timelines, timeline.repeat),
                faint: index > 0,
                points: line
                    .points
                    .iter()
                    .map(|(at, y)| Point::new(*at, *y))
                    .collect(),
            });
        }
    }
    let (words, (axis, unit)) = words(panel);
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
        id: format!("{}-{}", trial.id, words.id),
        title: words.title.to_owned(),
        subtitle: format!("{}; {}", words.subtitle, each_point(trial, panel)),
        x: super::time_axis(timelines),
        y: Axis::new(axis, scale, unit),
        bands: super::bands(timelines),
        marks: super::marks(timelines),
        groups: names.iter().enumerate().map(group).collect(),
        means: Vec::new(),
        lines,
        end_labels: false,
        notes: small.into_iter().collect(),
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
fn names(trial: &TrialView, panel: Panel) -> Option<(Vec<&str>, Option<String>)> {
    let mut found: Vec<(&str, f64)> = Vec::new();
    let mut places = BTreeMap::<&str, usize>::new();
    let machines = trial.timelines.iter().map(|timeline| timeline.of(panel));
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
    // Of times the small ones are told from the large: their axis is a log scale.
    let least = match panel {
        Panel::DiskTimes | Panel::BufferWaits | Panel::FlushTimes => 0.0,
        Panel::ProduceTime | Panel::FetchTime | Panel::FollowerTime => 0.0,
        Panel::ProduceParts | Panel::FetchParts | Panel::FollowerParts => 0.0,
        // Nought is what matters there.
        Panel::Idle => -1.0,
        _ => highest * VISIBLE,
    };
    let (seen, small): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, high)| *high > least);
    let small: Vec<&str> = small.into_iter().map(|(name, _)| name).collect();
    let words = (!small.is_empty()).then(|| {
        let percent = VISIBLE * 100.0;
        let (named, more) = small.split_at(small.len().min(SMALL_MAX));
        let more = match more.len() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let named = named.join(", ");
        format!("Omitted, below {percent} % of the highest: {named}{more}.")
    });
    (!seen.is_empty()).then(|| (seen.into_iter().map(|(name, _)| name).collect(), words))
}

/// `each second`, `mean of each 10 s`.
fn each_point(trial: &TrialView, panel: Panel) -> String {
    let timelines = trial.timelines.iter();
    let seconds = timelines.map(|timeline| timeline.of(panel).seconds_per_point);
    match seconds.max() {
        None | Some(0 | 1) => "per second".to_owned(),
        Some(seconds) => format!("mean of each {seconds} s"),
    }
}
