//! What the lead needs for the slices of 100 agents with 10 flows each: less than a tenth of a core. An example of
//! `kgauge-results`, built in release, measures it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::built;
use crate::kafka::Job;
use crate::say::print_line;

/// The limit, as a part of a core.
const PART_MAX: f64 = 0.10;

/// No measurement takes longer, even when the machine is busy.
const TIME_MAX: Duration = Duration::from_secs(300);

/// Runs the part.
pub(super) fn run(folder: &Path) -> Result<bool> {
    let mut command = Command::new(built::example("kgauge-results", "merge_cost")?);
    command.arg(folder.join("cost"));
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
    // Who watches a run pays for the watching.
    Ok(kept < PART_MAX)
}
