//! Reads run folders: complete, cut short, damaged or malicious.

use std::collections::BTreeMap;
use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};

use kgauge_scenario::Plan;
use serde::de::DeserializeOwned;

use super::error::{Defect, FolderError};
use super::file::{open_regular, read_json, read_text};
use super::layout;
use super::lines::{LineContent, each_line};
use super::slices::{FlowRead, each_slice, read_flows};
use crate::run::{
    AbRecord, CheckupRecord, CutShortChecks, Environment, Event, Evidence, RepeatKey, RepeatRecord,
    RunHead, RunStatus, SearchRecord, TuneRecord,
};
use crate::slice::Slice;

/// More defects are only counted: a junk file would produce millions.
const DEFECTS_MAX: usize = 100;

/// The contents of a run folder.
#[derive(Clone, Debug)]
pub struct RunRead {
    /// Its path.
    pub dir: PathBuf,
    /// `run.json`.
    pub head: RunHead,
    /// The run's status: [`RunHead::status`], or [`RunStatus::CutShort`] if its process has died.
    pub status: RunStatus,
    /// The scenarios, by name.
    pub scenarios: Vec<ScenarioText>,
    /// The plan.
    pub plan: Option<Plan>,
    /// Machine, build and target.
    pub environment: Option<Environment>,
    /// `search.json`; only runs with a search have it.
    pub search: Option<SearchRecord>,
    /// `ab.json`; only runs with an A/B test have it.
    pub ab: Option<AbRecord>,
    /// `tune.json`; only runs of `kgauge tune` have it.
    pub tune: Option<TuneRecord>,
    /// `checkup.json`; only checkups have it.
    pub checkup: Option<CheckupRecord>,
    /// `cut_short.json`; only resumed runs have it.
    pub cut_short: CutShortChecks,
    /// Events, in the order of writing.
    pub events: Vec<Event>,
    /// Samples, in the order of writing.
    pub evidence: Vec<Evidence>,
    /// The repeats that were started, by trial and repeat.
    pub repeats: Vec<RepeatRead>,
    /// Missing or damaged parts, at most a hundred.
    pub defects: Vec<Defect>,
}

/// A scenario as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioText {
    /// Its name.
    pub name: String,
    /// The file's text.
    pub text: String,
}

/// The contents of one repeat.
#[derive(Clone, Debug)]
pub struct RepeatRead {
    /// Its trial and number.
    pub key: RepeatKey,
    /// `repeat.json`; missing if the run was cut short in it.
    pub record: Option<RepeatRecord>,
    /// The slices, by flow index in the trial.
    pub flows: BTreeMap<u16, FlowRead>,
}

impl RunRead {
    /// Reads only `run.json`.
    pub fn head(dir: &Path) -> Result<RunHead, FolderError> {
        read_head(dir)
    }

    /// Reads a folder. Damage is listed in [`RunRead::defects`]; an error means that no run can be recognised.
    pub fn open(dir: &Path) -> Result<RunRead, FolderError> {
        let head = read_head(dir)?;
        let mut defects = Vec::new();
        let mut read = RunRead {
            dir: dir.to_owned(),
            status: status_of(dir, &head),
            head,
            scenarios: read_scenarios(dir, &mut defects),
            plan: whole(dir, layout::PLAN, &mut defects),
            environment: whole(dir, layout::ENVIRONMENT, &mut defects),
            search: optional(dir, layout::SEARCH, &mut defects),
            ab: optional(dir, layout::AB, &mut defects),
            tune: optional(dir, layout::TUNE, &mut defects),
            checkup: optional(dir, layout::CHECKUP, &mut defects),
            cut_short: optional(dir, layout::CUT_SHORT, &mut defects).unwrap_or_default(),
            events: lines(dir, layout::EVENTS, &mut defects),
            evidence: lines(dir, layout::EVIDENCE, &mut defects),
            repeats: read_repeats(dir, &mut defects)?,
            defects: Vec::new(),
        };
        defects.sort();
        let more = defects.len().saturating_sub(DEFECTS_MAX);
        defects.truncate(DEFECTS_MAX);
        if more > 0 {
            defects.push(Defect {
                file: ".".to_owned(),
                line: None,
                what: format!("{more} more defects"),
            });
        }
        read.defects = defects;
        Ok(read)
    }

