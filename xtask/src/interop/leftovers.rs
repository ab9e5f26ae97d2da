//! Topics that a run left on the cluster.

use anyhow::{Result, ensure};

use super::checks::Transcript;
use crate::kafka::{KafkaScript, Tools};

/// Every topic that kgauge makes begins with it.
pub(super) const PREFIX: &str = "kgauge-";
pub(super) const RUN: &str = "kgauge run";

/// Checks that no topic of a run is on the cluster.
pub(super) fn nothing_left(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let left = of_runs(log, tools)?;
    ensure!(left.is_empty(), "left behind: {}", left.join(" "));
    Ok("none left".to_owned())
}

fn of_runs(log: &mut Transcript, tools: &Tools<'_>) -> Result<Vec<String>> {
    let stdout = log.run_tool(tools, KafkaScript::TOPICS, &["--list"])?;
    let names = stdout
        .lines()
        .map(str::trim)
        .filter(|name| name.starts_with(PREFIX));
    Ok(names.map(str::to_owned).collect())
}

/// Deletes what a killed run, or one with `--keep`, has left.
pub(super) fn delete_left(log: &mut Transcript, tools: &Tools<'_>) -> Result<()> {
    if !of_runs(log, tools)?.is_empty() {
        log.run(tools.delete(&format!("{PREFIX}.*"))?)?;
    }
    Ok(())
}
