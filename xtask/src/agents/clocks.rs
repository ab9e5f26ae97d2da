//! Agents whose clocks are hours away, over connections that are slow in one direction: is the true offset within the
//! bound, and do the agents begin together?

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::process::{TOKEN_FILE, free_port, join_shifted, write_token};
use super::proxy::{ProxyDelays, SlowProxy};
use super::records::stored;
use super::sums::summary;
use crate::kgauge::Kgauge;
use crate::say::print_line;

/// Seconds by which the agents' clocks are ahead, and the delays of their connections in milliseconds.
const AGENTS: [(i64, u64, u64); 4] = [(3_600, 1, 9), (-900, 6, 0), (7, 0, 0), (86_400, 15, 15)];

/// The true offset must be within the bound in this part of the seconds.
const INSIDE_MIN: f64 = 0.99;

/// Half of the delays bound an offset; a busy machine adds this at most, in its best second. Wide bounds prove nothing.
const BEYOND_DELAYS_NS: i64 = 1_000_000;

/// The bound of the start, which is known after a fraction of a second: twice that of the slowest connection.
const START_BOUND_NS_MAX: u64 = 30_000_000;

/// A producer on each agent, without lingering; the broker writes down when batches arrive.
const SCENARIO: &str = "\
kgauge: 1
name: clocks
question: Do agents with other clocks begin together?
topic: {partitions: 4, config: {message.timestamp.type: LogAppendTime}}
flows:
  - name: writers
    kind: produce
    producers: 4
    shape: {constant: 4k/s}
    record: {size: 100 B}
    settings: {linger.ms: 0}
stages: {warm-up: 0 s, hold: 10 s}
repeats: 1
";

/// Runs the part.
pub(super) fn run(kgauge: &Kgauge<'_>, seconds: u32) -> Result<bool> {
    fs::write(kgauge.folder.join("clocks.yaml"), SCENARIO)?;
    write_token(kgauge.folder)?;
    let lead = format!("127.0.0.1:{}", free_port()?);
    let mut agents = Vec::new();
    for (number, (shift_s, there_ms, back_ms)) in AGENTS.into_iter().enumerate() {
        let proxy = SlowProxy::start(
            &lead,
            ProxyDelays {
                there: Duration::from_millis(there_ms),
                back: Duration::from_millis(back_ms),
            },
        )?;
        let name = format!("clock-agent-{number}");
        agents.push(join_shifted(kgauge, (&name, &proxy.address), shift_s)?);
    }
    let spec = format!("join:{},listen={lead}", AGENTS.len());
    let hold = format!("stages.hold={seconds} s");
    let job = kgauge.call(&[
        "run",
        "clocks.yaml",
        "--seed",
        "7",
        "--keep",
        "--out",
        "clocks",
        "-v",
        "--set",
        &hold,
        "--agents",
        &spec,
        "--agents-token-file",
        TOKEN_FILE,
    ]);
    let printed = job.run()?.success()?.stdout;
    drop(agents);
    let words = format!("{} agents started within ±", AGENTS.len());
    ensure!(printed.contains(&words), "the report has no {words:?}");
    let dir = kgauge.folder.join("clocks");
    Ok(offsets(&dir, seconds)? & starts(&dir)?)
}

/// Each second's interval and the true offset.
fn offsets(dir: &Path, seconds: u32) -> Result<bool> {
    let repeat: Value = serde_json::from_str(&fs::read_to_string(
        dir.join("repeats/0000-00/repeat.json"),
    )?)?;
    let mut is_good = true;
    for (index, agent) in repeat["agents"]
        .as_array()
        .context("no agents")?
        .iter()
        .enumerate()
    {
        let offset_ns = agent["clock"]["offset_ns"].as_i64().context("no offset")?;
        // Agents join in any order.
        let shift = AGENTS
            .iter()
            .min_by_key(|(shift_s, ..)| (shift_s * 1_000_000_000).abs_diff(offset_ns));
        let (shift_s, there_ms, back_ms) = *shift.context("no shift")?;
        let true_ns = shift_s * 1_000_000_000;
        let path = dir.join(format!("repeats/0000-00/evidence-{index}.jsonl"));
        let (mut all, mut inside) = (0_u32, 0_u32);
        let (mut widest_ns, mut narrowest_ns) = (0, i64::MAX);
        for line in fs::read_to_string(path)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            if line["evidence"] != "clock-offset" {
                continue;
            }
            let end = |key: &str| line[key].as_i64().context("no end");
            let (low_ns, high_ns) = (end("low_ns")?, end("high_ns")?);
            all += 1;
            inside += u32::from((low_ns..=high_ns).contains(&true_ns));
            widest_ns = widest_ns.max(high_ns - low_ns);
            narrowest_ns = narrowest_ns.min(high_ns - low_ns);
        }
        ensure!(all >= seconds, "{all} readings of agent {index}");
        let delays_ns = i64::try_from(1_000_000 * (there_ms + back_ms))?;
        let part = f64::from(inside) / f64::from(all);
        print_line(&format!(
            "agent {index}: clock {shift_s} s ahead, delays {there_ms} and {back_ms} ms: within the bound in {inside} of \
             {all} seconds; error {} us, widest bound ±{} us, drift {} ppb",
            offset_ns.abs_diff(true_ns) / 1_000,
            widest_ns / 2_000,
            agent["clock"]["drift_ppb"]
        ));
        is_good &= part >= INSIDE_MIN && narrowest_ns / 2 <= delays_ns / 2 + BEYOND_DELAYS_NS;
    }
    Ok(is_good)
}

/// What the report prints, and what the broker saw.
fn starts(dir: &Path) -> Result<bool> {
    let summary = summary(dir)?;
    let agents = &summary["trials"][0]["agents"];
    let bound_ns = agents["start_bound_ns"].as_u64().context("no bound")?;
    let late_ns = agents["start_late_ns_max"]
        .as_u64()
        .context("no lateness")?;
    let topic = stored(&dir.join("target-data"))?;
    let times = topic.first_appends.iter().map(|append| append.at_ms);
    let (first, last) = (times.clone().min(), times.max());
    let skew_ms = last.context("nothing was stored")? - first.context("nothing was stored")?;
    // Two starts differ by two bounds at most. Then come the request, and a clock of whole milliseconds.
    let allowed_ms = (2 * bound_ns + late_ns) as f64 / 1e6 + 10.0;
    print_line(&format!(
        "{} producers: began within ±{} us, the last one {} us late; first batches arrived within {skew_ms} ms \
         (allowed {allowed_ms:.1} ms)",
        topic.first_appends.len(),
        bound_ns / 1_000,
        late_ns / 1_000
    ));
    Ok(topic.first_appends.len() == AGENTS.len()
        && bound_ns <= START_BOUND_NS_MAX
        && skew_ms as f64 <= allowed_ms)
}
