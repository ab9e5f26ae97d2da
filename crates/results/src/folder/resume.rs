//! Resumes a run that ended early.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kgauge_scenario::Plan;
use serde::Serialize;

use super::error::FolderError;
use super::file::write_whole;
use super::layout;
use super::lines::LineLog;
use super::read::RunRead;
use super::write::RunFolder;
use crate::run::{
    AbRecord, EventKind, RepeatKey, RepeatOutcome, RunStatus, SearchRecord, TuneRecord,
};

/// A resumed run.
#[derive(Debug)]
pub struct ResumedRun {
    /// Its folder, without incomplete repeats.
    pub folder: RunFolder,
    /// Its plan.
    pub plan: Plan,
    /// The completed repeats.
    pub done: BTreeSet<RepeatKey>,
    /// Its searches, if it has any.
    pub search: Option<SearchRecord>,
    /// Its A/B test, if it is one.
    pub ab: Option<AbRecord>,
    /// Its search for better settings, if it is one and has measured anything.
    pub tune: Option<TuneRecord>,
}

/// Why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another process uses it.
    #[error("this run still goes on")]
    Running,
    /// The run is complete.
    #[error("this run is complete: there is nothing left to do")]
    Complete,
    /// It ended before it had a plan, or the plan is damaged.
    #[error("this run has no plan to resume")]
    NoPlan,
}

impl RunFolder {
    /// Opens the folder of a run that was interrupted, cut short, or had failed trials. Complete repeats stay; others
    /// are removed with their events and evidence.
    ///
    /// # Errors
    /// See [`ResumeError`]. The folder is then unchanged, unless the disk failed.
    pub fn resume(dir: &Path, now_unix_ms: u64) -> Result<ResumedRun, ResumeError> {
        let read = RunRead::open(dir)?;
        if read.status == RunStatus::Running {
            return Err(ResumeError::Running);
        }
        let plan = read.plan.ok_or(ResumeError::NoPlan)?;
        let is_done = |outcome: &RepeatOutcome| *outcome == RepeatOutcome::Complete;
        let records = read
            .repeats
            .iter()
            .filter_map(|repeat| repeat.record.as_ref());
        let done: BTreeSet<RepeatKey> = records
            .filter(|record| is_done(&record.outcome))
            .map(|record| record.key)
            .collect();
        let planned = plan.trials.iter().map(|trial| trial.repeats as usize);
        // A plan that grows does not show how many there will be.
        let is_complete = match plan.is_open_ended() {
            true => {
                let may_continue = read.ab.as_ref().is_some_and(AbRecord::may_continue)
                    || read.tune.as_ref().is_some_and(TuneRecord::may_continue)
                    || read.search.as_ref().is_some_and(SearchRecord::may_continue);
                read.status == RunStatus::Complete && !may_continue
            }
            false => done.len() >= planned.sum(),
        };
        if is_complete {
            return Err(ResumeError::Complete);
        }
        let stays = |key: Option<RepeatKey>| key.is_none_or(|key| done.contains(&key));
        for repeat in read.repeats.iter().filter(|one| !done.contains(&one.key)) {
            let gone = dir.join(layout::REPEATS).join(repeat.key.folder_name());
            fs::remove_dir_all(&gone).map_err(|source| FolderError::io("remove", &gone, source))?;
        }
        // Failed trials are tried again.
        let is_failure = |kind: &EventKind| matches!(kind, EventKind::TrialFailed { .. });
        let events = read
            .events
            .iter()
            .filter(|event| stays(event.repeat) && !is_failure(&event.kind));
        rewrite(&dir.join(layout::EVENTS), events)?;
        let evidence = read.evidence.iter().filter(|seen| stays(seen.repeat));
        rewrite(&dir.join(layout::EVIDENCE), evidence)?;
        let mut head = read.head;
        head.status = RunStatus::Running;
        head.why = None;
        head.ended_unix_ms = None;
        head.resumed_unix_ms.push(now_unix_ms);
        let events = LineLog::append(&dir.join(layout::EVENTS))?;
        let evidence = LineLog::append(&dir.join(layout::EVIDENCE))?;
        let folder = RunFolder::opened(dir, head, events, evidence)?;
        Ok(ResumedRun {
            folder,
            plan,
            done,
            search: read.search,
            ab: read.ab,
            tune: read.tune,
        })
    }
}

/// Keeps only complete lines: a torn last line would corrupt the next one.
fn rewrite<T: Serialize>(path: &Path, lines: impl Iterator<Item = T>) -> Result<(), FolderError> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, &line)
            .map_err(|error| FolderError::content(path, error))?;
        text.push(b'\n');
    }
    write_whole(path, &text)
}
