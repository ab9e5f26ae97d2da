//! The machine during a repeat: which of its figures are drawn, and under which names.

mod brokers;
mod devices;
mod spans;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};

use kgauge_analyze::series::{
    DiskPoint, DiskSeries, HostSeries, NetworkPoint, NetworkSeries, PressurePoint, ProcessPoint,
};
use kgauge_results::SECOND_NS;
use kgauge_results::metrics::{Means, MetricId, Panel, PanelUnit};
use kgauge_results::run::{DataDir, HostMemory, Resource};

pub(super) use brokers::broker_timeline;
pub(super) use devices::ChosenDevices;
pub(super) use spans::place_s;
use spans::{Points, SpanRate, WeightedValue, of_moments, of_spans};
pub(super) use traffic::timeline as traffic;

use crate::clean::cut;
use crate::view::{MachineLine, MachineTimeline};

/// Points of a line at most: there are many lines, and the page has to stay small.
const POINTS_MAX: u64 = 120;
/// Letters of a name, and of a note, at most: they come from the run folder.
pub(super) const LETTERS_MAX: usize = 200;
/// Bytes in a megabyte.
const MEGABYTE: f64 = 1e6;

/// What is drawn of a repeat that took so long.
pub(super) fn timeline(host: &HostSeries, chosen: &ChosenDevices, end_ns: u64) -> MachineTimeline {
    let mut drawing = PanelContext::over(end_ns);
    drawing.disks(host, chosen);
    drawing.memory(host);
    drawing.network(host, chosen);
    drawing.waits(host);
    MachineTimeline {
        lines: drawing.lines,
        seconds_per_point: drawing.seconds_per_point,
        notes: notes(host, chosen),
    }
}

/// A metric's value in the unit of a panel, and what it weighs in means.
fn shown(metric: MetricId, panel: Panel, means: &Means) -> Option<WeightedValue> {
    let value = means.get(&metric)?;
    let value = match panel.row().unit {
        PanelUnit::MegabytesPerSecond => value / MEGABYTE,
        PanelUnit::Percent => value * 100.0,
        PanelUnit::Bytes
        | PanelUnit::Nanoseconds
        | PanelUnit::RecordsPerSecond
        | PanelUnit::Plain => *value,
    };
    let per_s = match metric.events() {
        Some(events) => *means.get(&events)?,
        None => 1.0,
    };
    Some(WeightedValue { value, per_s })
}

struct PanelContext {
    lines: Vec<MachineLine>,
    seconds_per_point: u64,
}

impl PanelContext {
    /// Nothing yet, of a repeat that took so long.
    fn over(end_ns: u64) -> PanelContext {
        let seconds = end_ns.div_ceil(SECOND_NS);
        PanelContext {
            lines: Vec::new(),
            seconds_per_point: seconds.div_ceil(POINTS_MAX).max(1),
        }
    }

