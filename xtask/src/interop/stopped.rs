//! Checks: a run that is killed still gives a report, and one that is stopped leaves nothing behind.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;

use super::checks::{Checks, Transcript};
use super::leftovers::{RUN, delete_left, nothing_left};
use crate::kafka::Tools;
use crate::kgauge::{Background, Kgauge, acked_in_flows};

/// What `kgauge report` ends with when the run's process died.
const CUT_SHORT: i32 = 3;
/// What a run that the user stops ends with: 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// The hold stage of a run that is killed or stopped. At full speed, more would ask for ten gigabytes of disk.
const HOLD: &str = "stages.hold=8 s";
/// So many seconds of it are on disk then.
const HOLD_SECONDS: usize = 3;

const END_MAX: Duration = Duration::from_secs(60);

pub(super) fn run(checks: &mut Checks, kgauge: &Kgauge<'_>, tools: &Tools<'_>) -> Result<()> {
    let folder = kgauge.folder.join("killed");
    let killed = checks.check((RUN, "kill -9 in the middle"), |log| {
        kill(log, kgauge, tools, &folder)
    })?;
    checks.follow(killed, ("kgauge report", "of the killed run"), |log| {
        check_report(log, kgauge, &folder)
    })?;
    let stopped = checks.check((RUN, "Ctrl-C in the middle"), |log| {
        interrupt(log, kgauge, tools)
    })?;
    checks.follow(stopped, (RUN, "its topics are gone after Ctrl-C"), |log| {
        nothing_left(log, tools)
    })?;
    Ok(())
}

/// A run of 10 seconds, long enough to have a middle, once that is reached.
fn middle(
    log: &mut Transcript,
    kgauge: &Kgauge<'_>,
    tools: &Tools<'_>,
    folder: &Path,
) -> Result<Background> {
    let out = folder.to_str().context("the folder's name is not UTF-8")?;
    let scenario = [
        "--only",
        "single-producer",
        "--repeat",
        "1",
        "--out",
        out,
        "--set",
        HOLD,
    ];
    let call = ["run", "linkedin-2014", "--yes", "--target", &tools.servers];
    let run = kgauge.start("stopped", &[&call[..], &scenario].concat())?;
    if let Err(error) = run.reaches(folder, HOLD_SECONDS) {
        log.note(&run.text());
        return Err(error);
    }
    Ok(run)
}

fn kill(
    log: &mut Transcript,
    kgauge: &Kgauge<'_>,
    tools: &Tools<'_>,
    folder: &Path,
) -> Result<String> {
    let run = middle(log, kgauge, tools, folder)?;
    run.running.signal(Signal::KILL)?;
    let ended = run.running.wait(END_MAX)?;
    log.note(&run.text());
    ensure!(ended.is_some(), "it still runs");
    // After SIGKILL, only the sender can clean up.
    delete_left(log, tools)?;
    Ok(format!("{HOLD_SECONDS} s into the hold"))
}

fn check_report(log: &mut Transcript, kgauge: &Kgauge<'_>, folder: &Path) -> Result<String> {
    let dir = folder.to_str().context("the folder's name is not UTF-8")?;
    let text = log
        .run_any(kgauge.call(&["report", dir]))?
        .ended_with(CUT_SHORT)?;
    ensure!(
        text.stdout.contains("this run did not finish"),
        "the table does not say that the run did not finish"
    );
    let page = fs::read_to_string(folder.join("report.html"))?;
    ensure!(
        page.contains("cut short"),
        "report.html does not say cut short"
    );
    let json = log
        .run_any(kgauge.call(&["report", dir, "--json"]))?
        .ended_with(CUT_SHORT)?;
    let summary: Value = serde_json::from_str(&json.stdout)?;
    ensure!(
        summary["status"] == "cut-short",
        "status {}",
        summary["status"]
    );
    let acked = acked_in_flows(&summary)?;
    ensure!(acked > 0, "nothing of what was measured is in it");
    Ok(format!(
        "exit status {CUT_SHORT}, cut short, {acked} acked until then"
    ))
}

fn interrupt(log: &mut Transcript, kgauge: &Kgauge<'_>, tools: &Tools<'_>) -> Result<String> {
    let folder = kgauge.folder.join("interrupted");
    let run = middle(log, kgauge, tools, &folder)?;
    let start = Instant::now();
    run.running.signal(Signal::INT)?;
    let ended = run.running.wait(END_MAX)?;
    let took = start.elapsed();
    log.note(&run.text());
    let status = ended.context("it still runs")?;
    ensure!(status.code() == Some(INTERRUPTED), "it ended with {status}");
    ensure!(
        folder.join("report.html").is_file(),
        "there is no report.html"
    );
    let summary: Value = serde_json::from_slice(&fs::read(folder.join("summary.json"))?)?;
    ensure!(
        summary["status"] == "interrupted",
        "status {}",
        summary["status"]
    );
    let acked = acked_in_flows(&summary)?;
    ensure!(acked > 0, "nothing of what was measured is in the report");
    Ok(format!(
        "exit status {INTERRUPTED} and report after {:.1} s, {acked} acked until then",
        took.as_secs_f64()
    ))
}
