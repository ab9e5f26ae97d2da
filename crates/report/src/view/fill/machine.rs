//! The machine during a repeat: which of its figures are drawn, and under which names.

use std::collections::BTreeMap;

use kgauge_results::SECOND_NS;
use kgauge_results::run::{DataDir, HostMemory, Resource};
use kgauge_results::series::{
    DiskPoint, DiskSeries, HostSeries, NetworkPoint, NetworkSeries, PressurePoint, ProcessPoint,
};

use crate::view::{MachineLine, MachineTimeline, Panel};

/// Points of a line at most: there are many lines, and the page has to stay small.
const POINTS_MAX: u64 = 120;
/// Disks, and interfaces, that are drawn at most: those that did most.
const DEVICES_MAX: usize = 4;
const SECOND: f64 = SECOND_NS as f64;
/// A span that is longer is drawn as long as it is: nothing happened in it.
const SPAN_S_MAX: f64 = 1.6;
/// Bytes in a megabyte.
const MEGABYTE: f64 = 1e6;

/// What is drawn of a repeat that took so long.
pub(super) fn timeline(host: &HostSeries, end_ns: u64) -> MachineTimeline {
    let seconds = end_ns.div_ceil(SECOND_NS);
    let seconds_per_point = seconds.div_ceil(POINTS_MAX).max(1);
    let mut drawing = Drawing {
        lines: Vec::new(),
        seconds_per_point,
    };
    drawing.disks(host);
    drawing.memory(host);
    drawing.network(host);
    drawing.waits(host);
    MachineTimeline {
        lines: drawing.lines,
        seconds_per_point,
        notes: notes(host),
    }
}

struct Drawing {
    lines: Vec<MachineLine>,
    seconds_per_point: u64,
}

impl Drawing {
    fn disks(&mut self, host: &HostSeries) {
        let moved = |series: &DiskSeries| -> f64 {
            let points = series.points.iter();
            points
                .map(|point| point.read_bytes_per_s + point.written_bytes_per_s)
                .sum()
        };
        let mut disks: Vec<(&DiskSeries, f64)> = host
            .disks
            .iter()
            .map(|series| (series, moved(series)))
            .filter(|(series, moved)| series.holds_data || *moved > 0.0)
            .collect();
        disks.sort_by(|(one, one_moved), (other, other_moved)| {
            let by_data = other.holds_data.cmp(&one.holds_data);
            by_data.then(other_moved.total_cmp(one_moved))
        });
        for (series, _) in disks.into_iter().take(DEVICES_MAX) {
            let name = series.disk.as_str();
            let mut draw = |panel, what: &str, value: fn(&DiskPoint) -> Option<f64>| {
                let name = format!("{name}{what}");
                let span = |point: &DiskPoint| (point.start_ns, point.end_ns);
                self.spans(panel, name, &series.points, span, value);
            };
            draw(Panel::DiskBytes, " written", |point| {
                Some(point.written_bytes_per_s / MEGABYTE)
            });
            draw(Panel::DiskBytes, " read", |point| {
                Some(point.read_bytes_per_s / MEGABYTE)
            });
            draw(Panel::DiskUse, "", |point| Some(point.busy_share * 100.0));
            draw(Panel::DiskQueue, "", |point| Some(point.queue_mean));
            draw(Panel::DiskTimes, " write", |point| point.write_ns_mean);
            draw(Panel::DiskTimes, " read", |point| point.read_ns_mean);
            draw(Panel::DiskTimes, " flush", |point| point.flush_ns_mean);
        }
        for process in &host.processes {
            let Some(name) = super::time::name_of(&process.subject) else {
                continue;
            };
            let name = format!("{name} to page cache");
            let span = |point: &ProcessPoint| (point.start_ns, point.end_ns);
            self.spans(Panel::DiskBytes, name, &process.points, span, |point| {
                Some(point.written_bytes_per_s? / MEGABYTE)
            });
        }
    }

    fn memory(&mut self, host: &HostSeries) {
        let mut draw = |panel, name: &str, value: fn(&HostMemory) -> Option<u64>| {
            let points = host.memory.iter().map(|point| {
                let bytes = value(&point.memory).map(|bytes| bytes as f64);
                (point.at_ns as f64 / SECOND, bytes)
            });
            self.add(panel, name.to_owned(), points.collect());
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
            let Some(name) = super::time::name_of(&process.subject) else {
                continue;
            };
            let looks = process.resident_bytes.iter();
            let points = looks.map(|(at_ns, bytes)| (*at_ns as f64 / SECOND, Some(*bytes as f64)));
            self.add(Panel::ProcessMemory, name, points.collect());
        }
    }

