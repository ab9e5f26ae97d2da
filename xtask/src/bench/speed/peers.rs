//! Who sends: kgauge's engine by the example `flow`, Kafka's tools, and a small program on franz-go and on
//! librdkafka. Each is one process; its CPU is that of all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::super::contender::{BUFFER_BYTES, PARTITIONS, timed};
use crate::folders::root;
use crate::kafka::{Job, KafkaScript, Tools, output};

const TIME_MAX: Duration = Duration::from_secs(900);
const TOPIC: &str = "bench-speed";

/// A load, for programs that do not read scenarios.
#[derive(Debug, Clone, Copy)]
pub(super) struct BenchLoad {
    pub(super) records: u64,
    pub(super) value_bytes: u64,
    pub(super) batch_bytes: u64,
    pub(super) linger_ms: u64,
    pub(super) is_lz4: bool,
    /// How many keys; 0 for none.
    pub(super) keys: u64,
    /// Records a second; 0 for full speed.
    pub(super) rate: u64,
}

impl BenchLoad {
    /// Kafka's name of its compression.
    pub(super) fn codec(self) -> &'static str {
        if self.is_lz4 { "lz4" } else { "none" }
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeerRun {
    pub(super) records: u64,
    pub(super) seconds: f64,
    pub(super) cpu: Duration,
}

/// The programs, ready to run.
pub(super) struct PeerPrograms<'a> {
    pub(super) engine: &'a Path,
    pub(super) tools: &'a Tools<'a>,
    pub(super) folder: &'a Path,
    go: Option<PathBuf>,
    librdkafka: Option<PathBuf>,
    /// Why one is missing.
    pub(super) missing: Vec<String>,
}

impl<'a> PeerPrograms<'a> {
    /// Builds the programs that need it. A program that cannot be built is reported and left out.
    pub(super) fn new(engine: &'a Path, tools: &'a Tools<'a>, folder: &'a Path) -> Result<Self> {
        let mut peers = PeerPrograms {
            engine,
            tools,
            folder,
            go: None,
            librdkafka: None,
            missing: Vec::new(),
        };
        let sources = root().join("xtask/bench-clients");
        let (go, librdkafka) = (folder.join("bench-go"), folder.join("bench-librdkafka"));
        let mut build = Command::new("go");
        build.args(["build", "-trimpath", "-o"]).arg(&go).arg(".");
        build.current_dir(sources.join("go"));
        peers.go = peers.built("franz-go", build, go);
        let mut build = Command::new("cc");
        build.args(["-O2", "-o"]).arg(&librdkafka);
        build.arg(sources.join("librdkafka/bench.c")).arg("-ldl");
        peers.librdkafka = peers.built("librdkafka", build, librdkafka);
        Ok(peers)
    }

    fn built(&mut self, name: &str, build: Command, program: PathBuf) -> Option<PathBuf> {
        let built = Job::new(format!("building for {name}"), build, TIME_MAX).run();
        let why = match built {
            Ok(built) if built.status.is_some_and(|status| status.success()) => {
                return Some(program);
            }
            Ok(built) => built
                .stderr
                .lines()
                .next()
                .unwrap_or("no reason")
                .to_owned(),
            Err(error) => format!("{error:#}"),
        };
        self.missing.push(format!("{name} is left out: {why}"));
        None
    }

    /// kgauge's engine with a scenario, and its own report.
    pub(super) fn engine(&self, scenario: &str) -> Result<(PeerRun, Value)> {
        (self.tools.alive)()?;
        let path = self.folder.join("flow.yaml");
        fs::write(&path, scenario)?;
        let mut command = Command::new(self.engine);
        command.arg(&self.tools.servers).arg(&path);
        let (finished, cpu) = timed(Job::new("kgauge's engine".to_owned(), command, TIME_MAX))?;
        let line = finished.stdout.lines().last().unwrap_or_default();
        let report: Value = serde_json::from_str(line)
            .with_context(|| format!("it printed {:?}", finished.stdout))?;
        let number = |name: &str| report[name].as_u64().unwrap_or(0);
        let (acked, on_broker) = (number("acked"), number("on_broker"));
        ensure!(
            acked <= on_broker && number("skipped") == 0,
            "not all went well: {report}"
        );
        let ran = PeerRun {
            records: number("records"),
            seconds: report["seconds"].as_f64().unwrap_or(0.0),
            cpu,
        };
        Ok((ran, report))
    }

    /// The small program on franz-go; `None` if it could not be built.
    pub(super) fn franz_go(&self, load: BenchLoad) -> Result<Option<PeerRun>> {
        self.program(self.go.as_deref(), "franz-go", load)
    }

