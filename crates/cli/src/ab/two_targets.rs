//! An A/B test of two targets: two runs that take turns, or run at the same time.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;

use kgauge_report::text;
use kgauge_results::RunRead;
use kgauge_results::run::AbRecord;
use kgauge_runner::{
    AbRequest, AbTest, FinishedRun, FolderChoice, Observer, Question, RepeatEnd, RunError,
    RunEvent, RunRequest, RunTarget, StopRequests, fresh_number, one_side, remove_unused,
    run as run_one, write_results,
};
use kgauge_scenario::{AbPlan, AbSide};

use super::{AbArgs, refused, run_arguments};
use crate::args::RunArgs;
use crate::exit::{self, ExitStatus, OrStop};
use crate::interrupt;
use crate::print;
use crate::progress::StatusLine;
use crate::run;

/// One side, ready to run.
struct SideJob {
    side: AbSide,
    question: Question,
    target: RunTarget,
    folder: FolderChoice,
    stop: StopRequests,
}

/// Starts a test of two targets.
pub(super) fn start(
    arguments: &AbArgs,
    question: &Question,
    request: &AbRequest,
) -> anyhow::Result<ExitStatus> {
    refuse_server(arguments)?;
    let targets = run::targets(&run_arguments(arguments), question)?;
    let number = fresh_number();
    let parent = run::parent_dir(&arguments.conduct, &question.name, number)?;
    let seed = arguments.conduct.seed.unwrap_or(number);
    let [a, b] = targets.as_slice() else {
        return Err(refused("an A/B test of targets needs two of them"));
    };
    let folders = [format!("1-{}", a.slug()), format!("2-{}", b.slug())];
    let mut jobs = Vec::new();
    let sides = AbSide::BOTH.into_iter().zip(targets).zip(&folders);
    for ((side, target), folder) in sides {
        jobs.push(SideJob {
            side,
            question: one_side(question.clone(), side, &folders, request)?,
            target,
            folder: FolderChoice::New(parent.join(folder)),
            stop: StopRequests::idle(),
        });
    }
    let ended = run_both(arguments, &jobs, seed, (AbRecord::default(), 0));
    remove_unused(&parent);
    ended
}

/// Goes on with the runs of both sides in their folders.
pub(super) fn resume(arguments: &AbArgs, parent: &Path) -> anyhow::Result<ExitStatus> {
    refuse_server(arguments)?;
    let not_a_test = || {
        refused(format!(
            "{} is neither a run folder nor a folder with both sides of an A/B test",
            parent.display()
        ))
    };
    let unreadable = |error| refused(format!("cannot read {}: {error}", parent.display()));
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(parent)
        .map_err(unreadable)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(kgauge_results::folder::layout::RUN).is_file())
        .collect();
    dirs.sort();
    let mut jobs = Vec::new();
    let (mut record, mut next_repeat, mut seed) = (AbRecord::default(), 0, 0);
    for dir in dirs {
        let question = Question::resumed(&dir)?;
        let own = question.ab.as_ref().map(AbPlan::own_sides);
        let Some([(side, _)]) = own.as_deref() else {
            return Err(not_a_test());
        };
        let side = *side;
        let read = RunRead::open(&dir).or_bad_input()?;
        let ab = read.ab.unwrap_or_default();
        if ab.blocks.len() > record.blocks.len() {
            record = ab;
        }
        let ended = read.repeats.iter().map(|repeat| repeat.key.repeat + 1);
        next_repeat = ended.fold(next_repeat, u32::max);
        seed = question.seed.unwrap_or(seed);
        let target = resumed_target(arguments, side, &dir, &question)?;
        jobs.push(SideJob {
            side,
            question,
            target,
            folder: FolderChoice::Resume(dir),
            stop: StopRequests::idle(),
        });
    }
    jobs.sort_by_key(|job| job.side.index());
    let sides: Vec<AbSide> = jobs.iter().map(|job| job.side).collect();
    match sides.as_slice() {
        [AbSide::A, AbSide::B] => run_both(arguments, &jobs, seed, (record, next_repeat)),
        _ => Err(not_a_test()),
    }
}

/// The target of a resumed side: the one that the user names again, or that of its run.
fn resumed_target(
    arguments: &AbArgs,
    side: AbSide,
    dir: &Path,
    question: &Question,
) -> anyhow::Result<RunTarget> {
    let target = arguments.targets.get(side.index());
    let of_side = RunArgs {
        resume: Some(dir.to_owned()),
        targets: target.cloned().into_iter().collect(),
        ..run_arguments(arguments)
    };
    let mut targets = run::targets(&of_side, question)?;
    targets
        .pop()
        .ok_or_else(|| refused("the run has no target"))
}

/// The live page shows one run at a time.
fn refuse_server(arguments: &AbArgs) -> anyhow::Result<()> {
    match arguments.conduct.serve {
        Some(_) => Err(refused(
            "--serve shows one run at a time, and a test of two targets has two",
        )),
        None => Ok(()),
    }
}