    fn network(&mut self, host: &HostSeries) {
        let moved = |series: &NetworkSeries| -> f64 {
            let points = series.points.iter();
            points
                .map(|point| point.received_bytes_per_s + point.sent_bytes_per_s)
                .sum()
        };
        let mut networks: Vec<(&NetworkSeries, f64)> = host
            .networks
            .iter()
            .map(|series| (series, moved(series)))
            .filter(|(_, moved)| *moved > 0.0)
            .collect();
        networks.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        for (series, _) in networks.into_iter().take(DEVICES_MAX) {
            let name = series.interface.as_str();
            let mut draw = |panel, what: &str, value: fn(&NetworkPoint) -> Option<f64>| {
                let name = format!("{name}{what}");
                let span = |point: &NetworkPoint| (point.start_ns, point.end_ns);
                self.spans(panel, name, &series.points, span, value);
            };
            // What goes out of the loopback comes in again.
            let is_loop = name == "lo";
            draw(Panel::Network, if is_loop { "" } else { " in" }, |point| {
                Some(point.received_bytes_per_s / MEGABYTE)
            });
            if !is_loop {
                draw(Panel::Network, " out", |point| {
                    Some(point.sent_bytes_per_s / MEGABYTE)
                });
            }
            draw(Panel::Drops, "", |point| Some(point.drops as f64));
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
                let name = format!("{resource}, {what}");
                let span = |point: &PressurePoint| (point.start_ns, point.end_ns);
                self.spans(Panel::Waits, name, &series.points, span, value);
            };
            draw("some tasks", |point| Some(point.some_share * 100.0));
            draw("all tasks", |point| Some(point.full_share? * 100.0));
        }
    }

    /// What is known between looks stands in their middle; or at both ends of a long time without any change, which must
    /// not look like a slope.
    fn spans<P>(
        &mut self,
        panel: Panel,
        name: String,
        points: &[P],
        span: impl Fn(&P) -> (u64, u64),
        value: impl Fn(&P) -> Option<f64>,
    ) {
        let mut drawn = Vec::with_capacity(points.len());
        for point in points {
            let (start_ns, end_ns) = span(point);
            let (start_s, end_s) = (start_ns as f64 / SECOND, end_ns as f64 / SECOND);
            let value = value(point);
            if end_s - start_s > SPAN_S_MAX {
                drawn.push((start_s + 0.5, value));
                drawn.push((end_s - 0.5, value));
            } else {
                drawn.push(((start_s + end_s) / 2.0, value));
            }
        }
        self.add(panel, name, drawn);
    }

    /// A line that never has a value above nought is none.
    fn add(&mut self, panel: Panel, name: String, points: Vec<(f64, Option<f64>)>) {
        let is_any = |(_, value): &(f64, Option<f64>)| value.is_some_and(|value| value > 0.0);
        if points.iter().any(is_any) {
            let points = thinned(points, self.seconds_per_point);
            self.lines.push(MachineLine {
                panel,
                name,
                points,
            });
        }
    }
}

/// The means of each so many seconds.
fn thinned(points: Vec<(f64, Option<f64>)>, per_point: u64) -> Vec<(f64, Option<f64>)> {
    if per_point <= 1 {
        return points;
    }
    let mut spans = BTreeMap::<u64, (Sum, Sum)>::new();
    for (at_s, value) in points {
        let (at, values) = spans.entry(at_s as u64 / per_point).or_default();
        at.add(at_s);
        value.into_iter().for_each(|value| values.add(value));
    }
    let means = spans.into_values();
    means
        .filter_map(|(at, values)| Some((at.mean()?, values.mean())))
        .collect()
}

#[derive(Default)]
struct Sum {
    sum: f64,
    count: u32,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

/// Where the data lie, then what could not be seen.
fn notes(host: &HostSeries) -> Vec<String> {
    let mut notes: Vec<String> = host.data_dirs.iter().map(where_data_lie).collect();
    let not_seen = host.not_seen.iter();
    notes.extend(
        not_seen.map(|not_seen| format!("Not seen: {} ({}).", not_seen.what, not_seen.why)),
    );
    let mut once = Vec::new();
    for note in notes {
        if !once.contains(&note) {
            once.push(note);
        }
    }
    once
}

fn where_data_lie(dir: &DataDir) -> String {
    let kind = dir.file_system.as_deref().unwrap_or("unknown file system");
    match (dir.disks.as_slice(), &dir.why) {
        ([], Some(why)) => format!("No disk is known under the target's data: {why} ({kind})."),
        ([], None) => "No disk is known under the target's data.".to_owned(),
        (disks, _) => format!("The target's data lie on {} ({kind}).", disks.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_drawn_by_means_of_some_seconds() {
        let points: Vec<(f64, Option<f64>)> = (0..6)
            .map(|second| {
                (
                    f64::from(second) + 0.5,
                    (second != 5).then(|| f64::from(second)),
                )
            })
            .collect();
        assert_eq!(thinned(points.clone(), 1), points);
        assert_eq!(
            thinned(points, 2),
            [(1.0, Some(0.5)), (3.0, Some(2.5)), (5.0, Some(4.0))]
        );
    }

    #[test]
    fn a_time_without_change_is_a_line_and_not_a_slope() {
        let mut drawing = Drawing {
            lines: Vec::new(),
            seconds_per_point: 1,
        };
        let points = [(0_u64, 1_u64, 9.0), (1, 20, 0.0), (20, 21, 9.0)];
        drawing.spans(
            Panel::DiskBytes,
            "sda".to_owned(),
            &points,
            |(start, end, _)| (start * SECOND_NS, end * SECOND_NS),
            |(_, _, value)| Some(*value),
        );
        let expected = [
            (0.5, Some(9.0)),
            (1.5, Some(0.0)),
            (19.5, Some(0.0)),
            (20.5, Some(9.0)),
        ];
        assert_eq!(drawing.lines[0].points, expected);
    }
}
