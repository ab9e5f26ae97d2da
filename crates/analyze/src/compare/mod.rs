//! Several runs side by side: each figure with its spread in every run, and how it stands to the
//! baseline. A pure function of the run folders.
//!
//! A column is a side: one run, or several of one thing (`sides`), whose spread then is that between runs; of single
//! runs it is assumed (`between`). A difference is claimed only where the interval of the ratio excludes 1 and still
//! would among all comparisons of the two runs: `welch` makes the ratio, `holm` adjusts, `coverage` tries both. What
//! does not measure the same (the embedded cluster and Apache Kafka, other scenarios, sizes or machines, a generator
//! that was the limit, a closed loop's latency) is never called faster or slower.

mod between;
mod capacity;
mod column;
mod comparability;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod coverage_between;
pub(crate) mod figures;
mod gate;
mod holm;
mod judge;
mod power;
mod row;
mod side_count;
mod sides;
mod student_t;
mod table;
mod trials;
mod welch;

use schemars::JsonSchema;
use serde::Serialize;

pub use between::{AssumedBetweenRuns, BetweenRuns, RunSpreadRecord};
pub use column::{FurtherRun, RunColumn};
pub use comparability::{
    BrokerSettingDifference, DifferenceFact, DifferenceKind, MachineDifference, RunDifference,
    SettingDifference,
};
pub use gate::{Gate, GateChoice, GateFigure, GateRequest, GateVerdict};
pub use power::{LogRatioError, MoreNeeded};
pub use row::{
    Against, AgainstReason, BesidePublished, Caveat, Cell, ComparisonRow, DifferenceVerdict,
    FigureKind, FigureUnit, MarkedSide, MissingFigure, PublishedFigure,
};
pub use side_count::SideCount;

pub use trials::{TrialFigure, TrialFinding, TrialPoint, UndecidedCause};
pub(crate) use trials::{pair_figures, trial_figures};

use crate::summary::Summary;
use judge::Judge;
use kgauge_results::folder::RunRead;
use table::ComparisonTable;

/// More sides beside each other nobody can read.
pub const RUNS_MAX: usize = 32;
/// More runs of all sides together are refused: each is read into memory.
const ALL_RUNS_MAX: usize = 500;

/// A run to compare.
#[derive(Clone, Copy, Debug)]
pub struct RunToCompare<'a> {
    /// Its folder, read.
    pub run: &'a RunRead,
    /// The folder's summary: [`Summary::of`].
    pub summary: &'a Summary,
}

/// Runs side by side. Its schema is published as `docs/schema/comparison.schema.json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "kgauge comparison")]
pub struct Comparison {
    /// Version of this format, 1.
    pub format: u32,
    /// The runs: the columns. A column may be a side of several runs.
    pub runs: Vec<RunColumn>,
    /// Position of the run that the others are compared with.
    pub baseline: u32,
    /// The figures, scenario by scenario, in the order in which the runs have them.
    pub rows: Vec<ComparisonRow>,
    /// What differs between the runs beside their targets.
    pub differences: Vec<RunDifference>,
    /// How the verdicts were found.
    pub method: Method,
    /// Rows beyond the limit, left out.
    pub rows_left_out: u64,
}

/// How differences were separated from chance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Method {
    /// How sure an interval is: 0.95.
    pub confidence: f64,
    /// Comparisons that statistics decided; those of one run are adjusted together.
    pub comparisons: u32,
    /// What was taken for the spread between runs; releases before it took none.
    #[serde(default)]
    pub between_runs: RunSpreadRecord,
}

/// Why runs cannot be put side by side.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// There is nothing to compare with.
    #[error("a comparison needs at least two runs, not {given}: give two or more run folders")]
    TooFew {
        /// How many were given.
        given: usize,
    },
    /// More than can be read.
    #[error("{given} runs are too many: compare at most {RUNS_MAX}")]
    TooMany {
        /// How many were given.
        given: usize,
    },
    /// No such baseline.
    #[error(
        "no run {} for the baseline: there are {runs}, counted from 1",
        baseline.saturating_add(1)
    )]
    NoSuchBaseline {
        /// The position asked for, from 0.
        baseline: usize,
        /// How many runs there are.
        runs: usize,
    },
    /// Runs of all sides together are too many.
    #[error("{given} runs in total are too many: use at most {ALL_RUNS_MAX}")]
    TooManyInAll {
        /// How many were given.
        given: usize,
    },
    /// A run counts as a repetition of itself.
    #[error("run {run} is given twice: each run of a side must be a separate run")]
    GivenTwice {
        /// Its id.
        run: String,
    },
    /// Runs of one side measure different things.
    #[error(
        "runs {} and {} measure different things and cannot form one side",
        .0.theirs, .0.ours
    )]
    NotOneSide(Box<RunDifference>),
}

