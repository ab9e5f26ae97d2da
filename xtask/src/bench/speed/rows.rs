//! The rows of the table: what is run for each, by whom, and what is asked.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::super::compare::BenchPlan;
use super::super::contender::{BUFFER_BYTES, next_random};
use super::bare::{self, Traffic};
use super::peers::{BenchLoad, PeerPrograms, PeerRun};
use super::{SpeedFigures, SpeedRow};
use crate::kafka::Job;

pub(super) const KGAUGE: &str = "kgauge";
const TOOL: &str = "Kafka's tool";
const GO: &str = "franz-go";
const LIBRDKAFKA: &str = "librdkafka";
/// The same traffic without any client: what the kernel takes for it.
const BARE: &str = "bare sockets";
/// The same with a server that is busy with each request for a while, so that the client sleeps in between.
const BARE_BUSY: &str = "bare, busy 50 us";

const KEYED: &str = "keys, by schedule, idempotent: CPU a record";
const FULL: &str = "full speed: records a second";
const FULL_CPU: &str = "full speed: CPU a record";
const LZ4: &str = "lz4, half of the bytes repeat: CPU a record";
const READ: &str = "read with CRC check: CPU a record";
const SINGLE: &str = "one record a request: CPU a request";
const LATE_1K: &str = "p99 of schedule error at 1,000/s";
const LATE_10K: &str = "p99 of schedule error at 10,000/s";
const LATE_100K: &str = "p99 of schedule error at 100,000/s";
const MEMORY: &str = "memory, 25 producers";
const GROWTH: &str = "memory growth, 10^6 to most records";
const FIRST: &str = "start to first ack, drop-in tool";

const fn row(name: &'static str, unit: &'static str, at_most: Option<f64>) -> SpeedRow {
    SpeedRow {
        name,
        unit,
        at_most,
        times: &[],
        is_rate: false,
    }
}

pub(super) const ROWS: &[SpeedRow] = &[
    SpeedRow {
        times: &[(TOOL, 25.0), (GO, 4.0), (LIBRDKAFKA, 7.0), (BARE, 0.0)],
        ..row(KEYED, "ns", Some(60.0))
    },
    SpeedRow {
        times: &[(TOOL, 3.0)],
        is_rate: true,
        ..row(FULL, "k/s", None)
    },
    SpeedRow {
        times: &[(TOOL, 25.0), (GO, 4.0), (LIBRDKAFKA, 7.0)],
        ..row(FULL_CPU, "ns", None)
    },
    SpeedRow {
        times: &[(TOOL, 5.0)],
        ..row(LZ4, "ns", None)
    },
    SpeedRow {
        times: &[(TOOL, 7.0), (BARE, 0.0)],
        ..row(READ, "ns", Some(45.0))
    },
    SpeedRow {
        times: &[(BARE, 0.0), (BARE_BUSY, 0.0)],
        ..row(SINGLE, "us", Some(8.0))
    },
    row(LATE_1K, "us", Some(50.0)),
    row(LATE_10K, "us", Some(50.0)),
    row(LATE_100K, "us", Some(50.0)),
    row(MEMORY, "MiB", Some(200.0)),
    row(GROWTH, "MiB", Some(8.0)),
    row(FIRST, "ms", Some(100.0)),
];

/// What starting costs, taken off: the CPU of a run of so few records.
const START_RECORDS: u64 = 1_000;

const PLAIN: BenchLoad = BenchLoad {
    records: 0,
    value_bytes: 100,
    batch_bytes: 131_072,
    linger_ms: 5,
    is_lz4: false,
    keys: 0,
    rate: 0,
};

/// By a schedule that no generator keeps up with: it includes all costs of pacing except waiting, which would count as
/// CPU for generators that spin. Kafka's tool has no keys.
const PACED: BenchLoad = BenchLoad {
    keys: 10_000,
    rate: 10_000_000,
    ..PLAIN
};

pub(super) fn run(
    peers: &PeerPrograms<'_>,
    kgauge: &Path,
    plan: BenchPlan,
    to: &mut SpeedFigures,
) -> Result<()> {
    let with = |load: BenchLoad| BenchLoad {
        records: plan.records,
        ..load
    };
    let lz4 = BenchLoad {
        is_lz4: true,
        ..PLAIN
    };
    let payload = peers.folder.join("payload.txt");
    std::fs::write(&payload, half_repeats())?;
    for (load, payload, cpu, rate) in [
        (with(PACED), None, KEYED, None),
        (with(PLAIN), None, FULL_CPU, Some(FULL)),
        (with(lz4), Some(payload.as_path()), LZ4, None),
    ] {
        sending(peers, plan, load, payload, (cpu, rate), to)?;
    }
    reading(peers, plan, to)?;
    singles(peers, plan, to)?;
    bare_sockets(plan, to)?;
    lateness(peers, plan, to)?;
    memory(peers, plan, to)?;
    for round in 1..=plan.rounds.max(3) {
        to.add(FIRST, KGAUGE, round, first_ack(peers, kgauge)?);
    }
    Ok(())
}