/// Runs both sides behind the blocks of a record, and reports.
fn run_both(
    arguments: &AbArgs,
    jobs: &[SideJob],
    seed: u64,
    (record, next_repeat): (AbRecord, u32),
) -> anyhow::Result<ExitStatus> {
    let [a, b] = jobs else {
        return Err(refused("an A/B test needs two sides"));
    };
    let Some(plan) = &a.question.ab else {
        return Err(refused("the plan has no A/B test"));
    };
    let test = AbTest::new(plan, seed, record, next_repeat);
    let stops = vec![a.stop.clone(), b.stop.clone()];
    interrupt::listen_for(
        "stopping (press Ctrl-C again to stop without waiting for answers)",
        stops,
    )?;
    let (ready, is_ready) = mpsc::channel();
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| run_side(arguments, a, &test, seed, Some(ready)));
        // The second side starts when the first one's cluster serves: starting would disturb its load, and both may
        // ask for confirmation.
        let second = match is_ready.recv() {
            Ok(()) => Some(run_side(arguments, b, &test, seed, None)),
            Err(_) => None,
        };
        let first = first.join();
        (
            first.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            second,
        )
    });
    let is_stopped = a.stop.is_wanted();
    report(arguments, [Some(first), second], is_stopped)
}

fn run_side(
    arguments: &AbArgs,
    job: &SideJob,
    test: &AbTest,
    seed: u64,
    ready: Option<Sender<()>>,
) -> anyhow::Result<FinishedRun> {
    let conduct = &arguments.conduct;
    let _leaving = Leaving { test, job };
    let mut request = RunRequest {
        folder: job.folder.clone(),
        seed: Some(seed),
        stop: job.stop.clone(),
        ab: Some(test.clone()),
        agents: conduct.agents.request()?,
        ..conduct.request(&job.question, &job.target)?
    };
    request.label.add_target(&job.target.text);
    let mut observer = SideObserver {
        side: job.side,
        ready,
        is_quiet: conduct.detail.quiet,
        line: None,
    };
    Ok(run_one(&request, &mut observer)?)
}

/// Lets the other side know when this one measures no more, however it ends.
struct Leaving<'a> {
    test: &'a AbTest,
    job: &'a SideJob,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.test.leave(self.job.side, self.job.stop.is_wanted());
    }
}

/// Prints what a side reports. A line at the bottom of the terminal belongs to the side that starts last.
struct SideObserver {
    side: AbSide,
    /// Gets a message once the cluster serves.
    ready: Option<Sender<()>>,
    is_quiet: bool,
    line: Option<StatusLine>,
}

impl SideObserver {
    fn remark(&self, message: &str) {
        print::message(&format!("kgauge: {}: {message}", self.side));
    }
}

impl Observer for SideObserver {
    fn observe(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Remark(message) | RunEvent::Outage(message) => self.remark(message),
            RunEvent::TrialFailed { why, .. } => self.remark(&format!("failed: {why}")),
            RunEvent::Announced(run) => {
                if !self.is_quiet {
                    self.remark(&run.to_string());
                }
                match self.ready.take() {
                    Some(ready) => drop(ready.send(())),
                    None if self.is_quiet => {}
                    None => self.line = Some(StatusLine::waiting("measuring pairs")),
                }
            }
            RunEvent::PairMeasured(test) if !self.is_quiet => {
                print::message(&format!("kgauge: {}", text::ab::measured(test)));
            }
            RunEvent::Closing { .. } => self.line = None,
            _ => {}
        }
    }
}

/// Writes the reports of both sides, prints the answer, and gives the gravest status.
fn report(
    arguments: &AbArgs,
    ended: [Option<anyhow::Result<FinishedRun>>; 2],
    is_stopped: bool,
) -> anyhow::Result<ExitStatus> {
    let (mut statuses, mut is_shown) = (Vec::new(), false);
    for finished in ended.into_iter().flatten() {
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                statuses.push(exit::report(Err(error)));
                continue;
            }
        };
        let (read, summary) = write_results(&finished.dir)?;
        // Both have the same pairs.
        if !is_shown {
            let conduct = &arguments.conduct;
            run::show(&read, &summary, conduct.json, conduct.detail)?;
            is_shown = true;
        } else if !arguments.conduct.json && !arguments.conduct.detail.quiet {
            print::line(&format!("Side B {}/report.html", finished.dir.display()));
        }
        statuses.push(match finished.ended {
            Ok(RepeatEnd::Interrupted) => ExitStatus::Interrupted,
            Ok(RepeatEnd::Complete) => run::status(&summary),
            Err(error) => exit::report(Err(RunError::into(error))),
        });
    }
    if is_stopped {
        statuses.push(ExitStatus::Interrupted);
    }
    Ok(ExitStatus::gravest(&statuses))
}
