//! Which disks and interfaces are drawn: those that did most in all repeats of a trial together, so that a line has
//! every repeat.

use std::collections::BTreeMap;

use kgauge_analyze::series::{HostSeries, MetricPoint};
use kgauge_results::SECOND_NS;
use kgauge_results::metrics::MetricId;

use crate::format;

/// Disks, and interfaces, that are drawn at most.
const DEVICES_MAX: usize = 4;

/// What is drawn of a trial.
#[derive(Debug, Default, PartialEq)]
pub(in crate::view::fill) struct ChosenDevices {
    /// Disks: those with the target's data first, then by bytes.
    pub(super) disks: Vec<String>,
    /// Interfaces by bytes.
    pub(super) networks: Vec<String>,
    /// How many are not drawn.
    pub(super) notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Device {
    holds_data: bool,
    bytes: f64,
}

impl ChosenDevices {
    /// From what the machine did in each repeat.
    pub(in crate::view::fill) fn of<'a>(
        hosts: impl Iterator<Item = &'a HostSeries>,
    ) -> ChosenDevices {
        let mut disks = BTreeMap::<&str, Device>::new();
        let mut networks = BTreeMap::<&str, Device>::new();
        let bytes = |point: &MetricPoint, ways: [MetricId; 2]| {
            let per_s: f64 = ways.into_iter().filter_map(|way| point.get(way)).sum();
            let length_ns = point.end_ns.saturating_sub(point.start_ns);
            per_s * length_ns as f64 / SECOND_NS as f64
        };
        for host in hosts {
            for series in &host.disks {
                let disk = disks.entry(&series.disk).or_default();
                disk.holds_data |= series.holds_data;
                for point in &series.points {
                    disk.bytes +=
                        bytes(point, [MetricId::DiskReadBytes, MetricId::DiskWrittenBytes]);
                }
            }
            for series in &host.networks {
                let network = networks.entry(&series.interface).or_default();
                for point in &series.points {
                    network.bytes += bytes(point, [MetricId::ReceivedBytes, MetricId::SentBytes]);
                }
            }
        }
        let mut chosen = ChosenDevices::default();
        let names = ["other disk", "other disks"];
        chosen.disks = chosen.choose(disks, names);
        let names = ["other interface", "other interfaces"];
        chosen.networks = chosen.choose(networks, names);
        chosen
    }

    fn choose(&mut self, devices: BTreeMap<&str, Device>, [one, many]: [&str; 2]) -> Vec<String> {
        let is_any = |(_, device): &(&str, Device)| device.holds_data || device.bytes > 0.0;
        let mut devices: Vec<(&str, Device)> = devices.into_iter().filter(is_any).collect();
        devices.sort_by(|(_, one), (_, other)| {
            let by_data = other.holds_data.cmp(&one.holds_data);
            by_data.then(other.bytes.total_cmp(&one.bytes))
        });
        let (drawn, left_out) = devices.split_at(devices.len().min(DEVICES_MAX));
        if !left_out.is_empty() {
            let least = drawn.iter().map(|(_, device)| device.bytes);
            let least = least.fold(f64::INFINITY, f64::min);
            let why = match left_out.iter().all(|(_, device)| device.bytes <= least) {
                true => "with less traffic",
                false => "with less traffic or none of the target's data",
            };
            let count = format::plural(left_out.len() as u64, one, many);
            self.notes.push(format!("Omitted: {count} {why}."));
        }
        drawn.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::series::DiskSeries;

    use super::*;

    /// Disks that wrote these bytes in spans of this length.
    fn host(disks: &[(&str, f64, u64)]) -> HostSeries {
        let series = disks.iter().map(|(name, bytes, seconds)| DiskSeries {
            disk: (*name).to_owned(),
            holds_data: *name == "data",
            points: vec![MetricPoint {
                start_ns: 0,
                end_ns: seconds * SECOND_NS,
                means: BTreeMap::from([(MetricId::DiskWrittenBytes, bytes / *seconds as f64)]),
            }],
        });
        HostSeries {
            disks: series.collect(),
            ..HostSeries::default()
        }
    }

    #[test]
    fn devices_are_chosen_by_what_they_did_in_all_repeats_together() {
        let first = host(&[("a", 9.0, 1), ("b", 8.0, 1), ("c", 7.0, 1), ("d", 6.0, 9)]);
        let second = host(&[("d", 1.0, 1), ("e", 20.0, 9), ("f", 0.0, 1)]);
        let chosen = ChosenDevices::of([&first, &second].into_iter());
        assert_eq!(chosen.disks, ["e", "a", "b", "c"]);
        assert_eq!(chosen.notes, ["Omitted: 1 other disk with less traffic."]);
    }

    #[test]
    fn the_disk_with_the_data_is_drawn_whatever_the_others_did() {
        let disks = [("a", 9.0, 1), ("b", 8.0, 1), ("c", 7.0, 1), ("d", 6.0, 1)];
        let all = [disks.as_slice(), &[("data", 0.5, 1)]].concat();
        let chosen = ChosenDevices::of([&host(&all)].into_iter());
        assert_eq!(chosen.disks, ["data", "a", "b", "c"]);
        let note = "Omitted: 1 other disk with less traffic or none of the target's data.";
        assert_eq!(chosen.notes, [note]);
    }
}