    fn disks(&mut self, host: &HostSeries, chosen: &ChosenDevices) {
        let series = host.disks.iter().map(|series| (&series.disk, series));
        let by_name: BTreeMap<&String, &DiskSeries> = series.collect();
        for series in chosen.disks.iter().filter_map(|name| by_name.get(name)) {
            let name = series.disk.as_str();
            let mut draw = |panel, what: &str, value: fn(&DiskPoint) -> Option<WeightedValue>| {
                let span = |point: &DiskPoint| (point.start_ns, point.end_ns);
                self.spans(panel, (name, what), &series.points, span, value);
            };
            draw(Panel::DiskBytes, " written", |point| {
                Some(WeightedValue::even(point.written_bytes_per_s / MEGABYTE))
            });
            draw(Panel::DiskBytes, " read", |point| {
                Some(WeightedValue::even(point.read_bytes_per_s / MEGABYTE))
            });
            draw(Panel::DiskUse, "", |point| {
                Some(WeightedValue::even(point.busy_share * 100.0))
            });
            draw(Panel::DiskQueue, "", |point| {
                Some(WeightedValue::even(point.queue_mean))
            });
            draw(Panel::DiskTimes, " write", |point| {
                let (value, per_s) = (point.write_ns_mean?, point.writes_per_s);
                Some(WeightedValue { value, per_s })
            });
            draw(Panel::DiskTimes, " read", |point| {
                let (value, per_s) = (point.read_ns_mean?, point.reads_per_s);
                Some(WeightedValue { value, per_s })
            });
            // How many flushes there were is not known here.
            draw(Panel::DiskTimes, " flush", |point| {
                point.flush_ns_mean.map(WeightedValue::even)
            });
        }
        for process in &host.processes {
            let Some(name) = super::process::name_of(&process.subject) else {
                continue;
            };
            let name = (name.as_str(), " to page cache");
            let span = |point: &ProcessPoint| (point.start_ns, point.end_ns);
            self.spans(Panel::DiskBytes, name, &process.points, span, |point| {
                Some(WeightedValue::even(point.written_bytes_per_s? / MEGABYTE))
            });
        }
    }

    fn memory(&mut self, host: &HostSeries) {
        let mut draw = |panel, name: &str, value: fn(&HostMemory) -> Option<u64>| {
            let looks = host.memory.iter().map(|point| {
                let bytes = value(&point.memory).map(|bytes| bytes as f64);
                (point.at_ns, bytes)
            });
            self.moments(panel, name, &looks.collect::<Vec<_>>());
        };
        draw(Panel::Memory, "available", |memory| memory.available_bytes);
        draw(Panel::Memory, "page cache", |memory| memory.cached_bytes);
        draw(Panel::Unwritten, "dirty", |memory| memory.dirty_bytes);
        draw(Panel::Unwritten, "being written", |memory| {
            memory.writeback_bytes
        });
        // Old folders have these looks too; alone they make no chart of the machine.
        if host.memory.is_empty() {
            return;
        }
        for process in &host.processes {
            let Some(name) = super::process::name_of(&process.subject) else {
                continue;
            };
            let looks = process.resident_bytes.iter();
            let looks = looks.map(|(at_ns, bytes)| (*at_ns, Some(*bytes as f64)));
            self.moments(Panel::ProcessMemory, &name, &looks.collect::<Vec<_>>());
        }
    }

    fn network(&mut self, host: &HostSeries, chosen: &ChosenDevices) {
        let series = host
            .networks
            .iter()
            .map(|series| (&series.interface, series));
        let by_name: BTreeMap<&String, &NetworkSeries> = series.collect();
        for series in chosen.networks.iter().filter_map(|name| by_name.get(name)) {
            let name = series.interface.as_str();
            let mut draw = |panel, what: &str, value: fn(&NetworkPoint) -> f64| {
                let span = |point: &NetworkPoint| (point.start_ns, point.end_ns);
                let value = |point: &NetworkPoint| Some(WeightedValue::even(value(point)));
                self.spans(panel, (name, what), &series.points, span, value);
            };
            // What goes out of the loopback comes in again.
            let is_loop = name == "lo";
            draw(Panel::Network, if is_loop { "" } else { " in" }, |point| {
                point.received_bytes_per_s / MEGABYTE
            });
            if !is_loop {
                draw(Panel::Network, " out", |point| {
                    point.sent_bytes_per_s / MEGABYTE
                });
            }
            draw(Panel::Drops, "", |point| {
                let length_ns = point.end_ns.saturating_sub(point.start_ns).max(1);
                point.drops as f64 * SECOND_NS as f64 / length_ns as f64
            });
            self.network_use(series);
        }
    }

