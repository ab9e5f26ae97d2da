//! `cargo xtask matrix`: causes that are known because they were put there, on the embedded cluster and on Apache
//! Kafka, and what kgauge's verdict says of each; and troubles of brokers, generator and machine, and whom kgauge
//! blames (`--only blame`). Nothing else may run on the machine meanwhile.

mod blame;
mod cells;
mod slow_loopback;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::built::ProgramOption;
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};
use crate::stop;
use cells::{BottleneckCell, CELLS, CellSetup};
use table::{JudgedTrial, VerdictTable};

/// So many of all verdicts must be right.
const RIGHT_PART: f64 = 0.95;

/// No cell takes longer, whatever the number of trials.
const CALL_MAX: Duration = Duration::from_secs(1_800);

/// Which cells run.
#[derive(Debug, clap::Args)]
pub(crate) struct MatrixOptions {
    #[command(flatten)]
    program: ProgramOption,
    /// Trials of each cause and target
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    trials: u32,
    /// Only cells with this in their names; repeatable
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Keep the run folders here
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Runs the command. Returns false when too many verdicts are wrong.
pub(crate) fn run(options: &MatrixOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let trials = usize::try_from(options.trials)?;
    let folder = tempfile::tempdir()?;
    let kept = std::path::absolute(options.keep.as_deref().unwrap_or(folder.path()))?;
    let kept = kept.as_path();
    fs::create_dir_all(kept)?;
    let kgauge = Kgauge {
        binary: &binary,
        folder: kept,
    };
    let mut table = VerdictTable::default();
    let is_selected = |name: &str| {
        let only = &options.only;
        only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
    };
    for cell in CELLS.iter().filter(|cell| is_selected(&cell.name())) {
        stop::check()?;
        if let Some(why) = why_not(cell) {
            remark(&format!("{}: left out: {why}", cell.name()));
            table.left_out(cell, &why);
            continue;
        }
        match judge(cell, trials, &kgauge) {
            Ok(judged) => table.add(cell, judged),
            Err(error) => table.broken(cell, &error),
        }
    }
    let blamed = blame::run(trials, is_selected, &kgauge)?;
    let mut good = blamed.is_good();
    if !table.is_empty() {
        print_line(&table.text(trials));
        let is_right = table.right_part() >= RIGHT_PART;
        good &= is_right && table.false_alarms() == 0 && table.broken_cells() == 0;
    }
    if !blamed.is_empty() {
        print_line(&blamed.text());
    }
    Ok(good)
}

/// A target without its options, for names of files: `kafka-4.3.1`.
fn target_in_name(target: &str) -> String {
    let name = target.split(',').next().unwrap_or_default();
    name.replace(':', "-")
}

/// The command as an argument of another one, which these words begin.
fn within_words(words: &[&str], command: &Command) -> Command {
    let (program, arguments) = words.split_first().unwrap_or((&"env", &[]));
    let mut outer = Command::new(program);
    outer.args(arguments);
    outer.arg(command.get_program()).args(command.get_args());
    outer.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    outer
}

/// Why a cause cannot be put there on this machine.
fn why_not(cell: &BottleneckCell) -> Option<String> {
    match cell.place {
        CellSetup::Machine => None,
        CellSetup::SlowLoopback => slow_loopback::why_not(),
    }
}

/// Runs one cause on one target, and gives the verdict on each trial.
fn judge(cell: &BottleneckCell, trials: usize, kgauge: &Kgauge<'_>) -> Result<Vec<JudgedTrial>> {
    let name = cell.name();
    remark(&format!("{name}: {trials} trials"));
    let scenario = kgauge.folder.join(format!("{name}.yaml"));
    fs::write(&scenario, cell.scenario(trials))?;
    let out = kgauge.folder.join(&name);
    let (scenario, folder) = (scenario.display().to_string(), out.display().to_string());
    let mut arguments = vec![
        "run",
        &scenario,
        "--target",
        cell.target,
        "--yes",
        "--out",
        &folder,
    ];
    let mut call = match cell.place {
        CellSetup::Machine => kgauge.call(&arguments),
        CellSetup::SlowLoopback => {
            arguments.extend(["--network-speed", slow_loopback::SPEED]);
            let mut call = kgauge.call(&arguments);
            call.command = slow_loopback::within(&call.command);
            call
        }
    };
    call.time_max = CALL_MAX;
    let finished = call.run()?;
    let summary = out.join("summary.json");
    let text = fs::read_to_string(&summary)
        .with_context(|| format!("{}\n{}", finished.stdout, finished.stderr))?;
    let summary: Value = serde_json::from_str(&text)?;
    let judged = summary["trials"].as_array().context("no trials")?;
    let judged: Vec<JudgedTrial> = judged.iter().map(JudgedTrial::of).collect();
    for one in &judged {
        print_line(&format!("  {}", one.sentence));
    }
    ensure!(judged.len() == trials, "{} trials", judged.len());
    Ok(judged)
}
