//! The machine over time: from lines of evidence, old, new and hostile, to series with known answers.

use std::io::Write;

use kgauge_analyze::Series;
use kgauge_analyze::series::HostSeries;
use kgauge_results::RunRead;
use kgauge_results::metrics::{MetricId, Readings};
use kgauge_results::run::{
    DataDir, DiskSample, Evidence, EvidenceKind, HostMemory, IdleTime, MissingEvidence,
    NetworkSample, PressureSample, ProcessUsageSample, RepeatKey, Resource, SpeedSource, Subject,
};

use crate::made::{CLOSED, MS_NS, Made, SECOND_NS, closed, reader};

const KEY: RepeatKey = RepeatKey {
    trial: 0,
    repeat: 0,
};

fn made() -> Made {
    let made = Made::begin(CLOSED);
    made.repeat(0, |flow, recorder| match flow {
        0 => closed(recorder),
        _ => reader(recorder),
    });
    made
}

fn see(made: &Made, second: u64, subject: Subject, kind: EvidenceKind) {
    let evidence = Evidence {
        at_unix_ms: 1_000 + second * 1_000,
        repeat: Some(KEY),
        at_ns: Some(second * SECOND_NS),
        subject,
        kind,
    };
    made.folder.evidence().write(&evidence).unwrap();
}

fn host_of(run: &RunRead) -> HostSeries {
    assert!(run.defects.is_empty(), "{:?}", run.defects);
    Series::of(run, 0).repeats[0].host.clone()
}

/// A second in which the disk wrote 10 MB in 100 writes of 2 ms each, and flushed 5 times for 30 ms.
fn disk(second: u64) -> EvidenceKind {
    EvidenceKind::Disk(DiskSample {
        disk: "vda".to_owned(),
        values: Readings::from([
            (MetricId::DiskReads, 7),
            (MetricId::DiskWrites, 100 * second),
            (MetricId::DiskWrittenBytes, 10_000_000 * second),
            (MetricId::DiskWriteTime, 200 * MS_NS * second),
            (MetricId::DiskBusy, 150 * MS_NS * second),
            (MetricId::DiskQueued, 250 * MS_NS * second),
            (MetricId::DiskFlushes, 5 * second),
            (MetricId::DiskFlushTime, 30 * MS_NS * second),
        ]),
    })
}

#[test]
fn what_disks_did_is_told_by_rates_means_and_shares() {
    let mut made = made();
    let data = DataDir {
        path: "/data".to_owned(),
        disks: vec!["vda".to_owned()],
        ..DataDir::default()
    };
    let target = Subject::Target { broker: None };
    see(&made, 0, target, EvidenceKind::DataDir(data));
    for second in 0..3 {
        see(&made, second, Subject::Host, disk(second));
        let idle = DiskSample {
            disk: "sdb".to_owned(),
            values: Readings::from([]),
        };
        see(&made, second, Subject::Host, EvidenceKind::Disk(idle));
    }
    let host = host_of(&made.end());
    let names: Vec<(&str, bool)> = host
        .disks
        .iter()
        .map(|series| (series.disk.as_str(), series.holds_data))
        .collect();
    assert_eq!(names, [("sdb", false), ("vda", true)]);
    assert_eq!(host.disks[1].points.len(), 2);
    for point in &host.disks[1].points {
        assert_eq!(point.end_ns - point.start_ns, SECOND_NS);
        assert_eq!(point.get(MetricId::DiskWrittenBytes), Some(10_000_000.0));
        assert_eq!(point.get(MetricId::DiskWrites), Some(100.0));
        assert_eq!(point.get(MetricId::DiskWriteTime), Some(2_000_000.0));
        let read = point.get(MetricId::DiskReadTime);
        assert_eq!(read, None, "there were no reads");
        assert_eq!(point.get(MetricId::DiskFlushTime), Some(6_000_000.0));
        assert_eq!(point.get(MetricId::DiskBusy), Some(0.15));
        assert_eq!(point.get(MetricId::DiskQueued), Some(0.25));
    }
}

