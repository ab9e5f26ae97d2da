//! Writes run folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use kgauge_scenario::Plan;
use serde::Serialize;

use super::agent_files::AgentFiles;
use super::error::FolderError;
use super::file::{overwrite_json, write_json, write_whole};
use super::layout;
use super::lines::{LineLog, LineTap};
use crate::recorder::{SliceSink, SliceTap, SliceWriter, SlicesWritten, WriteError};
use crate::run::{
    AbRecord, CheckupRecord, CutShortChecks, Environment, Event, Evidence, LedgerStart, RepeatKey,
    RepeatRecord, RunHead, RunStatus, SearchRecord, TuneRecord,
};

/// A run folder being written. One process has it open at a time.
#[derive(Debug)]
pub struct RunFolder {
    dir: PathBuf,
    head: RunHead,
    events: LineLog<Event>,
    evidence: LineLog<Evidence>,
}

impl RunFolder {
    /// Creates the folder, or uses an empty one. A folder with any content is refused.
    pub fn create(dir: &Path, head: RunHead) -> Result<RunFolder, FolderError> {
        make_empty_dir(dir)?;
        for below in [layout::SCENARIOS, layout::REPEATS] {
            make_dir(&dir.join(below))?;
        }
        let events = LineLog::create(&dir.join(layout::EVENTS))?;
        let evidence = LineLog::create(&dir.join(layout::EVIDENCE))?;
        RunFolder::opened(dir, head, events, evidence)
    }

    /// Takes a folder whose logs are open: it now belongs to this process.
    pub(super) fn opened(
        dir: &Path,
        head: RunHead,
        events: LineLog<Event>,
        evidence: LineLog<Evidence>,
    ) -> Result<RunFolder, FolderError> {
        events.lock();
        let folder = RunFolder {
            dir: dir.to_owned(),
            head,
            events,
            evidence,
        };
        folder.write_head()?;
        Ok(folder)
    }

    /// Its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The current `run.json`.
    pub fn head(&self) -> &RunHead {
        &self.head
    }

    /// Stores a scenario verbatim.
    pub fn write_scenario(&self, name: &str, text: &str) -> Result<(), FolderError> {
        if !layout::is_plain(name) {
            let name = name.to_owned();
            return Err(FolderError::Name { name });
        }
        let path = self
            .dir
            .join(layout::SCENARIOS)
            .join(format!("{name}.yaml"));
        write_whole(&path, text.as_bytes())
    }

    /// Stores the plan. Called again when a search adds a trial, or an A/B test a repeat.
    pub fn write_plan(&self, plan: &Plan) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::PLAN), plan)
    }

    /// Stores facts about machine and target. May be called again when more is known.
    pub fn write_environment(&self, environment: &Environment) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::ENVIRONMENT), environment)
    }

    /// Stores what the searches of the run have found so far.
    pub fn write_search(&self, record: &SearchRecord) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::SEARCH), record)
    }

    /// Stores what the A/B test of the run has measured so far.
    pub fn write_ab(&self, record: &AbRecord) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::AB), record)
    }

    /// Stores what the search for better settings has measured so far.
    pub fn write_tune(&self, record: &TuneRecord) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::TUNE), record)
    }

    /// Stores what a checkup has found so far.
    pub fn write_checkup(&self, record: &CheckupRecord) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::CHECKUP), record)
    }

    /// Stores what the ledgers of killed repeats showed.
    pub fn write_cut_short(&self, checks: &CutShortChecks) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::CUT_SHORT), checks)
    }

    /// Removes the folder of a killed repeat, so that it can run again.
    pub fn remove_repeat(&self, key: RepeatKey) -> Result<(), FolderError> {
        remove_repeat(&self.dir, key)
    }

    /// The log of events, for any thread.
    pub fn events(&self) -> LineLog<Event> {
        self.events.clone()
    }

    /// The log of evidence, for any thread.
    pub fn evidence(&self) -> LineLog<Evidence> {
        self.evidence.clone()
    }

    /// Sets observers for all evidence and events written from now on, by any thread.
    pub fn tap(&mut self, evidence: LineTap<Evidence>, events: LineTap<Event>) {
        self.evidence.set_tap(evidence);
        self.events.set_tap(events);
    }

    /// Creates the folder of a repeat and starts the thread that writes its slices.
    pub fn begin_repeat(&self, key: RepeatKey) -> Result<RepeatFolder, FolderError> {
        self.begin_repeat_tapped(key, None)
    }

    /// The same, with an observer of the slices.
    pub fn begin_repeat_tapped(
        &self,
        key: RepeatKey,
        tap: Option<SliceTap>,
    ) -> Result<RepeatFolder, FolderError> {
        let dir = self.dir.join(layout::REPEATS).join(key.folder_name());
        make_empty_dir(&dir)?;
        let path = dir.join(layout::SLICES);
        let writer = SliceWriter::start_tapped(&path, tap.clone());
        let writer = writer.map_err(|source| FolderError::io("create", &path, source))?;
        Ok(RepeatFolder {
            dir,
            key,
            writer,
            tap,
        })
    }

    /// Closes the run with its status. Only summary and report are written afterwards.
    pub fn end(
        &mut self,
        status: RunStatus,
        why: Option<String>,
        ended_unix_ms: u64,
    ) -> Result<(), FolderError> {
        self.head.status = status;
        self.head.why = why;
        self.head.ended_unix_ms = Some(ended_unix_ms);
        let written = match self.write_head() {
            Err(FolderError::DiskFull { path }) => overwrite_json(&path, &self.head),
            written => written,
        };
        self.events.unlock();
        written
    }

    fn write_head(&self) -> Result<(), FolderError> {
        write_json(&self.dir.join(layout::RUN), &self.head)
    }
}

