//! A run on one target: start, trials, end, report.

use std::path::{Path, PathBuf};

use kgauge_results::folder::layout;
use kgauge_results::run::EventKind;
use kgauge_scenario::{Plan, RepeatStep, Trial};

use super::close::close;
use super::clusters;
use super::outages;
use super::output;
use super::question::Question;
use super::repeat::{RepeatEnd, event};
use super::session::Session;
use super::start::{self, RunRequest, StartedRun};
use super::targets::NamedTarget;
use super::trial::{PreparedTopic, run_step};
use crate::args::RunArgs;
use crate::exit::{ExitStatus, in_one_line, status_of, stop};
use crate::interrupt::StopRequests;
use crate::live::{Live, RunStep};
use crate::progress::StepLabel;

/// A run that began: where its folder is, and how it ended.
pub(super) struct FinishedRun {
    pub(super) dir: PathBuf,
    /// Why it did not come to its end.
    pub(super) ended: anyhow::Result<RepeatEnd>,
}

/// Runs on one target, and prints its report.
pub(super) fn run(
    arguments: &RunArgs,
    question: &Question,
    target: &NamedTarget,
    stopping: &StopRequests,
    live: &Live,
) -> anyhow::Result<ExitStatus> {
    if let Some(board) = &live.board {
        board.target_begins(question.name(), &target.text, None);
    }
    let order = RunRequest {
        arguments,
        question,
        target,
        dir: arguments.out.clone(),
        seed: arguments.seed,
        beside: None,
        board: live.board.as_ref(),
    };
    let finished = measure(&order, stopping.clone())?;
    let reported = output::report(&finished.dir, arguments.json);
    publish(live, &target.text, &finished.dir);
    // The first thing that went wrong is what is said; the report has been written all the same.
    match finished.ended? {
        RepeatEnd::Interrupted => reported.map(|_| ExitStatus::Interrupted),
        RepeatEnd::Complete => reported,
    }
}

/// Lets the server have the report that a run left, if one serves.
pub(super) fn publish(live: &Live, target: &str, dir: &Path) {
    let file = dir.join(layout::REPORT);
    if let (Some(board), Ok(page)) = (live.served(), std::fs::read_to_string(&file)) {
        board.report(&format!("The report on {target}"), file, &page);
    }
}

/// Runs on one target. An error means that nothing began.
pub(super) fn measure(
    order: &RunRequest<'_>,
    stopping: StopRequests,
) -> anyhow::Result<FinishedRun> {
    let StartedRun {
        mut session,
        plan,
        steps,
    } = start::start(order, stopping)?;
    if let Some(board) = &session.board {
        board.run_begins(session.folder.dir(), steps.len());
    }
    let ended = run_all(&mut session, &plan, &steps);
    if let (Some(board), Err(error)) = (&session.board, &ended) {
        board.trouble(&format!("The run did not come to its end: {error}"));
    }
    let alive = session.death().is_none();
    let ended = if alive && session.stopping.is_wanted() {
        stopped(ended)
    } else {
        ended
    };
    let dir = session.folder.dir().to_owned();
    let board = session.board.clone();
    let closed = close(session, &ended);
    if let Some(board) = board {
        board.run_ends();
    }
    let ended = ended.and_then(|ended| closed.map(|()| ended));
    Ok(FinishedRun { dir, ended })
}

/// So many trials may fail one after the other before the run is given up.
const FAILURES_MAX: usize = 3;

