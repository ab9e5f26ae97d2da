//! Kafka's own producer tool next to kgauge, on the same cluster, through the same stall.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_results::TimeKind;
use kgauge_runner::{OrRunError, RunError, with_fix};
use kgauge_scenario::{FlowPlan, Scenario, Shape, Trial};
use kgauge_target::kafka::ReleaseTools;

use crate::Suite;
use crate::row::TruthRow;
use crate::runs::{Runs, TruthRun};
use crate::scenarios::BESIDE;
use crate::stall::{P99, P99_9};

/// The release whose tool it is.
const RELEASE: &str = "4.3.1";
const CLASS: &str = "org.apache.kafka.tools.ProducerPerformance";

/// The same settings for kgauge and for the tool: the flow's name, and the tool's producer properties.
const PAIRS: &[(&str, &[&str])] = &[
    ("default-buffer", &["linger.ms=0"]),
    (
        "tiny-buffer",
        &["linger.ms=0", "batch.size=16384", "buffer.memory=32768"],
    ),
];

/// How long the tool may run after the end of the run.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs both, and gives the rows.
pub(crate) fn rows(runs: &mut Runs, suite: &mut Suite<'_>) -> Result<Vec<TruthRow>, RunError> {
    let version = RELEASE.parse().or_bad_input()?;
    let (request, dir) = (suite.request, suite.dir);
    let interrupt = &request.stop.load;
    let found = ReleaseTools::find(&version, &request.host.kafka_setup(), interrupt);
    let tools = match found {
        Ok(tools) => tools,
        Err(error) => {
            let words = with_fix(&error, error.fix());
            return Ok(vec![TruthRow::missing("kafka-tool", "Kafka's tool", words)]);
        }
    };
    let scenario = Scenario::parse(BESIDE.name, BESIDE.text).or_bad_input()?;
    let trials = scenario.trials(request.size());
    let Some(trial) = trials.first() else {
        return Ok(Vec::new());
    };
    let running = RefCell::new(Vec::new());
    let start_all = |cluster: &mut Cluster, config: &ClientConfig| {
        for (flow, settings) in PAIRS {
            let process = start(&tools, cluster, config, trial, flow, settings, dir)?;
            running.borrow_mut().push(process);
        }
        Ok(())
    };
    runs.make(BESIDE, suite, 1, Some(&start_all))?;
    let mut rows = Vec::new();
    for ((flow, _), theirs) in PAIRS.iter().zip(running.into_inner()) {
        let output = theirs.end(interrupt);
        rows.extend(pair(runs.get(BESIDE), flow, &output));
    }
    Ok(rows)
}

/// The same from the folder of an earlier suite.
pub(crate) fn rows_again(runs: &Runs, dir: &Path) -> Vec<TruthRow> {
    let rows = PAIRS.iter().flat_map(|(flow, _)| {
        let output = std::fs::read_to_string(output_file(dir, flow));
        pair(
            runs.get(BESIDE),
            flow,
            &output.map_err(|error| error.to_string()),
        )
    });
    rows.collect()
}

/// The file for the tool's stdout and stderr.
fn output_file(dir: &Path, flow: &str) -> PathBuf {
    dir.join(format!("kafka-tool-{flow}.txt"))
}

/// A tool that runs. It does not outlive its owner.
struct ToolProcess {
    child: Child,
    output: PathBuf,
}

