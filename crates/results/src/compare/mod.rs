//! Several runs side by side: each figure with its spread in every run, and how it stands to the
//! baseline. A pure function of the run folders.
//!
//! A difference is claimed only where the interval of the ratio excludes 1 and still would among
//! all comparisons of the two runs: `welch` makes the ratio, `holm` adjusts, `coverage` tries both. What does not measure
//! the same (the embedded cluster and Apache Kafka, other scenarios, sizes or machines, a generator
//! that was the limit, a closed loop's latency) is never called faster or slower.

mod column;
#[cfg(test)]
mod coverage;
mod figures;
mod gate;
mod grounds;
mod holm;
mod judge;
mod row;
mod table;
mod welch;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use column::RunColumn;
pub use gate::Gate;
pub use grounds::{DifferenceKind, RunDifference};
pub use row::{
    Against, AgainstWord, BesidePublished, Cell, ComparisonRow, FigureKind, FigureUnit, Mark,
    Missing, PublishedFigure,
};

use crate::folder::RunRead;
use crate::summary::Summary;
use judge::Judge;
use table::Table;

/// More runs side by side nobody can read.
pub const RUNS_MAX: usize = 32;

/// A run to compare.
#[derive(Clone, Copy, Debug)]
pub struct RunToCompare<'a> {
    /// Its folder, read.
    pub run: &'a RunRead,
    /// The folder's summary: [`Summary::of`].
    pub summary: &'a Summary,
}

/// Runs side by side. Its schema is published as `docs/schema/comparison.schema.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "kgauge comparison")]
pub struct Comparison {
    /// Version of this format, 1.
    pub format: u32,
    /// The runs: the columns.
    pub runs: Vec<RunColumn>,
    /// Position of the run that the others are compared with.
    pub baseline: u32,
    /// The figures, scenario by scenario, in the order in which the runs have them.
    pub rows: Vec<ComparisonRow>,
    /// What differs between the runs beside their targets.
    pub differences: Vec<RunDifference>,
    /// How the words were found.
    pub method: Method,
    /// Rows beyond the limit, left out.
    pub rows_left_out: u64,
}

/// How differences were told from chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Method {
    /// How sure an interval is: 0.95.
    pub confidence: f64,
    /// Comparisons that statistics decided; those of one run are adjusted together.
    pub comparisons: u32,
    /// In sentences.
    pub words: String,
}

/// Why runs cannot be put side by side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// There is nothing to compare with.
    #[error("a comparison needs at least two runs, not {given}: give two or more run folders")]
    TooFew {
        /// How many were given.
        given: usize,
    },
    /// More than can be read.
    #[error("{given} runs are more than fit side by side: compare at most {RUNS_MAX}")]
    TooMany {
        /// How many were given.
        given: usize,
    },
    /// No such baseline.
    #[error(
        "there is no run {} to be the baseline: there are {runs}, counted from 1",
        baseline.saturating_add(1)
    )]
    NoSuchBaseline {
        /// The position asked for, from 0.
        baseline: usize,
        /// How many runs there are.
        runs: usize,
    },
}

impl Comparison {
    /// The version of the format that this build writes.
    pub const FORMAT: u32 = 1;

    /// The JSON Schema (draft 2020-12) of a comparison.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Comparison).to_value()
    }
}

/// Puts runs side by side; `baseline` is the position, from 0, of the one that the others are
/// compared with.
pub fn compare(runs: &[RunToCompare<'_>], baseline: usize) -> Result<Comparison, CompareError> {
    let given = runs.len();
    if given < 2 {
        return Err(CompareError::TooFew { given });
    }
    if given > RUNS_MAX {
        return Err(CompareError::TooMany { given });
    }
    let Some(base) = runs.get(baseline) else {
        return Err(CompareError::NoSuchBaseline {
            baseline,
            runs: given,
        });
    };
    let folders = runs.iter().map(|run| (run.summary, folder_name(run.run)));
    let others = runs.iter().zip(0_u32..);
    let others = others.filter(|(_, index)| *index as usize != baseline);
    let differences = others
        .flat_map(|(run, index)| grounds::differences(index, *run, *base))
        .collect::<Vec<_>>();
    let mut table = Table::of(runs);
    let judge = Judge {
        baseline,
        differences: &differences,
    };
    let comparisons = judge.all(&mut table.rows);
    Ok(Comparison {
        format: Comparison::FORMAT,
        runs: column::columns(folders),
        baseline: u32::try_from(baseline).unwrap_or(u32::MAX),
        rows: table.rows,
        differences,
        method: Method {
            confidence: 1.0 - welch::ALPHA,
            comparisons,
            words: method_words(comparisons),
        },
        rows_left_out: table.left_out,
    })
}

fn folder_name(run: &RunRead) -> String {
    let name = run.dir.file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn method_words(comparisons: u32) -> String {
    let many = match comparisons {
        0 => "No comparison could be decided by statistics.".to_owned(),
        1 => "One comparison was decided so.".to_owned(),
        many => format!(
            "{many} comparisons were decided so; all those of one run with the baseline are adjusted \
             together by Holm's method, so that the chance of even one false difference among them \
             is at most 1 in 20."
        ),
    };
    format!(
        "Ratios are of geometric means over the repeats, with 95 % intervals by Welch's t test on \
         logarithms; less than 0.1 % counts as none. {many}"
    )
}
