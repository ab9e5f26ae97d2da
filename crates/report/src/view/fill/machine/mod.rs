//! The machine during a repeat: which of its figures are drawn, and under which names.

mod brokers;
mod devices;
mod spans;
mod traffic;

use std::collections::BTreeSet;

use kgauge_analyze::series::{HostSeries, MetricPoint, NetworkSeries};
use kgauge_results::SECOND_NS;
use kgauge_results::metrics::{Means, MetricDisplay, MetricGroup, MetricId, Panel, PanelUnit};
use kgauge_results::run::{DataDir, Resource};

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

/// What is drawn of a repeat of this length.
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
    /// Nothing so far, of a repeat of this length.
    fn over(end_ns: u64) -> PanelContext {
        let seconds = end_ns.div_ceil(SECOND_NS);
        PanelContext {
            lines: Vec::new(),
            seconds_per_point: seconds.div_ceil(POINTS_MAX).max(1),
        }
    }

    fn disks(&mut self, host: &HostSeries, chosen: &ChosenDevices) {
        for name in &chosen.disks {
            let own = host.disks.iter().filter(|series| series.disk == *name);
            for series in own {
                self.metrics(MetricGroup::Disk, name, &series.points);
            }
        }
        for process in &host.processes {
            if let Some(name) = super::process::name_of(&process.subject) {
                self.metrics(MetricGroup::Process, &name, &process.points);
            }
        }
    }

    fn memory(&mut self, host: &HostSeries) {
        for metric in MetricId::of(MetricGroup::HostMemory) {
            if let MetricDisplay::Line { panel, name, .. } = metric.row().display {
                let samples = host.memory.iter().map(|point| {
                    let bytes = point.values.get(&metric);
                    (point.at_ns, bytes.map(|bytes| *bytes as f64))
                });
                self.moments(panel, name, &samples.collect::<Vec<_>>());
            }
        }
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
        for name in &chosen.networks {
            let own = host.networks.iter();
            for series in own.filter(|series| series.interface == *name) {
                match series.interface == "lo" {
                    // What goes out of the loopback comes in again.
                    true => {
                        let received = [MetricId::ReceivedBytes, MetricId::ReceivedDrops];
                        self.named(received, (name, Some("")), &series.points);
                    }
                    false => self.metrics(MetricGroup::Network, name, &series.points),
                }
                self.network_use(series);
            }
        }
    }

    /// What an interface carried of what it can.
    fn network_use(&mut self, series: &NetworkSeries) {
        let Some(speed) = &series.speed else { return };
        let able = (speed.bits_per_s as f64 / 8.0).max(1.0);
        let mut draw = |what: &str, ways: &[MetricId]| {
            let value = |point: &MetricPoint| {
                let bytes = ways.iter().map(|way| point.get(*way));
                let bytes: Option<f64> = bytes.sum();
                Some(WeightedValue::even(bytes? / able * 100.0))
            };
            let span = |point: &MetricPoint| (point.start_ns, point.end_ns);
            let name = (series.interface.as_str(), what);
            self.spans(Panel::NetworkUse, name, &series.points, span, value);
        };
        let (received, sent) = (MetricId::ReceivedBytes, MetricId::SentBytes);
        if speed.is_half_duplex {
            draw("", &[received, sent]);
        } else if series.interface == "lo" {
            draw("", &[received]);
        } else {
            draw(" in", &[received]);
            draw(" out", &[sent]);
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
            self.metrics(MetricGroup::Pressure, resource, &series.points);
        }
    }

    /// The lines of a group of metrics.
    fn metrics(&mut self, group: MetricGroup, name: &str, points: &[MetricPoint]) {
        self.named(MetricId::of(group), (name, None), points);
    }

    /// The lines of some metrics, each with its own name behind the thing's or with this one.
    fn named(
        &mut self,
        metrics: impl IntoIterator<Item = MetricId>,
        (thing, what): (&str, Option<&str>),
        points: &[MetricPoint],
    ) {
        for metric in metrics {
            if let MetricDisplay::Line { panel, name, .. } = metric.row().display {
                let name = (thing, what.unwrap_or(name));
                let span = |point: &MetricPoint| (point.start_ns, point.end_ns);
                self.spans(panel, name, points, span, |point| {
                    shown(metric, panel, &point.means)
                });
            }
        }
    }

    /// Values between samples.
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

    /// Values at samples.
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