impl Drop for ToolProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ToolProcess {
    /// Waits for the end of the tool and returns its output.
    fn end(mut self, interrupt: &Interrupt) -> Result<String, String> {
        /// The pause between two checks of the process.
        const LOOK: Duration = Duration::from_millis(50);
        let deadline = Instant::now() + PATIENCE;
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(read(&self.output)),
                Ok(Some(status)) => {
                    let output = read(&self.output);
                    let last = output.lines().last().unwrap_or_default();
                    return Err(format!("it ended with {status}: {last}"));
                }
                Ok(None) if Instant::now() < deadline && !interrupt.is_raised() => {
                    std::thread::sleep(LOOK);
                }
                Ok(None) => return Err("it did not end".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// Starts the tool on a new topic, with as many records as the flow has in its hold.
fn start(
    tools: &ReleaseTools,
    cluster: &mut Cluster,
    config: &ClientConfig,
    trial: &Trial,
    flow: &str,
    settings: &[&str],
    dir: &Path,
) -> Result<ToolProcess, RunError> {
    let topic = TopicSpec {
        name: format!("kgauge-truth-{flow}"),
        partitions: 1,
        replication_factor: 1,
        configs: Vec::new(),
    };
    cluster.create_topic(&topic).or_target_failed("")?;
    let load = PerfTestLoad::of(trial, flow).ok_or_else(|| {
        RunError::Defect(format!("flow {flow} of the suite has no constant rate"))
    })?;
    let output = output_file(dir, flow);
    let stdout = File::create(&output).or_unwritable()?;
    let stderr = stdout.try_clone().or_unwritable()?;
    let servers = config.bootstrap_servers.iter();
    let servers: Vec<String> = servers
        .map(|server| format!("{}:{}", server.host, server.port))
        .collect();
    let mut command = tools.command(CLASS);
    command
        .args(["--bootstrap-server", &servers.join(",")])
        .args(["--topic", &topic.name])
        .args(["--num-records", &load.records.to_string()])
        .args(["--throughput", &load.per_second.to_string()])
        .args(["--record-size", &load.value_bytes.to_string()])
        .arg("--command-property")
        .args(settings)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr);
    let child = command.spawn();
    let child = child.map_err(|error| RunError::system("cannot start Java", &error))?;
    Ok(ToolProcess { child, output })
}

/// What the tool sends.
struct PerfTestLoad {
    per_second: u64,
    records: u64,
    value_bytes: u32,
}

impl PerfTestLoad {
    /// The load of a flow's hold; `None` without a constant rate.
    fn of(trial: &Trial, name: &str) -> Option<Self> {
        let hold_s = trial.stages.hold_ns? as f64 / 1e9;
        let flow = trial.flows.iter().find_map(|flow| match flow {
            FlowPlan::Produce(flow) if flow.name == name => Some(flow),
            _ => None,
        })?;
        let Shape::Constant { per_second } = flow.shape else {
            return None;
        };
        Some(Self {
            per_second: per_second as u64,
            records: (per_second * hold_s) as u64,
            value_bytes: flow.record.value_bytes,
        })
    }
}

/// Ours and theirs, percentile by percentile.
fn pair(ran: Option<&TruthRun>, flow: &str, output: &Result<String, String>) -> Vec<TruthRow> {
    let hold = ran.and_then(|ran| ran.stalled_hold(flow));
    let (Some(ran), Some(hold)) = (ran, hold) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    let theirs = match output {
        Ok(output) => percentiles(output).ok_or_else(|| "it printed no percentiles".to_owned()),
        Err(why) => Err(why.clone()),
    };
    for (index, (name, quantile)) in [P99, P99_9].into_iter().enumerate() {
        let expected = hold.quantile_ns(quantile.as_fraction());
        let times = ran.times(flow, TimeKind::Response);
        if let Some(ns) = times.and_then(|times| times.value_ns_at(quantile)) {
            let figure = format!("{flow}, {name}, kgauge");
            rows.push(beside(figure, expected, ns as f64));
        }
        if let Ok(theirs) = &theirs {
            let figure = format!("{flow}, {name}, Kafka's tool");
            rows.push(beside(figure, expected, theirs[index] * 1e6));
        }
    }
    if let Err(why) = theirs {
        let figure = format!("{flow}, Kafka's tool");
        rows.push(TruthRow::missing("kafka-tool", figure, why));
    }
    rows
}

/// A figure and how far it is from what it should be.
fn beside(figure: String, expected: f64, measured: f64) -> TruthRow {
    let off = (measured - expected) / expected * 100.0;
    let tolerance = format!("off by {off:+.1} %");
    TruthRow::information("kafka-tool", figure, expected, measured, tolerance)
}

/// p99 and p99.9 of its closing line, milliseconds: `..., 1 ms 50th, 2 ms 95th, 400 ms 99th, 940 ms 99.9th.`
fn percentiles(output: &str) -> Option<[f64; 2]> {
    let last = output.lines().rev().find(|line| line.contains(" 50th"))?;
    let of = |name: &str| {
        let parts = last.split(", ").map(|part| part.trim_end_matches('.'));
        let part = parts.into_iter().find_map(|part| part.strip_suffix(name))?;
        part.trim_end().strip_suffix("ms")?.trim().parse().ok()
    };
    Some([of(" 99th")?, of(" 99.9th")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_the_closing_line() {
        let output = "5001 records sent, 1000.0 records/sec (0.10 MB/sec), 0.9 ms avg latency, 9.0 ms max latency.\n\
                    60000 records sent, 999.917 records/sec (0.10 MB/sec), 8.86 ms avg latency, 1003.00 ms max \
                    latency, 1 ms 50th, 2 ms 95th, 398 ms 99th, 940 ms 99.9th.\n";
        assert_eq!(percentiles(output), Some([398.0, 940.0]));
        assert_eq!(percentiles("nothing"), None);
    }
}