/// Runs every step. A trial that fails is given up; the others go on.
fn run_all(session: &mut Session, plan: &Plan, steps: &[RepeatStep]) -> anyhow::Result<RepeatEnd> {
    let mut ground: Option<PreparedTopic> = None;
    let mut failed: Vec<(u32, anyhow::Error)> = Vec::new();
    let mut in_a_row = 0;
    for (index, step) in steps.iter().enumerate() {
        if session.stopping.is_wanted() {
            return Ok(RepeatEnd::Interrupted);
        }
        if failed.iter().any(|(trial, _)| *trial == step.trial) {
            continue;
        }
        let Some(trial) = plan.trials.get(step.trial as usize) else {
            continue;
        };
        session
            .progress
            .step(step_words(trial, *step, index, steps.len()));
        if let Some(board) = &session.board {
            let place = RunStep {
                step: *step,
                index,
                of: steps.len(),
            };
            board.step_begins(trial, place);
        }
        let shares_ground = |next: &&RepeatStep| next.trial == step.trial;
        let is_last = steps.get(index + 1).filter(shares_ground).is_none();
        let ended = clusters::fit_to(session, trial).and_then(|is_new| {
            if is_new {
                ground = None;
            }
            run_step(session, plan, *step, &mut ground, is_last)
        });
        match ended {
            Ok(RepeatEnd::Interrupted) => return Ok(RepeatEnd::Interrupted),
            Ok(RepeatEnd::Complete) => in_a_row = 0,
            Err(error) if session.stopping.is_wanted() => return Err(error),
            Err(error) => {
                ground = None;
                in_a_row += 1;
                let status = status_of(&error);
                let is_noted = note_failure(session, trial, &error);
                failed.push((step.trial, error));
                if !is_noted || in_a_row >= FAILURES_MAX {
                    break;
                }
                if status == ExitStatus::TargetFailed && outages::is_cluster_gone(session) {
                    note_left_out(session, steps.len() - index - 1);
                    break;
                }
                session.stopping.let_next_begin();
            }
        }
    }
    first_failure(failed, plan)
}

/// Writes down that a trial failed. False when results can no longer be kept: then nothing goes on.
fn note_failure(session: &mut Session, trial: &Trial, error: &anyhow::Error) -> bool {
    // Whatever happened to the cluster shall not strike the next trial.
    session.clusters.is_broken |= status_of(error) == ExitStatus::TargetFailed;
    let name = format!("{} {}", trial.scenario, trial.name);
    let why = format!("{error:#}");
    let first = why.lines().next().unwrap_or_default().to_owned();
    let why = in_one_line(&why);
    let words = format!("kgauge: trial {} failed: {first}", name.trim());
    session.progress.remark(&words);
    if let Some(board) = &session.board {
        board.trouble(&format!("Trial {} failed: {first}", name.trim()));
    }
    let kind = EventKind::TrialFailed {
        trial: trial.index,
        why,
    };
    let written = session.folder.events().write(&event(None, kind));
    written.is_ok()
}

/// Says that the run ends here.
fn note_left_out(session: &Session, steps: usize) {
    if steps > 0 {
        let words = format!(
            "the cluster does not answer; what is left of the run ({steps} repeats) was not tried"
        );
        session.progress.remark(&format!("kgauge: {words}"));
    }
}

/// The first thing that went wrong is what the run ends with.
fn first_failure(failed: Vec<(u32, anyhow::Error)>, plan: &Plan) -> anyhow::Result<RepeatEnd> {
    let count = failed.len();
    match failed.into_iter().next() {
        None => Ok(RepeatEnd::Complete),
        Some((_, error)) if plan.trials.len() == 1 => Err(error),
        Some((_, error)) => {
            let status = status_of(&error);
            let words = format!(
                "{count} of {} trials failed; the first: {error}",
                plan.trials.len()
            );
            Err(stop(status, words))
        }
    }
}

fn step_words(trial: &Trial, step: RepeatStep, index: usize, count: usize) -> StepLabel {
    let name = format!("{} {}", trial.scenario, trial.name);
    StepLabel {
        count: format!("[{}/{count}]", index + 1),
        name: name.trim_end().to_owned(),
        repeat: format!("repeat {} of {}", step.repeat + 1, trial.repeats),
    }
}

/// What a user's stop makes of the end of a run on a target that is alive: an exchange that the stop cut off
/// is no failure of the target.
fn stopped(ended: anyhow::Result<RepeatEnd>) -> anyhow::Result<RepeatEnd> {
    match ended {
        Err(error) if status_of(&error) == ExitStatus::TargetFailed => Ok(RepeatEnd::Interrupted),
        ended => ended,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_stop_cuts_exchanges_off_and_excuses_nothing_else() {
        let cut_off = stop(ExitStatus::TargetFailed, "interrupted while connecting");
        assert_eq!(stopped(Err(cut_off)).unwrap(), RepeatEnd::Interrupted);
        let disk_full = stop(ExitStatus::Failed, "no space left on device");
        let kept = stopped(Err(disk_full)).unwrap_err();
        assert_eq!(status_of(&kept), ExitStatus::Failed);
        assert_eq!(
            stopped(Ok(RepeatEnd::Complete)).unwrap(),
            RepeatEnd::Complete
        );
    }
}
