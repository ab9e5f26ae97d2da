//! What a run does next: the repeats of its plan, behind each trial at full speed that starts a search the loads that
//! the search asks for, and at the end the parts that a checkup adds. An A/B test chooses all of its repeats itself.

use std::collections::VecDeque;

use kgauge_results::run::SearchRecord;
use kgauge_scenario::{Plan, RepeatKey};

use crate::checkup_parts;
use crate::error::RunError;
use crate::search::ActiveSearch;
use crate::session::Session;
use crate::step_chooser::StepChooser;

/// A repeat that is about to run.
#[derive(Clone, Copy)]
pub(crate) struct NextStep {
    pub(crate) step: RepeatKey,
    /// Its position in the run, from 0.
    pub(crate) index: usize,
    /// The number of steps of the run; unknown while a search or a test asks for more.
    pub(crate) count: Option<usize>,
    /// Whether another trial follows.
    pub(crate) is_last: bool,
}

/// The remaining repeats. A search adds a trial to the plan for each load.
pub(crate) struct StepSource {
    planned: VecDeque<RepeatKey>,
    /// The number of steps that have begun.
    started: usize,
    /// Trials that failed: their other repeats do not run.
    failed: Vec<u32>,
    search: Option<ActiveSearch>,
    record: SearchRecord,
    chooser: Option<StepChooser>,
}

impl StepSource {
    /// The planned steps in their order, and what earlier searches of the run have found.
    pub(crate) fn new(
        planned: Vec<RepeatKey>,
        record: SearchRecord,
        chooser: Option<StepChooser>,
    ) -> StepSource {
        StepSource {
            planned: match chooser {
                Some(_) => VecDeque::new(),
                None => planned.into(),
            },
            started: 0,
            failed: Vec::new(),
            search: None,
            record,
            chooser,
        }
    }

    /// The next step; `None` if nothing is left to do, or the user stops the run.
    pub(crate) fn next(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
    ) -> Result<Option<NextStep>, RunError> {
        if let Some(chooser) = &mut self.chooser {
            let step = chooser.next_step(session, plan)?;
            return Ok(step.map(|step| self.begin(step)));
        }
        loop {
            if let Some(search) = &mut self.search {
                match search.next_step(session, plan, &mut self.record)? {
                    Some(step) => return Ok(Some(self.begin(step))),
                    None if session.stopping.is_wanted() => return Ok(None),
                    None => self.search = None,
                }
            }
            let Some(step) = self.planned.pop_front() else {
                let added = checkup_parts::next_steps(session, plan, &self.record)?;
                if added.is_empty() {
                    return Ok(None);
                }
                self.planned.extend(added);
                continue;
            };
            let trial = plan.trials.get(step.trial as usize);
            if trial.is_some_and(|trial| trial.search.is_some()) {
                self.search = ActiveSearch::begin(step, plan, &mut self.record);
            } else if !self.failed.contains(&step.trial) {
                return Ok(Some(self.begin(step)));
            }
        }
    }

    fn begin(&mut self, step: RepeatKey) -> NextStep {
        let index = self.started;
        self.started += 1;
        let next = self.planned.front();
        NextStep {
            step,
            index,
            count: (self.search.is_none() && self.chooser.is_none())
                .then(|| self.started + self.left()),
            is_last: next.is_none_or(|next| next.trial != step.trial),
        }
    }

    /// The number of planned steps that have not begun.
    pub(crate) fn left(&self) -> usize {
        self.planned.len()
    }

    /// A step is complete, and its results are on disk.
    pub(crate) fn complete(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
    ) -> Result<(), RunError> {
        match (&mut self.chooser, &mut self.search) {
            (Some(chooser), _) => chooser.complete(session, plan, step),
            (None, Some(search)) => search.complete(session, plan, step, &mut self.record),
            (None, None) => Ok(()),
        }
    }

    /// A load was ended because it was too much for a broker. True if it belongs to a search, which continues below it.
    pub(crate) fn limit(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
    ) -> Result<bool, RunError> {
        match &mut self.search {
            Some(search) => search.limit(session, plan, step, &mut self.record),
            None => Ok(false),
        }
    }

    /// A step failed. True if it is not lost: a search measures its load again, and a test another repeat.
    pub(crate) fn give_up(
        &mut self,
        session: &mut Session<'_>,
        step: RepeatKey,
        error: &RunError,
    ) -> Result<bool, RunError> {
        if let Some(chooser) = &mut self.chooser {
            chooser.fail(session, error)?;
            return Ok(true);
        }
        let Some(search) = &mut self.search else {
            self.failed.push(step.trial);
            return Ok(false);
        };
        let is_repeated = search.fail(step, error, &mut self.record);
        if !is_repeated {
            self.search = None;
        }
        session.write_search(&self.record)?;
        Ok(is_repeated)
    }

    /// No more steps: what they have found is kept.
    pub(crate) fn end(self, session: &Session<'_>) -> Result<(), RunError> {
        self.chooser.map_or(Ok(()), |chooser| chooser.end(session))
    }
}
