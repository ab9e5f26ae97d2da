//! The search for better settings that a run makes: the next repeat, and what the repeat that has run gave.

use std::time::Instant;

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{Bottleneck, TrialSummary};
use kgauge_analyze::tuning::{
    InForce, Progress, TuneMove, choose, fit_to_budget, next_move, to_resume,
};
use kgauge_results::RunRead;
use kgauge_results::run::{LeftOutCause, TuneEnd, TuneMeasure, TuneRecord, VoidCause};
use kgauge_scenario::{AbMetric, FlowPlan, Plan, RepeatKey, Shape, TargetKind, Trial, TunePlan};
use kgauge_target::TargetFacts;

use crate::error::{OrRunError, RunError, in_one_line};
use crate::fit::drop_unsupported;
use crate::observer::RunEvent;
use crate::open_run::EarlierAttempt;
use crate::request::RunRequest;
use crate::session::Session;
use crate::settle::DirtyPages;
use crate::step_figures::{StepFigures, failed};
use crate::total_time::TotalTime;
use crate::tune_trials::TuneTrials;

/// Of full speed, the rate of the second load.
const OTHER_RATE_PART: f64 = 0.5;

/// The search of a run.
pub(crate) struct ActiveTune {
    plan: TunePlan,
    seed: u64,
    trials: TuneTrials,
    facts: TargetFacts,
    record: TuneRecord,
    running: Option<RunningArm>,
    time: TotalTime,
    dirty: DirtyPages,
}

/// The arm that is measured.
struct RunningArm {
    arm: usize,
    block: u32,
    repeat: u32,
    began: Instant,
}

/// What a repeat of an arm gave.
#[derive(Default)]
struct ArmResult {
    value: Option<f64>,
    keep: Vec<Option<f64>>,
    void: Option<VoidCause>,
}

impl ActiveTune {
    /// The search of a plan, if it has one; of a resumed run, behind the blocks that are complete.
    ///
    /// # Errors
    /// When the question has no scenario whose settings could be changed.
    pub(crate) fn of(
        plan: &Plan,
        request: &RunRequest<'_>,
        facts: &TargetFacts,
        earlier: Option<&EarlierAttempt>,
    ) -> Result<Option<ActiveTune>, RunError> {
        let Some(tune) = &plan.tune else {
            return Ok(None);
        };
        let record = earlier.and_then(|earlier| earlier.tune.as_ref());
        let record = record.map(|record| {
            to_resume(&Progress {
                plan: tune,
                record,
                seed: plan.seed,
            })
        });
        let record = record.unwrap_or_default();
        Ok(Some(ActiveTune {
            plan: tune.clone(),
            seed: plan.seed,
            trials: TuneTrials::of(request.question, plan, earlier)?,
            facts: facts.clone(),
            time: TotalTime::after(record.took_ns),
            record,
            running: None,
            dirty: DirtyPages::now(),
        }))
    }

    /// The next step; the plan has its trial and repeat then. `None` if the search is over, or the user stops the run.
    pub(crate) fn next_step(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
    ) -> Result<Option<RepeatKey>, RunError> {
        while self.record.end.is_none() && !session.stopping.is_wanted() {
            self.record.took_ns = self.time.ns();
            let progress = Progress {
                plan: &self.plan,
                record: &self.record,
                seed: self.seed,
            };
            match next_move(&progress) {
                TuneMove::Choose => self.choose(session, plan)?,
                TuneMove::Open(phase) => {
                    self.record.phases.push(phase);
                    session
                        .observer
                        .observe(&RunEvent::TunePhaseBegins(&self.record));
                }
                TuneMove::Measure { arm, block } => {
                    if let Some(step) = self.begin(session, plan, arm, block)? {
                        return Ok(Some(step));
                    }
                }
                TuneMove::End(end) => self.record.end = Some(end),
            }
        }
        session.folder.write_tune(&self.record).or_unwritable()?;
        Ok(None)
    }

