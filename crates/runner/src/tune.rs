//! The search for better settings that a run makes: the next repeat, and what the repeat that has run gave.

use std::time::Instant;

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{Bottleneck, TrialSummary, moved_leaders, repeat_figure};
use kgauge_analyze::tuning::{InForce, Progress, TuneMove, choose, fit_to_budget, next_move};
use kgauge_results::RunRead;
use kgauge_results::run::{LeftOutCause, RepeatKey, TuneEnd, TuneMeasure, TuneRecord, VoidCause};
use kgauge_scenario::{
    AbMetric, FlowPlan, Plan, RepeatStep, Shape, TargetKind, Trial, TunePlan, TuneValue,
};
use kgauge_target::TargetFacts;

use crate::error::{OrRunError, RunError, in_one_line};
use crate::fit::drop_unsupported;
use crate::observer::RunEvent;
use crate::request::RunRequest;
use crate::session::Session;
use crate::settle::DirtyPages;
use crate::tune_trials::TuneTrials;

/// Of full speed, the rate of the second load.
const OTHER_RATE_PART: f64 = 0.5;

/// The search of a run.
pub(crate) struct ActiveTune {
    plan: TunePlan,
    trials: TuneTrials,
    facts: TargetFacts,
    record: TuneRecord,
    running: Option<RunningArm>,
    began: Instant,
    dirty: DirtyPages,
}

/// The arm that is measured.
struct RunningArm {
    arm: usize,
    block: u32,
    step: RepeatStep,
    began: Instant,
}

impl ActiveTune {
    /// The search of a plan, if it has one.
    ///
    /// # Errors
    /// When the question has no scenario whose settings could be changed.
    pub(crate) fn of(
        plan: &Plan,
        request: &RunRequest<'_>,
        facts: &TargetFacts,
    ) -> Result<Option<ActiveTune>, RunError> {
        let Some(tune) = &plan.tune else {
            return Ok(None);
        };
        Ok(Some(ActiveTune {
            plan: tune.clone(),
            trials: TuneTrials::of(request.question, plan)?,
            facts: facts.clone(),
            record: TuneRecord::default(),
            running: None,
            began: Instant::now(),
            dirty: DirtyPages::now(),
        }))
    }