    /// Reads one repeat of a folder with the evidence of the run, without events and other repeats.
    pub fn of_repeat(dir: &Path, key: RepeatKey) -> Result<RunRead, FolderError> {
        let mut read = RunRead::frame(dir)?;
        read.evidence = lines(dir, layout::EVIDENCE, &mut read.defects);
        read.repeats = vec![RunRead::repeat(dir, key)?];
        Ok(read)
    }

    /// Reads a folder without the parts that grow during a run: events, evidence and repeats.
    pub fn frame(dir: &Path) -> Result<RunRead, FolderError> {
        let head = read_head(dir)?;
        let mut defects = Vec::new();
        Ok(RunRead {
            dir: dir.to_owned(),
            status: head.status,
            head,
            scenarios: read_scenarios(dir, &mut defects),
            plan: whole(dir, layout::PLAN, &mut defects),
            environment: whole(dir, layout::ENVIRONMENT, &mut defects),
            search: None,
            ab: None,
            tune: None,
            checkup: None,
            cut_short: CutShortChecks::default(),
            events: Vec::new(),
            evidence: Vec::new(),
            repeats: Vec::new(),
            defects,
        })
    }

    /// The repeats of a folder that have ended, by trial and repeat.
    pub fn ended_repeats(dir: &Path) -> Vec<RepeatKey> {
        let names = names_in(&dir.join(layout::REPEATS)).into_iter();
        let keys = names.filter_map(|name| RepeatKey::from_folder_name(&name));
        let has_ended = |key: &RepeatKey| {
            let repeat = dir.join(layout::REPEATS).join(key.folder_name());
            repeat.join(layout::REPEAT).is_file()
        };
        let mut keys: Vec<RepeatKey> = keys.filter(has_ended).collect();
        keys.sort();
        keys
    }

    /// Reads one repeat of a folder.
    pub fn repeat(dir: &Path, key: RepeatKey) -> Result<RepeatRead, FolderError> {
        read_repeat(dir, &key.folder_name(), key, &mut Vec::new())
    }

    /// Calls `take` with each second of each flow of a repeat, ascending, with everything that was recorded in it.
    pub fn each_second(
        dir: &Path,
        key: RepeatKey,
        take: impl FnMut(&Slice),
    ) -> Result<(), FolderError> {
        let name = key.folder_name();
        each_slice(
            &dir.join(layout::REPEATS).join(&name),
            &name,
            &mut Vec::new(),
            take,
        )
    }

    /// The repeats of a trial, in order.
    pub fn repeats_of(&self, trial: u32) -> impl Iterator<Item = &RepeatRead> {
        let repeats = self.repeats.iter();
        repeats.filter(move |repeat| repeat.key.trial == trial)
    }
}

/// Checks the format first: a newer head may have other fields.
#[derive(serde::Deserialize)]
struct Format {
    format: u32,
}

pub(super) fn read_head(dir: &Path) -> Result<RunHead, FolderError> {
    let path = dir.join(layout::RUN);
    let not_a_run = || FolderError::NotARun {
        dir: dir.to_owned(),
    };
    let Format { format } = read_json(&path)?.ok_or_else(not_a_run)?;
    if format > RunHead::FORMAT {
        return Err(FolderError::TooNew {
            dir: dir.to_owned(),
            format,
            newest: RunHead::FORMAT,
        });
    }
    read_json(&path)?.ok_or_else(not_a_run)
}

/// The process of the run holds a lock on the events, which disappears with it.
pub(super) fn status_of(dir: &Path, head: &RunHead) -> RunStatus {
    if head.status != RunStatus::Running {
        return head.status;
    }
    let events = open_regular(&dir.join(layout::EVENTS));
    let held =
        events.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    if held {
        RunStatus::Running
    } else {
        RunStatus::CutShort
    }
}