#[test]
fn memory_network_and_waits_have_their_series() {
    let mut made = made();
    for second in 0..3 {
        let host = |kind| see(&made, second, Subject::Host, kind);
        host(EvidenceKind::HostMemory(HostMemory {
            values: Readings::from([(MetricId::MemoryDirty, 100 * second)]),
        }));
        host(EvidenceKind::Network(NetworkSample {
            interface: "lo".to_owned(),
            values: Readings::from([
                (MetricId::ReceivedBytes, 1_000 * second),
                (MetricId::SentPackets, 3 * second),
                (MetricId::ReceivedDrops, second),
                (MetricId::SentDrops, second),
            ]),
        }));
        host(EvidenceKind::Pressure(PressureSample {
            resource: Resource::Io,
            values: Readings::from([
                (MetricId::PressureSome, 400 * MS_NS * second),
                (MetricId::PressureFull, 100 * MS_NS * second),
            ]),
        }));
        host(EvidenceKind::Idle(IdleTime {
            values: Readings::from([
                (MetricId::CpuIdle, SECOND_NS * second / 2),
                (MetricId::CpuIowait, 2 - second),
                (MetricId::CpuStolen, SECOND_NS * second / 4),
            ]),
        }));
        host(EvidenceKind::NotSeen(MissingEvidence {
            what: "waits for memory".to_owned(),
            why: "no such file".to_owned(),
        }));
    }
    let host = host_of(&made.end());
    let dirty: Vec<_> = host
        .memory
        .iter()
        .map(|at| at.values[&MetricId::MemoryDirty])
        .collect();
    assert_eq!(dirty, [0, 100, 200]);
    let network = &host.networks[0].points[1];
    assert_eq!(network.get(MetricId::ReceivedBytes), Some(1_000.0));
    assert_eq!(network.get(MetricId::SentPackets), Some(3.0));
    assert_eq!(network.get(MetricId::ReceivedDrops), Some(1.0));
    let pressure = &host.pressure[0];
    assert_eq!(pressure.resource, Resource::Io);
    assert_eq!(pressure.points[0].get(MetricId::PressureSome), Some(0.4));
    assert_eq!(pressure.points[0].get(MetricId::PressureFull), Some(0.1));
    let idle = |metric| host.idle[0].get(metric);
    assert_eq!(idle(MetricId::CpuIdle), Some(0.5));
    assert_eq!(idle(MetricId::CpuStolen), Some(0.25));
    assert_eq!(idle(MetricId::CpuIowait), None, "it went back");
    assert_eq!(host.not_seen.len(), 1, "reported once");
}

#[test]
fn processes_have_their_series() {
    let mut made = made();
    for second in 0..3 {
        let target = |kind| see(&made, second, Subject::Target { broker: Some(2) }, kind);
        target(EvidenceKind::Memory {
            resident_bytes: 4096 * second,
        });
        target(EvidenceKind::Process(ProcessUsageSample {
            values: Readings::from([
                (MetricId::ProcessThreads, 40 + second),
                (MetricId::ProcessMajorFaults, 5 * second),
                (MetricId::ProcessWrittenBytes, 8_000 * second),
            ]),
        }));
    }
    let host = host_of(&made.end());
    let process = &host.processes[0];
    assert_eq!(process.subject, Subject::Target { broker: Some(2) });
    assert_eq!(process.resident_bytes[2], (2 * SECOND_NS, 8192));
    let point = &process.points[1];
    assert_eq!(point.get(MetricId::ProcessThreads), Some(42.0));
    assert_eq!(point.get(MetricId::ProcessMajorFaults), Some(5.0));
    assert_eq!(point.get(MetricId::ProcessWrittenBytes), Some(8_000.0));
    let read = point.get(MetricId::ProcessReadBytes);
    assert_eq!(read, None, "the kernel did not tell");
}

