//! The host and its processes over time, from what was seen at each look.

use std::collections::{BTreeMap, BTreeSet};

use super::device::{DiskPoint, NetworkPoint, disk_between, network_between};
use super::samples_by_thing::{SamplesByThing, Span};
use kgauge_results::run::{
    DataDir, DiskSample, Evidence, EvidenceKind, HostMemory, IdleTime, MissingEvidence,
    NetworkSample, NetworkSpeed, PressureSample, ProcessUsageSample, Resource, Subject,
};

/// What a host did during one repeat. Of a run that did not look, everything is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSeries {
    /// Processors that ran nothing.
    pub idle: Vec<IdlePoint>,
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

/// Processors that ran nothing, between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdlePoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// How many had nothing to do.
    pub idle_cores: f64,
    /// How many had nothing to do but wait for a disk; `None` where the kernel took some of it back.
    pub iowait_cores: Option<f64>,
    /// How many the hypervisor gave to somebody else.
    pub stolen_cores: f64,
}

/// Memory at one look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryPoint {
    /// When, in nanoseconds since the start of the repeat.
    pub at_ns: u64,
    /// What it was.
    pub memory: HostMemory,
}

/// One process over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessSeries {
    /// Whose.
    pub subject: Subject,
    /// Memory at each look: nanoseconds since the start of the repeat, bytes.
    pub resident_bytes: Vec<(u64, u64)>,
    /// What it did between two looks.
    pub points: Vec<ProcessPoint>,
}

/// What a process did between two looks, and what it held at the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Threads.
    pub threads: u64,
    /// Open files and sockets.
    pub open_files: Option<u64>,
    /// Pages that had to be read from a disk.
    pub major_faults_per_s: f64,
    /// What was read from storage for it.
    pub read_bytes_per_s: Option<f64>,
    /// What it gave to the page cache to be written.
    pub written_bytes_per_s: Option<f64>,
}

/// One disk over time.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSeries {
    /// Its name.
    pub disk: String,
    /// Whether a folder with the target's data lies on it.
    pub holds_data: bool,
    /// What it did.
    pub points: Vec<DiskPoint>,
}

/// One interface over time.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSeries {
    /// Its name.
    pub interface: String,
    /// How fast it is, if that is known.
    pub speed: Option<NetworkSpeed>,
    /// What went through it.
    pub points: Vec<NetworkPoint>,
}

/// Waits for one thing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct PressureSeries {
    /// What was waited for.
    pub resource: Resource,
    /// How much.
    pub points: Vec<PressurePoint>,
}

/// Shares of the time between two looks, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressurePoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// In which at least one task waited.
    pub some_share: f64,
    /// In which all tasks that had anything to do waited.
    pub full_share: Option<f64>,
}

