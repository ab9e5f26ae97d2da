//! Lists the run folders below a folder, and removes finished ones.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::FolderError;
use super::file::read_text;
use super::layout;
use super::read::{read_head, status_of};
use crate::run::{RunHead, RunStatus};

/// The run folders below a folder: its children, and the children of those that are no run folder, because a run on
/// several targets has a folder for each. Symbolic links are not followed.
#[derive(Debug, Default)]
pub struct RunList {
    /// The runs, newest first.
    pub runs: Vec<ListedRun>,
    /// Folders with a `run.json` that cannot be read.
    pub unreadable: Vec<FolderError>,
}

/// A run folder in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedRun {
    /// Its path.
    pub dir: PathBuf,
    /// `run.json`.
    pub run: RunHead,
    /// The run's status: that of `run.json`, or [`RunStatus::CutShort`] if its process has died.
    pub status: RunStatus,
    /// The size of all files, in bytes.
    pub bytes: u64,
}

/// Which finished runs are removed: those that match every condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneRule {
    /// They ended before this time, in milliseconds since 1970-01-01 UTC.
    pub ended_before_unix_ms: Option<u64>,
    /// They are not among this number of newest finished runs.
    pub keep: Option<usize>,
}

/// Why a run folder was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// It cannot be read or removed.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Its run has been resumed.
    #[error("{} is in use by a running kgauge", dir.display())]
    Running {
        /// The folder.
        dir: PathBuf,
    },
}

impl RunList {
    /// Lists the runs below a folder.
    ///
    /// # Errors
    /// The folder cannot be read, or is itself a run folder.
    pub fn below(parent: &Path) -> Result<RunList, FolderError> {
        if parent.join(layout::RUN).exists() {
            let dir = parent.to_owned();
            return Err(FolderError::IsARun { dir });
        }
        let mut list = RunList::default();
        for dir in folders_in(parent)? {
            if dir.join(layout::RUN).exists() {
                list.add(dir);
                continue;
            }
            // A folder that cannot be read has nothing to list.
            let below = folders_in(&dir).unwrap_or_default();
            for dir in below
                .into_iter()
                .filter(|dir| dir.join(layout::RUN).exists())
            {
                list.add(dir);
            }
        }
        list.runs.sort_by(|one, other| {
            let key = |run: &ListedRun| (run.run.started_unix_ms, run.dir.clone());
            key(other).cmp(&key(one))
        });
        Ok(list)
    }

    fn add(&mut self, dir: PathBuf) {
        match read_head(&dir) {
            Ok(run) => self.runs.push(ListedRun {
                status: status_of(&dir, &run),
                bytes: bytes_in(&dir),
                run,
                dir,
            }),
            Err(error) => self.unreadable.push(error),
        }
    }

    /// The finished runs that a rule selects, newest first. A rule without conditions selects none.
    pub fn selected(&self, rule: PruneRule) -> Vec<&ListedRun> {
        if rule == PruneRule::default() {
            return Vec::new();
        }
        let finished = self.runs.iter().filter(|run| run.is_finished());
        let older = |run: &&ListedRun| {
            let before = rule.ended_before_unix_ms.unwrap_or(u64::MAX);
            run.run.ended_unix_ms.unwrap_or(run.run.started_unix_ms) < before
        };
        finished
            .skip(rule.keep.unwrap_or(0))
            .filter(older)
            .collect()
    }
}

impl ListedRun {
    /// Whether no process writes to it any more.
    pub fn is_finished(&self) -> bool {
        self.status != RunStatus::Running
    }

    /// The text of `summary.json`, if it has one that can be read.
    pub fn summary_text(&self) -> Option<String> {
        read_text(&self.dir.join(layout::SUMMARY)).ok().flatten()
    }

    /// Removes the folder with everything in it, unless its run is in progress by now.
    ///
    /// # Errors
    /// See [`RemoveError`].
    pub fn remove(&self) -> Result<(), RemoveError> {
        let dir = &self.dir;
        let head = read_head(dir)?;
        if status_of(dir, &head) == RunStatus::Running {
            return Err(RemoveError::Running { dir: dir.clone() });
        }
        fs::remove_dir_all(dir).map_err(|source| FolderError::io("remove", dir, source))?;
        Ok(())
    }
}