impl Comparison {
    /// The version of the format that this build writes.
    pub const FORMAT: u32 = 1;

    /// The JSON Schema (draft 2020-12) of a comparison.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Comparison).to_value()
    }
}

/// How sides are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choices<'a> {
    /// Position of the side that the others are compared with, from 0.
    pub baseline: usize,
    /// The spread between runs, where several runs of both sides do not show it.
    pub between_runs: BetweenRuns,
    /// What the sides are called, in their order; empty to call them by their targets, or where these are the same by
    /// their folders.
    pub names: &'a [String],
}

/// Puts runs side by side; `baseline` is the position, from 0, of the one that the others are
/// compared with.
pub fn compare(runs: &[RunToCompare<'_>], baseline: usize) -> Result<Comparison, CompareError> {
    let sides: Vec<Vec<RunToCompare<'_>>> = runs.iter().map(|run| vec![*run]).collect();
    let choices = Choices {
        baseline,
        ..Choices::default()
    };
    compare_sides(&sides, choices)
}

/// Puts sides beside each other, each of one run or of several runs of the same.
pub fn compare_sides(
    sides: &[Vec<RunToCompare<'_>>],
    choices: Choices<'_>,
) -> Result<Comparison, CompareError> {
    let baseline = choices.baseline;
    let firsts = firsts(sides, baseline)?;
    let several = sides.iter().any(|side| side.len() > 1);
    let columns = column::columns(sides, choices.names);
    let name = |index: usize| {
        columns
            .get(index)
            .map_or("", |column| column.label.as_str())
    };
    let mut differences = Vec::new();
    for ((side, first), index) in sides.iter().zip(&firsts).zip(0_u32..) {
        if let Some(base) = firsts.get(baseline).filter(|_| index as usize != baseline) {
            let names = comparability::Names {
                ours: name(index as usize),
                theirs: name(baseline),
            };
            let mut found = comparability::differences(index, *first, *base, names);
            // Runs of a side have seeds of their own.
            found.retain(|found| !(several && found.kind == DifferenceKind::Seed));
            differences.extend(found);
        }
        differences.extend(sides::within(index, side)?);
    }
    let runs: Vec<RunToCompare<'_>> = sides.iter().flatten().copied().collect();
    let counts: Vec<usize> = sides.iter().map(Vec::len).collect();
    let mut table = ComparisonTable::of(&runs);
    sides::fold(&mut table.rows, &counts);
    let judge = Judge {
        baseline,
        differences: &differences,
        between_runs: choices.between_runs,
    };
    let comparisons = judge.all(&mut table.rows);
    Ok(Comparison {
        format: Comparison::FORMAT,
        runs: columns,
        baseline: u32::try_from(baseline).unwrap_or(u32::MAX),
        differences,
        method: Method {
            confidence: 1.0 - welch::ALPHA,
            comparisons,
            between_runs: between::record(&table.rows),
        },
        rows: table.rows,
        rows_left_out: table.left_out,
    })
}

/// The first run of each side, if the sides can be compared at all.
fn firsts<'a>(
    sides: &[Vec<RunToCompare<'a>>],
    baseline: usize,
) -> Result<Vec<RunToCompare<'a>>, CompareError> {
    let given = sides.len();
    if given < 2 {
        return Err(CompareError::TooFew { given });
    }
    if given > RUNS_MAX {
        return Err(CompareError::TooMany { given });
    }
    if baseline >= given {
        return Err(CompareError::NoSuchBaseline {
            baseline,
            runs: given,
        });
    }
    let in_all = sides.iter().map(Vec::len).sum();
    if in_all > ALL_RUNS_MAX {
        return Err(CompareError::TooManyInAll { given: in_all });
    }
    if in_all > given
        && let Some(run) = sides::given_twice(sides)
    {
        return Err(CompareError::GivenTwice { run });
    }
    let firsts: Vec<RunToCompare<'a>> = sides
        .iter()
        .filter_map(|side| side.first().copied())
        .collect();
    match firsts.len() == given {
        true => Ok(firsts),
        // A side without runs is none.
        false => Err(CompareError::TooFew {
            given: firsts.len(),
        }),
    }
}

fn folder_name(run: &RunRead) -> String {
    let name = run.dir.file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
