//! Trials whose figures are missing, or must be read with care.

use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{FigureFinding, can_be_main};
use super::{AnswerFacts, TrialEffect};
use crate::compare::FigureKind;
use crate::summary::{GeneratorState, SteadyFigure, TrialSummary, WarningKind};

/// Trials with one reason for doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerDoubt {
    /// The reason.
    pub cause: AnswerDoubtCause,
    /// The trials, by their index in the plan.
    pub trials: Vec<u32>,
}

/// A reason to doubt the figures of a trial, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerDoubtCause {
    /// No repeat was measured.
    NotMeasured,
    /// The target was not steady while the figures that the answer rests on were measured, because a broker stopped
    /// answering: trends, effects and the best leave the trial out.
    BrokerOutage,
    /// The target was not steady, without such a reason.
    NotSteady,
    /// One repeat: no interval.
    OneRepeat,
    /// Other programs used CPU on this machine.
    OtherPrograms,
    /// The generator was the bottleneck.
    GeneratorLimited,
}

impl AnswerDoubtCause {
    const ALL: [AnswerDoubtCause; 6] = [
        AnswerDoubtCause::NotMeasured,
        AnswerDoubtCause::BrokerOutage,
        AnswerDoubtCause::NotSteady,
        AnswerDoubtCause::OneRepeat,
        AnswerDoubtCause::OtherPrograms,
        AnswerDoubtCause::GeneratorLimited,
    ];

    fn applies_to(self, trial: &TrialSummary, rests_on: SteadyFigure) -> bool {
        let warns = |kind: WarningKind| {
            let mut warnings = trial.warnings.iter();
            warnings.any(|warning| warning.kind() == kind)
        };
        let is_unsteady = || {
            let mut flows = trial.flows.iter();
            flows.any(|flow| !flow.steadiness_of(rests_on).is_usable())
        };
        match self {
            AnswerDoubtCause::NotMeasured => trial.repeats_measured == 0,
            AnswerDoubtCause::BrokerOutage => is_unsteady() && warns(WarningKind::BrokerOutage),
            AnswerDoubtCause::NotSteady => is_unsteady() && !warns(WarningKind::BrokerOutage),
            AnswerDoubtCause::OneRepeat => trial.repeats_measured == 1,
            AnswerDoubtCause::OtherPrograms => warns(WarningKind::OtherPrograms),
            AnswerDoubtCause::GeneratorLimited => trial.generator.word == GeneratorState::Limited,
        }
    }
}

/// All reasons that apply to some trials.
pub(super) fn of(trials: &[&TrialSummary], facts: &AnswerFacts) -> Vec<AnswerDoubt> {
    let rests_on = rests_on(facts);
    let doubt = |cause: AnswerDoubtCause| {
        let trials = trials
            .iter()
            .filter(|trial| cause.applies_to(trial, rests_on));
        AnswerDoubt {
            cause,
            trials: trials.map(|trial| trial.index).collect(),
        }
    };
    let doubts = AnswerDoubtCause::ALL.into_iter().map(doubt);
    doubts.filter(|doubt| !doubt.trials.is_empty()).collect()
}

/// The figure that has to be steady: throughput, where the answer compares rates that the load did not set.
fn rests_on(facts: &AnswerFacts) -> SteadyFigure {
    let mains: Vec<(FigureKind, FigureFinding)> = match facts {
        AnswerFacts::Effect { comparisons } => {
            let mains = comparisons.iter().filter_map(TrialEffect::main);
            mains.map(|main| (main.figure, main.finding)).collect()
        }
        AnswerFacts::Trend { figures, .. } | AnswerFacts::Best { figures } => {
            let main = figures.iter().find(|course| can_be_main(course.figure));
            let main = main.map(|course| (course.figure, course.finding));
            main.into_iter().collect()
        }
        AnswerFacts::HowMuch { .. } | AnswerFacts::Loss { .. } | AnswerFacts::Outage { .. } => {
            Vec::new()
        }
    };
    let is_rate = |(figure, finding): &(FigureKind, FigureFinding)| {
        !figure.is_latency() && *finding != FigureFinding::SetByLoad
    };
    match !mains.is_empty() && mains.iter().all(is_rate) {
        true => SteadyFigure::Throughput,
        false => SteadyFigure::Latency,
    }
}
