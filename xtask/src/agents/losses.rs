//! Agents that are killed, stopped or cut off at random moments: every run ends in time, and no ack is lost.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kgauge_scenario::derive_seed;
use rustix::process::Signal;

use super::process::{AgentServer, TOKEN_FILE, write_token};
use super::proxy::{ProxyDelays, SlowProxy};
use super::sums::counted;
use crate::kafka::poll;
use crate::kgauge::Kgauge;
use crate::say::print_line;

/// Every run ends within this time after the loss.
const END_MAX: Duration = Duration::from_secs(10);

/// The loss comes at the latest that long after the start was announced.
const MOMENT_MAX_MS: u64 = 5_000;

/// By then, slices of acked records have arrived.
const ACKED_MS: u64 = 2_500;

/// The rate of the load.
const RATE: u64 = 6_000;

const SCENARIO: &str = "\
kgauge: 1
name: losses
question: What remains when an agent is lost?
topic: {partitions: 6}
flows:
  - {name: writers, kind: produce, producers: 6, shape: {constant: 6k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 30 s}
repeats: 1
";

/// How an agent is lost.
#[derive(Debug, Clone, Copy)]
enum Loss {
    Kill,
    Stop,
    Cut,
}

/// What became of a run.
struct LossResult {
    took: Duration,
    status: Option<i32>,
    acked: u64,
    on_broker: u64,
}

/// Runs the part.
pub(super) fn run(kgauge: &Kgauge<'_>, losses: u32, seed: u64) -> Result<bool> {
    fs::write(kgauge.folder.join("losses.yaml"), SCENARIO)?;
    write_token(kgauge.folder)?;
    let (mut longest, mut good, mut beyond_max) = (Duration::ZERO, 0, 0);
    for number in 0..losses {
        let loss = [Loss::Kill, Loss::Stop, Loss::Cut][number as usize % 3];
        let moment_ms = derive_seed(seed, &format!("loss {number}")) % MOMENT_MAX_MS;
        let result = lose(kgauge, number, loss, Duration::from_millis(moment_ms))?;
        let beyond = result.on_broker.saturating_sub(result.acked);
        // What the agent sent after its last slices: a second of them, and until it, or the lead, noticed.
        let is_good = result.took <= END_MAX
            && result.status == Some(1)
            && (result.acked > 0 || moment_ms < ACKED_MS)
            && result.acked <= result.on_broker
            && beyond <= 5 * RATE / 3;
        longest = longest.max(result.took);
        beyond_max = beyond_max.max(beyond);
        good += u32::from(is_good);
        if !is_good {
            print_line(&format!(
                "run {number}, {loss:?} after {moment_ms} ms: ended after {:.1} s with {:?}; {} acked, {} on the brokers",
                result.took.as_secs_f64(),
                result.status,
                result.acked,
                result.on_broker
            ));
        }
    }
    print_line(&format!(
        "{good} of {losses} losses: the longest took {:.1} s; no acked record was missing; at most {beyond_max} records \
         were on the brokers beyond the acked ones",
        longest.as_secs_f64()
    ));
    Ok(good == losses)
}

/// A run of three agents, the second of which is lost.
fn lose(kgauge: &Kgauge<'_>, number: u32, loss: Loss, moment: Duration) -> Result<LossResult> {
    let start = |index: u32| AgentServer::start(kgauge, &format!("agent-{number}-{index}"));
    let agents = [start(0)?, start(1)?, start(2)?];
    let proxy = SlowProxy::start(&agents[1].address, ProxyDelays::default())?;
    let spec = [&agents[0].address, &proxy.address, &agents[2].address].map(String::as_str);
    let out = format!("loss-{number}");
    let lead = kgauge.start(
        &format!("lead-{number}"),
        &[
            "run",
            "losses.yaml",
            "--out",
            &out,
            "--agents",
            &spec.join(","),
            "--agents-token-file",
            TOKEN_FILE,
        ],
    )?;
    let dir = kgauge.folder.join(&out);
    let slices = dir.join("repeats/0000-00/slices-1.jsonl");
    let seen = poll(Duration::from_secs(60), || {
        // The file of an agent is made when the start is announced.
        Ok((slices.exists() || lead.running.ended()?.is_some()).then_some(()))
    })?;
    seen.context("the run does not begin")?;
    std::thread::sleep(moment);
    let begin = Instant::now();
    match loss {
        Loss::Kill => agents[1].process.running.signal(Signal::KILL)?,
        Loss::Stop => agents[1].process.running.signal(Signal::STOP)?,
        Loss::Cut => proxy.cut(),
    }
    let ended = lead.running.wait(Duration::from_secs(60))?;
    let took = begin.elapsed();
    if matches!(loss, Loss::Stop) {
        agents[1].process.running.signal(Signal::KILL)?;
    }
    let (acked, on_broker) = counted(&dir).unwrap_or((0, 0));
    fs::remove_dir_all(&dir)?;
    Ok(LossResult {
        took,
        status: ended.and_then(|status| status.code()),
        acked,
        on_broker,
    })
}
