//! The run folder, from its opening until the run has a plan.

use std::collections::BTreeSet;
use std::path::Path;

use kgauge_results::folder::{KilledRepeat, ResumedRun};
use kgauge_results::run::{
    AbRecord, CutShortChecks, RepeatKey, RunHead, RunStatus, SearchRecord, TuneRecord, VoidCause,
};
use kgauge_results::{RunFolder, RunRead};
use kgauge_scenario::Plan;

use crate::clusters::TARGET_DATA;
use crate::error::{OrRunError, RunError};
use crate::host::TARGET_LOGS;
use crate::ids::{check_name, fresh_number, name_slug, remove_unused, run_dir, run_id, unix_ms};
use crate::request::{FolderChoice, RunRequest};

/// The run folder, before anything is started.
pub(crate) struct OpenRun {
    pub(crate) folder: RunFolder,
    pub(crate) run_id: String,
    pub(crate) seed: u64,
    /// Where the randomness of an embedded cluster's faults comes from.
    pub(crate) number: u64,
    /// The state of a resumed run.
    pub(crate) earlier: Option<EarlierAttempt>,
}

/// The state of an interrupted run.
pub(crate) struct EarlierAttempt {
    pub(crate) plan: Plan,
    pub(crate) done: BTreeSet<RepeatKey>,
    /// What its searches had found, without the loads that were cut off.
    pub(crate) searches: SearchRecord,
    /// The complete blocks of its A/B test.
    pub(crate) ab: AbRecord,
    /// Its search for better settings.
    pub(crate) tune: Option<TuneRecord>,
    /// Its verified repeats that were killed.
    pub(crate) killed: KilledRepeats,
    /// How it had ended.
    pub(crate) head: RunHead,
}

/// What earlier attempts of a run have left to check.
#[derive(Clone, Default)]
pub(crate) struct KilledRepeats {
    pub(crate) repeats: Vec<KilledRepeat>,
    /// The checks of repeats that were killed before.
    pub(crate) checks: CutShortChecks,
    /// Their topics stay.
    pub(crate) keeps_topics: bool,
}

impl EarlierAttempt {
    /// Whether nothing is left to do of a step: a search goes on behind its trial at full speed.
    pub(crate) fn is_done(&self, step: &RepeatKey) -> bool {
        let trial = self.plan.trials.get(step.trial as usize);
        let is_search = trial.is_some_and(|trial| trial.search.is_some());
        let has_ended = || {
            let mut searches = self.searches.searches.iter();
            searches.any(|one| {
                one.trial == step.trial && one.repeat == step.repeat && one.end.is_some()
            })
        };
        self.done.contains(step) && (!is_search || has_ended())
    }
}

/// The searches of an interrupted run, without what was cut off. Those that ended before they had their bounds go on.
fn complete_loads(record: Option<SearchRecord>, done: &BTreeSet<RepeatKey>) -> SearchRecord {
    let is_done = |trial: u32, repeat: u32| done.contains(&RepeatKey { trial, repeat });
    let mut record = record.unwrap_or_default();
    for search in &mut record.searches {
        if !is_done(search.trial, search.repeat) {
            search.start = None;
            search.loads.clear();
        }
        search.end = search.end.take().filter(|end| !end.may_continue());
        let is_failed = |void: &VoidCause| matches!(void, VoidCause::Failed { .. });
        search
            .loads
            .retain(|load| is_done(load.trial, 0) || load.void.as_ref().is_some_and(is_failed));
    }
    record
}

impl OpenRun {
    /// Makes the folder, or opens that of an interrupted run.
    pub(crate) fn open(request: &RunRequest<'_>) -> Result<OpenRun, RunError> {
        let number = fresh_number();
        let out = match &request.folder {
            FolderChoice::Resume(dir) => return OpenRun::resume(request, dir, number),
            FolderChoice::New(dir) => Some(dir.as_path()),
            FolderChoice::Default => None,
        };
        let (question, target) = (request.question, request.target);
        let started_unix_ms = unix_ms();
        let run_id = run_id(started_unix_ms, number);
        let dir = match (out, &request.label.name) {
            (None, Some(name)) => run_dir(None, &name_slug(name)?, &run_id)?,
            (out, _) => run_dir(out, &question.name, &run_id)?,
        };
        let mut head = RunHead::starting(run_id.clone(), request.command.clone(), started_unix_ms);
        head.label.clone_from(&request.label);
        head.scenario = Some(question.name.clone());
        head.target = Some(target.text.clone());
        head.destination = target.destination.as_ref().map(|one| one.text.clone());
        head.price_per_hour = target.price_per_hour;
        Ok(OpenRun {
            folder: RunFolder::create(&dir, head).or_bad_input()?,
            run_id,
            seed: request.seed.or(question.seed).unwrap_or(number),
            number,
            earlier: None,
        })
    }