#[test]
fn interfaces_have_the_speed_that_was_told_of_them_and_others_have_none() {
    let mut made = made();
    for second in 0..2 {
        for (interface, bytes) in [("eth0", 1_000), ("lo", 5)] {
            let look = NetworkSample {
                interface: interface.to_owned(),
                values: Readings::from([(MetricId::SentBytes, bytes * second)]),
            };
            see(&made, second, Subject::Host, EvidenceKind::Network(look));
        }
    }
    let path = made.dir().join("evidence.jsonl");
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    // Of a newer kgauge that knows more of whom to ask, and of one that knows nothing.
    for fields in [
        r#""interface":"eth0","bits_per_s":10000000000,"told_by":"switch","lanes":4"#,
        r#""interface":"lo","bits_per_s":0,"told_by":"kernel""#,
    ] {
        let line = format!(
            r#"{{"at_unix_ms":1,"repeat":{{"trial":0,"repeat":0}},"at_ns":0,"subject":"host","evidence":"network-speed",{fields}}}"#
        );
        writeln!(file, "{line}").unwrap();
    }
    drop(file);
    let host = host_of(&made.end());
    let speeds: Vec<(&str, Option<u64>)> = host
        .networks
        .iter()
        .map(|one| {
            let speed = one.speed.as_ref();
            (one.interface.as_str(), speed.map(|speed| speed.bits_per_s))
        })
        .collect();
    assert_eq!(speeds, [("eth0", Some(10_000_000_000)), ("lo", None)]);
    let speed = host.networks[0].speed.as_ref().unwrap();
    assert_eq!(speed.told_by, SpeedSource::Unknown);
    assert!(!speed.is_half_duplex);
}

#[test]
fn a_folder_from_before_there_was_any_of_this_has_empty_series() {
    let mut made = made();
    assert_eq!(host_of(&made.end()), HostSeries::default());
}

#[test]
fn lines_are_read_as_they_were_written_and_those_of_a_newer_kgauge_are_passed_over() {
    let mut made = made();
    let path = made.dir().join("evidence.jsonl");
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    let lines = [
        r#"{"at_unix_ms":1,"repeat":{"trial":0,"repeat":0},"at_ns":0,"subject":"host","evidence":"pressure","resource":"io","some_ns":5}"#,
        r#"{"at_unix_ms":1,"repeat":{"trial":0,"repeat":0},"at_ns":1,"subject":"host","evidence":"pressure","resource":"patience","some_ns":5}"#,
        r#"{"at_unix_ms":1,"repeat":{"trial":0,"repeat":0},"at_ns":1,"subject":"host","evidence":"host-memory","cached_bytes":9}"#,
        r#"{"at_unix_ms":1,"repeat":{"trial":0,"repeat":0},"at_ns":1,"subject":"host","evidence":"temperature","celsius":60}"#,
        r#"{"at_unix_ms":1,"repeat":{"trial":0,"repeat":0},"at_ns":1,"subject":"generator","evidence":"observing","looks":3,"cpu_ns":1,"span_ns":2}"#,
    ];
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    let run = made.end();
    let tail: Vec<&EvidenceKind> = run.evidence.iter().rev().map(|seen| &seen.kind).collect();
    assert!(matches!(tail[0], EvidenceKind::Observing { looks: 3, .. }));
    assert_eq!(*tail[1], EvidenceKind::Unknown);
    let host = host_of(&run);
    assert_eq!(host.memory[0].values[&MetricId::MemoryCached], 9);
    assert_eq!(host.pressure.len(), 2, "one of them unknown");
}

#[test]
fn numbers_at_the_edge_of_their_type_do_not_overflow() {
    let mut made = made();
    for (second, count) in [(0, 0), (1, u64::MAX), (2, 3), (u64::MAX / SECOND_NS, 9)] {
        let kind = EvidenceKind::Disk(DiskSample {
            disk: "vda".to_owned(),
            values: Readings::from([
                (MetricId::DiskReads, count),
                (MetricId::DiskReadTime, count),
                (MetricId::DiskBusy, count),
            ]),
        });
        see(&made, second, Subject::Host, kind);
        let kind = EvidenceKind::Network(NetworkSample {
            interface: "lo".to_owned(),
            values: Readings::from([
                (MetricId::ReceivedDrops, count),
                (MetricId::SentDrops, count),
            ]),
        });
        see(&made, second, Subject::Host, kind);
    }
    let host = host_of(&made.end());
    assert_eq!(host.disks[0].points.len(), 2, "one counter went back");
    let drops = host.networks[0].points[0].get(MetricId::SentDrops);
    assert_eq!(drops, Some(u64::MAX as f64));
}
