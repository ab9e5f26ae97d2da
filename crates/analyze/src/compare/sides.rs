//! Several runs of one thing as one side of a comparison: their figures in one cell, and what they must have in common.

use super::comparability::{self, DifferenceKind, RunDifference};
use super::row::{BesidePublished, Caveat, Cell, ComparisonRow};
use super::{CompareError, RunToCompare};
use crate::statistics::Spread;

/// Folds the cells of each side's runs into one; `counts` says how many runs each side has.
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
    // The worst that can be said where none has it: the trial was begun.
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
        let refused = |words: String| CompareError::NotOneSide {
            one: first.summary.run.run_id.clone(),
            other: other.summary.run.run_id.clone(),
            words,
        };
        if let Some(words) = release(*other, *first) {
            return Err(refused(words));
        }
        let names = comparability::Names {
            ours: &other.summary.run.run_id,
            theirs: &first.summary.run.run_id,
        };
        for difference in comparability::differences(index, *other, *first, names) {
            let told = match difference.kind {
                // Of several runs they are expected to differ, or it is said of each.
                DifferenceKind::Seed => continue,
                DifferenceKind::NotFinished => RunDifference {
                    words: format!("{}: {}", other.summary.run.run_id, difference.words),
                    ..difference
                },
                DifferenceKind::BrokerSettings | DifferenceKind::Kgauge => RunDifference {
                    words: format!("the runs differ: {}", difference.words),
                    within: true,
                    ..difference
                },
                _ => return Err(refused(difference.words)),
            };
            if !found.iter().any(|known| known.words == told.words) {
                found.push(told);
            }
        }
    }
    Ok(found)
}

/// Releases may be what two sides are compared for, but not what one consists of.
fn release(one: RunToCompare<'_>, other: RunToCompare<'_>) -> Option<String> {
    let (ours, theirs) = (&one.summary.target, &other.summary.target);
    let name = |version: &Option<String>| version.clone().unwrap_or_else(|| "unknown".to_owned());
    let (kind, version) = (ours.kind != theirs.kind, ours.version != theirs.version);
    (kind || version).then(|| match kind {
        true => format!("their targets are {} and {}", theirs.words, ours.words),
        false => format!(
            "their targets run releases {} and {}",
            name(&theirs.version),
            name(&ours.version)
        ),
    })
}

/// The first run that is given more than once. It would count as two where it is one.
pub(super) fn given_twice(sides: &[Vec<RunToCompare<'_>>]) -> Option<String> {
    let ids = sides.iter().flatten().map(|run| &run.summary.run.run_id);
    let mut seen = std::collections::BTreeSet::new();
    let mut twice = ids.filter(|id| !seen.insert(id.as_str()));
    twice.next().cloned()
}
