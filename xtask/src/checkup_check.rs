//! `cargo xtask checkup-check`: `kgauge checkup` on Apache Kafka with three brokers and planted faults: a slow broker,
//! a quota, a default replication of 1. Each must be found and named. A broker that stops during the load must end the
//! load. Then Ctrl-C at random moments: nothing may be left.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use kgauge_target::TargetRole;
use kgauge_target::kafka::{KafkaSpec, KafkaTarget};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::built::ProgramOption;
use crate::kafka::{KafkaScript, Tools, poll, setup, tools};
use crate::kgauge::{Background, Kgauge};
use crate::say::{print_line, remark};
use crate::{kafka, stop};

/// The broker that is slow.
const SLOW: i32 = 2;
/// It runs for a fifth of the time.
const RUNS: Duration = Duration::from_millis(20);
const RESTS: Duration = Duration::from_millis(80);
/// The quota, in bytes per second and broker.
const QUOTA: &str = "2000000";
const QUOTA_KEY: &str = "producer_byte_rate";
/// Somebody's topic.
const ORDERS: &str = "orders";
/// The exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;
/// The settings of the cluster.
const SETTINGS: &str = "brokers=3,default.replication.factor=1,offsets.topic.replication.factor=3";
/// No checkup takes longer.
const TIME_MAX: Duration = Duration::from_secs(1_200);
/// After Ctrl-C, a checkup ends within this time.
const END_MAX: Duration = Duration::from_secs(30);
/// The broker that stops.
const STOPPED: u16 = 3;
/// It stops when the load has run for this number of seconds.
const LOAD_S: usize = 8;
/// The checkup ends within this time then.
const GUARD_MAX: Duration = Duration::from_secs(120);
/// The budget of checkups that are stopped.
const STOPPED_BUDGET_S: u64 = 180;
/// A stop comes at any time of the budget, so that every part is hit: the search takes about half of it.
const STOP_MAX_MS: u64 = 1_000 * STOPPED_BUDGET_S;

/// What is run.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckupOptions {
    /// Time of the checkup
    #[arg(long, value_name = "TIME", default_value = "5 min")]
    budget: String,
    /// How many checkups are stopped
    #[arg(long, value_name = "N", default_value_t = 10)]
    stops: u32,
    /// Draws the moments of the stops
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    program: ProgramOption,
}

/// Runs the command. Returns false if a planted fault was not found, or something was left.
pub(crate) fn run(options: &CheckupOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let kgauge = Kgauge {
        binary: &binary,
        folder: folder.path(),
    };
    remark(&format!("Kafka {}: starting 3 brokers", kafka::RELEASE));
    let spec = KafkaSpec::parse(&format!("{},{SETTINGS}", kafka::RELEASE));
    let spec = spec.map_err(|why| anyhow::anyhow!("{why}"))?;
    let mut target = KafkaTarget::start(&spec, &setup(folder.path()), &stop::interrupt())?;
    let release = tools(kafka::RELEASE)?;
    let tools = Tools {
        release: &release,
        servers: target.config().servers(),
        alive: &|| Ok(()),
    };
    set_quota(&tools)?;
    let pid = target.processes().into_iter().find_map(|process| {
        let is_slow = process.role == TargetRole::Broker(SLOW);
        is_slow.then_some(process.pid)
    });
    let slow = SlowProcess::start(pid.context("the slow broker has no process")?)?;
    let found = check_findings(&kgauge, &tools.servers, &options.budget)?;
    drop(slow);
    let guarded = check_guard(&kgauge, &mut target, &tools)?;
    let clean = check_stops(&kgauge, &tools, options)?;
    target.stop()?;
    Ok(found && guarded && clean)
}

/// What a tool of Kafka prints: the check sees the cluster without kgauge's client.
fn printed(tools: &Tools<'_>, script: KafkaScript, arguments: &[&str]) -> Result<String> {
    let finished = tools.call(script, arguments)?.run()?;
    Ok(finished.success()?.stdout)
}

/// What is on the cluster that this check did not put there: topics, groups, quotas.
fn leftovers(tools: &Tools<'_>) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for (kind, script) in [
        ("topic", KafkaScript::TOPICS),
        ("group", KafkaScript::GROUPS),
    ] {
        let names = printed(tools, script, &["--list"])?;
        let names = names.lines().map(str::trim);
        let others = names.filter(|name| !name.is_empty() && *name != ORDERS);
        left.extend(others.map(|name| format!("{kind} {name}")));
    }
    let quotas = ["--describe", "--entity-type", "clients"];
    let quotas = printed(tools, KafkaScript::CONFIGS, &quotas)?;
    let quotas = quotas.lines().map(str::trim);
    let others = quotas.filter(|line| !line.is_empty() && !line.contains(QUOTA_KEY));
    left.extend(others.map(|line| format!("quota {line}")));
    Ok(left)
}

fn set_quota(tools: &Tools<'_>) -> Result<()> {
    let quota = format!("{QUOTA_KEY}={QUOTA}");
    let arguments = [
        "--alter",
        "--add-config",
        &quota,
        "--entity-type",
        "clients",
        "--entity-default",
    ];
    printed(tools, KafkaScript::CONFIGS, &arguments).map(drop)
}

