//! Troubles that are known because they were made: dead, paused, slow and unreachable brokers, generators without a
//! processor, neighbours that take the machine. Each is one run, and no innocent party may be blamed.

mod cells;
mod party;
mod table;
mod trouble;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::kgauge::{Background, Kgauge};
use crate::processes::tree;
use crate::say::{print_line, remark};
use crate::stop;
use cells::{BlameCell, CELLS, Disturbance};
use party::BlameVerdict;
pub(super) use table::BlameTable;
use trouble::Hogs;

/// No run takes longer.
const RUN_MAX: Duration = Duration::from_secs(240);

/// Runs every selected trouble `trials` times.
pub(super) fn run(
    trials: usize,
    is_wanted: impl Fn(&str) -> bool,
    kgauge: &Kgauge<'_>,
) -> Result<BlameTable> {
    let mut table = BlameTable::default();
    for cell in CELLS.iter().filter(|cell| is_wanted(&cell.name())) {
        let name = cell.name();
        if let Some(why) = trouble::why_not(cell.place) {
            remark(&format!("{name}: left out: {why}"));
            table.left_out(cell, &why);
            continue;
        }
        remark(&format!("{name}: {trials} runs"));
        for trial in 1..=trials {
            stop::check()?;
            match one(cell, &format!("{name}-{trial}"), kgauge) {
                Ok(blamed) => {
                    print_line(&format!(
                        "  {} {}",
                        blamed.mark(cell.party),
                        blamed.sentence
                    ));
                    table.add(cell, blamed);
                }
                Err(error) => table.broken(cell, &error),
            }
        }
    }
    Ok(table)
}

/// One run of one trouble.
fn one(cell: &BlameCell, name: &str, kgauge: &Kgauge<'_>) -> Result<BlameVerdict> {
    let scenario = kgauge.folder.join(format!("{name}.yaml"));
    fs::write(&scenario, cell.scenario())?;
    let out = kgauge.folder.join(name);
    let mut cluster = None;
    let target = if cell.is_existing() {
        let up = kgauge.start(&format!("{name}-cluster"), &["cluster", "up", cell.target])?;
        let servers = up.servers()?;
        cluster = Some(up);
        servers
    } else {
        cell.target.to_owned()
    };
    let (scenario, folder) = (scenario.display().to_string(), out.display().to_string());
    let arguments = [
        "run", &scenario, "--target", &target, "--yes", "--out", &folder,
    ];
    let place = trouble::PreparedTrouble::of(cell.place)?;
    let run = kgauge.start_within(name, &arguments, |command| place.around(command))?;
    let hogs = disturb(cell.place, &run, cluster.as_ref(), &out);
    let ended = run.running.wait(RUN_MAX)?;
    drop(hogs);
    ended.with_context(|| format!("{name} did not end within {RUN_MAX:?}"))?;
    drop(place);
    drop(cluster);
    blamed(&out).with_context(|| run.text())
}

/// Waits for the hold stage and causes the trouble. Processes that take the machine run until they are dropped.
fn disturb(
    place: Disturbance,
    run: &Background,
    cluster: Option<&Background>,
    out: &Path,
) -> Result<Option<Hogs>> {
    run.reaches(out, 1)?;
    let mut brokers = Vec::new();
    if let Some(cluster) = cluster {
        let serving = cluster.running.id();
        let processes = tree(serving)?.into_keys();
        brokers.extend(processes.filter(|pid| *pid != serving));
    }
    match place {
        Disturbance::Quiet | Disturbance::Group => {}
        Disturbance::Dead => trouble::kill(&brokers)?,
        Disturbance::Paused => trouble::pause(&brokers)?,
        Disturbance::Slow => trouble::slow_down(&brokers, || {
            stop::check()?;
            Ok(run.running.ended()?.is_some())
        })?,
        Disturbance::CutOff => trouble::cut_off(run.running.id())?,
        Disturbance::Nice | Disturbance::Neighbours => return Hogs::everywhere().map(Some),
        Disturbance::Pinned => return Hogs::on_first().map(Some),
    }
    Ok(None)
}

fn blamed(out: &Path) -> Result<BlameVerdict> {
    let text = fs::read_to_string(out.join("summary.json"))?;
    let summary: Value = serde_json::from_str(&text)?;
    let trial = summary["trials"].get(0).context("no trial")?;
    Ok(BlameVerdict::of(trial))
}
