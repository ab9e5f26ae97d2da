//! A run on one target: start, trials, end.

use std::path::PathBuf;

use kgauge_results::run::EventKind;
use kgauge_scenario::{Plan, RepeatKey, Trial};
use kgauge_target::TargetSpec;

use crate::announce::time_estimate;
use crate::change_cluster::fit_to;
use crate::checkup::ActiveCheckup;
use crate::checkup_parts;
use crate::close::close;
use crate::error::{ErrorSubject, RunError, in_one_line};
use crate::events::event;
use crate::killed_repeats::check_killed;
use crate::load_run;
use crate::observer::{Activity, Announcement, Observer, RunEvent, RunStep};
use crate::open_run::OpenRun;
use crate::outages;
use crate::prepared_topic::PreparedTopic;
use crate::repeat_end::RepeatEnd;
use crate::request::RunRequest;
use crate::session::Session;
use crate::start::{PreparedRun, prepare};
use crate::steps::{NextStep, StepSource};
use crate::time_estimate::TimeEstimate;
use crate::trial::run_step;

/// A run that began: its folder, and how it ended.
#[derive(Debug)]
pub struct FinishedRun {
    /// The run folder.
    pub dir: PathBuf,
    /// Why it is not complete, if so.
    pub ended: Result<RepeatEnd, RunError>,
}

/// Runs a question on a target. Whatever was measured is in the run folder, however the run ended.
///
/// # Errors
/// Nothing was measured, and no run folder is left.
pub fn run(request: &RunRequest<'_>, observer: &mut dyn Observer) -> Result<FinishedRun, RunError> {
    let mut opened = OpenRun::open(request)?;
    observer.observe(&RunEvent::Activity(&Activity::StartingTarget {
        target: request.target.text.clone(),
        is_existing: matches!(request.target.spec, TargetSpec::Existing(_)),
    }));
    let searches = opened.searches();
    let killed = opened.killed();
    let prepared = prepare(request, &mut opened, observer);
    let PreparedRun {
        mut session,
        mut plan,
        steps,
        chooser,
    } = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return Err(opened.give_up(error, request.stop.is_wanted())),
    };
    let dir = session.folder.dir().to_owned();
    session
        .observer
        .observe(&RunEvent::Announced(&Announcement {
            plan: &plan,
            steps: &steps,
            dir: &dir,
            is_resumed: session.clusters.attempt > 0,
            planned: match (request.checkup, &plan.tune) {
                (Some(checkup), _) => TimeEstimate::at_most(checkup.budget),
                (None, Some(tune)) => {
                    TimeEstimate::at_most(std::time::Duration::from_nanos(tune.budget_ns))
                }
                (None, None) => time_estimate(&plan, &steps, request.target.spec.warms_brokers()),
            },
            is_checkup: request.checkup.is_some(),
        }));
    let mut source = StepSource::new(steps, searches, chooser);
    let checked = check_killed(&killed, &mut session, &plan);
    let ended = checked.and_then(|()| run_all(&mut session, &mut plan, &mut source));
    let kept = source
        .end(&session)
        .and(checkup_parts::finish(&mut session));
    let ended = ended.and_then(|ended| kept.map(|()| ended));
    let error = ended.as_ref().err();
    session.observer.observe(&RunEvent::Closing { error });
    let is_alive = session.death().is_none();
    let ended = match is_alive && request.stop.is_wanted() {
        true => excused(ended),
        false => ended,
    };
    let closed = close(session, &ended);
    observer.observe(&RunEvent::Closed);
    let ended = ended.and_then(|ended| closed.map(|()| ended));
    Ok(FinishedRun { dir, ended })
}

/// The run ends after this many failed trials in a row.
const FAILURES_MAX: usize = 3;

