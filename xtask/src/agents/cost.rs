//! What the lead needs for the slices of 100 agents with 10 flows each: less than a tenth of a core. An example of
//! `kgauge-results`, built in release, measures it. A run with 100 agents on this machine shows what a whole lead
//! needs, which also has connections, clocks, reports and evidence.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::built;
use crate::kafka::{Job, poll};
use crate::kgauge::{Background, Kgauge};
use crate::processes::{cpu_time, tree};
use crate::say::print_line;

/// The limit, as a part of a core.
const PART_MAX: f64 = 0.10;

/// No measurement takes longer, even when the machine is busy.
const TIME_MAX: Duration = Duration::from_secs(300);

const AGENTS: u32 = 100;

const FLOWS: u32 = 10;

/// How long a lead is watched.
const WATCHED: Duration = Duration::from_secs(10);

/// Runs the part.
pub(super) fn run(kgauge: &Kgauge<'_>) -> Result<bool> {
    let mut command = Command::new(built::example("kgauge-results", "merge_cost")?);
    command.arg(kgauge.folder.join("cost"));
    let measured = Job::new("merge_cost".to_owned(), command, TIME_MAX).run()?;
    let measured = measured.success()?;
    let figure = |name: &str| -> Result<f64> {
        let mut pairs = measured
            .stdout
            .lines()
            .filter_map(|line| line.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        let (_, value) = found.with_context(|| format!("merge_cost prints no {name}"))?;
        Ok(value.parse()?)
    };
    let (kept, observed) = (figure("kept")?, figure("observed")?);
    print_line(&format!(
        "1,000 slices per second, {:.0} kB: {:.1} % of a core, with a live page {:.1} %",
        figure("bytes_per_s")? / 1e3,
        100.0 * kept,
        100.0 * observed
    ));
    // For the record: it may fail on a machine that is too small for so many processes.
    match whole_lead(kgauge) {
        Ok(part) => print_line(&format!(
            "the whole lead of {AGENTS} agents on this machine: {:.1} % of a core",
            100.0 * part
        )),
        Err(error) => print_line(&format!("the whole lead was not measured: {error:#}")),
    }
    // Who watches a run pays for the watching.
    Ok(kept < PART_MAX)
}

/// CPU time of a lead while its agents send slices, as a part of a core.
fn whole_lead(kgauge: &Kgauge<'_>) -> Result<f64> {
    fs::write(kgauge.folder.join("lead.yaml"), scenario())?;
    let agents = format!("local:{AGENTS}");
    let lead = kgauge.start(
        "lead",
        &["run", "lead.yaml", "--out", "lead-out", "--agents", &agents],
    )?;
    let last = format!("lead-out/repeats/0000-00/slices-{}.jsonl", AGENTS - 1);
    let last = kgauge.folder.join(last);
    let seen = poll(TIME_MAX, || {
        let ended = lead.running.ended()?;
        ensure!(ended.is_none(), "it ended early: {}", lead.text());
        Ok(fs::metadata(&last)
            .is_ok_and(|facts| facts.len() > 0)
            .then_some(()))
    })?;
    seen.context("no slices")?;
    let (begin, before) = (Instant::now(), cpu_of(&lead)?);
    std::thread::sleep(WATCHED);
    let used = cpu_of(&lead)?.saturating_sub(before);
    Ok(used.as_secs_f64() / begin.elapsed().as_secs_f64())
}

/// CPU time of a process so far, without that of others which it started.
fn cpu_of(process: &Background) -> Result<Duration> {
    let pid = process.running.id();
    let found = tree(pid)?.get(&pid).copied();
    cpu_time(found.context("it has ended")?.ticks)
}

/// Each agent has a producer of each flow, and ten records per second for each.
fn scenario() -> String {
    let flow = |number| {
        format!(
            "  - {{name: flow-{number}, kind: produce, producers: {AGENTS}, shape: {{constant: 1k/s}}, \
             record: {{size: 100 B}}}}\n"
        )
    };
    let flows: String = (0..FLOWS).map(flow).collect();
    format!(
        "kgauge: 1\nname: lead\nquestion: What does a lead with many agents need?\ntopic: {{partitions: 10}}\nflows:\n\
         {flows}stages: {{warm-up: 0 s, hold: 30 s}}\nrepeats: 1\n"
    )
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Scenario, Size};

    use super::*;

    #[test]
    fn every_flow_of_the_scenario_is_read() {
        let scenario = Scenario::parse("lead.yaml", &scenario()).unwrap();
        let trials = scenario.trials(Size::Default);
        assert_eq!(trials[0].flows.len(), FLOWS as usize);
    }
}
