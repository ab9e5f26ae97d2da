//! What chooses every repeat of a run itself: an A/B test, or a search for better settings.

use kgauge_scenario::{Plan, RepeatKey};
use kgauge_target::TargetFacts;

use crate::ab::ActiveAb;
use crate::error::RunError;
use crate::open_run::EarlierAttempt;
use crate::request::RunRequest;
use crate::session::Session;
use crate::tune::ActiveTune;

/// Chooses the repeats of a run.
pub(crate) enum StepChooser {
    Ab(Box<ActiveAb>),
    Tune(Box<ActiveTune>),
}

impl StepChooser {
    /// That of a plan, if it has one.
    ///
    /// # Errors
    /// When the plan lacks something: the run of the other side, or the scenario.
    pub(crate) fn of(
        plan: &Plan,
        request: &RunRequest<'_>,
        facts: &TargetFacts,
        earlier: Option<&EarlierAttempt>,
    ) -> Result<Option<StepChooser>, RunError> {
        if let Some(tune) = ActiveTune::of(plan, request, facts, earlier)? {
            return Ok(Some(StepChooser::Tune(Box::new(tune))));
        }
        let ab = ActiveAb::of(plan, request, earlier)?;
        Ok(ab.map(|ab| StepChooser::Ab(Box::new(ab))))
    }

    /// The next step; the plan has its repeat then. `None` if nothing is left to do, or the user stops the run.
    pub(crate) fn next_step(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
    ) -> Result<Option<RepeatKey>, RunError> {
        match self {
            StepChooser::Ab(ab) => ab.next_step(session, plan),
            StepChooser::Tune(tune) => tune.next_step(session, plan),
        }
    }

    /// Takes the figures of a step that is complete.
    pub(crate) fn complete(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
    ) -> Result<(), RunError> {
        match self {
            StepChooser::Ab(ab) => ab.complete(session, plan, step),
            StepChooser::Tune(tune) => tune.complete(session, plan, step),
        }
    }

    /// A step failed.
    pub(crate) fn fail(
        &mut self,
        session: &mut Session<'_>,
        error: &RunError,
    ) -> Result<(), RunError> {
        match self {
            StepChooser::Ab(ab) => ab.fail(session, error),
            StepChooser::Tune(tune) => tune.fail(session, error),
        }
    }

    /// The run measures no more.
    pub(crate) fn end(self, session: &Session<'_>) -> Result<(), RunError> {
        match self {
            StepChooser::Ab(ab) => ab.end(session),
            StepChooser::Tune(tune) => tune.end(session),
        }
    }
}