    /// Makes the arm's trial, if it has none yet. `None` if the scenario refuses the combination: then the measurement
    /// is void.
    fn begin(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
        arm: usize,
        block: u32,
    ) -> Result<Option<RepeatKey>, RunError> {
        let mut running = RunningArm {
            arm,
            block,
            repeat: 0,
            began: Instant::now(),
        };
        let trial = match self.trials.trial_of(&mut self.record, plan, arm) {
            Ok(trial) => trial,
            Err(why) => {
                let void = Some(VoidCause::failed(why));
                let result = ArmResult {
                    void,
                    ..ArmResult::default()
                };
                self.take(session, &running, result)?;
                return Ok(None);
            }
        };
        drop_unsupported(plan, &self.facts, &mut session.cluster)?;
        let Some(planned) = plan.trials.get_mut(trial as usize) else {
            return Err(RunError::Defect(format!(
                "trial {trial} is not in the plan"
            )));
        };
        running.repeat = self.trials.next_repeat(trial);
        planned.repeats = running.repeat + 1;
        session.folder.write_plan(plan).or_unwritable()?;
        self.dirty.settle(session);
        let step = RepeatKey {
            trial,
            repeat: running.repeat,
        };
        self.running = Some(running);
        Ok(Some(step))
    }

    /// Takes the figures of a step that is complete.
    pub(crate) fn complete(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatKey,
    ) -> Result<(), RunError> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        let figures = StepFigures::read(session, plan, step)?;
        let (value, void) = figures.compared(&self.plan.metric);
        let keep = self.plan.keep.iter().map(|goal| {
            let trial = figures.trial();
            let is_shown = trial.is_some_and(|trial| !trial.is_buffer_time(&goal.figure));
            let metric = AbMetric::OfFlow(goal.figure.clone());
            figures.figure(&metric).filter(|_| is_shown)
        });
        let keep = keep.collect();
        self.take(session, &running, ArmResult { value, keep, void })
    }

    /// A step failed: its measurement is void.
    pub(crate) fn fail(
        &mut self,
        session: &mut Session<'_>,
        error: &RunError,
    ) -> Result<(), RunError> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        let result = ArmResult {
            void: Some(failed(error)),
            ..ArmResult::default()
        };
        self.take(session, &running, result)
    }

    fn take(
        &mut self,
        session: &mut Session<'_>,
        running: &RunningArm,
        result: ArmResult,
    ) -> Result<(), RunError> {
        let took_ns = u64::try_from(running.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some(phase) = self.record.phases.last_mut() {
            phase.measures.push(TuneMeasure {
                arm: u32::try_from(running.arm).unwrap_or(u32::MAX),
                block: running.block,
                repeat: running.repeat,
                value: result.value,
                keep: result.keep,
                void: result.void,
                took_ns,
            });
        }
        self.record.took_ns = self.time.ns();
        session.folder.write_tune(&self.record).or_unwritable()?;
        session
            .observer
            .observe(&RunEvent::TuneMeasured(&self.record));
        Ok(())
    }

    /// The run measures no more: the folder gets what is known.
    pub(crate) fn end(mut self, session: &Session<'_>) -> Result<(), RunError> {
        self.record.took_ns = self.time.ns();
        session.folder.write_tune(&self.record).or_unwritable()
    }

    /// Looks at the settings in force, and chooses what to try; or ends the search, if they cannot be judged.
    fn choose(&mut self, session: &mut Session<'_>, plan: &Plan) -> Result<(), RunError> {
        let read = RunRead::open(session.folder.dir()).or_unwritable()?;
        let summary = Summary::of(&read);
        let Some(today) = summary.trials.first() else {
            return Err(RunError::Defect("a search without a trial".to_owned()));
        };
        if let Some(end) = refusal(today) {
            self.record.end = Some(end);
            return Ok(());
        }
        let base = self.trials.base();
        let brokers = self.facts.brokers.first();
        let settings = brokers.map(|broker| broker.settings.clone());
        let settings = settings.unwrap_or_default();
        let version = self.facts.version.as_deref();
        let version = version.filter(|_| self.facts.kind.is_apache_kafka());
        let now = InForce {
            trial: base,
            brokers: &settings,
            broker_count: self.broker_count(),
            release: version.and_then(oldest_release),
            owns_brokers: self.facts.kind != TargetKind::Existing,
            owns_topic: session.request.existing_topic.is_none(),
            limit: today.limit.as_ref(),
        };
        let mut changed = |changes: &[(String, String)]| self.changed(session, plan, changes);
        let mut choice = choose(&self.plan, &now, &mut changed);
        fit_to_budget(&self.plan, &self.record, &mut choice);
        choice.other_rate = full_speed(base, today).map(|rate| OTHER_RATE_PART * rate);
        let mut keep = self.plan.keep.iter();
        choice.conditions_apart = keep.any(|goal| base.is_buffer_time(&goal.figure));
        self.record.choice = Some(choice);
        session.folder.write_tune(&self.record).or_unwritable()
    }

    fn broker_count(&self) -> u32 {
        u32::try_from(self.facts.brokers.len()).unwrap_or(u32::MAX)
    }

    /// The trial with changes, if scenario and target accept them.
    fn changed(
        &self,
        session: &mut Session<'_>,
        plan: &Plan,
        changes: &[(String, String)],
    ) -> Result<Trial, LeftOutCause> {
        let trial = self
            .trials
            .candidate(changes, self.plan.durability_may_change)?;
        let needed = u32::from(trial.topic.replication);
        if needed > self.broker_count() {
            return Err(LeftOutCause::Brokers { needed });
        }
        if session.request.target.can_serve(&trial).is_err() {
            return Err(LeftOutCause::Target);
        }
        let mut alone = Plan {
            trials: vec![trial.clone()],
            ..plan.clone()
        };
        match drop_unsupported(&mut alone, &self.facts, &mut session.cluster) {
            Err(RunError::Input(why)) => Err(LeftOutCause::Refused {
                why: in_one_line(&why),
            }),
            // A cluster that does not answer ends the run at its next repeat.
            Ok(_) | Err(_) => Ok(trial),
        }
    }
}

