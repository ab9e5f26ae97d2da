//! The figures of an answer.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::figures::{ComparedFigure, of_trial};
use crate::compare::{Caveat, FigureKind, MoreNeeded, TrialFinding, UndecidedCause};
use crate::statistics::Interval;
use crate::summary::{Summary, TrialSummary};

/// A figure of one trial, in the unit of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnswerFigure {
    /// The trial, by its index in the plan.
    pub trial: u32,
    /// The flow; null for a figure of the whole trial.
    pub flow: Option<String>,
    /// The figure.
    pub figure: FigureKind,
    /// Its value.
    pub value: f64,
    /// Its 95 % interval over the repeats; null with one repeat.
    pub interval: Option<Interval>,
}

/// The result of comparing a figure over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FigureFinding {
    /// It differs, and not by chance.
    Differs,
    /// Chance explains what differs.
    NoDifference {
        /// The smallest change, as a fraction, that 80 of 100 such runs would show.
        detectable: f64,
        /// What would find a smaller one; null where nothing bearable does.
        more_needed: Option<MoreNeeded>,
    },
    /// The load set it, and the target kept up.
    SetByLoad,
    /// A count, which needs no statistics.
    Counted,
    /// Inconclusive.
    Undecided {
        /// Why.
        cause: UndecidedCause,
    },
}

/// Whether an answer may rest on a figure: costs and losses only follow it.
pub(super) fn can_be_main(figure: FigureKind) -> bool {
    figure.is_latency() || matches!(figure, FigureKind::Throughput | FigureKind::ThroughputBytes)
}

impl FigureFinding {
    /// Whether it is inconclusive only because a percentile has too few samples.
    pub(super) fn has_few_samples(&self) -> bool {
        let cause = UndecidedCause::FewSamples;
        *self == FigureFinding::Undecided { cause }
    }
}

impl From<&TrialFinding> for FigureFinding {
    fn from(finding: &TrialFinding) -> FigureFinding {
        match finding {
            TrialFinding::Differs { .. } => FigureFinding::Differs,
            TrialFinding::NoDifference {
                detectable,
                more_needed,
            } => FigureFinding::NoDifference {
                detectable: *detectable,
                more_needed: *more_needed,
            },
            TrialFinding::SetByLoad => FigureFinding::SetByLoad,
            TrialFinding::Counted => FigureFinding::Counted,
            TrialFinding::Undecided(cause) => FigureFinding::Undecided { cause: *cause },
        }
    }
}

/// Rates, and latencies that are not those of a closed loop's own buffer.
pub(super) fn measured(summary: &Summary, trials: &[&TrialSummary]) -> Vec<AnswerFigure> {
    let is_shown = |found: &ComparedFigure| match found.kind {
        FigureKind::Throughput | FigureKind::ThroughputBytes => true,
        FigureKind::LatencyP50 | FigureKind::LatencyP99 => {
            !found.cell.marks.contains(&Caveat::ClosedLoop)
        }
        _ => false,
    };
    let of_one = |trial: &&TrialSummary| {
        let index = trial.index;
        let found = of_trial(summary, trial).into_iter().filter(is_shown);
        let figures = found.filter_map(move |found| {
            Some(AnswerFigure {
                trial: index,
                flow: found.flow,
                figure: found.kind,
                value: found.cell.estimate?,
                interval: found.cell.interval,
            })
        });
        figures.collect::<Vec<_>>()
    };
    let measured = trials.iter().filter(|trial| trial.repeats_measured > 0);
    measured.flat_map(of_one).collect()
}