/// All who send, one after the other, each round beginning with another one.
fn sending(
    peers: &PeerPrograms<'_>,
    plan: BenchPlan,
    load: BenchLoad,
    payload: Option<&Path>,
    (cpu, rate): (&'static str, Option<&'static str>),
    to: &mut SpeedFigures,
) -> Result<()> {
    const WHO: [&str; 4] = [KGAUGE, TOOL, GO, LIBRDKAFKA];
    let send = |who: &str, load: BenchLoad| -> Result<Option<PeerRun>> {
        match who {
            KGAUGE => Ok(Some(peers.engine(&scenario(load))?.0)),
            TOOL => Ok(Some(peers.kafka_tool(load, payload)?)),
            GO => peers.franz_go(load),
            _ => peers.librdkafka(load),
        }
    };
    let few = BenchLoad {
        records: START_RECORDS,
        ..load
    };
    let mut starts = Vec::new();
    for who in WHO {
        starts.push(send(who, few)?.map_or(Duration::ZERO, |ran| ran.cpu));
    }
    for round in 1..=plan.rounds {
        for turn in 0..WHO.len() {
            let at = (turn + usize::try_from(round)?) % WHO.len();
            let Some(ran) = send(WHO[at], load)? else {
                continue;
            };
            let spent = ran.cpu.saturating_sub(starts[at]);
            let each = spent.as_nanos() as f64 / ran.records.max(1) as f64;
            to.add(cpu, WHO[at], round, each);
            if let Some(rate) = rate {
                to.add(rate, WHO[at], round, ran.records as f64 / ran.seconds / 1e3);
            }
        }
    }
    Ok(())
}

/// With the receive buffer that kafka-consumer-perf-test has by default, which is not the consumer's.
fn reading(peers: &PeerPrograms<'_>, plan: BenchPlan, to: &mut SpeedFigures) -> Result<()> {
    let load = BenchLoad {
        records: plan.records,
        ..PLAIN
    };
    let topic = peers.filled(load)?;
    let read = |records: u64| {
        format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6, preload: {{records: {records}, \
             record: {{size: 100 B}}}}}}\nflows:\n  - {{name: r, kind: consume, records: all, settings: {{receive.buffer.bytes: 2 MiB}}}}\n\
             stages: {{warm-up: 0 s, hold: 600 s}}\n"
        )
    };
    let start = peers.kafka_consumer(topic, START_RECORDS)?.cpu;
    for round in 1..=plan.rounds {
        // The preload is the same process's: only the load's own CPU counts here.
        let (ran, report) = peers.engine(&read(plan.records))?;
        let cpu_ns = report["cpu_ns"].as_f64().unwrap_or(f64::NAN);
        to.add(READ, KGAUGE, round, cpu_ns / ran.records.max(1) as f64);
        let theirs = peers.kafka_consumer(topic, plan.records)?;
        let spent = theirs.cpu.saturating_sub(start);
        let each = spent.as_nanos() as f64 / theirs.records.max(1) as f64;
        to.add(READ, TOOL, round, each);
    }
    peers.tools.delete(topic)?.run()?.success()?;
    Ok(())
}

/// Each record is a batch, each batch a request.
fn singles(peers: &PeerPrograms<'_>, plan: BenchPlan, to: &mut SpeedFigures) -> Result<()> {
    let records = (plan.records / 25).max(10_000);
    let text = format!(
        "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  - {{name: w, kind: produce, \
         shape: max, records: {records}, record: {{size: 100 B}}, settings: {{batch.size: 0, linger.ms: \
         0}}}}\nstages: {{warm-up: 0 s, hold: none}}\n"
    );
    for round in 1..=plan.rounds {
        let (_, report) = peers.engine(&text)?;
        let number = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
        let cpu_ns = number("cpu_ns") / number("requests");
        to.add(SINGLE, KGAUGE, round, cpu_ns / 1e3);
    }
    Ok(())
}

/// What the kernel takes for the bytes of the rows above.
fn bare_sockets(plan: BenchPlan, to: &mut SpeedFigures) -> Result<()> {
    // Records of 100 bytes with a key of eight in a batch of 128 KiB: 117 bytes each, as encoded.
    const KEYED_RECORDS: f64 = 131_072.0 / 117.0;
    // Records without a key in a response of a mebibyte: 108 bytes each.
    const READ_RECORDS: f64 = 1_048_576.0 / 108.0;
    let traffic = |requests: u64, request_bytes: usize, answer_bytes: usize| Traffic {
        requests,
        request_bytes,
        answer_bytes,
        in_flight: 5,
        busy: Duration::ZERO,
    };
    let batches = (plan.records / 1_120).max(1_000);
    let singles = (plan.records / 25).max(10_000);
    for round in 1..=plan.rounds {
        let keyed = bare::cpu_ns_each(traffic(batches, 131_072, 60))?;
        to.add(KEYED, BARE, round, keyed / KEYED_RECORDS);
        let read = traffic(batches / 8, 100, 1_048_576);
        let read = bare::cpu_ns_each(Traffic {
            in_flight: 1,
            ..read
        })?;
        to.add(READ, BARE, round, read / READ_RECORDS);
        let single = traffic(singles, 260, 60);
        to.add(SINGLE, BARE, round, bare::cpu_ns_each(single)? / 1e3);
        let busy = bare::cpu_ns_each(Traffic {
            busy: Duration::from_micros(50),
            ..single
        })?;
        to.add(SINGLE, BARE_BUSY, round, busy / 1e3);
    }
    Ok(())
}