    /// The next step; the plan has its trial and repeat then. `None` if the search is over, or the user stops the run.
    pub(crate) fn next_step(
        &mut self,
        session: &mut Session<'_>,
        plan: &mut Plan,
    ) -> Result<Option<RepeatStep>, RunError> {
        while self.record.end.is_none() && !session.stopping.is_wanted() {
            self.note_time();
            let progress = Progress {
                plan: &self.plan,
                record: &self.record,
                seed: plan.seed,
            };
            match next_move(&progress) {
                TuneMove::Choose => self.choose(session)?,
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
    ) -> Result<Option<RepeatStep>, RunError> {
        let began = Instant::now();
        let trial = match self.trials.trial_of(&mut self.record, plan, arm) {
            Ok(trial) => trial,
            Err(why) => {
                self.note_void(arm, block, why);
                return Ok(None);
            }
        };
        drop_unsupported(plan, &self.facts, &mut session.cluster)?;
        let planned = plan.trials.get_mut(trial as usize);
        let Some(planned) = planned else {
            return Err(RunError::Defect(format!(
                "trial {trial} is not in the plan"
            )));
        };
        let repeat = self.trials.next_repeat(trial);
        planned.repeats = repeat + 1;
        session.folder.write_plan(plan).or_unwritable()?;
        self.dirty.settle(session);
        let step = RepeatStep { trial, repeat };
        self.running = Some(RunningArm {
            arm,
            block,
            step,
            began,
        });
        Ok(Some(step))
    }

    /// Takes the figures of a step that is complete.
    pub(crate) fn complete(
        &mut self,
        session: &mut Session<'_>,
        plan: &Plan,
        step: RepeatStep,
    ) -> Result<(), RunError> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        let key = RepeatKey {
            trial: step.trial,
            repeat: step.repeat,
        };
        let read = RunRead::of_repeat(session.folder.dir(), key).or_unwritable()?;
        let trial = plan.trials.get(step.trial as usize);
        let measured = trial.zip(read.repeats.first());
        let figure = |metric: &AbMetric| {
            let (trial, repeat) = measured?;
            repeat_figure(trial, repeat, metric)
        };
        let value = figure(&self.plan.metric).filter(|value| value.is_finite() && *value > 0.0);
        let keep = self.plan.keep.iter().map(|goal| {
            let is_apart = trial.is_none_or(|trial| trial.is_buffer_time(&goal.figure));
            let metric = AbMetric::OfFlow(goal.figure.clone());
            figure(&metric).filter(|_| !is_apart)
        });
        let keep = keep.collect();
        let missing = || {
            value.is_none().then(|| VoidCause::Failed {
                why: format!("{} was not measured", self.plan.metric),
            })
        };
        let void = moved_leaders(&read, key).or_else(missing);
        self.take(session, &running, value, keep, void)
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
        let why = in_one_line(&error.to_string());
        let void = Some(VoidCause::Failed { why });
        self.take(session, &running, None, Vec::new(), void)
    }

    fn take(
        &mut self,
        session: &mut Session<'_>,
        running: &RunningArm,
        value: Option<f64>,
        keep: Vec<Option<f64>>,
        void: Option<VoidCause>,
    ) -> Result<(), RunError> {
        let took_ns = u64::try_from(running.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some(phase) = self.record.phases.last_mut() {
            phase.measures.push(TuneMeasure {
                arm: u32::try_from(running.arm).unwrap_or(u32::MAX),
                block: running.block,
                repeat: running.step.repeat,
                value,
                keep,
                void,
                took_ns,
            });
        }
        self.note_time();
        session.folder.write_tune(&self.record).or_unwritable()?;
        session
            .observer
            .observe(&RunEvent::TuneMeasured(&self.record));
        Ok(())
    }

    fn note_void(&mut self, arm: usize, block: u32, why: String) {
        if let Some(phase) = self.record.phases.last_mut() {
            phase.measures.push(TuneMeasure {
                arm: u32::try_from(arm).unwrap_or(u32::MAX),
                block,
                repeat: 0,
                value: None,
                keep: Vec::new(),
                void: Some(VoidCause::Failed { why }),
                took_ns: 0,
            });
        }
    }

    fn note_time(&mut self) {
        let elapsed = self.began.elapsed().as_nanos();
        self.record.took_ns = u64::try_from(elapsed).unwrap_or(u64::MAX);
    }

    /// The run measures no more: the folder gets what is known.
    pub(crate) fn end(mut self, session: &Session<'_>) -> Result<(), RunError> {
        self.note_time();
        session.folder.write_tune(&self.record).or_unwritable()
    }

    /// Looks at the settings in force, and chooses what to try; or ends the search, if they cannot be judged.
    fn choose(&mut self, session: &mut Session<'_>) -> Result<(), RunError> {
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
        let now = InForce {
            trial: base,
            brokers: &settings,
            broker_count: u32::try_from(self.facts.brokers.len()).unwrap_or(u32::MAX),
            release: self.facts.version.as_deref().and_then(release),
            owns_brokers: self.facts.kind != TargetKind::Existing,
            bottleneck: today
                .limit
                .as_ref()
                .map_or(Bottleneck::Undecided, |limit| limit.word),
        };
        let refuses = |value: &TuneValue| self.refuses(session.request, value);
        let mut choice = choose(&self.plan, &now, &refuses);
        let measures = self.record.phases.iter().flat_map(|phase| &phase.measures);
        let times: Vec<u64> = measures.map(|measure| measure.took_ns).collect();
        let step_ns = times.iter().sum::<u64>() / times.len().max(1) as u64;
        fit_to_budget(&self.plan, &mut choice, self.record.took_ns, step_ns);
        choice.other_rate = full_speed(base, today).map(|rate| OTHER_RATE_PART * rate);
        let mut keep = self.plan.keep.iter();
        choice.conditions_apart = keep.any(|goal| base.is_buffer_time(&goal.figure));
        self.record.choice = Some(choice);
        session.folder.write_tune(&self.record).or_unwritable()
    }

    /// Why scenario or target refuse a value.
    fn refuses(&self, request: &RunRequest<'_>, value: &TuneValue) -> Option<LeftOutCause> {
        let trial = match self.trials.changed(&value.changes) {
            Ok(trial) => trial,
            Err(why) => return Some(LeftOutCause::Refused { why }),
        };
        let brokers = u32::try_from(self.facts.brokers.len()).unwrap_or(u32::MAX);
        let is_too_small = u32::from(trial.topic.replication) > brokers;
        let is_refused = is_too_small || request.target.can_serve(&trial).is_err();
        is_refused.then_some(LeftOutCause::Target)
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

/// Major and minor version of a release: `2.8.2`, `4.3 or newer`.
fn release(text: &str) -> Option<(u32, u32)> {
    let number = text.split(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let number = number.into_iter().find(|part| part.contains('.'))?;
    let mut parts = number.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_what_brokers_show() {
        assert_eq!(release("2.8.2"), Some((2, 8)));
        assert_eq!(release("4.3 or newer"), Some((4, 3)));
        assert_eq!(release("2.0 to 2.1"), Some((2, 0)));
        assert_eq!(release("unknown"), None);
    }
}
