//! `cargo xtask backtest`: how well `kgauge size` predicts. The capacity of each point is searched with `kgauge
//! capacity`; a third of the points are fitted, and the others predicted by the code of `kgauge size`. Runs are kept in
//! a folder, so that the back-test can be made in parts and goes on where it was stopped.

mod points;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kgauge_analyze::Summary;
use kgauge_analyze::sizing::{TrialFacts, predict_capacity, trial_facts};
use kgauge_results::RunRead;

use crate::built::ProgramOption;
use crate::folders::root;
use crate::kafka::Job;
use crate::say::{print_line, remark};
use crate::stop;
use points::{BacktestPoint, PointTarget, points};
use table::{PredictedPoint, table};

/// No search takes longer.
const TIME_MAX: Duration = Duration::from_secs(2_400);
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
    program: ProgramOption,
}

/// A point that was measured.
struct MeasuredPoint {
    point: BacktestPoint,
    /// Bytes per second that every window sustained, and that some did not.
    lower: f64,
    upper: f64,
    facts: Vec<TrialFacts>,
}

/// Runs the command. Returns false when predictions are worse than they must be.
pub(crate) fn run(options: &BacktestOptions) -> Result<bool> {
    let folder = root().join(&options.runs);
    fs::create_dir_all(&folder)?;
    let binary = match options.measured {
        true => None,
        false => Some(options.program.kgauge()?),
    };
    let mut predicted = Vec::new();
    for target in [PointTarget::Embedded, PointTarget::Kafka] {
        if options.only.is_some_and(|only| only != target) {
            continue;
        }
        let mut measured = Vec::new();
        for point in selected(target, options.quick) {
            stop::check()?;
            match measure(binary.as_deref(), &folder, point) {
                Ok(point) => measured.push(point),
                // A search that fails must not cost those of hours.
                Err(error) => remark(&format!("{}: {error:#}", point.name())),
            }
        }
        predicted.extend(predict(&measured));
    }
    let (text, is_good) = table(&predicted);
    print_line(&text);
    if let Some(path) = &options.record {
        let page = format!(
            "# How well sizes are predicted\n\n`cargo xtask backtest`: the capacity of every point was searched with \
             `kgauge capacity`; the points that are not listed were fitted.\n\n```\n{text}```\n"
        );
        fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(is_good)
}

/// The points of a target: all fitted ones, and all or some of the others.
fn selected(target: PointTarget, quick: bool) -> Vec<BacktestPoint> {
    let of_target = points().into_iter().filter(|point| point.target == target);
    let (fitted, held_out): (Vec<_>, Vec<_>) = of_target.partition(|point| point.is_fitted);
    let step = if quick { QUICK_STEP } else { 1 };
    let held_out = held_out.into_iter().step_by(step);
    fitted.into_iter().chain(held_out).collect()
}

/// The point as it is in its run folder, or after a search.
fn measure(binary: Option<&Path>, folder: &Path, point: BacktestPoint) -> Result<MeasuredPoint> {
    let out = folder.join(point.name());
    if let Ok(found) = read(&out, point) {
        return Ok(found);
    }
    let binary = binary.context("it was not measured")?;
    // What is left of a search that was stopped is of no use: another one would continue with warm brokers.
    if out.is_dir() {
        fs::remove_dir_all(&out)?;
    }
    let scenario = folder.join(format!("{}.yaml", point.name()));
    fs::write(&scenario, point.scenario())?;
    let mut command = Command::new(binary);
    command
        .arg("capacity")
        .arg(&scenario)
        .args(["--target", &point.target_text(), "--seed", "1", "--out"])
        .arg(&out)
        .current_dir(folder);
    let words = format!("kgauge capacity {}", point.name());
    let ended = Job::new(words, command, TIME_MAX).run()?;
    stop::check()?;
    let found = read(&out, point).with_context(|| {
        let mut lines = ended.stderr.lines();
        let error = lines.find(|line| line.contains("error"));
        format!("{:?}: {}", ended.status, error.unwrap_or_default())
    })?;
    remark(&format!(
        "{}: {:.2} to {:.2} MB/s",
        point.name(),
        found.lower / 1e6,
        found.upper / 1e6
    ));
    Ok(found)
}

/// The capacity and the trials of a run; an error if the search did not end with two bounds.
fn read(out: &Path, point: BacktestPoint) -> Result<MeasuredPoint> {
    let run = RunRead::open(out)?;
    let summary = Summary::of(&run);
    let mut searches = summary.capacities.iter().flat_map(|one| &one.searches);
    let search = searches.next().context("the run has no search")?;
    ensure!(search.end.is_some(), "the search did not end");
    let bounds = search.strict.lower.zip(search.strict.upper);
    let (lower, upper) = bounds.context("the search found no two bounds")?;
    let bytes = f64::from(point.record_bytes);
    Ok(MeasuredPoint {
        point,
        lower: lower * bytes,
        upper: upper * bytes,
        facts: trial_facts(&run, &summary),
    })
}

/// Predicts the points that were not fitted.
fn predict(measured: &[MeasuredPoint]) -> Vec<PredictedPoint> {
    let fitted = measured.iter().filter(|one| one.point.is_fitted);
    let trials: Vec<TrialFacts> = fitted.flat_map(|one| one.facts.clone()).collect();
    let held_out = measured.iter().filter(|one| !one.point.is_fitted);
    let predicted = held_out.filter_map(|one| {
        let point = one.point;
        match predict_capacity(&point.need(), &trials, &point.cluster()) {
            Ok(predicted) => Some(PredictedPoint {
                point,
                lower: one.lower,
                upper: one.upper,
                predicted,
            }),
            Err(error) => {
                remark(&format!("{}: {error:?}", point.name()));
                None
            }
        }
    });
    predicted.collect()
}