fn read_scenarios(dir: &Path, defects: &mut Vec<Defect>) -> Vec<ScenarioText> {
    let mut scenarios = Vec::new();
    for name in names_in(&dir.join(layout::SCENARIOS)) {
        let Some(stem) = name.strip_suffix(".yaml") else {
            continue;
        };
        let shown = format!("{}/{name}", layout::SCENARIOS);
        match read_text(&dir.join(&shown)) {
            Ok(Some(text)) => scenarios.push(ScenarioText {
                name: stem.to_owned(),
                text,
            }),
            Ok(None) => {}
            Err(error) => defects.push(defect(shown, error)),
        }
    }
    scenarios
}

fn read_repeats(dir: &Path, defects: &mut Vec<Defect>) -> Result<Vec<RepeatRead>, FolderError> {
    let mut repeats = Vec::new();
    for name in names_in(&dir.join(layout::REPEATS)) {
        let Some(key) = RepeatKey::from_folder_name(&name) else {
            continue;
        };
        repeats.push(read_repeat(dir, &name, key, defects)?);
    }
    repeats.sort_by_key(|repeat| repeat.key);
    Ok(repeats)
}

fn read_repeat(
    dir: &Path,
    name: &str,
    key: RepeatKey,
    defects: &mut Vec<Defect>,
) -> Result<RepeatRead, FolderError> {
    let shown = format!("{}/{name}", layout::REPEATS);
    let record = whole(dir, &format!("{shown}/{}", layout::REPEAT), defects);
    let flows = read_flows(&dir.join(&shown), &shown, defects)?;
    Ok(RepeatRead { key, record, flows })
}

/// Sorted names of plain files and folders; empty if the folder does not exist.
fn names_in(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names = names
        .filter(|name| layout::is_plain(name))
        .collect::<Vec<_>>();
    names.sort();
    names
}

fn whole<T: DeserializeOwned>(dir: &Path, name: &str, defects: &mut Vec<Defect>) -> Option<T> {
    match read_json(&dir.join(name)) {
        Ok(Some(content)) => Some(content),
        Ok(None) => {
            defects.push(Defect {
                file: name.to_owned(),
                line: None,
                what: "missing".to_owned(),
            });
            None
        }
        Err(error) => {
            defects.push(defect(name.to_owned(), error));
            None
        }
    }
}

/// As [`whole`], of a file that not every run has.
fn optional<T: DeserializeOwned>(dir: &Path, name: &str, defects: &mut Vec<Defect>) -> Option<T> {
    read_json(&dir.join(name)).unwrap_or_else(|error| {
        defects.push(defect(name.to_owned(), error));
        None
    })
}

fn lines<T: DeserializeOwned>(dir: &Path, name: &str, defects: &mut Vec<Defect>) -> Vec<T> {
    let mut contents = Vec::new();
    let mut bad = Vec::new();
    let read = each_line(&dir.join(name), |line| {
        let content = match line.content {
            LineContent::Whole(text) => {
                serde_json::from_slice(text).map_err(|error| error.to_string())
            }
            LineContent::Torn => Err("cut short: its writer was stopped here".to_owned()),
            LineContent::TooLong => Err("too long to be an entry".to_owned()),
        };
        match content {
            Ok(content) => contents.push(content),
            Err(what) => bad.push(Defect {
                file: name.to_owned(),
                line: Some(line.number),
                what,
            }),
        }
    });
    defects.append(&mut bad);
    if let Err(error) = read {
        defects.push(defect(name.to_owned(), error));
    }
    contents
}

/// Turns an error of one file into a defect, without the folder's path.
fn defect(file: String, error: FolderError) -> Defect {
    match error {
        FolderError::Content { line, what, .. } => Defect { file, line, what },
        FolderError::Io { source, .. } => Defect {
            file,
            line: None,
            what: source.to_string(),
        },
        other => Defect {
            file,
            line: None,
            what: other.to_string(),
        },
    }
}