/// The host during a repeat, from that repeat's evidence.
pub(super) fn series_of(evidence: &[&Evidence]) -> HostSeries {
    let mut host = HostSeries::default();
    let mut processes = BTreeMap::<&Subject, ProcessSeries>::new();
    let mut looks = SortedSamples::new();
    let mut speeds = BTreeMap::<&String, &NetworkSpeed>::new();
    let mut not_seen = BTreeSet::<(&String, &String)>::new();
    for seen in evidence {
        let Some(at_ns) = seen.at_ns else { continue };
        match &seen.kind {
            EvidenceKind::Idle(idle) => looks.idle.add((), at_ns, idle),
            EvidenceKind::HostMemory(memory) => host.memory.push(MemoryPoint {
                at_ns,
                memory: *memory,
            }),
            EvidenceKind::Memory { resident_bytes } => process(&mut processes, &seen.subject)
                .resident_bytes
                .push((at_ns, *resident_bytes)),
            EvidenceKind::Process(look) => looks.processes.add(&seen.subject, at_ns, look),
            EvidenceKind::Disk(look) => looks.disks.add(&look.disk, at_ns, look),
            EvidenceKind::Network(look) => looks.networks.add(&look.interface, at_ns, look),
            EvidenceKind::NetworkSpeed(speed) if speed.bits_per_s > 0 => {
                speeds.insert(&speed.interface, speed);
            }
            EvidenceKind::Pressure(look) => looks.pressure.add(look.resource, at_ns, look),
            EvidenceKind::DataDir(dir) => host.data_dirs.push(dir.clone()),
            // What brokers do not tell stands with what they tell.
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
    for (subject, points) in looks.processes.between(process_between) {
        process(&mut processes, subject).points = points;
    }
    host.processes = processes.into_values().collect();
    for process in &mut host.processes {
        process.resident_bytes.sort_by_key(|(at_ns, _)| *at_ns);
    }
    let idle = looks.idle.between(idle_between);
    host.idle = idle.flat_map(|(_, points)| points).collect();
    let data_dirs = host.data_dirs.iter();
    let data_disks: BTreeSet<&String> = data_dirs.flat_map(|dir| &dir.disks).collect();
    let disks = looks.disks.between(disk_between);
    host.disks = disks
        .map(|(disk, points)| DiskSeries {
            disk: disk.clone(),
            holds_data: data_disks.contains(disk),
            points,
        })
        .collect();
    host.networks = networks(looks.networks, &speeds);
    let pressure = looks.pressure.between(pressure_between);
    host.pressure = pressure
        .map(|(resource, points)| PressureSeries { resource, points })
        .collect();
    host
}

fn networks(
    looks: SamplesByThing<&String, &NetworkSample>,
    speeds: &BTreeMap<&String, &NetworkSpeed>,
) -> Vec<NetworkSeries> {
    let networks = looks.between(network_between);
    networks
        .map(|(interface, points)| NetworkSeries {
            interface: interface.clone(),
            speed: speeds.get(interface).map(|speed| (*speed).clone()),
            points,
        })
        .collect()
}

/// Looks by what they are at.
struct SortedSamples<'a> {
    idle: SamplesByThing<(), &'a IdleTime>,
    processes: SamplesByThing<&'a Subject, &'a ProcessUsageSample>,
    disks: SamplesByThing<&'a String, &'a DiskSample>,
    networks: SamplesByThing<&'a String, &'a NetworkSample>,
    pressure: SamplesByThing<Resource, &'a PressureSample>,
}

impl SortedSamples<'_> {
    fn new() -> Self {
        SortedSamples {
            idle: SamplesByThing::new(),
            processes: SamplesByThing::new(),
            disks: SamplesByThing::new(),
            networks: SamplesByThing::new(),
            pressure: SamplesByThing::new(),
        }
    }
}

fn process<'a, 'b>(
    processes: &'b mut BTreeMap<&'a Subject, ProcessSeries>,
    subject: &'a Subject,
) -> &'b mut ProcessSeries {
    processes.entry(subject).or_insert_with(|| ProcessSeries {
        subject: subject.clone(),
        resident_bytes: Vec::new(),
        points: Vec::new(),
    })
}

fn idle_between(span: Span, one: &&IdleTime, next: &&IdleTime) -> Option<IdlePoint> {
    Some(IdlePoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        idle_cores: span.share(one.idle_ns, next.idle_ns)?,
        // This one may go back by itself, says proc(5).
        iowait_cores: span.share(one.iowait_ns, next.iowait_ns),
        stolen_cores: span.share(one.stolen_ns, next.stolen_ns)?,
    })
}

fn process_between(
    span: Span,
    one: &&ProcessUsageSample,
    next: &&ProcessUsageSample,
) -> Option<ProcessPoint> {
    let per_s = |one: Option<u64>, next: Option<u64>| span.per_s(one?, next?);
    Some(ProcessPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        threads: next.threads,
        open_files: next.open_files,
        major_faults_per_s: span.per_s(one.major_faults, next.major_faults)?,
        read_bytes_per_s: per_s(one.read_bytes, next.read_bytes),
        written_bytes_per_s: per_s(one.written_bytes, next.written_bytes),
    })
}

fn pressure_between(
    span: Span,
    one: &&PressureSample,
    next: &&PressureSample,
) -> Option<PressurePoint> {
    let full = one.full_ns.zip(next.full_ns);
    Some(PressurePoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        some_share: span.share(one.some_ns, next.some_ns)?,
        full_share: full.and_then(|(one, next)| span.share(one, next)),
    })
}
