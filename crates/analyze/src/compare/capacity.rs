//! Capacities as figures of a comparison. A search's loads are not compared one by one: its lower bound is the figure,
//! and the upper one shows how well it is known.

use super::RunToCompare;
use super::figures::ComparedFigure;
use super::row::{Caveat, Cell, FigureKind};
use crate::search::CapacityBounds;
use crate::statistics::Spread;
use crate::summary::{CapacitySearch, CapacitySummary, TrialSummary};
use kgauge_results::run::RunStatus;
use kgauge_scenario::Trial;

/// A trial as it was planned.
fn planned<'a>(run: RunToCompare<'a>, trial: &TrialSummary) -> Option<&'a Trial> {
    let plan = run.run.plan.as_ref()?;
    plan.trials.get(trial.index as usize)
}

/// Whether a trial is a load of a search.
pub(super) fn is_load(run: RunToCompare<'_>, trial: &TrialSummary) -> bool {
    planned(run, trial).is_some_and(|trial| trial.load.is_some())
}

/// The capacities that the searches of a trial found; `None` for a trial without a search. The goals are in the place
/// of the flow: only rates that keep the same goals are compared.
pub(super) fn of_trial(run: RunToCompare<'_>, trial: &TrialSummary) -> Option<Vec<ComparedFigure>> {
    planned(run, trial)?.search.as_ref()?;
    let mut capacities = run.summary.capacities.iter();
    let Some(capacity) = capacities.find(|one| one.trial == trial.index) else {
        return Some(Vec::new());
    };
    let strict: fn(&CapacitySearch) -> CapacityBounds = |search| search.strict;
    let typical: fn(&CapacitySearch) -> CapacityBounds = |search| search.typical;
    let figures = [
        (FigureKind::Capacity, strict),
        (FigureKind::CapacityTypical, typical),
    ];
    let figures = figures.into_iter().filter_map(|(kind, bounds)| {
        Some(ComparedFigure {
            flow: Some(capacity.written_goals().join(" and ")),
            kind,
            cell: cell(run, trial, capacity, bounds)?,
            published: None,
        })
    });
    Some(figures.collect())
}

fn cell(
    run: RunToCompare<'_>,
    trial: &TrialSummary,
    capacity: &CapacitySummary,
    bounds: fn(&CapacitySearch) -> CapacityBounds,
) -> Option<Cell> {
    let bounds: Vec<CapacityBounds> = capacity.searches.iter().map(bounds).collect();
    let lower: Vec<f64> = bounds.iter().filter_map(|one| one.lower).collect();
    let spread = Spread::of(&lower)?;
    let mut marks = Vec::new();
    if run.summary.run.status != RunStatus::Complete {
        marks.push(Caveat::NotFinished);
    }
    if spread.n < trial.repeats_planned {
        marks.push(Caveat::RepeatsMissing);
    }
    if spread.two_modes {
        marks.push(Caveat::TwoModes);
    }
    let with_lower = || bounds.iter().filter(|one| one.lower.is_some());
    if with_lower().any(|one| !one.is_within(capacity.width)) {
        marks.push(Caveat::WideBounds);
    }
    Some(Cell {
        estimate: Some(spread.mean),
        missing: None,
        interval: spread.ci95,
        repeats: spread.n,
        bounds: with_lower().copied().collect(),
        values: spread.values,
        values_of_runs: Vec::new(),
        marks,
        published: None,
        against: None,
    })
}