impl Drop for RunFolder {
    /// A run that was not closed has failed: an error or a panic dropped its writer.
    fn drop(&mut self) {
        if self.head.status == RunStatus::Running {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let now_unix_ms = now.map_or(0, |since| since.as_millis());
            let why = "kgauge ended before the run did".to_owned();
            let _ = self.end(
                RunStatus::Failed,
                Some(why),
                u64::try_from(now_unix_ms).unwrap_or(u64::MAX),
            );
        }
    }
}

/// The folder of a running repeat.
pub struct RepeatFolder {
    dir: PathBuf,
    key: RepeatKey,
    writer: SliceWriter,
    tap: Option<SliceTap>,
}

impl RepeatFolder {
    /// Which repeat.
    pub fn key(&self) -> RepeatKey {
        self.key
    }

    /// A sink for one more recorder.
    pub fn sink(&self) -> SliceSink {
        self.writer.sink()
    }

    /// The files of an agent.
    pub fn agent_files(&self, agent: u32) -> Result<AgentFiles, FolderError> {
        AgentFiles::create((&self.dir, self.key), agent, self.tap.clone())
    }

    /// Why slices cannot be written, if so. Check about once per second; the run must stop then.
    pub fn failure(&self) -> Option<WriteError> {
        self.writer.failure()
    }

    /// Makes the folder for the ledgers of verified records, with what their check needs if the repeat is killed.
    pub fn ledgers(&self, start: &LedgerStart) -> Result<PathBuf, FolderError> {
        let dir = self.dir.join(layout::LEDGERS);
        make_dir(&dir)?;
        write_json(&dir.join(layout::LEDGER_START), start)?;
        Ok(dir)
    }

    /// Ends the repeat: waits for the slices, then stores the record. Finish the recorders first.
    pub fn finish(self, record: &RepeatRecord) -> Result<SlicesWritten, FolderError> {
        let slices = self.writer.finish();
        // The record is useful even if slices were lost.
        write_json(&self.dir.join(layout::REPEAT), record)?;
        Ok(slices?)
    }
}

/// Stores the summary of a run in its folder.
pub fn write_summary(dir: &Path, summary: &impl Serialize) -> Result<(), FolderError> {
    write_json(&dir.join(layout::SUMMARY), summary)
}

/// Stores the report of a run in its folder.
pub fn write_report(dir: &Path, html: &str) -> Result<(), FolderError> {
    write_whole(&dir.join(layout::REPORT), html.as_bytes())
}

/// Removes the folder of a repeat.
pub(super) fn remove_repeat(dir: &Path, key: RepeatKey) -> Result<(), FolderError> {
    let gone = dir.join(layout::REPEATS).join(key.folder_name());
    fs::remove_dir_all(&gone).map_err(|source| FolderError::io("remove", &gone, source))
}

fn make_dir(dir: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(dir).map_err(|source| FolderError::io("create", dir, source))
}

fn make_empty_dir(dir: &Path) -> Result<(), FolderError> {
    make_dir(dir)?;
    let mut entries = fs::read_dir(dir).map_err(|source| FolderError::io("read", dir, source))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(FolderError::NotEmpty {
            dir: dir.to_owned(),
        }),
    }
}
