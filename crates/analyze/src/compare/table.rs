//! The rows of a comparison: the same trial, flow and figure of every run on one line.

use std::collections::{BTreeMap, BTreeSet};

use super::RunToCompare;
use super::capacity;
use super::figures::{self, ComparedFigure};
use super::row::{Cell, ComparisonRow, FigureKind, MissingFigure};
use crate::summary::{Factor, TrialSummary};

/// More rows are left out, and counted: a plan from outside can be of any length.
const ROWS_MAX: usize = 20_000;

/// The identity of a trial in all runs: the scenario and the factors by path.
type TrialKey = (String, Vec<(String, String)>);
/// And figures within a trial.
type RowKey = (Option<String>, FigureKind);

/// The rows under construction.
pub(super) struct ComparisonTable {
    pub(super) rows: Vec<ComparisonRow>,
    pub(super) left_out: u64,
}

impl ComparisonTable {
    pub(super) fn of(runs: &[RunToCompare<'_>]) -> ComparisonTable {
        let mut table = ComparisonTable {
            rows: Vec::new(),
            left_out: 0,
        };
        for places in &matched(runs) {
            let rows = rows_of_trial(runs, places);
            let room = ROWS_MAX.saturating_sub(table.rows.len());
            table.left_out += rows.len().saturating_sub(room) as u64;
            table.rows.extend(rows.into_iter().take(room));
        }
        table
    }
}

/// The figures of one trial that any run has, flow by flow.
fn rows_of_trial(
    runs: &[RunToCompare<'_>],
    places: &[Option<&TrialSummary>],
) -> Vec<ComparisonRow> {
    let mut rows: Vec<ComparisonRow> = Vec::new();
    let mut known: BTreeMap<RowKey, usize> = BTreeMap::new();
    let mut flows: BTreeMap<String, usize> = BTreeMap::new();
    for (column, (run, trial)) in runs.iter().zip(places).enumerate() {
        let Some(trial) = trial else { continue };
        let mut seen = BTreeSet::new();
        let of_search = capacity::of_trial(*run, trial);
        let figures = of_search.unwrap_or_else(|| figures::of_trial(run.summary, trial));
        for found in figures {
            let key = (found.flow.clone(), found.kind);
            if !seen.insert(key.clone()) {
                // A damaged plan may give two flows one name: the first of them counts.
                continue;
            }
            if let Some(flow) = &found.flow {
                let next = flows.len();
                flows.entry(flow.clone()).or_insert(next);
            }
            let next = rows.len();
            let index = *known.entry(key).or_insert(next);
            if index == next {
                rows.push(row(trial, &found, places));
            }
            if let Some(row) = rows.get_mut(index) {
                row.published = row.published.take().or(found.published);
                if let Some(cell) = row.cells.get_mut(column) {
                    *cell = found.cell;
                }
            }
        }
    }
    // A figure that only a later run has stands with its flow all the same.
    let place = |row: &ComparisonRow| match &row.flow {
        Some(flow) => flows.get(flow).copied(),
        None => Some(flows.len()),
    };
    rows.sort_by_key(|row| (place(row), row.figure));
    rows
}

fn row(
    trial: &TrialSummary,
    found: &ComparedFigure,
    places: &[Option<&TrialSummary>],
) -> ComparisonRow {
    ComparisonRow {
        scenario: trial.scenario.clone(),
        question: trial.question.clone(),
        trial: trial.name.clone(),
        factors: trial.factors.clone(),
        flow: found.flow.clone(),
        figure: found.kind,
        unit: found.kind.unit(),
        more_is_better: found.kind.more_is_better(),
        published: None,
        cells: places.iter().map(|trial| empty_cell(*trial)).collect(),
    }
}

fn empty_cell(trial: Option<&TrialSummary>) -> Cell {
    let was_started = trial.is_some_and(|trial| !trial.repeats.is_empty());
    Cell {
        estimate: None,
        missing: Some(if was_started {
            MissingFigure::NotMeasured
        } else {
            MissingFigure::NotRun
        }),
        interval: None,
        repeats: 0,
        bounds: Vec::new(),
        values: Vec::new(),
        values_of_runs: Vec::new(),
        marks: Vec::new(),
        published: None,
        against: None,
    }
}

/// The trials of all runs, each with its place in every run; scenario by scenario, in the order in
/// which the runs have them.
fn matched<'a>(runs: &[RunToCompare<'a>]) -> Vec<Vec<Option<&'a TrialSummary>>> {
    let mut scenarios: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places: BTreeMap<TrialKey, usize> = BTreeMap::new();
    let mut trials: Vec<(usize, Vec<Option<&'a TrialSummary>>)> = Vec::new();
    for (column, run) in runs.iter().enumerate() {
        let of_run = run.summary.trials.iter();
        for trial in of_run.filter(|trial| !capacity::is_load(*run, trial)) {
            let next = scenarios.len();
            let scenario = *scenarios.entry(&trial.scenario).or_insert(next);
            let next = trials.len();
            let place = *places.entry(key(trial)).or_insert(next);
            if place == next {
                trials.push((scenario, vec![None; runs.len()]));
            }
            let found = trials.get_mut(place);
            if let Some(cell) = found.and_then(|(_, row)| row.get_mut(column)) {
                // Of two equal trials in one run the first counts.
                cell.get_or_insert(trial);
            }
        }
    }
    trials.sort_by_key(|(scenario, _)| *scenario);
    trials.into_iter().map(|(_, row)| row).collect()
}

fn key(trial: &TrialSummary) -> TrialKey {
    let pair = |factor: &Factor| (factor.path.clone(), factor.value.clone());
    let mut factors = trial.factors.iter().map(pair).collect::<Vec<_>>();
    factors.sort();
    (trial.scenario.clone(), factors)
}