    /// The same on librdkafka.
    pub(super) fn librdkafka(&self, load: BenchLoad) -> Result<Option<PeerRun>> {
        self.program(self.librdkafka.as_deref(), "librdkafka", load)
    }

    fn program(
        &self,
        program: Option<&Path>,
        name: &str,
        load: BenchLoad,
    ) -> Result<Option<PeerRun>> {
        let Some(program) = program else {
            return Ok(None);
        };
        self.tools.create(TOPIC, PARTITIONS)?.run()?.success()?;
        let mut command = Command::new(program);
        command.arg(&self.tools.servers).arg(TOPIC);
        for number in [
            load.records,
            load.value_bytes,
            load.batch_bytes,
            load.linger_ms,
        ] {
            command.arg(number.to_string());
        }
        command.arg(BUFFER_BYTES.to_string());
        command.arg(load.codec());
        command
            .arg(load.keys.to_string())
            .arg(load.rate.to_string());
        let (finished, cpu) = timed(Job::new(name.to_owned(), command, TIME_MAX))?;
        self.tools.delete(TOPIC)?.run()?.success()?;
        let report: Value = serde_json::from_str(finished.stdout.trim())
            .with_context(|| format!("{name} printed {:?}", finished.stdout))?;
        if report["acked"] != load.records {
            bail!("{name}: not all was acked: {report}");
        }
        Ok(Some(PeerRun {
            records: load.records,
            seconds: report["seconds"].as_f64().unwrap_or(0.0),
            cpu,
        }))
    }

    /// Kafka's own tool, with random values or with those of a file.
    pub(super) fn kafka_tool(&self, load: BenchLoad, payload: Option<&Path>) -> Result<PeerRun> {
        self.tools.create(TOPIC, PARTITIONS)?.run()?.success()?;
        let (count, bytes) = (load.records.to_string(), load.value_bytes.to_string());
        let rate = match load.rate {
            0 => "-1".to_owned(),
            rate => rate.to_string(),
        };
        let settings = [
            "acks=all".to_owned(),
            format!("batch.size={}", load.batch_bytes),
            format!("linger.ms={}", load.linger_ms),
            format!("buffer.memory={BUFFER_BYTES}"),
            format!("compression.type={}", load.codec()),
        ];
        let mut arguments = vec!["--topic", TOPIC, "--num-records", &count];
        arguments.extend(["--throughput", &rate]);
        match payload {
            Some(path) => {
                let path = path.to_str().context("no UTF-8 path")?;
                arguments.extend(["--payload-file", path]);
            }
            None => arguments.extend(["--record-size", &bytes]),
        }
        arguments.push("--command-property");
        arguments.extend(settings.iter().map(String::as_str));
        let mut job = self.tools.call(KafkaScript::PRODUCER_PERF, &arguments)?;
        job.time_max = TIME_MAX;
        let (finished, cpu) = timed(job)?;
        let sent = output::sent(&finished.stdout)?;
        self.tools.delete(TOPIC)?.run()?.success()?;
        ensure!(
            sent.records == load.records,
            "{}{}",
            finished.stdout,
            finished.stderr
        );
        Ok(PeerRun {
            records: sent.records,
            seconds: sent.records as f64 / sent.records_per_s,
            cpu,
        })
    }

    /// Kafka's consumer tool, reading an existing topic.
    pub(super) fn kafka_consumer(&self, topic: &str, records: u64) -> Result<PeerRun> {
        let count = records.to_string();
        let what = ["--topic", topic, "--num-records", &count];
        let arguments = [&what[..], &["--timeout", "60000"]].concat();
        let mut job = self.tools.call(KafkaScript::CONSUMER_PERF, &arguments)?;
        job.time_max = TIME_MAX;
        let (finished, cpu) = timed(job)?;
        Ok(PeerRun {
            records: output::consumed(&finished.stdout)?,
            seconds: output::fetch_seconds(&finished.stdout)?,
            cpu,
        })
    }

    /// A topic with records for readers, written by Kafka's tool; its name.
    pub(super) fn filled(&self, load: BenchLoad) -> Result<&'static str> {
        const FILLED: &str = "bench-read";
        self.tools.create(FILLED, PARTITIONS)?.run()?.success()?;
        let (count, bytes) = (load.records.to_string(), load.value_bytes.to_string());
        let batch = format!("batch.size={}", load.batch_bytes);
        let what = ["--topic", FILLED, "--num-records", &count];
        let how = ["--record-size", &bytes, "--throughput", "-1"];
        let settings = ["--command-property", "acks=1", &batch];
        let arguments = [&what[..], &how, &settings].concat();
        let mut job = self.tools.call(KafkaScript::PRODUCER_PERF, &arguments)?;
        job.time_max = TIME_MAX;
        job.run()?.success()?;
        Ok(FILLED)
    }
}
