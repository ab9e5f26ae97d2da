//! Verified loads with faults: many records on the embedded cluster, and Apache Kafka with every client.

use std::time::Duration;

use anyhow::{Context, Result};

use super::verified_run::CheckedRun;
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};

/// What the check of a billion records may take.
const MEMORY_MAX: u64 = 1 << 30;
const RATE_MIN: f64 = 1e6;

/// Disk for a record on all three nodes, with room for what is compacted and kept free.
const DISK_BYTES_PER_RECORD: u64 = 200;

/// The slowest load, for the time limit only.
const RECORDS_PER_S_MIN: u64 = 50_000;

/// What starts, drains and checks may take besides a load.
const OTHER_TIME_MAX: Duration = Duration::from_secs(3_600);

/// Ten million records in half an hour.
const KAFKA_RATE: u32 = 5_556;

const KAFKA: &str = "kafka:4.3.1,brokers=3";

/// Length of the load with each client.
const DRIVER_MINUTES: u32 = 3;

/// Many records on the embedded cluster while a machine fails every 20 s.
pub(super) fn volume(kgauge: &Kgauge<'_>, records: u64) -> Result<bool> {
    let stat = rustix::fs::statvfs(kgauge.folder)?;
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    let fitting = (free_bytes / DISK_BYTES_PER_RECORD).max(1);
    let repeats = records.div_ceil(fitting);
    let per_repeat = records.div_ceil(repeats);
    remark(&format!(
        "{repeats} repeats of {per_repeat} records, {} GB free",
        free_bytes / 1_000_000_000
    ));
    let scenario = format!(
        "\
kgauge: 1
name: volume
question: Is a record lost among very many while machines fail?
target: {{brokers: 3}}
topic: {{partitions: 12, replication: 3, config: {{min.insync.replicas: 2}}}}
flows:
  - name: writers
    kind: produce
    producers: 4
    shape: max
    records: {per_repeat}
    record: {{size: 40 B}}
    settings: {{acks: all, batch.size: 64 KiB, delivery.timeout.ms: 120000}}
faults: [{{at: 10 s, node: random, crash: true, restart-after: 4 s, every: 20 s}}]
stages: {{warm-up: 0 s, hold: none, drain: 120 s}}
verify: true
repeats: {repeats}
"
    );
    let time_max = Duration::from_secs(records / RECORDS_PER_S_MIN) + OTHER_TIME_MAX;
    let target = ["--target", "embedded:3"];
    let run = CheckedRun::of(kgauge, ("volume", &scenario), &target, time_max)?;
    let is_good = run.print("volume")?;
    let (is_small, rate) = (run.peak_bytes <= MEMORY_MAX, run.figures()?.rate());
    for (is_kept, goal) in [
        (is_small, "at most 1 GiB"),
        (rate >= RATE_MIN, "at least 1 M records/s"),
    ] {
        print_line(&format!("{goal}: {}", if is_kept { "yes" } else { "NO" }));
    }
    Ok(is_good && is_small && rate >= RATE_MIN)
}

/// A load on Apache Kafka with a fault every 20 s.
fn faulty_load(minutes: u32, seed: u64) -> String {
    format!(
        "\
kgauge: 1
name: faults
question: Is a record lost on Apache Kafka while machines, processes and networks fail?
target: {{brokers: 3}}
topic: {{partitions: 6, replication: 3, config: {{min.insync.replicas: 2}}}}
flows:
  - name: writers
    kind: produce
    producers: 3
    shape: {{constant: {KAFKA_RATE}/s}}
    record: {{size: 100 B}}
    settings: {{acks: all, delivery.timeout.ms: 300000}}
  - {{name: readers, kind: consume, consumers: 2, group: true}}
faults: {{random: {{seed: {seed}, kinds: [kill, crash, pause, cut, stop], every: 20 s}}}}
stages: {{warm-up: 5 s, warm-up-limit: 5 s, hold: {minutes} min, drain: 300 s}}
verify: true
repeats: 1
"
    )
}

fn on_kafka(
    kgauge: &Kgauge<'_>,
    (name, driver): (&str, &str),
    minutes: u32,
    seed: u64,
) -> Result<bool> {
    let scenario = faulty_load(minutes, seed);
    let arguments = ["--target", KAFKA, "--driver", driver];
    let time_max = Duration::from_secs(60 * u64::from(minutes)) + OTHER_TIME_MAX;
    let run = CheckedRun::of(kgauge, (name, &scenario), &arguments, time_max);
    run.with_context(|| format!("driver {driver}"))?.print(name)
}

/// Half an hour, unless the user wants another length.
pub(super) fn kafka(kgauge: &Kgauge<'_>, minutes: u32, seed: u64) -> Result<bool> {
    on_kafka(kgauge, ("kafka", "kgauge"), minutes, seed)
}

/// The same load with each client, one after the other.
pub(super) fn drivers(kgauge: &Kgauge<'_>, seed: u64) -> Result<bool> {
    let mut is_good = true;
    for driver in ["kgauge", "librdkafka", "java"] {
        is_good &= on_kafka(kgauge, (driver, driver), DRIVER_MINUTES, seed)?;
    }
    Ok(is_good)
}
