//! What runs differ by that the repeats of one run do not show: neighbours on the machine, its clock, a colder disk.
//! Repeats of a run share all that. `docs/decisions/intervals.md` has the source of the figures.

use schemars::JsonSchema;
use serde::Serialize;

use super::row::{Cell, ComparisonRow, FigureKind};
use super::welch::RunSpread;

/// The spread between runs that is taken for a comparison of single runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BetweenRuns {
    /// What was measured with pairs of equal runs, by kind of figure.
    #[default]
    Usual,
    /// This part for every figure: 0.02 is 2 %. 0: runs are taken to differ by no more than their repeats show.
    Part(f64),
}

impl BetweenRuns {
    /// The standard deviation between runs, as a part.
    pub(super) fn part(self, kind: FigureKind) -> f64 {
        match self {
            BetweenRuns::Usual => usual(kind),
            BetweenRuns::Part(part) => part,
        }
    }
}

/// From pairs of equal runs (`cargo xtask compare-check`). Of rates the most with which a tenth less is found in 19 of
/// 20 pairs even where runs differ by so much, among the figures of one flow.
fn usual(kind: FigureKind) -> f64 {
    match kind {
        // Not from pairs of runs: twice that of a rate, because a search stops where the target is least repeatable.
        FigureKind::Capacity | FigureKind::CapacityTypical => 0.03,
        FigureKind::Throughput | FigureKind::PerPrice | FigureKind::ThroughputBytes => 0.015,
        FigureKind::LatencyP50 => 0.03,
        FigureKind::LatencyP99 => 0.08,
        FigureKind::LatencyP999 => 0.10,
        FigureKind::GeneratorCpu | FigureKind::TargetCpu => 0.10,
        FigureKind::WireBytes => 0.002,
        // A count has no spread.
        FigureKind::Lost => 0.0,
    }
}

/// Which spread between runs a comparison of two cells counts with: that of the runs themselves where both sides have
/// several.
pub(super) fn of_cells(
    cell: &Cell,
    base: &Cell,
    kind: FigureKind,
    assumed: BetweenRuns,
) -> RunSpread {
    match cell.values_of_runs.len() >= 2 && base.values_of_runs.len() >= 2 {
        true => RunSpread::Measured,
        false => RunSpread::Assumed(assumed.part(kind)),
    }
}

/// What was taken for the spread between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunSpreadRecord {
    /// What was assumed, by kind of figure; empty where nothing was.
    pub assumed: Vec<AssumedBetweenRuns>,
    /// True where runs of both sides show it.
    pub measured: bool,
    /// True if the user turned the assumption off.
    pub is_ignored: bool,
}

/// The spread between runs that was assumed of a kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AssumedBetweenRuns {
    /// Which.
    pub figure: FigureKind,
    /// The standard deviation between runs, as a part: 0.02 is 2 %.
    pub part: f64,
}

/// What the comparisons that were decided counted with.
pub(super) fn record(rows: &[ComparisonRow]) -> RunSpreadRecord {
    let mut assumed: Vec<AssumedBetweenRuns> = Vec::new();
    let (mut measured, mut off) = (false, false);
    for row in rows {
        let against = row.cells.iter().filter_map(|cell| cell.against.as_ref());
        for against in against.filter(|against| against.p.is_some()) {
            match against.between_runs {
                None => measured = true,
                Some(part) if part > 0.0 => {
                    if !assumed.iter().any(|found| found.figure == row.figure) {
                        let figure = row.figure;
                        assumed.push(AssumedBetweenRuns { figure, part });
                    }
                }
                Some(_) => off = true,
            }
        }
    }
    assumed.sort_by_key(|found| found.figure);
    RunSpreadRecord {
        is_ignored: off && assumed.is_empty(),
        assumed,
        measured,
    }
}
