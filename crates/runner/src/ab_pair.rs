//! An A/B test of two targets: two runs that take turns, or run at the same time.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;

use kgauge_results::RunRead;
use kgauge_results::folder::layout;
use kgauge_results::run::AbRecord;
use kgauge_scenario::{AbPlan, AbSide};

use crate::ab_question::{AbRequest, one_side};
use crate::ab_test::AbTest;
use crate::error::{OrRunError, RunError};
use crate::observer::{Observer, RunEvent, RunTaps};
use crate::question::Question;
use crate::request::{FolderChoice, RunRequest};
use crate::run::{FinishedRun, run};
use crate::run_target::RunTarget;
use crate::stop::StopRequests;

/// One side, ready to run.
#[derive(Debug)]
pub struct AbSideJob {
    /// Which side.
    pub side: AbSide,
    /// Its question: the trial of this side.
    pub question: Question,
    /// Its target.
    pub target: RunTarget,
    folder: FolderChoice,
    stop: StopRequests,
}

/// A test of two targets, ready to run.
#[derive(Debug)]
pub struct AbPair {
    sides: [AbSideJob; 2],
    seed: u64,
    test: AbTest,
}

impl AbPair {
    /// A new test. The run folders of both sides go into the folder `parent`.
    ///
    /// # Errors
    /// There are not two targets, or the question does not have exactly one trial.
    pub fn new(
        question: &Question,
        request: &AbRequest,
        targets: Vec<RunTarget>,
        parent: &Path,
        seed: u64,
    ) -> Result<Self, RunError> {
        let [a, b] = targets.as_slice() else {
            return Err(RunError::input("an A/B test of targets needs two of them"));
        };
        let folders = [format!("1-{}", a.slug()), format!("2-{}", b.slug())];
        let mut jobs = Vec::new();
        let sides = AbSide::BOTH.into_iter().zip(targets).zip(&folders);
        for ((side, target), folder) in sides {
            jobs.push(AbSideJob {
                side,
                question: one_side(question.clone(), side, &folders, request)?,
                target,
                folder: FolderChoice::New(parent.join(folder)),
                stop: StopRequests::idle(),
            });
        }
        Self::of_jobs(jobs, seed, AbRecord::default(), 0)
    }