/// The folders in a folder, without symbolic links.
fn folders_in(parent: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let entries = fs::read_dir(parent).map_err(|source| FolderError::io("read", parent, source))?;
    let folders = entries.flatten().filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_dir())
    });
    Ok(folders.map(|entry| entry.path()).collect())
}

/// The size of all files below a folder. Files that cannot be read count as empty.
fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |facts| facts.len()),
        _ => 0,
    });
    sizes.sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::folder::RunFolder;

    const SECOND_MS: u64 = 1_000;

    /// A run that ended, `started_s` seconds after 1970.
    fn finished(dir: &Path, started_s: u64) {
        let mut folder = running(dir, started_s);
        let ended = (started_s + 1) * SECOND_MS;
        folder.end(RunStatus::Complete, None, ended).unwrap();
    }

    fn running(dir: &Path, started_s: u64) -> RunFolder {
        let head = RunHead::starting("r".to_owned(), Vec::new(), started_s * SECOND_MS);
        RunFolder::create(dir, head).unwrap()
    }

    fn names(runs: &[&ListedRun]) -> Vec<String> {
        let name = |run: &&ListedRun| run.dir.file_name().unwrap().to_str().unwrap().to_owned();
        runs.iter().map(name).collect()
    }

    fn all(list: &RunList) -> Vec<String> {
        names(&list.runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn runs_are_listed_newest_first_with_those_of_several_targets() {
        let dir = tempfile::tempdir().unwrap();
        finished(&dir.path().join("old"), 10);
        finished(&dir.path().join("several/1-embedded"), 20);
        finished(&dir.path().join("new"), 30);
        fs::create_dir(dir.path().join("other")).unwrap();
        fs::create_dir(dir.path().join("broken")).unwrap();
        fs::write(dir.path().join("broken/run.json"), "no JSON").unwrap();
        let list = RunList::below(dir.path()).unwrap();
        assert_eq!(all(&list), ["new", "1-embedded", "old"]);
        assert_eq!(list.unreadable.len(), 1);
        assert!(list.runs[0].bytes > 0);
        let inside = RunList::below(&dir.path().join("new"));
        assert!(matches!(inside, Err(FolderError::IsARun { .. })));
        let nowhere = RunList::below(&dir.path().join("nowhere"));
        assert!(matches!(nowhere, Err(FolderError::Io { .. })));
    }

    #[test]
    fn a_rule_selects_by_age_and_by_number() {
        let dir = tempfile::tempdir().unwrap();
        for started_s in [10, 20, 30, 40] {
            finished(&dir.path().join(format!("r{started_s}")), started_s);
        }
        let _running = running(&dir.path().join("r50"), 50);
        let list = RunList::below(dir.path()).unwrap();
        let selected = |before_s: Option<u64>, keep| {
            let rule = PruneRule {
                ended_before_unix_ms: before_s.map(|before| before * SECOND_MS),
                keep,
            };
            names(&list.selected(rule))
        };
        assert!(selected(None, None).is_empty());
        assert_eq!(selected(Some(31), None), ["r20", "r10"]);
        assert_eq!(selected(None, Some(1)), ["r30", "r20", "r10"]);
        assert_eq!(selected(Some(31), Some(3)), ["r10"]);
        assert_eq!(selected(Some(u64::MAX / SECOND_MS), Some(0)).len(), 4);
    }

    #[test]
    fn a_run_in_progress_is_never_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("several/1");
        finished(&path, 10);
        let list = RunList::below(dir.path()).unwrap();
        fs::remove_dir_all(&path).unwrap();
        let other = running(&path, 20);
        let error = list.runs[0].remove().unwrap_err();
        assert!(matches!(error, RemoveError::Running { .. }), "{error}");
        drop(other);
        list.runs[0].remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn links_are_neither_listed_nor_followed() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        finished(&elsewhere.path().join("run"), 10);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(elsewhere.path().join("run"), link).unwrap();
        assert!(RunList::below(dir.path()).unwrap().runs.is_empty());
    }
}
