//! One interval log for each trial, flow and kind of time, for HdrHistogram's tools: they read a whole file as one
//! history, so it must contain nothing else.
//!
//! The intervals are the seconds of the hold stages of all repeats that count. A tool that adds up a file therefore
//! gets the percentiles of the summary.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{Defect, FolderError};
use super::layout;
use super::logs::{COLUMNS, LOG_MAX_DIVISOR};
use super::read::{RepeatRead, RunRead};
use super::slices::each_slice;
use crate::histogram::Histogram;
use crate::run::RepeatKey;
use crate::slice::{Slice, SliceKey, TimeKind};
use crate::stage::{SECOND_NS, Stage};

/// Maximum number of a flow name's characters in a file name.
const NAME_MAX: usize = 60;

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalLog {
    /// Its path.
    pub path: PathBuf,
    /// Number of intervals.
    pub intervals: u64,
    /// Number of recorded values.
    pub count: u64,
}

/// A trial to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedTrial {
    /// Its index in the plan.
    pub index: u32,
    /// The repeats that count.
    pub repeats: Vec<u32>,
    /// The names of its flows, by index.
    pub flows: BTreeMap<u16, String>,
}

/// Writes `trial-<n>.<flow>.<kind>.hlog` into a folder, which is created if necessary; existing files are replaced.
pub fn write_interval_logs(
    run: &RunRead,
    trials: &[LoggedTrial],
    out: &Path,
) -> Result<Vec<IntervalLog>, FolderError> {
    fs::create_dir_all(out).map_err(|source| FolderError::io("create", out, source))?;
    let mut logs = Vec::new();
    for trial in trials {
        let mut files = Files {
            run,
            trial,
            out,
            base_unix_ms: None,
            end_ns: 0,
            open: BTreeMap::new(),
            names: file_parts(
                trial
                    .flows
                    .iter()
                    .map(|(flow, name)| (*flow, name.as_str())),
            ),
        };
        for repeat in measured(run, trial) {
            files.add(repeat)?;
        }
        logs.extend(files.finish()?);
    }
    Ok(logs)
}

/// The repeats that count, by start time: a log is in ascending order.
fn measured<'a>(run: &'a RunRead, trial: &LoggedTrial) -> Vec<&'a RepeatRead> {
    let is_measured = |key: RepeatKey| trial.repeats.contains(&key.repeat);
    let repeats = run.repeats_of(trial.index);
    let mut repeats: Vec<&RepeatRead> = repeats.filter(|repeat| is_measured(repeat.key)).collect();
    repeats.sort_by_key(|repeat| (started_unix_ms(run, repeat), repeat.key));
    repeats
}

/// A repeat without a record gets the start time of the run.
fn started_unix_ms(run: &RunRead, repeat: &RepeatRead) -> u64 {
    let record = repeat.record.as_ref();
    record.map_or(run.head.started_unix_ms, |record| record.started_unix_ms)
}

/// The files of one trial.
struct Files<'a> {
    run: &'a RunRead,
    trial: &'a LoggedTrial,
    out: &'a Path,
    /// When the first repeat started: intervals are relative to it.
    base_unix_ms: Option<u64>,
    /// The end of the previous interval: none starts before it, even if the clock was set back between two repeats.
    end_ns: u64,
    open: BTreeMap<(u16, TimeKind), (BufWriter<File>, IntervalLog)>,
    /// The flows' names in file names.
    names: BTreeMap<u16, String>,
}

