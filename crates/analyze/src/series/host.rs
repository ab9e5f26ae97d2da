//! The host and its processes over time, from what was seen at each look.

use std::collections::{BTreeMap, BTreeSet};

use super::metrics::{self, MetricPoint};
use super::samples_by_thing::SamplesByThing;
use kgauge_results::metrics::Readings;
use kgauge_results::run::{
    DataDir, Evidence, EvidenceKind, MissingEvidence, NetworkSpeed, Resource, Subject,
};

/// What a host did during one repeat. Of a run that did not look, everything is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSeries {
    /// Processors that ran nothing.
    pub idle: Vec<MetricPoint>,
    /// Memory.
    pub memory: Vec<MemoryPoint>,
    /// Each process.
    pub processes: Vec<ProcessSeries>,
    /// Each disk.
    pub disks: Vec<DiskSeries>,
    /// Each network interface.
    pub networks: Vec<NetworkSeries>,
    /// What tasks waited for.
    pub pressure: Vec<PressureSeries>,
    /// The folders of the target's data, and the disks under them.
    pub data_dirs: Vec<DataDir>,
    /// What could not be seen, each once.
    pub not_seen: Vec<MissingEvidence>,
    /// The same of brokers' own metrics.
    pub metrics_not_seen: Vec<MissingEvidence>,
}

/// Memory at one look.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPoint {
    /// When, in nanoseconds since the start of the repeat.
    pub at_ns: u64,
    /// What it was.
    pub values: Readings,
}

/// One process over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessSeries {
    /// Whose.
    pub subject: Subject,
    /// Memory at each look: nanoseconds since the start of the repeat, bytes.
    pub resident_bytes: Vec<(u64, u64)>,
    /// Its activity between two samples.
    pub points: Vec<MetricPoint>,
}

/// One disk over time.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSeries {
    /// Its name.
    pub disk: String,
    /// Whether a folder with the target's data lies on it.
    pub holds_data: bool,
    /// What it did.
    pub points: Vec<MetricPoint>,
}

/// One interface over time.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSeries {
    /// Its name.
    pub interface: String,
    /// How fast it is, if that is known.
    pub speed: Option<NetworkSpeed>,
    /// What went through it.
    pub points: Vec<MetricPoint>,
}

/// Waits for one thing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct PressureSeries {
    /// What was waited for.
    pub resource: Resource,
    /// How much.
    pub points: Vec<MetricPoint>,
}

/// A thing with separate metrics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Thing<'a> {
    Processors,
    Process(&'a Subject),
    Disk(&'a String),
    Network(&'a String),
    Pressure(Resource),
}

/// The host during a repeat, from that repeat's evidence.
pub(super) fn series_of(evidence: &[&Evidence]) -> HostSeries {
    let mut host = HostSeries::default();
    let mut resident = BTreeMap::<&Subject, Vec<(u64, u64)>>::new();
    let mut samples = SamplesByThing::new();
    let mut speeds = BTreeMap::<&String, &NetworkSpeed>::new();
    let mut not_seen = BTreeSet::<(&String, &String)>::new();
    for seen in evidence {
        let Some(at_ns) = seen.at_ns else { continue };
        match &seen.kind {
            EvidenceKind::Idle(idle) => samples.add(Thing::Processors, at_ns, &idle.values),
            EvidenceKind::HostMemory(memory) => host.memory.push(MemoryPoint {
                at_ns,
                values: memory.values.clone(),
            }),
            EvidenceKind::Memory { resident_bytes } => {
                let process = resident.entry(&seen.subject).or_default();
                process.push((at_ns, *resident_bytes));
            }
            EvidenceKind::Process(process) => {
                resident.entry(&seen.subject).or_default();
                samples.add(Thing::Process(&seen.subject), at_ns, &process.values);
            }
            EvidenceKind::Disk(disk) => {
                samples.add(Thing::Disk(&disk.disk), at_ns, &disk.values);
            }
            EvidenceKind::Network(network) => {
                samples.add(Thing::Network(&network.interface), at_ns, &network.values);
            }
            EvidenceKind::NetworkSpeed(speed) if speed.bits_per_s > 0 => {
                speeds.insert(&speed.interface, speed);
            }
            EvidenceKind::Pressure(pressure) => {
                samples.add(Thing::Pressure(pressure.resource), at_ns, &pressure.values);
            }
            EvidenceKind::DataDir(dir) => host.data_dirs.push(dir.clone()),
            // What brokers do not report is with what they report.
            EvidenceKind::NotSeen(_) if matches!(seen.subject, Subject::Cluster { .. }) => {}
            EvidenceKind::NotSeen(what) if not_seen.insert((&what.what, &what.why)) => {
                match what.is_of_metrics() {
                    true => host.metrics_not_seen.push(what.clone()),
                    false => host.not_seen.push(what.clone()),
                }
            }
            _ => {}
        }
    }
    host.memory.sort_by_key(|point| point.at_ns);
    host.processes = resident.into_iter().map(process_series).collect();
    host.add_points(samples, &speeds);
    host
}

fn process_series((subject, mut resident_bytes): (&Subject, Vec<(u64, u64)>)) -> ProcessSeries {
    resident_bytes.sort_by_key(|(at_ns, _)| *at_ns);
    ProcessSeries {
        subject: subject.clone(),
        resident_bytes,
        points: Vec::new(),
    }
}

impl HostSeries {
    fn add_points(
        &mut self,
        samples: SamplesByThing<Thing<'_>, &Readings>,
        speeds: &BTreeMap<&String, &NetworkSpeed>,
    ) {
        for (thing, points) in samples.between(metrics::point) {
            match thing {
                Thing::Processors => self.idle = points,
                Thing::Process(subject) => {
                    let mut processes = self.processes.iter_mut();
                    if let Some(process) = processes.find(|one| one.subject == *subject) {
                        process.points = points;
                    }
                }
                Thing::Disk(disk) => self.disks.push(DiskSeries {
                    disk: disk.clone(),
                    holds_data: self.data_dirs.iter().any(|dir| dir.disks.contains(disk)),
                    points,
                }),
                Thing::Network(interface) => self.networks.push(NetworkSeries {
                    interface: interface.clone(),
                    speed: speeds.get(interface).map(|speed| (*speed).clone()),
                    points,
                }),
                Thing::Pressure(resource) => {
                    self.pressure.push(PressureSeries { resource, points });
                }
            }
        }
    }
}