fn lateness(peers: &PeerPrograms<'_>, plan: BenchPlan, to: &mut SpeedFigures) -> Result<()> {
    for (name, rate) in [(LATE_1K, 1_000), (LATE_10K, 10_000), (LATE_100K, 100_000)] {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  - {{name: w, kind: produce, \
             shape: {{constant: {rate}/s}}, record: {{size: 100 B}}}}\nstages: {{warm-up: 1 s, hold: 4 s}}\n"
        );
        for round in 1..=plan.rounds {
            let (_, report) = peers.engine(&text)?;
            let p99_ns = report["lag_p99_ns"].as_f64().unwrap_or(f64::NAN);
            to.add(name, KGAUGE, round, p99_ns / 1e3);
        }
    }
    Ok(())
}

fn memory(peers: &PeerPrograms<'_>, plan: BenchPlan, to: &mut SpeedFigures) -> Result<()> {
    let mib = |report: &serde_json::Value| {
        report["memory_bytes"].as_f64().unwrap_or(f64::NAN) / 1_048_576.0
    };
    let few = BenchLoad {
        records: 1_000_000,
        ..PLAIN
    };
    let many = BenchLoad {
        records: plan.records.saturating_mul(20),
        ..PLAIN
    };
    let (_, few) = peers.engine(&scenario(few))?;
    let (_, many) = peers.engine(&scenario(many))?;
    to.add(GROWTH, KGAUGE, 1, (mib(&many) - mib(&few)).max(0.0));
    let crowd = scenario(BenchLoad {
        records: plan.records,
        ..PLAIN
    });
    // Kafka's default of buffer.memory, which they do not fill.
    let crowd = crowd
        .replace("kind: produce", "kind: produce, producers: 25")
        .replace(
            &format!("buffer.memory: {BUFFER_BYTES}, "),
            "buffer.memory: 4194304, ",
        );
    let (_, report) = peers.engine(&crowd)?;
    to.add(MEMORY, KGAUGE, 1, mib(&report));
    Ok(())
}

/// From the start of the process to its end, which is after the ack.
fn first_ack(peers: &PeerPrograms<'_>, kgauge: &Path) -> Result<f64> {
    const TOPIC: &str = "bench-first";
    peers.tools.create(TOPIC, 1)?.run()?.success()?;
    let mut command = Command::new(kgauge);
    command
        .args(["kafka-producer-perf-test", "--topic", TOPIC])
        .args(["--num-records", "1", "--record-size", "100"])
        .args(["--throughput", "-1", "--bootstrap-server"])
        .arg(&peers.tools.servers);
    let start = Instant::now();
    let finished = Job::new("one record".to_owned(), command, Duration::from_secs(60)).run()?;
    let took = start.elapsed().min(finished.took);
    let finished = finished.success()?;
    ensure!(
        finished.stdout.starts_with("1 records sent"),
        "{}",
        finished.stdout
    );
    peers.tools.delete(TOPIC)?.run()?.success()?;
    Ok(took.as_secs_f64() * 1e3)
}

/// A load as the engine reads it.
fn scenario(load: BenchLoad) -> String {
    let shape = match load.rate {
        0 => "max".to_owned(),
        rate => format!("{{constant: {rate}/s}}"),
    };
    let key = match load.keys {
        0 => String::new(),
        keys => format!(", key: {{uniform: {{keys: {keys}, size: 8 B}}}}"),
    };
    let compressibility = if load.is_lz4 {
        ", compressibility: 2"
    } else {
        ""
    };
    format!(
        "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6}}\nflows:\n  - {{name: w, kind: produce, \
         shape: {shape}, records: {}, record: {{size: {} B{key}{compressibility}}}, settings: {{batch.size: {}, \
         linger.ms: {}, buffer.memory: {BUFFER_BYTES}, compression.type: {}}}}}\n\
         stages: {{warm-up: 0 s, hold: none, drain: 60 s}}\n",
        load.records,
        load.value_bytes,
        load.batch_bytes,
        load.linger_ms,
        load.codec()
    )
}

/// Values for Kafka's tool of which about half is the same in each, 100 bytes a line.
fn half_repeats() -> String {
    let mut text = String::new();
    let mut state = 1;
    for _ in 0..1_000 {
        for at in 0..100_u32 {
            let random = u32::try_from(next_random(&mut state) % 64).unwrap_or(0);
            let letter = if at % 64 < 32 { random } else { at % 26 };
            text.push(char::from(b'0' + u8::try_from(letter).unwrap_or(0)));
        }
        text.push('\n');
    }
    text
}
