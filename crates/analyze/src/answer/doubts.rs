//! Trials whose figures are missing, or must be read with care.

use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::{GeneratorState, TrialSummary, WarningKind};

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
    /// The target was not steady: trends, effects and the best leave the trial out.
    NotSteady,
    /// One repeat: no interval.
    OneRepeat,
    /// Other programs used CPU on this machine.
    OtherPrograms,
    /// The generator was the bottleneck.
    GeneratorLimited,
}

impl AnswerDoubtCause {
    const ALL: [AnswerDoubtCause; 5] = [
        AnswerDoubtCause::NotMeasured,
        AnswerDoubtCause::NotSteady,
        AnswerDoubtCause::OneRepeat,
        AnswerDoubtCause::OtherPrograms,
        AnswerDoubtCause::GeneratorLimited,
    ];

    fn applies_to(self, trial: &TrialSummary) -> bool {
        match self {
            AnswerDoubtCause::NotMeasured => trial.repeats_measured == 0,
            AnswerDoubtCause::NotSteady => trial.flows.iter().any(|flow| !flow.is_usable()),
            AnswerDoubtCause::OneRepeat => trial.repeats_measured == 1,
            AnswerDoubtCause::OtherPrograms => {
                let mut warnings = trial.warnings.iter();
                warnings.any(|warning| warning.kind() == WarningKind::OtherPrograms)
            }
            AnswerDoubtCause::GeneratorLimited => trial.generator.word == GeneratorState::Limited,
        }
    }
}

/// All reasons that apply to some trials.
pub(super) fn of(trials: &[&TrialSummary]) -> Vec<AnswerDoubt> {
    let doubt = |cause: AnswerDoubtCause| {
        let trials = trials.iter().filter(|trial| cause.applies_to(trial));
        AnswerDoubt {
            cause,
            trials: trials.map(|trial| trial.index).collect(),
        }
    };
    let doubts = AnswerDoubtCause::ALL.into_iter().map(doubt);
    doubts.filter(|doubt| !doubt.trials.is_empty()).collect()
}
