//! What the lead needs for the slices of 100 agents with 10 flows each: less than a tenth of a core.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use kgauge_results::run::{RepeatKey, RunHead, RunStatus};
use kgauge_results::slice::line::write_line;
use kgauge_results::{RunFolder, Slice, SliceKey, Stage, TimeKind};
use rustix::time::{ClockId, clock_gettime};

use crate::say::print_line;

const AGENTS: u32 = 100;
const FLOWS: u16 = 10;
/// Seconds of a run.
const SECONDS: u32 = 20;
/// Records of a flow on one agent in a second.
const RECORDS: u64 = 5_000;
/// The limit, as a part of a core.
const PART_MAX: f64 = 0.10;

/// Runs the part.
pub(super) fn run(folder: &Path) -> Result<bool> {
    let dir = folder.join("cost");
    let head = RunHead::starting("cost".to_owned(), Vec::new(), 0);
    let mut run = RunFolder::create(&dir, head)?;
    let key = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    let repeat = run.begin_repeat(key)?;
    let files = (0..AGENTS).map(|agent| repeat.agent_files(agent));
    let mut files = files.collect::<Result<Vec<_>, _>>()?;
    let seconds: Vec<Vec<u8>> = (0..SECONDS).map(lines).collect::<Result<_>>()?;
    let (begin, begin_ns) = (Instant::now(), cpu_ns());
    for lines in &seconds {
        for of_agent in &mut files {
            of_agent.add_slices(lines)?;
        }
    }
    let used_ns = cpu_ns().saturating_sub(begin_ns);
    let part = used_ns as f64 / 1e9 / f64::from(SECONDS);
    print_line(&format!(
        "{} slices per second, {} kB of lines each second: {:.1} % of a core ({:.2} s for {SECONDS} s)",
        AGENTS * u32::from(FLOWS),
        seconds.iter().map(Vec::len).sum::<usize>() * AGENTS as usize / seconds.len() / 1_000,
        100.0 * part,
        begin.elapsed().as_secs_f64()
    ));
    drop(files);
    drop(repeat);
    run.end(RunStatus::Complete, None, 0)?;
    Ok(part < PART_MAX)
}

/// The lines of an agent for one second: a slice for each flow with five distributions.
fn lines(second: u32) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for flow in 0..FLOWS {
        let mut slice = Slice::new(SliceKey {
            flow,
            stage: Stage::Hold,
            second,
        });
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

/// CPU time of this process.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
