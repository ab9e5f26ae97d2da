//! Several runs of one thing as one side of a comparison: their figures in one cell, and what they must have in common.

use super::comparability::{self, DifferenceFact, DifferenceKind, RunDifference};
use super::row::{BesidePublished, Caveat, Cell, ComparisonRow};
use super::{CompareError, RunToCompare};
use crate::statistics::Spread;

/// Folds the cells of each side's runs into one; `counts` has the number of runs of each side.
pub(super) fn fold(rows: &mut [ComparisonRow], counts: &[usize]) {
    if counts.iter().all(|count| *count == 1) {
        return;
    }
    for row in rows {
        let mut cells = std::mem::take(&mut row.cells).into_iter();
        row.cells = counts
            .iter()
            .filter_map(|count| one_cell(cells.by_ref().take(*count).collect()))
            .collect();
    }
}

/// What the runs of a side measured of one figure. Runs that have it not leave a mark; each of the others counts as
/// much.
fn one_cell(mut cells: Vec<Cell>) -> Option<Cell> {
    let given = cells.len();
    if given < 2 {
        return cells.pop();
    }
    // If no run has the figure, "not measured" takes precedence over "not run".
    let missing = cells.iter().filter_map(|cell| cell.missing).max();
    let estimates =
        |cells: &[Cell]| -> Vec<f64> { cells.iter().filter_map(|cell| cell.estimate).collect() };
    let published = beside_published(&cells);
    cells.retain(|cell| cell.estimate.is_some());
    let spread = Spread::of(&estimates(&cells));
    let mut marks: Vec<Caveat> = cells.iter().flat_map(|cell| cell.marks.clone()).collect();
    // Several runs show a spread, of however many repeats each.
    marks.retain(|mark| *mark != Caveat::OneRepeat || cells.len() < 2);
    if !cells.is_empty() && cells.len() < given {
        marks.push(Caveat::RepeatsMissing);
    }
    marks.sort_unstable();
    marks.dedup();
    Some(Cell {
        estimate: spread.as_ref().map(|spread| spread.mean),
        missing: missing.filter(|_| cells.is_empty()),
        interval: match cells.as_slice() {
            [one] => one.interval,
            _ => spread.and_then(|spread| spread.ci95),
        },
        repeats: cells.iter().map(|cell| cell.repeats).sum(),
        bounds: cells.iter().flat_map(|cell| cell.bounds.clone()).collect(),
        values: cells.iter().flat_map(|cell| cell.values.clone()).collect(),
        values_of_runs: cells.into_iter().map(|cell| cell.values).collect(),
        marks,
        published,
        against: None,
    })
}

/// The mean of the runs' ratios to what others published, where all say the same of it.
fn beside_published(cells: &[Cell]) -> Option<BesidePublished> {
    let found: Vec<BesidePublished> = cells.iter().filter_map(|cell| cell.published).collect();
    let first = *found.first()?;
    if found.iter().any(|other| other.word != first.word) {
        return None;
    }
    let ratios: Option<Vec<f64>> = found.iter().map(|found| found.ratio).collect();
    Some(BesidePublished {
        ratio: ratios.map(|ratios| ratios.iter().sum::<f64>() / ratios.len() as f64),
        word: first.word,
    })
}

/// What the runs of a side differ in. What would be another thing is refused; the rest is to be known.
pub(super) fn within(
    index: u32,
    side: &[RunToCompare<'_>],
) -> Result<Vec<RunDifference>, CompareError> {
    let Some((first, others)) = side.split_first() else {
        return Ok(Vec::new());
    };
    let mut found: Vec<RunDifference> = Vec::new();
    for other in others {
        let names = comparability::Names {
            ours: &other.summary.run.run_id,
            theirs: &first.summary.run.run_id,
        };
        let release =
            release(*other, *first).map(|fact| comparability::difference(index, names, fact));
        let others = comparability::differences(index, *other, *first, names);
        for difference in release.into_iter().chain(others) {
            let allowed = match difference.kind {
                // Of several runs they are expected to differ.
                DifferenceKind::Seed => continue,
                DifferenceKind::NotFinished => RunDifference {
                    run_id: Some(other.summary.run.run_id.clone()),
                    ..difference
                },
                DifferenceKind::BrokerSettings | DifferenceKind::Kgauge => RunDifference {
                    within: true,
                    ..difference
                },
                DifferenceKind::TargetKind
                | DifferenceKind::Scenario
                | DifferenceKind::Size
                | DifferenceKind::Machine
                | DifferenceKind::DebugBuild
                | DifferenceKind::Brokers
                | DifferenceKind::Settings => {
                    return Err(CompareError::NotOneSide(Box::new(difference)));
                }
            };
            if !found.contains(&allowed) {
                found.push(allowed);
            }
        }
    }
    Ok(found)
}

/// Releases may be what two sides are compared for, but not what one consists of.
fn release(one: RunToCompare<'_>, other: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (ours, theirs) = (&one.summary.target, &other.summary.target);
    if ours.kind != theirs.kind {
        return Some(DifferenceFact::Targets {
            ours: Box::new(ours.clone()),
            theirs: Box::new(theirs.clone()),
        });
    }
    (ours.version != theirs.version).then(|| DifferenceFact::Releases {
        ours: ours.version.clone(),
        theirs: theirs.version.clone(),
    })
}

/// The first run that is given more than once. It would count as two where it is one.
pub(super) fn given_twice(sides: &[Vec<RunToCompare<'_>>]) -> Option<String> {
    let ids = sides.iter().flatten().map(|run| &run.summary.run.run_id);
    let mut seen = std::collections::BTreeSet::new();
    let mut twice = ids.filter(|id| !seen.insert(id.as_str()));
    twice.next().cloned()
}
