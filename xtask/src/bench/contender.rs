//! The load generators that are compared: each is started with the same settings, and its CPU time is measured.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::kafka::{FinishedJob, Job, KafkaScript, Tools, output};
use crate::processes::cpu_of_ended_children;

/// Settings of all contenders; the engine's example has them built in but for the first two.
pub(super) const VALUE_BYTES: u64 = 100;
pub(super) const BATCH_BYTES: u64 = 131_072;
pub(super) const LINGER_MS: u64 = 5;
pub(super) const BUFFER_BYTES: u64 = 64 << 20;
pub(super) const PARTITIONS: u32 = 6;

/// Payloads to choose from for the tool that does not make its own.
const PAYLOADS: u32 = 1_000;

const TOPIC: &str = "bench";
const TIME_MAX: Duration = Duration::from_secs(600);

/// Kafka's `acks`. With `all` the producers are idempotent, with `1` they are not: Kafka's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BenchAcks {
    All,
    Leader,
}

impl BenchAcks {
    pub(super) const EACH: [BenchAcks; 2] = [BenchAcks::All, BenchAcks::Leader];

    /// As Kafka writes it.
    pub(super) fn word(self) -> &'static str {
        match self {
            BenchAcks::All => "all",
            BenchAcks::Leader => "1",
        }
    }
}

/// A load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Contender {
    /// kgauge's load engine.
    Engine,
    /// Kafka's tool, which makes a random payload for every record.
    Tool,
    /// Kafka's tool with payloads from a file: what is left is its producer.
    ToolReadyPayloads,
}

impl Contender {
    pub(super) const EACH: [Contender; 3] = [
        Contender::Engine,
        Contender::Tool,
        Contender::ToolReadyPayloads,
    ];

    /// How tables name it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Contender::Engine => "kgauge's engine",
            Contender::Tool => "kafka-producer-perf-test",
            Contender::ToolReadyPayloads => "kafka-producer-perf-test --payload-file",
        }
    }
}

/// What a run did and what it cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ContenderRun {
    /// Records acked, and counted by the broker.
    pub(super) records: u64,
    /// As the contender says it.
    pub(super) records_per_s: f64,
    /// CPU of its whole process, from start to end.
    pub(super) cpu: Duration,
    /// CPU per record of the load threads alone, if the contender reports it.
    pub(super) threads_ns_per_record: Option<f64>,
}

impl ContenderRun {
    /// CPU of the whole process, in nanoseconds.
    pub(super) fn cpu_ns_per_record(&self) -> f64 {
        self.cpu_ns_per_record_less(Duration::ZERO)
    }

    /// The same with a part of the CPU taken off, such as that of starting.
    pub(super) fn cpu_ns_per_record_less(&self, off: Duration) -> f64 {
        self.cpu.saturating_sub(off).as_nanos() as f64 / self.records.max(1) as f64
    }
}

/// All contenders, ready to run.
pub(super) struct Contenders<'a> {
    engine: &'a Path,
    tools: &'a Tools<'a>,
    payloads: PathBuf,
}