/// The planted faults and what the findings have of them.
fn check_findings(kgauge: &Kgauge<'_>, servers: &str, budget: &str) -> Result<bool> {
    let mut job = kgauge.call(&[
        "checkup", "--target", servers, "--yes", "--json", "--budget", budget, "--out", "found",
    ]);
    job.time_max = TIME_MAX;
    let start = Instant::now();
    let finished = job.run()?;
    let took = start.elapsed().as_secs();
    let summary: Value = serde_json::from_str(&finished.stdout)
        .with_context(|| format!("no summary: {}", finished.stderr))?;
    let findings = summary["checkup"]["findings"].as_array();
    let findings = findings.context("the summary has no findings")?;
    for (number, finding) in findings.iter().enumerate() {
        let text = finding["text"].as_str().unwrap_or_default();
        print_line(&format!("{}. {text}", number + 1));
    }
    let place = |holds: &dyn Fn(&Value) -> bool| findings.iter().position(holds);
    let planted = [
        (
            "default replication of 1",
            place(&|one| one["setting"] == "default.replication.factor"),
        ),
        (
            "slow broker",
            place(&|one| one["kind"] == "slow-broker" && one["speed"]["broker"] == SLOW),
        ),
        (
            "quota",
            place(&|one| one["kind"] == "quota" && one["limits"] == true),
        ),
    ];
    for (name, place) in &planted {
        print_line(&match place {
            Some(place) => format!("{name}: found, number {} of {}", place + 1, findings.len()),
            None => format!("{name}: NOT FOUND"),
        });
    }
    print_line(&format!("the checkup took {took} s"));
    Ok(planted.iter().all(|(_, place)| place.is_some()))
}

/// A broker with replicas of somebody's topic stops during the load.
fn check_guard(kgauge: &Kgauge<'_>, target: &mut KafkaTarget, tools: &Tools<'_>) -> Result<bool> {
    create_orders(tools)?;
    let running = start_checkup(kgauge, tools, "guarded")?;
    running.reaches(&kgauge.folder.join("guarded"), LOAD_S)?;
    target.pause_broker(STOPPED)?;
    let start = Instant::now();
    let ended = running.running.wait(GUARD_MAX);
    target.resume_broker(STOPPED)?;
    let status = ended?.context("the checkup did not end although a broker had stopped")?;
    let text = running.text();
    let is_guarded = status.code() == Some(3) && text.contains("to protect the cluster");
    let left = leftovers(tools)?;
    print_line(&format!(
        "broker {STOPPED} stopped: {status} after {} s, {}, left: {}",
        start.elapsed().as_secs(),
        match is_guarded {
            true => "to protect the cluster",
            false => "FOR ANOTHER REASON",
        },
        left_text(&left)
    ));
    if !is_guarded {
        remark(&text);
    }
    Ok(is_guarded && left.is_empty())
}

fn start_checkup(kgauge: &Kgauge<'_>, tools: &Tools<'_>, out: &str) -> Result<Background> {
    let budget = format!("{STOPPED_BUDGET_S} s");
    let arguments = [
        "checkup",
        "--target",
        &tools.servers,
        "--yes",
        "--budget",
        &budget,
        "--out",
        out,
    ];
    kgauge.start(out, &arguments)
}

fn left_text(left: &[String]) -> String {
    match left {
        [] => "nothing".to_owned(),
        some => some.join(", "),
    }
}

/// Somebody's topic, with replicas on all brokers.
fn create_orders(tools: &Tools<'_>) -> Result<()> {
    let arguments = [
        "--create",
        "--topic",
        ORDERS,
        "--partitions",
        "6",
        "--replication-factor",
        "3",
    ];
    printed(tools, KafkaScript::TOPICS, &arguments).map(drop)
}

/// Ctrl-C at random moments; what is on the cluster after each. A checkup that ends before its moment is none of them.
fn check_stops(kgauge: &Kgauge<'_>, tools: &Tools<'_>, options: &CheckupOptions) -> Result<bool> {
    let mut random = options.seed;
    let (mut all_clean, mut stopped, mut number) = (true, 0, 0);
    while stopped < options.stops {
        number += 1;
        // Constants of Knuth's MMIX generator; the high bits are the good ones.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let after = Duration::from_millis((random >> 33) % STOP_MAX_MS);
        let out = format!("stopped-{number}");
        let running = start_checkup(kgauge, tools, &out)?;
        let start = Instant::now();
        let own_end = poll(after, || running.running.ended())?;
        let lasted_s = start.elapsed().as_secs_f64();
        if let Some(status) = own_end {
            let is_good = matches!(status.code(), Some(0..=3));
            ensure!(is_good, "{status}: {}", running.text());
            remark(&format!(
                "the checkup ended after {lasted_s:.1} s, before its stop"
            ));
        } else {
            running.running.signal(Signal::INT)?;
            let Some(status) = running.running.wait(END_MAX)? else {
                bail!("the checkup did not end within {END_MAX:?} after Ctrl-C");
            };
            stopped += 1;
            let left = leftovers(tools)?;
            all_clean &= left.is_empty() && status.code() == Some(INTERRUPTED);
            print_line(&format!(
                "stop {stopped} after {lasted_s:.1} s: {status}, left: {}",
                left_text(&left)
            ));
        }
        // A stop before the run began leaves no folder.
        let _ = fs::remove_dir_all(kgauge.folder.join(&out));
    }
    Ok(all_clean)
}

/// A process that is stopped for most of the time, as under a CPU limit. Dropping it lets the process run.
struct SlowProcess {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SlowProcess {
    fn start(pid: u32) -> Result<SlowProcess> {
        let pid = Pid::from_raw(i32::try_from(pid)?).context("no process id")?;
        let ends = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ends);
        let thread = thread::Builder::new().spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                // A process that has ended takes no signal, which the checkup reports.
                let _ = kill_process(pid, Signal::STOP);
                thread::sleep(RESTS);
                let _ = kill_process(pid, Signal::CONT);
                thread::sleep(RUNS);
            }
        })?;
        Ok(SlowProcess {
            ends,
            thread: Some(thread),
        })
    }
}

impl Drop for SlowProcess {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