/// Whether the settings in force cannot be judged.
fn refusal(today: &TrialSummary) -> Option<TuneEnd> {
    let limit = today.limit.as_ref().map(|limit| limit.word);
    if limit == Some(Bottleneck::Generator) {
        return Some(TuneEnd::Generator);
    }
    let mut steadiness = today
        .flows
        .iter()
        .filter_map(|flow| flow.steadiness.as_ref());
    let is_unsteady = steadiness.any(|flow| {
        let unusable = flow.repeats.iter();
        let unusable = unusable.filter(|repeat| !repeat.verdict().is_usable());
        2 * unusable.count() > flow.repeats.len()
    });
    is_unsteady.then_some(TuneEnd::NotSteady)
}

/// The records per second of all flows at full speed; `None` without one.
fn full_speed(base: &Trial, today: &TrialSummary) -> Option<f64> {
    let is_full = |name: &str| {
        let mut sends = base.flows.iter().filter_map(FlowPlan::produces);
        sends.any(|flow| flow.name == name && flow.shape == Shape::Max)
    };
    let flows = today.flows.iter().filter(|flow| is_full(&flow.name));
    let rates = flows.filter_map(|flow| flow.throughput.as_ref());
    let rate: f64 = rates.map(|one| one.records_per_s.mean).sum();
    (rate > 0.0).then_some(rate)
}

/// Major and minor version of the oldest release that a text names: `2.8.2`, `4.3 or newer`, `2.0 to 2.1`.
fn oldest_release(text: &str) -> Option<(u32, u32)> {
    let numbers = text.split(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let release = |number: &str| {
        let mut parts = number.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    numbers.filter_map(release).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_what_brokers_show() {
        for (text, release) in [
            ("2.8.2", Some((2, 8))),
            ("4.3 or newer", Some((4, 3))),
            ("2.0 to 2.1", Some((2, 0))),
            ("4.3 or newer and 3.9", Some((3, 9))),
            ("unknown", None),
        ] {
            assert_eq!(oldest_release(text), release, "{text}");
        }
    }
}
