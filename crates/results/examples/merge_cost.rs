//! What a lead needs for the slices of 100 agents with 10 flows each, as a part of a core: without an observer, and
//! with one, for which histograms are decoded and added. `cargo xtask agents --only cost` calls it.
//!
//! `cargo run --release -p kgauge-results --example merge_cost -- FOLDER`, a folder that does not exist.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use kgauge_results::folder::layout;
use kgauge_results::recorder::SliceTap;
use kgauge_results::run::{RepeatKey, RunHead, RunStatus};
use kgauge_results::slice::line::write_line;
use kgauge_results::{RunFolder, Slice, SliceKey, Stage, TimeKind};
use rustix::time::{ClockId, clock_gettime};

const AGENTS: u32 = 100;
const FLOWS: u16 = 10;
/// Seconds of a run.
const SECONDS: u32 = 20;
/// Records of a flow on one agent in a second.
const RECORDS: u64 = 5_000;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let folder = std::env::args_os().nth(1).ok_or("give a FOLDER")?;
    let seconds: Vec<Vec<u8>> = (0..SECONDS).map(lines).collect::<Result<_, _>>()?;
    let bytes: usize = seconds.iter().map(Vec::len).sum();
    let bytes_per_s = bytes * AGENTS as usize / seconds.len();
    println!("bytes_per_s={bytes_per_s}");
    let mut run = RunFolder::create(Path::new(&folder), head())?;
    println!("kept={:.4}", part(&run, 0, None, &seconds)?);
    let last = layout::agent_slices(AGENTS - 1);
    let kept = Path::new(&folder).join("repeats/0000-00").join(last);
    if std::fs::metadata(kept)?.len() != bytes as u64 {
        return Err("lines are missing".into());
    }
    let sum = Arc::new(Mutex::new(Slice::new(key(0, 0))));
    let tap: SliceTap = Arc::new(move |slice: &Slice| {
        sum.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(slice);
    });
    println!("observed={:.4}", part(&run, 1, Some(tap), &seconds)?);
    run.end(RunStatus::Complete, None, 0)?;
    Ok(())
}

fn head() -> RunHead {
    RunHead::starting("merge-cost".to_owned(), Vec::new(), 0)
}

/// CPU time for the lines of all agents in one repeat, as a part of a core.
fn part(
    run: &RunFolder,
    repeat: u32,
    tap: Option<SliceTap>,
    seconds: &[Vec<u8>],
) -> Result<f64, Failure> {
    let repeat = run.begin_repeat_tapped(RepeatKey { trial: 0, repeat }, tap)?;
    let files = (0..AGENTS).map(|agent| repeat.agent_files(agent));
    let mut files = files.collect::<Result<Vec<_>, _>>()?;
    let begin_ns = cpu_ns();
    for lines in seconds {
        for of_agent in &mut files {
            of_agent.add_slices(lines)?;
        }
    }
    let used_ns = cpu_ns().saturating_sub(begin_ns);
    Ok(used_ns as f64 / 1e9 / f64::from(SECONDS))
}

/// The lines of an agent for one second: a slice for each flow with five distributions.
fn lines(second: u32) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    for flow in 0..FLOWS {
        let mut slice = Slice::new(key(flow, second));
        slice.counts.records_scheduled = RECORDS;
        slice.counts.records_acked = RECORDS;
        for kind in [
            TimeKind::Response,
            TimeKind::Service,
            TimeKind::Lag,
            TimeKind::RoundTrip,
            TimeKind::BatchWait,
        ] {
            for record in 0..RECORDS {
                // From 0.5 ms to 20 ms, most of them short.
                let step = (record * 7_919 + u64::from(second)) % 1_000;
                let value_ns = 500_000 + step * step * 20;
                slice.times_mut(kind).record(value_ns, 1, record);
            }
        }
        write_line(&slice, &mut lines)?;
    }
    Ok(lines)
}

fn key(flow: u16, second: u32) -> SliceKey {
    SliceKey {
        flow,
        stage: Stage::Hold,
        second,
    }
}

/// CPU time of this process.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
