//! The machine over time: disks, memory, network, and how long tasks stood still. Only what did anything.

use crate::chart::{Axis, Chart, Dash, Group, Line, Look, Point, Scale, Unit};
use crate::view::{MachineLine, MachineTimeline, Panel, Trial};

/// A line that never reaches this part of its chart's highest is not drawn, but named.
const VISIBLE: f64 = 0.005;

/// What stands above a panel.
struct Words {
    id: &'static str,
    title: &'static str,
    subtitle: &'static str,
}

fn words(panel: Panel) -> Words {
    let (id, title, subtitle) = match panel {
        Panel::Memory => (
            "memory",
            "Memory of the machine",
            "what processes could still have, and the page cache",
        ),
        Panel::ProcessMemory => ("resident", "Memory of processes", "resident"),
        Panel::Unwritten => (
            "unwritten",
            "Not on a disk yet",
            "pages written to files that no disk has",
        ),
        Panel::DiskBytes => (
            "disk-bytes",
            "Disks",
            "megabytes a second to and from disks, and from processes to the page cache",
        ),
        Panel::DiskUse => (
            "disk-use",
            "Use of disks",
            "share of the time with anything under way",
        ),
        Panel::DiskQueue => (
            "disk-queue",
            "Queues of disks",
            "mean number of reads and writes under way",
        ),
        Panel::DiskTimes => (
            "disk-times",
            "Times of disks",
            "mean time of reads, writes and flushes, from the queue to the end",
        ),
        Panel::Network => (
            "network",
            "Network",
            "megabytes a second by interface; of lo one way",
        ),
        Panel::Drops => ("drops", "Packets dropped", "by interface, both ways"),
        Panel::Waits => (
            "waits",
            "Waits (pressure stall)",
            "share of the time in which tasks stood still for want of something",
        ),
    };
    Words {
        id,
        title,
        subtitle,
    }
}

/// The name of a panel's vertical axis, and its unit.
fn axis(panel: Panel) -> (&'static str, Unit) {
    match panel {
        Panel::Memory | Panel::ProcessMemory | Panel::Unwritten => ("bytes", Unit::Bytes),
        Panel::DiskBytes | Panel::Network => ("MB/s", Unit::MegabytesPerSecond),
        Panel::DiskUse | Panel::Waits => ("% of the time", Unit::Percent),
        Panel::DiskQueue => ("under way", Unit::Plain),
        Panel::DiskTimes => ("mean time", Unit::Nanoseconds),
        Panel::Drops => ("packets", Unit::Plain),
    }
}

/// The charts, in the order of the page.
pub(super) fn charts(trial: &Trial) -> Vec<Chart> {
    let panels = Panel::ALL.into_iter();
    panels.filter_map(|panel| chart(trial, panel)).collect()
}

fn chart(trial: &Trial, panel: Panel) -> Option<Chart> {
    let timelines = &trial.timelines;
    let (names, small) = names(trial, panel)?;
    let mut lines = Vec::new();
    for (group, name) in names.iter().enumerate() {
        // The first repeat is drawn last, so that it lies above the faint ones.
        for (index, timeline) in timelines.iter().enumerate().rev() {
            let mut of_panel = lines_of(&timeline.machine, panel);
            let Some(line) = of_panel.find(|line| line.name == *name) else {
                continue;
            };
            lines.push(Line {
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
    let (words, (axis, unit)) = (words(panel), axis(panel));
    let values = lines.iter().flat_map(|line| &line.points);
    let values: Vec<f64> = values.filter_map(|point| point.y).collect();
    let highest = values.iter().copied().fold(0.0, f64::max);
    let scale = match unit {
        Unit::Nanoseconds => {
            let above = values.iter().copied().filter(|value| *value > 0.0);
            Scale::decades(above.fold(f64::INFINITY, f64::min), highest)
        }
        _ => Scale::from_zero(highest),
    };
    let group = |(colour, name): (usize, &&str)| Group {
        name: (*name).to_owned(),
        look: Look::line(colour, Dash::nth(colour)),
    };
    Some(Chart {
        id: format!("{}-{}", trial.id, words.id),
        title: words.title.to_owned(),
        subtitle: format!("{}; {}", words.subtitle, each_point(trial)),
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

fn lines_of(machine: &MachineTimeline, panel: Panel) -> impl Iterator<Item = &MachineLine> {
    let lines = machine.lines.iter();
    lines.filter(move |line| line.panel == panel)
}

/// The names of a panel's lines, and a word on those that are too small to be seen.
fn names(trial: &Trial, panel: Panel) -> Option<(Vec<&str>, Option<String>)> {
    let mut found: Vec<(&str, f64)> = Vec::new();
    let timelines = trial.timelines.iter();
    for line in timelines.flat_map(|timeline| lines_of(&timeline.machine, panel)) {
        let values = line.points.iter().filter_map(|(_, value)| *value);
        let highest = values.fold(0.0, f64::max);
        match found.iter_mut().find(|(name, _)| *name == line.name) {
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
        Panel::DiskTimes => 0.0,
        _ => highest * VISIBLE,
    };
    let (seen, small): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, high)| *high > least);
    let small: Vec<&str> = small.into_iter().map(|(name, _)| name).collect();
    let words = (!small.is_empty()).then(|| {
        let percent = VISIBLE * 100.0;
        format!(
            "Not drawn, below {percent} % of the highest: {}.",
            small.join(", ")
        )
    });
    (!seen.is_empty()).then(|| (seen.into_iter().map(|(name, _)| name).collect(), words))
}

/// `each second`, `mean of each 10 s`.
fn each_point(trial: &Trial) -> String {
    let timelines = trial.timelines.iter();
    let seconds = timelines.map(|timeline| timeline.machine.seconds_per_point);
    match seconds.max() {
        None | Some(0 | 1) => "each second".to_owned(),
        Some(seconds) => format!("mean of each {seconds} s"),
    }
}