    /// What an interface carried of what it can.
    fn network_use(&mut self, series: &NetworkSeries) {
        let Some(speed) = &series.speed else { return };
        let able = (speed.bits_per_s as f64 / 8.0).max(1.0);
        let mut draw = |what: &str, value: fn(&NetworkPoint) -> f64| {
            let span = |point: &NetworkPoint| (point.start_ns, point.end_ns);
            let value =
                |point: &NetworkPoint| Some(WeightedValue::even(value(point) / able * 100.0));
            let name = (series.interface.as_str(), what);
            self.spans(Panel::NetworkUse, name, &series.points, span, value);
        };
        if speed.is_half_duplex {
            draw("", |point| {
                point.received_bytes_per_s + point.sent_bytes_per_s
            });
            return;
        }
        let is_loop = series.interface == "lo";
        draw(if is_loop { "" } else { " in" }, |point| {
            point.received_bytes_per_s
        });
        if !is_loop {
            draw(" out", |point| point.sent_bytes_per_s);
        }
    }

    fn waits(&mut self, host: &HostSeries) {
        for series in &host.pressure {
            let resource = match series.resource {
                Resource::Cpu => "processor",
                Resource::Io => "disk",
                Resource::Memory => "memory",
                Resource::Unknown => continue,
            };
            let mut draw = |what: &str, value: fn(&PressurePoint) -> Option<f64>| {
                let span = |point: &PressurePoint| (point.start_ns, point.end_ns);
                let value =
                    |point: &PressurePoint| Some(WeightedValue::even(value(point)? * 100.0));
                self.spans(Panel::Waits, (resource, what), &series.points, span, value);
            };
            draw(", some tasks", |point| Some(point.some_share));
            draw(", all tasks", |point| point.full_share);
        }
    }

    /// What is known between looks.
    fn spans<P>(
        &mut self,
        panel: Panel,
        (name, what): (&str, &str),
        points: &[P],
        span: impl Fn(&P) -> (u64, u64),
        value: impl Fn(&P) -> Option<WeightedValue>,
    ) {
        let known = points.iter().map(|point| {
            let (start_ns, end_ns) = span(point);
            SpanRate {
                start_ns,
                end_ns,
                value: value(point),
            }
        });
        let known: Vec<SpanRate> = known.collect();
        let points = of_spans(&known, self.seconds_per_point);
        self.add(panel, format!("{}{what}", cut(name, LETTERS_MAX)), points);
    }

    /// What is seen at looks.
    fn moments(&mut self, panel: Panel, name: &str, looks: &[(u64, Option<f64>)]) {
        let points = of_moments(looks, self.seconds_per_point);
        self.add(panel, cut(name, LETTERS_MAX), points);
    }

    /// A line that never has a value above nought is none.
    fn add(&mut self, panel: Panel, name: String, points: Points) {
        let is_any = |(_, value): &(f64, Option<f64>)| value.is_some_and(|value| value > 0.0);
        if points.iter().any(is_any) {
            self.lines.push(MachineLine {
                panel,
                name,
                points,
            });
        }
    }
}

/// Where the data lie, then what is not drawn and what could not be seen, each once.
fn notes(host: &HostSeries, chosen: &ChosenDevices) -> Vec<String> {
    let data = host.data_dirs.iter().map(where_data_lie);
    let not_seen = host.not_seen.iter();
    let not_seen =
        not_seen.map(|not_seen| format!("Not available: {} ({}).", not_seen.what, not_seen.why));
    let notes = data.chain(chosen.notes.iter().cloned()).chain(not_seen);
    let mut once = BTreeSet::new();
    notes
        .map(|note| cut(&note, LETTERS_MAX))
        .filter(|note| once.insert(note.clone()))
        .collect()
}

fn where_data_lie(dir: &DataDir) -> String {
    let kind = dir.file_system.as_deref().unwrap_or("unknown file system");
    match (dir.disks.as_slice(), &dir.why) {
        ([], Some(why)) => format!("The disk with the target's data is unknown: {why} ({kind})."),
        ([], None) => "The disk with the target's data is unknown.".to_owned(),
        (disks, _) => format!("The target's data is on {} ({kind}).", disks.join(" and ")),
    }
}
