//! Resumes a run that ended early.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kgauge_scenario::Plan;
use serde::Serialize;

use super::error::FolderError;
use super::file::{read_json, write_whole};
use super::layout;
use super::lines::LineLog;
use super::read::{RepeatRead, RunRead};
use super::write::{RunFolder, remove_repeat};
use crate::run::{
    AbRecord, CutShortChecks, EventKind, LedgerStart, RepeatKey, RepeatOutcome, RunStatus,
    SearchRecord, TuneRecord,
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
    /// Verified repeats that were killed.
    pub killed: Vec<KilledRepeat>,
    /// What the ledgers of repeats showed that were killed before.
    pub cut_short: CutShortChecks,
}

/// A verified repeat that was killed after its ledgers had been created. Its folder stays until
/// [`RunFolder::remove_repeat`].
#[derive(Clone, Debug)]
pub struct KilledRepeat {
    /// The repeat.
    pub key: RepeatKey,
    /// The folder of its ledgers.
    pub ledgers: PathBuf,
    /// Where it began; `None` if the file is damaged.
    pub start: Option<LedgerStart>,
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
    /// are removed with their events and evidence, except for the ledgers of killed ones.
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
        let killed = killed_repeats(dir, &read.repeats);
        let is_killed = |key: &RepeatKey| killed.iter().any(|one| one.key == *key);
        let keys = read.repeats.iter().map(|repeat| repeat.key);
        for key in keys.filter(|key| !done.contains(key) && !is_killed(key)) {
            remove_repeat(dir, key)?;
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
            killed,
            cut_short: read.cut_short,
        })
    }
}

/// The repeats without a record that have ledgers.
fn killed_repeats(dir: &Path, repeats: &[RepeatRead]) -> Vec<KilledRepeat> {
    let without_record = repeats.iter().filter(|repeat| repeat.record.is_none());
    let killed = without_record.filter_map(|repeat| {
        let key = repeat.key;
        let folder = dir.join(layout::REPEATS).join(key.folder_name());
        let ledgers = folder.join(layout::LEDGERS);
        let start = match read_json(&ledgers.join(layout::LEDGER_START)) {
            Ok(start) => Some(start?),
            Err(_) => None,
        };
        Some(KilledRepeat {
            key,
            ledgers,
            start,
        })
    });
    killed.collect()
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
