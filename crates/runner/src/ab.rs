//! The part of an A/B test that a run measures: chooses the next repeat, and takes the result of the last one.

use kgauge_results::run::AbRecord;
use kgauge_scenario::{AbMetric, AbPlan, AbSide, Plan, RepeatKey};

use crate::ab_test::{AbResult, AbTest, AbTurn};
use crate::error::{OrRunError, RunError};
use crate::observer::RunEvent;
use crate::open_run::EarlierAttempt;
use crate::request::RunRequest;
use crate::session::Session;
use crate::settle::DirtyPages;
use crate::step_figures::{StepFigures, failed};

/// The sides of an A/B test that a run measures.
pub(crate) struct ActiveAb {
    test: AbTest,
    metric: AbMetric,
    /// Each with its trial.
    sides: Vec<(AbSide, u32)>,
    /// The side that is measured.
    running: Option<AbTurn>,
    dirty: DirtyPages,
}

/// In a duet, waits until the load of the other side's run can start too.
pub(crate) fn await_other_side(session: &Session<'_>) {
    let request = session.request;
    let (Some(test), Some(plan)) = (&request.ab, &request.question.ab) else {
        return;
    };
    for (side, _) in plan.own_sides() {
        test.await_load(side, &|| session.stopping.is_wanted());
    }
}

/// The test of a run that has both sides; of a resumed run, behind the blocks that are complete.
fn own_test(ab: &AbPlan, seed: u64, earlier: Option<&EarlierAttempt>) -> AbTest {
    let record = earlier.map_or_else(AbRecord::default, |earlier| earlier.ab.clone());
    let done = earlier.iter().flat_map(|earlier| &earlier.done);
    let next_repeat = done.map(|key| key.repeat + 1).max().unwrap_or(0);
    AbTest::new(ab, seed, record, next_repeat)
}

impl ActiveAb {
    /// The test of a plan, if it has one.
    ///
    /// # Errors
    /// When another run has to measure the other side, and there is none.
    pub(crate) fn of(
        plan: &Plan,
        request: &RunRequest<'_>,
        earlier: Option<&EarlierAttempt>,
    ) -> Result<Option<ActiveAb>, RunError> {
        let Some(ab) = &plan.ab else {
            return Ok(None);
        };
        let sides = ab.own_sides();
        let test = match &request.ab {
            Some(test) => test.clone(),
            None if sides.len() == AbSide::BOTH.len() => own_test(ab, plan.seed, earlier),
            None => {
                let words = "this plan is one side of an A/B test of two targets\n  use kgauge ab, \
                             which runs both";
                return Err(RunError::input(words));
            }
        };
        Ok(Some(ActiveAb {
            test,
            metric: ab.metric.clone(),
            sides,
            running: None,
            dirty: DirtyPages::now(),
        }))
    }

    /// The next step; the plan has its repeat then. `None` if the test is over, or the user stops the run.
    pub(crate) fn next_step(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
    ) -> Result<Option<RepeatKey>, RunError> {
        let mine: Vec<AbSide> = self.sides.iter().map(|(side, _)| *side).collect();
        let stopping = session.stopping.clone();
        let Some(turn) = self.test.next(&mine, &|| stopping.is_wanted()) else {
            return Ok(None);
        };
        self.dirty.settle(session);
        let mut sides = self.sides.iter();
        let trial = sides.find(|(side, _)| *side == turn.side);
        let trial = trial.map_or(0, |(_, trial)| *trial);
        if let Some(trial) = plan.trials.get_mut(trial as usize) {
            trial.repeats = trial.repeats.max(turn.repeat + 1);
        }
        session.folder.write_plan(plan).or_unwritable()?;
        self.running = Some(turn);
        Ok(Some(RepeatKey {
            trial,
            repeat: turn.repeat,
        }))
    }

    /// Takes the figure of a step that is complete.
    pub(crate) fn complete(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
    ) -> Result<(), RunError> {
        let Some(turn) = self.running.take() else {
            return Ok(());
        };
        let figures = StepFigures::read(session, plan, step)?;
        let (value, void) = figures.compared(&self.metric);
        self.take(session, turn, AbResult { value, void })
    }

    /// A step failed: its block is void.
    pub(crate) fn fail(
        &mut self,
        session: &mut Session<'_>,
        error: &RunError,
    ) -> Result<(), RunError> {
        let Some(turn) = self.running.take() else {
            return Ok(());
        };
        let result = AbResult {
            value: None,
            void: Some(failed(error)),
        };
        self.take(session, turn, result)
    }

    fn take(
        &self,
        session: &mut Session<'_>,
        turn: AbTurn,
        result: AbResult,
    ) -> Result<(), RunError> {
        if self.test.complete(turn.side, result) {
            let summary = self.test.summary();
            session.observer.observe(&RunEvent::PairMeasured(&summary));
        }
        let record = self.test.record();
        session.folder.write_ab(&record).or_unwritable()
    }

    /// The run measures no more: the other side need not wait, and the folder gets what is known.
    pub(crate) fn end(self, session: &Session<'_>) -> Result<(), RunError> {
        for (side, _) in &self.sides {
            self.test.leave(*side, session.stopping.is_wanted());
        }
        let record = self.test.record();
        session.folder.write_ab(&record).or_unwritable()
    }
}
