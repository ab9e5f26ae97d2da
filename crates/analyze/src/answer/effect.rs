//! What a setting or a scenario does: the ratio of trials to those that they are compared with.

use kgauge_scenario::Comparand;
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{FigureFinding, can_be_main};
use crate::compare::{FigureKind, TrialFigure, pair_figures};
use crate::statistics::Interval;
use crate::summary::{Summary, TrialSummary};

/// A trial compared with another one. Trials are named by their index in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialEffect {
    /// The trial.
    pub trial: u32,
    /// The trial that it is compared with; null if that one is not part of the run.
    pub base: Option<u32>,
    /// The figures that both have, the main one first; empty if one of them was not measured.
    pub figures: Vec<FigureEffect>,
}

/// A figure of a trial beside that of the other one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureEffect {
    /// The flow; null for a figure of the whole trial.
    pub flow: Option<String>,
    /// The figure.
    pub figure: FigureKind,
    /// Its value in the other trial.
    pub base: f64,
    /// The 95 % interval of `base` over the repeats; null with one repeat.
    pub base_interval: Option<Interval>,
    /// Its value.
    pub value: f64,
    /// The 95 % interval of `value` over the repeats; null with one repeat.
    pub value_interval: Option<Interval>,
    /// Value divided by base, of geometric means over the repeats; null with one repeat, or if a repeat is zero.
    pub ratio: Option<f64>,
    /// The 95 % interval of `ratio`, of this comparison alone.
    pub ratio_interval: Option<Interval>,
    /// The result.
    pub finding: FigureFinding,
}

impl TrialEffect {
    /// The main figure: the first rate or time, unless that is a percentile with too few samples beside one with
    /// enough.
    pub fn main(&self) -> Option<&FigureEffect> {
        let figures = self.figures.iter();
        let mains = figures.filter(|figure| can_be_main(figure.figure));
        let usable = mains
            .clone()
            .find(|figure| !figure.finding.has_few_samples());
        usable.or_else(|| mains.clone().next())
    }
}

/// Whether there is something to compare with.
pub(super) fn has_pairs(trials: &[&TrialSummary]) -> bool {
    let is_named = trials.iter().any(|trial| trial.against.is_some());
    is_named || trials.len() > 1
}

/// Each trial with the one that it is compared with, in the order of the plan.
pub(super) fn comparisons(summary: &Summary, trials: &[&TrialSummary]) -> Vec<TrialEffect> {
    let bases = bases(summary, trials);
    let is_base = |trial: &TrialSummary| {
        let mut known = bases.iter();
        known.any(|base| base.index == trial.index)
    };
    let compared = trials.iter().filter(|trial| !is_base(trial));
    let pairs: Vec<(&TrialSummary, Option<&TrialSummary>)> = compared
        .map(|trial| (*trial, base_of(trial, &bases)))
        .collect();
    let complete = pairs.iter();
    let complete = complete.filter_map(|(trial, base)| Some([(*base)?, *trial]));
    let complete: Vec<[&TrialSummary; 2]> = complete.collect();
    let mut figures = pair_figures(summary, &complete).into_iter();
    let comparison = |(trial, base): &(&TrialSummary, Option<&TrialSummary>)| {
        let figures = base.and_then(|_| figures.next()).unwrap_or_default();
        // The cost of a record says nothing where other flows are part of it.
        let names = |trial: &TrialSummary| {
            let flows = trial.flows.iter().map(|flow| flow.name.clone());
            flows.collect::<Vec<String>>()
        };
        let has_same_flows = base.is_some_and(|base| names(base) == names(trial));
        TrialEffect {
            trial: trial.index,
            base: base.map(|base| base.index),
            figures: figures
                .iter()
                .filter(|figure| has_same_flows || !figure.figure.is_cost())
                .filter_map(effect)
                .collect(),
        }
    };
    pairs.iter().map(comparison).collect()
}

fn effect(figure: &TrialFigure) -> Option<FigureEffect> {
    let [base, value] = figure.points.as_slice() else {
        return None;
    };
    let ratio = figure.ratio(1, 0);
    Some(FigureEffect {
        flow: figure.flow.clone(),
        figure: figure.figure,
        base: base.value,
        base_interval: base.interval,
        value: value.value,
        value_interval: value.interval,
        ratio: ratio.map(|found| found.ratio),
        ratio_interval: ratio.map(|found| found.interval),
        finding: FigureFinding::from(&figure.finding),
    })
}

/// The trials that others are compared with: those that the scenario names, or the first one.
fn bases<'a>(summary: &'a Summary, trials: &[&'a TrialSummary]) -> Vec<&'a TrialSummary> {
    let Some(first) = trials.first().copied() else {
        return Vec::new();
    };
    let Some(against) = &first.against else {
        return vec![first];
    };
    let scenario = against.scenario.as_ref().unwrap_or(&first.scenario);
    let of_scenario = summary.trials.iter();
    let of_scenario = of_scenario.filter(|trial| trial.scenario == *scenario);
    of_scenario.filter(|trial| has(trial, against)).collect()
}

fn has(trial: &TrialSummary, against: &Comparand) -> bool {
    against.factor.as_ref().is_none_or(|(path, value)| {
        let mut factors = trial.factors.iter();
        factors.any(|factor| factor.path == *path && factor.value == *value)
    })
}

/// The only base whose other settings, as far as both vary them, are those of the trial.
fn base_of<'a>(trial: &TrialSummary, bases: &[&'a TrialSummary]) -> Option<&'a TrialSummary> {
    let varied = trial.against.as_ref().and_then(|one| one.factor.as_ref());
    let differs = |base: &TrialSummary| {
        trial.factors.iter().any(|factor| {
            let is_compared = varied.is_some_and(|(path, _)| factor.path == *path);
            let mut known = base.factors.iter();
            let known = known.find(|known| known.path == factor.path);
            !is_compared && known.is_some_and(|known| known.value != factor.value)
        })
    };
    // Without a name for it, the first trial is the base whatever differs.
    let is_any = trial.against.is_none();
    let mut fitting = bases.iter().filter(|base| is_any || !differs(base));
    match (fitting.next(), fitting.next()) {
        (Some(base), None) => Some(*base),
        _ => None,
    }
}