impl Contenders<'_> {
    /// `engine` is the program of the example `produce`; `folder` takes the payloads.
    pub(super) fn new<'a>(
        engine: &'a Path,
        tools: &'a Tools<'a>,
        folder: &Path,
    ) -> Result<Contenders<'a>> {
        let payloads = folder.join("payloads.txt");
        fs::write(&payloads, payload_lines())?;
        Ok(Contenders {
            engine,
            tools,
            payloads,
        })
    }

    /// One run on a new topic.
    pub(super) fn run(
        &self,
        contender: Contender,
        acks: BenchAcks,
        records: u64,
    ) -> Result<ContenderRun> {
        match contender {
            Contender::Engine => self.run_engine(acks, records),
            Contender::Tool => {
                let bytes = VALUE_BYTES.to_string();
                self.run_tool(acks, records, &["--record-size", &bytes])
            }
            Contender::ToolReadyPayloads => {
                let path = self.payloads.to_str().context("no UTF-8 path")?;
                self.run_tool(acks, records, &["--payload-file", path])
            }
        }
    }

    fn run_engine(&self, acks: BenchAcks, records: u64) -> Result<ContenderRun> {
        (self.tools.alive)()?;
        let mut command = Command::new(self.engine);
        command.arg(&self.tools.servers);
        for number in [records, VALUE_BYTES, BATCH_BYTES] {
            command.arg(number.to_string());
        }
        command.arg(acks.word());
        let words = "kgauge's engine".to_owned();
        let (finished, cpu) = timed(Job::new(words, command, TIME_MAX))?;
        let line = ProduceLine::read(&finished.stdout)?;
        ensure!(
            line.acked == records && line.counted == records,
            "not all went well: {}",
            finished.stdout
        );
        Ok(ContenderRun {
            records,
            records_per_s: line.records_per_s,
            cpu,
            threads_ns_per_record: Some(line.threads_ns_per_record),
        })
    }

    fn run_tool(&self, acks: BenchAcks, records: u64, payload: &[&str]) -> Result<ContenderRun> {
        self.tools.create(TOPIC, PARTITIONS)?.run()?.success()?;
        let count = records.to_string();
        let settings = [
            format!("acks={}", acks.word()),
            format!("batch.size={BATCH_BYTES}"),
            format!("linger.ms={LINGER_MS}"),
            format!("buffer.memory={BUFFER_BYTES}"),
        ];
        let mut arguments = vec!["--topic", TOPIC, "--num-records", &count];
        arguments.extend(["--throughput", "-1"]);
        arguments.extend(payload);
        arguments.push("--command-property");
        arguments.extend(settings.iter().map(String::as_str));
        let mut job = self.tools.call(KafkaScript::PRODUCER_PERF, &arguments)?;
        job.time_max = TIME_MAX;
        let (finished, cpu) = timed(job)?;
        let sent = output::sent(&finished.stdout)?;
        let ends = self.tools.call(KafkaScript::OFFSETS, &["--topic", TOPIC])?;
        let ends = output::end_offsets(&ends.run()?.success()?.stdout);
        let counted: u64 = ends.values().sum();
        self.tools.delete(TOPIC)?.run()?.success()?;
        ensure!(
            sent.records == records && counted == records,
            "{} of {records} sent, the broker counts {counted}\n{}{}",
            sent.records,
            finished.stdout,
            finished.stderr
        );
        Ok(ContenderRun {
            records,
            records_per_s: sent.records_per_s,
            cpu,
            threads_ns_per_record: None,
        })
    }
}

/// Runs a program that must end well. Returns its CPU time, too.
pub(in crate::bench) fn timed(job: Job) -> Result<(FinishedJob, Duration)> {
    let before = cpu_of_ended_children()?;
    let finished = job.run()?;
    let cpu = cpu_of_ended_children()?.saturating_sub(before);
    let (stdout, stderr) = (finished.stdout.clone(), finished.stderr.clone());
    let finished = finished
        .success()
        .with_context(|| format!("{stdout}{stderr}"))?;
    Ok((finished, cpu))
}

/// The next number of a linear congruential generator (Knuth's constants): payloads need not be more random.
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Letters as the tool makes them, `VALUE_BYTES` a line.
fn payload_lines() -> String {
    let mut lines = String::new();
    let mut state = 1;
    for _ in 0..PAYLOADS {
        for _ in 0..VALUE_BYTES {
            let letter = b'A' + u8::try_from(next_random(&mut state) % 26).unwrap_or(0);
            lines.push(char::from(letter));
        }
        let _ = writeln!(lines);
    }
    lines
}

/// The line that the example `produce` prints at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProduceLine {
    acked: u64,
    records_per_s: f64,
    threads_ns_per_record: f64,
    counted: u64,
}

impl ProduceLine {
    fn read(stdout: &str) -> Result<ProduceLine> {
        let closing = stdout.lines().rev().find_map(|line| {
            let (acked, rest) = line.split_once(" records acked in ")?;
            let (_, rest) = rest.split_once(" s, ")?;
            let (rate, rest) = rest.split_once(" records/s, ")?;
            let (threads, rest) = rest.split_once(" ns CPU a record; the broker counts ")?;
            let (counted, _) = rest.split_once(';')?;
            Some(ProduceLine {
                acked: acked.parse().ok()?,
                records_per_s: rate.parse().ok()?,
                threads_ns_per_record: threads.parse().ok()?,
                counted: counted.parse().ok()?,
            })
        });
        closing.with_context(|| format!("no closing line of the example produce in {stdout:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_closing_line_is_read() {
        let line = "5000000 records acked in 3.210 s, 1557632 records/s, 31.4 ns CPU a record; \
                    the broker counts 5000000; failed 0, indeterminate 0\n";
        let expected = ProduceLine {
            acked: 5_000_000,
            records_per_s: 1_557_632.0,
            threads_ns_per_record: 31.4,
            counted: 5_000_000,
        };
        assert_eq!(ProduceLine::read(line).unwrap(), expected);
        assert!(ProduceLine::read("topic exists").is_err());
    }

    #[test]
    fn payloads_are_of_the_size_that_is_compared() {
        let lines = payload_lines();
        assert_eq!(lines.lines().count(), 1_000);
        assert!(lines.lines().all(|line| line.len() == 100));
        assert_ne!(lines.lines().next(), lines.lines().nth(1));
    }
}