impl Files<'_> {
    fn add(&mut self, repeat: &RepeatRead) -> Result<(), FolderError> {
        let started_unix_ms = started_unix_ms(self.run, repeat);
        let base_unix_ms = *self.base_unix_ms.get_or_insert(started_unix_ms);
        let since_ns = started_unix_ms.saturating_sub(base_unix_ms);
        let since_ns = since_ns.saturating_mul(1_000_000).max(self.end_ns);
        let name = repeat.key.folder_name();
        let dir = self.run.dir.join(layout::REPEATS).join(name);
        let mut ignored = Vec::<Defect>::new();
        let mut failed = None;
        each_slice(&dir, "", &mut ignored, |slice| {
            if slice.key.stage == Stage::Hold && failed.is_none() {
                failed = self.add_slice(repeat, slice, since_ns).err();
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn add_slice(
        &mut self,
        repeat: &RepeatRead,
        slice: &Slice,
        since_ns: u64,
    ) -> Result<(), FolderError> {
        let (start_ns, end_ns) = span(repeat, slice.key);
        for kind in TimeKind::ALL {
            let times = slice.times(kind);
            if times.is_empty() {
                continue;
            }
            let line = line(times, since_ns.saturating_add(start_ns), end_ns - start_ns);
            self.end_ns = self.end_ns.max(since_ns.saturating_add(end_ns));
            let (file, log) = self.file(slice.key.flow, kind)?;
            let written = file.write_all(line.as_bytes());
            written.map_err(|source| FolderError::io("write", &log.path, source))?;
            log.intervals += 1;
            log.count += times.count();
        }
        Ok(())
    }

    fn file(
        &mut self,
        flow: u16,
        kind: TimeKind,
    ) -> Result<&mut (BufWriter<File>, IntervalLog), FolderError> {
        let path = self.out.join(self.name(flow, kind));
        let head = self.head(flow, kind);
        match self.open.entry((flow, kind)) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(place) => {
                let create = || {
                    let mut file = BufWriter::new(File::create(&path)?);
                    file.write_all(head.as_bytes())?;
                    Ok(file)
                };
                let file = create().map_err(|source| FolderError::io("write", &path, source))?;
                let (intervals, count) = (0, 0);
                let log = IntervalLog {
                    path,
                    intervals,
                    count,
                };
                Ok(place.insert((file, log)))
            }
        }
    }

    /// A valid file name, whatever the flow's name.
    fn name(&self, flow: u16, kind: TimeKind) -> String {
        format!(
            "trial-{}.{}.{}.hlog",
            self.trial.index + 1,
            file_part(&self.names, flow),
            kind.as_str()
        )
    }

    fn head(&self, flow: u16, kind: TimeKind) -> String {
        let base_s = self.base_unix_ms.unwrap_or_default() as f64 / 1e3;
        format!(
            "#[kgauge {version}, run {run}, trial {trial}, flow {flow}, {kind}: hold stages of all \
             repeats that count; values are nanoseconds, Interval_Max is in milliseconds]\n\
             #[Histogram log format version 1.3]\n\
             #[StartTime: {base_s:.3} (seconds since epoch)]\n\
             #[BaseTime: {base_s:.3} (seconds since epoch)]\n\
             {COLUMNS}\n",
            version = env!("CARGO_PKG_VERSION"),
            run = plain(&self.run.head.run_id),
            trial = self.trial.index + 1,
            flow = plain(self.trial.flows.get(&flow).map_or("flow", String::as_str)),
            kind = kind.as_str(),
        )
    }

    fn finish(self) -> Result<Vec<IntervalLog>, FolderError> {
        let end = |(mut file, log): (BufWriter<File>, IntervalLog)| {
            let flushed = file.flush();
            flushed.map_err(|source| FolderError::io("write", &log.path, source))?;
            Ok(log)
        };
        self.open.into_values().map(end).collect()
    }
}

fn line(times: &Histogram, start_ns: u64, length_ns: u64) -> String {
    format!(
        "{start:.3},{length:.3},{max:.3},{histogram}\n",
        start = start_ns as f64 / SECOND_NS as f64,
        length = length_ns as f64 / SECOND_NS as f64,
        max = times.max_ns().unwrap_or_default() as f64 / LOG_MAX_DIVISOR,
        histogram = times.to_base64(),
    )
}

/// The part of a slice's second that lies in its stage, if known.
fn span(repeat: &RepeatRead, key: SliceKey) -> (u64, u64) {
    let start_ns = u64::from(key.second) * SECOND_NS;
    let whole = (start_ns, start_ns + SECOND_NS);
    let record = repeat.record.as_ref();
    let flow = record.and_then(|record| record.flows.get(usize::from(key.flow)));
    let Some(stage) = flow.and_then(|flow| flow.stage(key.stage)) else {
        return whole;
    };
    let part = (whole.0.max(stage.start_ns), whole.1.min(stage.end_ns));
    if part.0 < part.1 { part } else { whole }
}

/// Keeps letters, digits, dash and underscore; anything else becomes an underscore.
fn plain(name: &str) -> String {
    let plain = |letter: char| match letter.is_ascii_alphanumeric() || "-_".contains(letter) {
        true => letter,
        false => '_',
    };
    name.chars().take(NAME_MAX).map(plain).collect()
}

/// Unique file names of a trial's flows, even if case does not count. If replaced characters make names equal, each
/// ends with its number.
fn file_parts<'a>(flows: impl Iterator<Item = (u16, &'a str)>) -> BTreeMap<u16, String> {
    let mut parts: BTreeMap<u16, String> = flows.map(|(flow, name)| (flow, plain(name))).collect();
    let known: BTreeSet<String> = parts
        .values()
        .map(|part| part.to_ascii_lowercase())
        .collect();
    if known.len() < parts.len() {
        for (flow, part) in &mut parts {
            *part = format!("{part}-{}", u32::from(*flow) + 1);
        }
    }
    parts
}

/// A flow that the summary does not know gets a dot, which no other name contains.
fn file_part(parts: &BTreeMap<u16, String>, flow: u16) -> String {
    let part = parts.get(&flow).cloned();
    part.unwrap_or_else(|| format!("flow.{}", u32::from(flow) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: &[&str]) -> Vec<String> {
        let parts = file_parts((0..).zip(names.iter().copied()));
        (0..)
            .take(names.len())
            .map(|flow| file_part(&parts, flow))
            .collect()
    }

    #[test]
    fn no_two_flows_of_a_trial_have_one_file() {
        let long = "x".repeat(NAME_MAX);
        let longer = format!("{long}y");
        for names in [
            vec!["a b", "a_b", "a_b-2"],
            vec!["a_b-2", "a b", "a_b"],
            vec!["W", "w"],
            vec!["a", "a-1", "A-1-1", "a-1"],
            vec![&long, &longer],
        ] {
            let parts = parts(&names).into_iter();
            let parts: BTreeSet<String> = parts.map(|part| part.to_ascii_lowercase()).collect();
            assert_eq!(parts.len(), names.len(), "{parts:?}");
        }
        assert_eq!(parts(&["a b", "a_b"]), ["a_b-1", "a_b-2"]);
    }

    #[test]
    fn names_that_tell_flows_apart_stay_as_they_are() {
        assert_eq!(parts(&["writers", "readers"]), ["writers", "readers"]);
        assert_eq!(parts(&["writers", "write rs"]), ["writers", "write_rs"]);
        assert_eq!(file_part(&BTreeMap::new(), 2), "flow.3");
    }
}
