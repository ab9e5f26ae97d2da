//! The figures of a step that an A/B test or a search for better settings has asked for, or why it does not count.

use kgauge_analyze::summary::{moved_leaders, repeat_figure};
use kgauge_results::RunRead;
use kgauge_results::run::{RepeatKey, VoidCause};
use kgauge_scenario::{AbMetric, Plan, Trial};

use crate::error::{OrRunError, RunError, in_one_line};
use crate::session::Session;

/// A step that is complete, read back from the run folder.
pub(crate) struct StepFigures<'a> {
    read: RunRead,
    key: RepeatKey,
    trial: Option<&'a Trial>,
}

impl<'a> StepFigures<'a> {
    /// Reads a step.
    pub(crate) fn read(
        session: &Session<'_>,
        plan: &'a Plan,
        key: RepeatKey,
    ) -> Result<StepFigures<'a>, RunError> {
        Ok(StepFigures {
            read: RunRead::of_repeat(session.folder.dir(), key).or_unwritable()?,
            key,
            trial: plan.trials.get(key.trial as usize),
        })
    }

    /// The trial of the step.
    pub(crate) fn trial(&self) -> Option<&'a Trial> {
        self.trial
    }

    /// A figure; `None` if it was not measured.
    pub(crate) fn figure(&self, metric: &AbMetric) -> Option<f64> {
        repeat_figure(self.trial?, self.read.repeats.first()?, metric)
    }

    /// The figure that is compared with those of other steps, and why the step does not count, if so.
    pub(crate) fn compared(&self, metric: &AbMetric) -> (Option<f64>, Option<VoidCause>) {
        let figure = self.figure(metric);
        let value = figure.filter(|value| value.is_finite() && *value > 0.0);
        let why = match (figure, value) {
            (_, Some(_)) => None,
            (Some(figure), None) => Some(format!("{metric} is {figure}, which has no ratio")),
            (None, None) => Some(format!("{metric} was not measured")),
        };
        let void = moved_leaders(&self.read, self.key);
        (value, void.or_else(|| why.map(VoidCause::failed)))
    }
}

/// Why a step does not count that failed.
pub(crate) fn failed(error: &RunError) -> VoidCause {
    VoidCause::failed(in_one_line(&error.to_string()))
}
