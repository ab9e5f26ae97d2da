//! `cargo xtask backtest`: how well `kgauge size` predicts. The capacity of each point is searched with `kgauge
//! capacity`; a third of the points are fitted, and the others predicted by the code of `kgauge size`. Runs are kept in
//! a folder, so that the back-test can be made in parts and goes on where it was stopped.

mod points;
mod reading;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use kgauge_analyze::sizing::{TrialFacts, predict_capacity};

use crate::built::ProgramOption;
use crate::folders::root;
use crate::kafka::Job;
use crate::say::{print_line, remark};
use crate::session_time::{SessionClock, SessionLimit};
use crate::stop;
use points::{BacktestPoint, PointTarget, points};
use reading::{MeasuredPoint, PointReading, read};
use table::{BacktestTable, PredictedPoint};

/// The time of a search, by which it ends with the best bounds so far.
const BUDGET_MIN: u64 = 15;
/// No search takes longer, with the start of its cluster and its report.
const TIME_MAX: Duration = Duration::from_secs(60 * BUDGET_MIN + 600);
/// `--quick` measures each third of the predicted points.
const QUICK_STEP: usize = 3;

/// What is measured and predicted.
#[derive(Debug, clap::Args)]
pub(crate) struct BacktestOptions {
    /// Only this software
    #[arg(long, value_enum)]
    only: Option<PointTarget>,
    /// Predict a third of the points, for a first look
    #[arg(long)]
    quick: bool,
    /// Measure nothing: predict the points that are there
    #[arg(long)]
    measured: bool,
    /// Folder of the runs; points that it has are not measured again
    #[arg(long, value_name = "DIR", default_value = "target/backtest")]
    runs: PathBuf,
    /// Keep the result as Markdown
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
    #[command(flatten)]
    session: SessionLimit,
    #[command(flatten)]
    program: ProgramOption,
}

/// Runs the command. Returns false when predictions are worse than they must be, or points are still to be measured.
pub(crate) fn run(options: &BacktestOptions) -> Result<bool> {
    let clock = options.session.start();
    let folder = root().join(&options.runs);
    fs::create_dir_all(&folder)?;
    let binary = match options.measured {
        true => None,
        false => Some(options.program.kgauge()?),
    };
    let searches = PointSearches {
        binary,
        folder,
        clock,
    };
    let mut table = BacktestTable {
        is_whole: options.only.is_none() && !options.quick,
        ..BacktestTable::default()
    };
    for target in [PointTarget::Embedded, PointTarget::Kafka] {
        if options.only.is_some_and(|only| only != target) {
            continue;
        }
        let mut measured = Vec::new();
        for point in selected(target, options.quick) {
            stop::check()?;
            match searches.reading(point) {
                Ok(Some(PointReading::Measured(point))) => measured.push(point),
                Ok(Some(PointReading::NoCapacity(why))) => table.left_out.push((point, why)),
                Ok(None) => table.open.push(point),
                // A search that fails must not cost those of hours.
                Err(error) => {
                    remark(&format!("{}: {error:#}", point.name()));
                    table.open.push(point);
                }
            }
        }
        predict(measured, &mut table);
    }
    let text = table.text();
    print_line(&text);
    if let Some(path) = &options.record {
        record(path, &table, &text)?;
    }
    Ok(table.is_good())
}

/// The result as a page.
fn record(path: &Path, table: &BacktestTable, text: &str) -> Result<()> {
    let page = format!(
        "# How well sizes are predicted\n\n`cargo xtask backtest`: the capacity of every point was searched with `kgauge \
         capacity`. A third of the points was fitted, and the code of `kgauge size` predicted the others. Measured on \
         {}.\n\n```\n{text}```\n",
        table.setup.as_deref().unwrap_or("an unknown machine")
    );
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))
}

/// The points of a target: all fitted ones, and all or some of the others.
fn selected(target: PointTarget, quick: bool) -> Vec<BacktestPoint> {
    let of_target = points().into_iter().filter(|point| point.target == target);
    let (fitted, held_out): (Vec<_>, Vec<_>) = of_target.partition(|point| point.is_fitted);
    let step = if quick { QUICK_STEP } else { 1 };
    let held_out = held_out.into_iter().step_by(step);
    fitted.into_iter().chain(held_out).collect()
}

/// Points that were measured, and new ones as long as there is time.
struct PointSearches {
    /// Absent if only points that are there count.
    binary: Option<PathBuf>,
    folder: PathBuf,
    clock: SessionClock,
}

impl PointSearches {
    /// The point as it is in its run folder, or after a search. `None` without time for one.
    fn reading(&self, point: BacktestPoint) -> Result<Option<PointReading>> {
        let out = self.folder.join(point.name());
        if let Ok(found) = read(&out, point) {
            return Ok(Some(found));
        }
        let in_time = |_: &&PathBuf| self.clock.has(point.time());
        match self.binary.as_ref().filter(in_time) {
            Some(binary) => self.search(binary, point, &out).map(Some),
            None => Ok(None),
        }
    }

    fn search(&self, binary: &Path, point: BacktestPoint, out: &Path) -> Result<PointReading> {
        // What is left of a search that was stopped is of no use: another one would continue with warm brokers.
        if out.is_dir() {
            fs::remove_dir_all(out)?;
        }
        let scenario = self.folder.join(format!("{}.yaml", point.name()));
        fs::write(&scenario, point.scenario())?;
        let mut command = Command::new(binary);
        command
            .arg("capacity")
            .arg(&scenario)
            .args(["--target", &point.target_text(), "--seed", "1"])
            .args(["--budget", &format!("{BUDGET_MIN} min")])
            .arg("--out")
            .arg(out)
            .current_dir(&self.folder);
        let words = format!("kgauge capacity {}", point.name());
        let ended = Job::new(words, command, TIME_MAX).run()?;
        stop::check()?;
        let found = read(out, point).with_context(|| {
            let mut lines = ended.stderr.lines();
            let error = lines.find(|line| line.contains("error"));
            format!("{:?}: {}", ended.status, error.unwrap_or_default())
        })?;
        let what = match &found {
            PointReading::Measured(found) => {
                let [lower, upper] = [found.lower, found.upper].map(|bound| bound / 1e6);
                format!("{lower:.2} to {upper:.2} MB/s")
            }
            PointReading::NoCapacity(why) => (*why).to_owned(),
        };
        remark(&format!(
            "{}: {what}, {:.0} s",
            point.name(),
            ended.took.as_secs_f64()
        ));
        Ok(found)
    }
}

/// Predicts the points that were not fitted.
fn predict(measured: Vec<MeasuredPoint>, table: &mut BacktestTable) {
    let fitted = measured.iter().filter(|one| one.point.is_fitted);
    let trials: Vec<TrialFacts> = fitted.flat_map(|one| one.facts.clone()).collect();
    for one in measured {
        let point = one.point;
        table.setup.get_or_insert(one.setup);
        if point.is_fitted {
            table.fitted.push((point, [one.lower, one.upper]));
            continue;
        }
        match predict_capacity(&point.need(), &trials, &point.cluster()) {
            Ok(predicted) => table.predicted.push(PredictedPoint {
                point,
                lower: one.lower,
                upper: one.upper,
                predicted,
            }),
            Err(error) => {
                remark(&format!("{}: {error:?}", point.name()));
                table
                    .left_out
                    .push((point, "the fitted points do not show enough"));
            }
        }
    }
}