    /// A test that goes on with the runs of both sides in the folder `parent`. `target_of` finds the target of a side,
    /// given its run folder and its question.
    ///
    /// # Errors
    /// The folder does not have the runs of both sides, or one cannot be read.
    pub fn resumed<E: From<RunError>>(
        parent: &Path,
        mut target_of: impl FnMut(AbSide, &Path, &Question) -> Result<RunTarget, E>,
    ) -> Result<Self, E> {
        let mut jobs = Vec::new();
        let (mut record, mut next_repeat, mut seed) = (AbRecord::default(), 0, 0);
        for dir in run_folders(parent)? {
            let question = Question::resumed(&dir)?;
            let own = question.ab.as_ref().map(AbPlan::own_sides);
            let Some([(side, _)]) = own.as_deref() else {
                return Err(not_a_test(parent).into());
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
            jobs.push(AbSideJob {
                side,
                target: target_of(side, &dir, &question)?,
                question,
                folder: FolderChoice::Resume(dir),
                stop: StopRequests::idle(),
            });
        }
        jobs.sort_by_key(|job| job.side.index());
        let sides: Vec<AbSide> = jobs.iter().map(|job| job.side).collect();
        match sides.as_slice() {
            [AbSide::A, AbSide::B] => Ok(Self::of_jobs(jobs, seed, record, next_repeat)?),
            _ => Err(not_a_test(parent).into()),
        }
    }

    /// A test behind the blocks of a record.
    fn of_jobs(
        jobs: Vec<AbSideJob>,
        seed: u64,
        record: AbRecord,
        next_repeat: u32,
    ) -> Result<Self, RunError> {
        let sides = <[AbSideJob; 2]>::try_from(jobs);
        let sides = sides.map_err(|_| RunError::input("an A/B test needs two sides"))?;
        let Some(plan) = &sides[0].question.ab else {
            return Err(RunError::input("the plan has no A/B test"));
        };
        let test = AbTest::new(plan, seed, record, next_repeat);
        Ok(Self { sides, seed, test })
    }

    /// Requests to stop each side.
    pub fn stops(&self) -> Vec<StopRequests> {
        self.sides.iter().map(|side| side.stop.clone()).collect()
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.sides[0].stop.is_wanted()
    }

    /// Runs both sides, each on a thread. `request` makes the run of a side, of which this sets folder, seed, test and
    /// requests to stop; `observer` makes its observer. `None` for a second side that did not begin because the first
    /// one has no cluster.
    pub fn run<'s, E: From<RunError> + Send>(
        &'s self,
        request: impl Fn(&'s AbSideJob) -> Result<RunRequest<'s>, E> + Sync,
        observer: impl Fn(AbSide) -> Box<dyn Observer> + Sync,
    ) -> [Option<Result<FinishedRun, E>>; 2] {
        let [a, b] = &self.sides;
        let (ready, is_ready) = mpsc::channel();
        let run_first = || {
            let mut first = FirstSideObserver {
                inner: observer(a.side),
                ready: Some(ready),
            };
            self.run_side(a, &request, &mut first)
        };
        thread::scope(|scope| {
            let first = scope.spawn(run_first);
            // The second side starts when the first one's cluster serves: starting would disturb its load, and both may
            // ask for confirmation.
            let second = match is_ready.recv() {
                Ok(()) => Some(self.run_side(b, &request, &mut *observer(b.side))),
                Err(_) => None,
            };
            let first = first.join();
            [
                Some(first.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
                second,
            ]
        })
    }

    fn run_side<'s, E: From<RunError>>(
        &'s self,
        job: &'s AbSideJob,
        request: &impl Fn(&'s AbSideJob) -> Result<RunRequest<'s>, E>,
        observer: &mut dyn Observer,
    ) -> Result<FinishedRun, E> {
        let _guard = SideGuard {
            test: &self.test,
            job,
        };
        let mut request = RunRequest {
            folder: job.folder.clone(),
            seed: Some(self.seed),
            stop: job.stop.clone(),
            ab: Some(self.test.clone()),
            ..request(job)?
        };
        request.label.add_target(&job.target.text);
        Ok(run(&request, observer)?)
    }
}

/// The run folders in a folder, in the order of their names.
fn run_folders(parent: &Path) -> Result<Vec<PathBuf>, RunError> {
    let unreadable = |error| RunError::input(format!("cannot read {}: {error}", parent.display()));
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(parent)
        .map_err(unreadable)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(layout::RUN).is_file())
        .collect();
    dirs.sort();
    Ok(dirs)
}

fn not_a_test(parent: &Path) -> RunError {
    RunError::input(format!(
        "{} is neither a run folder nor a folder with both sides of an A/B test",
        parent.display()
    ))
}

/// Lets the other side know when this one measures no more, however it ends.
struct SideGuard<'a> {
    test: &'a AbTest,
    job: &'a AbSideJob,
}

impl Drop for SideGuard<'_> {
    fn drop(&mut self) {
        self.test.leave(self.job.side, self.job.stop.is_wanted());
    }
}

/// Lets the second side start once the cluster of the first one serves.
struct FirstSideObserver {
    inner: Box<dyn Observer>,
    ready: Option<Sender<()>>,
}

impl Observer for FirstSideObserver {
    fn observe(&mut self, event: &RunEvent<'_>) {
        self.inner.observe(event);
        if let RunEvent::Announced(_) = event
            && let Some(ready) = self.ready.take()
        {
            let _ = ready.send(());
        }
    }

    fn taps(&mut self) -> RunTaps {
        self.inner.taps()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_runs_is_no_test() {
        let dir = tempfile::tempdir().unwrap();
        let no_target = |_: AbSide, _: &Path, _: &Question| Err(RunError::input("no target"));
        let error = AbPair::resumed(dir.path(), no_target).unwrap_err();
        assert!(error.to_string().contains("both sides"), "{error}");
        let error = AbPair::resumed(&dir.path().join("gone"), no_target).unwrap_err();
        assert!(error.to_string().starts_with("cannot read "), "{error}");
    }
}
