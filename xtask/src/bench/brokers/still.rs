//! An embedded cluster with nothing to do: CPU, memory, and its start with many partitions.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::served::ServedCluster;
use crate::built;
use crate::say::remark;
use crate::stop;

const IDLE: Duration = Duration::from_secs(20);
const TOPICS: u32 = 100;
const PARTITIONS_OF_TOPIC: u32 = 100;

/// Measures it, and returns a text with the figures.
pub(super) fn sample(kgauge: &Path, work: &Path) -> Result<String> {
    let topics = built::example("kgauge-client", "topics")?;
    let data = work.join("data");
    let data = data.to_str().context("no UTF-8 path")?;
    let up = || ServedCluster::start_with(kgauge, work, "embedded:3", &["--data", data]);
    let served = up()?;
    let (cpu, resident) = idle(&served)?;
    remark("embedded:3: creating 10,000 partitions");
    let created = call(
        &topics,
        &[
            &served.servers,
            "create",
            &TOPICS.to_string(),
            &PARTITIONS_OF_TOPIC.to_string(),
        ],
    )?;
    served.end()?;
    let start = Instant::now();
    let served = up()?;
    let started = start.elapsed();
    let metadata = call(
        &topics,
        &[&served.servers, "describe", &TOPICS.to_string(), "20"],
    )?;
    let (busy_cpu, busy_resident) = idle(&served)?;
    served.end()?;
    fs::remove_dir_all(data)?;
    Ok(format!(
        "The embedded cluster with three nodes and nothing to do, for {} s:\n  without topics: {:.2} % of a \
         core, {:.1} MiB\n  with {} partitions, each on one node: {:.2} % of a core, {:.1} MiB\n\
         {} partitions: {created}; from the start of kgauge to serving {:.2} s; {metadata}\n",
        IDLE.as_secs(),
        cpu * 100.0,
        resident,
        TOPICS * PARTITIONS_OF_TOPIC,
        busy_cpu * 100.0,
        busy_resident,
        TOPICS * PARTITIONS_OF_TOPIC,
        started.as_secs_f64(),
    ))
}

/// CPU as part of a core, and memory in MiB.
fn idle(served: &ServedCluster) -> Result<(f64, f64)> {
    remark(&format!("{}: idle for {} s", served.target, IDLE.as_secs()));
    let before = served.cpu()?;
    let start = Instant::now();
    while start.elapsed() < IDLE {
        stop::check()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    let spent = served.cpu()?.saturating_sub(before);
    let part = spent.as_secs_f64() / start.elapsed().as_secs_f64();
    Ok((part, served.resident_bytes()? as f64 / f64::from(1 << 20)))
}

fn call(program: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(stdout.trim_end().to_owned())
}
