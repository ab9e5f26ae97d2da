//! `cargo xtask truth-repeat`: `kgauge truth` again and again, alone or beside a program that takes a part of the
//! machine's processors. Figures may be inconclusive then. None may fail.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::built::ProgramOption;
use crate::kafka::Job;
use crate::say::{print_line, remark};

/// A suite of the whole size, measured three times.
const TIME_MAX: Duration = Duration::from_secs(1_800);
/// The other program runs and rests in turns of this length.
const TURN: Duration = Duration::from_millis(100);

/// How many suites run, and next to which load.
#[derive(Debug, clap::Args)]
pub(crate) struct RepeatOptions {
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: u32,
    /// Beside a program that takes this share of the machine's processors
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    beside: Option<u32>,
    /// A run takes one minute instead of four
    #[arg(long)]
    quick: bool,
    /// Tries per figure beside other programs
    #[arg(long, value_name = "N")]
    tries: Option<String>,
    /// Keep the run folders here
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramOption,
}

fn percent(text: &str) -> Result<u32> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let number = number.filter(|number| (1..=100).contains(number));
    number.context("write 1 to 100 percent")
}

/// What is read of `truth.json`.
#[derive(Debug, Deserialize)]
struct Suite {
    seconds: f64,
    used_by_others_max: Option<f64>,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    check: String,
    figure: String,
    verdict: String,
    tries: u32,
    expected: Option<f64>,
    measured: Option<f64>,
}

impl Row {
    fn is_bad(&self) -> bool {
        matches!(self.verdict.as_str(), "fail" | "not-caught")
    }

    fn is_open(&self) -> bool {
        self.verdict == "inconclusive"
    }
}

/// Runs the command. Returns false when a suite failed.
pub(crate) fn run(options: &RepeatOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let own = tempfile::tempdir()?;
    let folder = options.keep.as_deref().unwrap_or(own.path());
    std::fs::create_dir_all(folder)?;
    print_line("run  status  passed  failed  inconclusive  measured again  others' CPU  seconds");
    let mut wrong = BTreeMap::new();
    let mut statuses: BTreeMap<i32, u32> = BTreeMap::new();
    for number in 1..=options.runs {
        let (status, suite) = one(&binary, folder, number, options)?;
        *statuses.entry(status).or_default() += 1;
        print_line(&line(number, status, &suite));
        for row in suite
            .rows
            .iter()
            .filter(|row| row.is_bad() || row.is_open())
        {
            let name = format!("{}: {}, {}", row.verdict, row.check, row.figure);
            let figures = format!("{:?} for {:?}", row.measured, row.expected);
            wrong.entry(name).or_insert_with(Vec::new).push(figures);
        }
    }
    for (name, figures) in &wrong {
        print_line(&format!(
            "{name}: {} times ({})",
            figures.len(),
            figures.join("; ")
        ));
    }
    let of = |status| statuses.get(&status).copied().unwrap_or(0);
    let (good, open) = (of(0), of(2));
    print_line(&format!(
        "{good} of {} suites passed, {open} were inconclusive, {} failed",
        options.runs,
        options.runs - good - open
    ));
    Ok(good + open == options.runs)
}

/// One suite. The other program ends with it.
fn one(binary: &Path, folder: &Path, number: u32, options: &RepeatOptions) -> Result<(i32, Suite)> {
    let out = folder.join(format!("truth-{number}"));
    let mut command = Command::new(binary);
    command.args(["truth", "--json", "--out"]).arg(&out);
    if options.quick {
        command.arg("--quick");
    }
    if let Some(tries) = &options.tries {
        command.args(["--tries", tries]);
    }
    remark(&format!("suite {number} of {}", options.runs));
    let beside = options.beside.map(Neighbour::start);
    let finished = Job::new(format!("kgauge truth, {number}"), command, TIME_MAX).run()?;
    drop(beside);
    let status = finished.status.and_then(|status| status.code());
    let status =
        status.with_context(|| format!("suite {number} did not end: {}", finished.stderr))?;
    let suite = serde_json::from_str(&finished.stdout)
        .with_context(|| format!("suite {number} ended with {status}: {}", finished.stderr))?;
    Ok((status, suite))
}

fn line(number: u32, status: i32, suite: &Suite) -> String {
    let count = |of: &dyn Fn(&Row) -> bool| suite.rows.iter().filter(|row| of(row)).count();
    let passed = count(&|row| matches!(row.verdict.as_str(), "pass" | "caught"));
    let others = suite.used_by_others_max;
    let others = others.map_or_else(String::new, |part| format!("{:.0} %", part * 100.0));
    format!(
        "{number:>3}  {status:>6}  {passed:>6}  {:>6}  {:>12}  {:>14}  {others:>11}  {:>7.0}",
        count(&Row::is_bad),
        count(&Row::is_open),
        count(&|row| row.tries > 1),
        suite.seconds
    )
}

/// A program that takes a part of every processor, until it is dropped.
struct Neighbour {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbour {
    fn start(percent: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let count = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let take = |_| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || take(percent, &stop))
        };
        let threads = (0..count).map(take).collect();
        Self { stop, threads }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Takes a part of one processor, in turns.
fn take(percent: u32, stop: &AtomicBool) {
    let busy = TURN * percent / 100;
    let end = Instant::now() + TIME_MAX;
    while !stop.load(Ordering::Relaxed) && Instant::now() < end {
        let turn = Instant::now();
        while turn.elapsed() < busy {
            std::hint::spin_loop();
        }
        thread::sleep(TURN.saturating_sub(turn.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_machine_is_1_to_100_percent() {
        assert_eq!(percent("20%").unwrap(), 20);
        assert_eq!(percent("100").unwrap(), 100);
        for hostile in ["0", "200%", "", "x"] {
            assert!(percent(hostile).is_err(), "{hostile}");
        }
    }
}