    fn resume(request: &RunRequest<'_>, dir: &Path, number: u64) -> Result<OpenRun, RunError> {
        check_name(dir)?;
        let head = RunRead::head(dir).or_bad_input()?;
        let resumed = RunFolder::resume(dir, unix_ms())
            .map_err(|error| RunError::input(format!("{}: {error}", dir.display())))?;
        let ResumedRun {
            folder,
            plan,
            done,
            search,
            ab,
            tune,
            killed,
            cut_short,
        } = resumed;
        // `--keep` of a search for better settings is a condition.
        let keep = match plan.tune.is_some() {
            true => "--keep-data",
            false => "--keep",
        };
        let was_kept = head.command.iter().any(|word| word == keep);
        let keeps_data = request.keeps_data || was_kept;
        if !keeps_data {
            remove_left_data(dir);
        }
        Ok(OpenRun {
            folder,
            run_id: plan.run_id.clone(),
            seed: plan.seed,
            number,
            earlier: Some(EarlierAttempt {
                searches: complete_loads(search, &done),
                ab: ab.unwrap_or_default(),
                tune,
                killed: KilledRepeats {
                    repeats: killed,
                    checks: cut_short,
                    keeps_topics: keeps_data,
                },
                plan,
                done,
                head,
            }),
        })
    }

    /// What the searches of an interrupted run had found; nothing in a new run.
    pub(crate) fn searches(&self) -> SearchRecord {
        let earlier = self.earlier.as_ref();
        earlier.map_or_else(SearchRecord::default, |earlier| earlier.searches.clone())
    }

    /// What an interrupted run has left to check; nothing in a new run.
    pub(crate) fn killed(&self) -> KilledRepeats {
        let earlier = self.earlier.as_ref();
        earlier.map_or_else(KilledRepeats::default, |earlier| earlier.killed.clone())
    }

    /// Removes a new folder, which is useless without a plan. The folder of an interrupted run stays unchanged.
    pub(crate) fn give_up(&mut self, error: RunError, is_stopped: bool) -> RunError {
        let error = match is_stopped {
            true => RunError::interrupted("stopped before the run began"),
            false => self.keep_logs(error),
        };
        match &self.earlier {
            None => {
                let dir = self.folder.dir();
                let _ = std::fs::remove_dir_all(dir);
                remove_unused(dir);
            }
            Some(EarlierAttempt { head, .. }) => {
                let ended = head.ended_unix_ms.unwrap_or_else(unix_ms);
                let status = match head.status {
                    RunStatus::Running => RunStatus::Failed,
                    status => status,
                };
                let _ = self.folder.end(status, head.why.clone(), ended);
            }
        }
        error
    }

    /// An error that names a log of the target must not name one that is gone with the run folder: the logs move to the
    /// folder for temporary files.
    fn keep_logs(&self, mut error: RunError) -> RunError {
        let logs = self.folder.dir().join(TARGET_LOGS);
        let kept = std::env::temp_dir().join(format!("kgauge-{}-logs", self.run_id));
        if let RunError::Target(error) = &mut error
            && let Some(file) = error.log_file_mut()
            && let Ok(name) = file.strip_prefix(&logs)
            && copy_files(&logs, &kept).is_ok()
        {
            *file = kept.join(name);
        }
        error
    }
}

fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()?.is_dir() {
            true => copy_files(&from, &to)?,
            false => drop(std::fs::copy(from, to)?),
        }
    }
    Ok(())
}

/// Removes the cluster data that a killed run left in its folder.
fn remove_left_data(dir: &Path) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(TARGET_DATA) {
            // What cannot be removed only takes space.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::{LoadReason, MeasuredLoad, SearchEnd, SearchRun, SearchStart};

    use super::*;

    fn search(end: Option<SearchEnd>) -> SearchRun {
        let load = |trial: u32, void: Option<VoidCause>| MeasuredLoad {
            trial,
            rate: 1_000.0,
            reason: LoadReason::Narrow,
            windows: Vec::new(),
            achieved: 1_000.0,
            void,
        };
        SearchRun {
            trial: 0,
            repeat: 0,
            start: Some(SearchStart {
                full_speed: 1_000.0,
                confirms_lower_first: true,
            }),
            loads: vec![
                load(1, None),
                load(2, None),
                load(3, Some(VoidCause::failed("a broker was away"))),
            ],
            end,
            took_ns: 1,
        }
    }

    #[test]
    fn a_search_without_its_bounds_goes_on_with_its_complete_loads() {
        let done = [0, 1].map(|trial| RepeatKey { trial, repeat: 0 });
        let done = BTreeSet::from(done);
        let resumed = |end: Option<SearchEnd>| {
            let searches = vec![search(end)];
            complete_loads(Some(SearchRecord { searches }), &done).searches
        };
        let void = VoidCause::OtherPrograms;
        for end in [
            None,
            Some(SearchEnd::Budget),
            Some(SearchEnd::Void { cause: void }),
        ] {
            let searches = resumed(end);
            let loads: Vec<u32> = searches[0].loads.iter().map(|load| load.trial).collect();
            // The load of trial 2 was cut off.
            assert_eq!((loads, &searches[0].end), (vec![1, 3], &None));
        }
        let found = resumed(Some(SearchEnd::Found));
        assert_eq!(found[0].end, Some(SearchEnd::Found));
    }
}