/// Runs every step. A trial that fails is given up; the others go on.
fn run_all(
    session: &mut Session<'_>,
    plan: &mut Plan,
    steps: &mut StepSource,
) -> Result<RepeatEnd, RunError> {
    let mut topic: Option<PreparedTopic> = None;
    let mut failed: Vec<RunError> = Vec::new();
    let mut in_a_row = 0;
    loop {
        // Choosing the next load may take a while: the one before has to settle.
        let next = match session.stopping.is_wanted() {
            true => None,
            false => steps.next(session, plan)?,
        };
        if session.stopping.is_wanted() {
            return Ok(RepeatEnd::Interrupted);
        }
        let Some(next) = next else {
            return ended(failed, plan);
        };
        let NextStep {
            step,
            index,
            count,
            is_last,
        } = next;
        let planned: &Plan = plan;
        let Some(trial) = planned.trials.get(step.trial as usize) else {
            continue;
        };
        session.observer.observe(&RunEvent::StepBegins(RunStep {
            trial,
            step,
            index,
            count,
        }));
        let result = fit_to(session, trial).and_then(|is_new| {
            if is_new {
                topic = None;
            }
            run_step(session, planned, step, &mut topic, is_last)
        });
        match result {
            Ok(RepeatEnd::Interrupted) => return Ok(RepeatEnd::Interrupted),
            Ok(RepeatEnd::Complete) => {
                in_a_row = 0;
                forget_late_stop(session);
                steps.complete(session, plan, step)?;
            }
            Err(error) if session.stopping.is_wanted() => return Err(error),
            Err(_) if is_limit(session, plan, steps, step)? => {
                topic = None;
                in_a_row = 0;
                session.stopping.let_next_begin();
            }
            Err(error) => {
                topic = None;
                in_a_row += 1;
                let is_noted = note_failure(session, trial, &error);
                let is_gone = error.is_of_target() && outages::is_cluster_gone(session);
                if is_gone {
                    note_left_out(session, steps.left());
                }
                let is_unhealthy = session.checkup.as_mut().is_some_and(ActiveCheckup::is_over);
                let is_unhealthy = is_unhealthy || load_run::has_lost_agents(session);
                let is_over = !is_noted || in_a_row >= FAILURES_MAX || is_gone || is_unhealthy;
                // A search measures the load again.
                let is_final = !steps.give_up(session, step, &error)? || is_over;
                failed.extend(is_final.then_some(error));
                if is_over {
                    return ended(failed, plan);
                }
                session.stopping.let_next_begin();
            }
        }
    }
}

/// Whether a load of a search was ended because it was too much for a broker: the search goes on below it.
fn is_limit(
    session: &mut Session<'_>,
    plan: &Plan,
    steps: &mut StepSource,
    step: RepeatKey,
) -> Result<bool, RunError> {
    let was_too_much = session
        .checkup
        .as_ref()
        .is_some_and(ActiveCheckup::was_too_much);
    if !was_too_much || !steps.limit(session, plan, step)? {
        return Ok(false);
    }
    if let Some(checkup) = &mut session.checkup {
        checkup.note_too_much(step.trial);
    }
    Ok(true)
}

/// A load that was complete before it could be ended counts as it is.
fn forget_late_stop(session: &mut Session<'_>) {
    if let Some(checkup) = &mut session.checkup
        && checkup.was_too_much()
    {
        checkup.forget_stop();
    }
}

/// The error of a run with failed trials, if there are any.
fn ended(failed: Vec<RunError>, plan: &Plan) -> Result<RepeatEnd, RunError> {
    let count = failed.len();
    match failed.into_iter().next() {
        None => Ok(RepeatEnd::Complete),
        Some(error) if count == 1 && (plan.trials.len() == 1 || plan.is_open_ended()) => Err(error),
        Some(error) => Err(RunError::Trials {
            failed: count,
            planned: plan.trials.len(),
            first: Box::new(error),
        }),
    }
}

/// Records that a trial failed. False if results can no longer be written: then the run ends.
fn note_failure(session: &mut Session<'_>, trial: &Trial, error: &RunError) -> bool {
    // Whatever happened to the cluster shall not strike the next trial.
    session.clusters.is_broken |= error.is_of_target();
    let name = format!("{} {}", trial.scenario, trial.name);
    let why = error.to_string();
    session.observer.observe(&RunEvent::TrialFailed {
        name: name.trim(),
        why: why.lines().next().unwrap_or_default(),
    });
    let question = session.request.question;
    let kind = match question.ab.is_some() || question.tune.is_some() {
        // The other repeats of the trial go on.
        true => EventKind::Warning {
            text: in_one_line(&why),
        },
        false => EventKind::TrialFailed {
            trial: trial.index,
            why: in_one_line(&why),
        },
    };
    let written = session.folder.events().write(&event(None, kind));
    written.is_ok()
}

/// Reports that the run ends here.
fn note_left_out(session: &mut Session<'_>, steps: usize) {
    if steps > 0 {
        session.remark(&format!(
            "the cluster does not answer; repeats skipped: {steps}"
        ));
    }
}

/// What a user's stop makes of the end of a run on a target that is alive: an exchange that the stop cut off
/// is no failure of the target, and neither is a wait that it ended.
fn excused(ended: Result<RepeatEnd, RunError>) -> Result<RepeatEnd, RunError> {
    match ended {
        Err(error) if error.is_of_target() || error.subject() == ErrorSubject::Interrupt => {
            Ok(RepeatEnd::Interrupted)
        }
        ended => ended,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_stop_cuts_exchanges_off_and_excuses_nothing_else() {
        let cut_off = RunError::cluster("interrupted while connecting");
        assert_eq!(excused(Err(cut_off)).unwrap(), RepeatEnd::Interrupted);
        let waited = RunError::interrupted("interrupted while waiting for agents");
        assert_eq!(excused(Err(waited)).unwrap(), RepeatEnd::Interrupted);
        let disk_full = RunError::System("no space left on device".to_owned());
        assert!(!excused(Err(disk_full)).unwrap_err().is_of_target());
        assert_eq!(
            excused(Ok(RepeatEnd::Complete)).unwrap(),
            RepeatEnd::Complete
        );
    }
}
