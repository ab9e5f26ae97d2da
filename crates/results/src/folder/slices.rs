//! Reading slices: all partial slices of one key are added before they are used.
//!
//! Slices of one second stand scattered in the file (several threads, late answers). A first
//! pass finds out which lines belong together, a second reads them key by key: memory holds one
//! line's place for each line and the histograms of a single second.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::{Defect, FolderError};
use super::file::open_regular;
use super::layout;
use super::lines::{LINE_BYTES_MAX, LineContent, each_line};
use crate::histogram::{Histogram, Quantile};
use crate::slice::line::{LineKey, LineReader};
use crate::slice::{Counts, Slice, SliceKey, TimeKind};
use crate::stage::{SECOND_NS, Stage};

/// A flow beyond it is a damaged line: no scenario has so many.
const FLOWS_MAX: u16 = 1_024;
/// A second beyond it is a damaged line: a repeat of 30 days.
const SECONDS_MAX: u32 = 30 * 86_400;

/// What the slices of one flow in one repeat add up to.
#[derive(Clone, Debug, Default)]
pub struct FlowRead {
    /// All of a stage; settled ([`Slice::settle`]).
    pub stages: BTreeMap<Stage, Slice>,
    /// Second by second, ascending; a second that a border cuts stands once for each stage.
    pub seconds: Vec<SecondRead>,
}

impl FlowRead {
    /// The hold stage, if anything was counted in it.
    pub fn hold(&self) -> Option<&Slice> {
        self.stages.get(&Stage::Hold)
    }
}

/// One second of one flow, folded to what charts need.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondRead {
    /// From the start of the repeat, 0 first.
    pub second: u32,
    /// How many seconds it stands for: 1, but where a long repeat that goes on has put seconds of long ago together. Of
    /// their percentiles the worst are kept.
    pub seconds: u32,
    /// The stage.
    pub stage: Stage,
    /// What was counted.
    pub counts: Counts,
    /// The distributions in which anything was counted.
    pub times: BTreeMap<TimeKind, TimesRead>,
    /// How many times lay in each band ([`Histogram::bands`]), of [`SecondRead::BANDED`].
    pub bands: BTreeMap<TimeKind, Box<[(u8, u64)]>>,
}

/// A distribution, folded. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // The names say it.
pub struct TimesRead {
    pub count: u64,
    pub min_ns: u64,
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p99_9_ns: u64,
    pub max_ns: u64,
}

impl TimesRead {
    /// Folds a distribution; `None` when it is empty.
    pub fn of(times: &Histogram) -> Option<TimesRead> {
        let quantiles = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P99_9];
        let ranks = quantiles.map(|quantile| quantile.rank(times.count()));
        let &[p50_ns, p90_ns, p99_ns, p99_9_ns] = times.values_ns_at_ranks(&ranks).as_slice()
        else {
            return None;
        };
        Some(TimesRead {
            count: times.count(),
            min_ns: times.min_ns()?,
            mean_ns: times.mean_ns()?,
            p50_ns,
            p90_ns,
            p99_ns,
            p99_9_ns,
            max_ns: times.max_ns()?,
        })
    }
}

impl SecondRead {
    /// The kinds whose bands are kept: the time that is shown first of each kind of flow.
    const BANDED: [TimeKind; 3] = [
        TimeKind::Response,
        TimeKind::EndToEnd,
        TimeKind::FetchRoundTrip,
    ];

    /// Folds all of a second, which must be settled ([`Slice::settle`]).
    pub fn of(slice: &Slice) -> SecondRead {
        let times = TimeKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, TimesRead::of(slice.times(kind))?)));
        SecondRead {
            second: slice.key.second,
            seconds: 1,
            stage: slice.key.stage,
            counts: slice.counts,
            times: times.collect(),
            bands: SecondRead::BANDED
                .into_iter()
                .filter(|kind| !slice.times(*kind).is_empty())
                .map(|kind| (kind, slice.times(kind).bands().into_boxed_slice()))
                .collect(),
        }
    }

    /// When it began, in nanoseconds since the start of the repeat.
    pub fn start_ns(&self) -> u64 {
        u64::from(self.second) * SECOND_NS
    }

    /// When it ended.
    pub fn end_ns(&self) -> u64 {
        u64::from(self.second + self.seconds) * SECOND_NS
    }
}

/// Where a line stands.
struct LineRef {
    key: SliceKey,
    file: usize,
    offset: u64,
    number: u64,
    length: u32,
}

/// Adds up all slices of one repeat.
pub(super) fn read_flows(
    dir: &Path,
    shown: &str,
    defects: &mut Vec<Defect>,
) -> Result<BTreeMap<u16, FlowRead>, FolderError> {
    let mut flows = BTreeMap::<u16, FlowRead>::new();
    each_slice(dir, shown, defects, |slice| {
        let flow = flows.entry(slice.key.flow).or_default();
        let stage = flow.stages.entry(slice.key.stage);
        stage.or_insert_with(|| Slice::new(slice.key)).add(slice);
        flow.seconds.push(SecondRead::of(slice));
    })?;
    for flow in flows.values_mut() {
        flow.seconds
            .sort_by_key(|second| (second.second, second.stage));
    }
    Ok(flows)
}

/// Calls `take` for each key, ascending, with all partial slices of it added and settled.
pub(super) fn each_slice(
    dir: &Path,
    shown: &str,
    defects: &mut Vec<Defect>,
    mut take: impl FnMut(&Slice),
) -> Result<(), FolderError> {
    let files = slice_files(dir)?;
    if files.is_empty() {
        defects.push(missing(shown));
    }
    let names = files.iter().map(|path| shown_name(shown, path));
    let names = names.collect::<Vec<_>>();
    let mut places = Vec::new();
    for (index, path) in files.iter().enumerate() {
        find_places(path, index, &names[index], &mut places, defects)?;
    }
    places.sort_by_key(|place| (place.key, place.file, place.offset));

    let opened = files
        .iter()
        .map(|path| open_regular(path).map_err(|source| FolderError::io("read", path, source)));
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let (mut line, mut reader) = (Vec::new(), LineReader::new());
    let mut sum: Option<Slice> = None;
    for place in &places {
        let slice = sum.get_or_insert_with(|| Slice::new(place.key));
        if slice.key != place.key {
            slice.settle();
            take(slice);
            slice.reset(place.key);
        }
        line.resize(place.length as usize, 0);
        let read = opened[place.file].read_exact_at(&mut line, place.offset);
        read.map_err(|source| FolderError::io("read", &files[place.file], source))?;
        match reader.read(&line) {
            Ok(part) => slice.add(part),
            Err(error) => defects.push(Defect {
                file: names[place.file].clone(),
                line: Some(place.number),
                what: error.to_string(),
            }),
        }
    }
    if let Some(mut slice) = sum {
        slice.settle();
        take(&slice);
    }
    Ok(())
}

fn slice_files(dir: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let fail = |source| FolderError::io("read", dir, source);
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.file_name().to_str().is_some_and(layout::is_slices) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn find_places(
    path: &Path,
    file: usize,
    name: &str,
    places: &mut Vec<LineRef>,
    defects: &mut Vec<Defect>,
) -> Result<(), FolderError> {
    each_line(path, |line| {
        let found = match line.content {
            LineContent::Whole(content) => key_of(content).map(|key| (key, content.len())),
            LineContent::Torn => Err("cut short: its writer was stopped here".to_owned()),
            LineContent::TooLong => Err(format!("longer than {} MiB", LINE_BYTES_MAX >> 20)),
        };
        match found {
            Ok((key, length)) => places.push(LineRef {
                key,
                file,
                offset: line.offset,
                number: line.number,
                length: length as u32,
            }),
            Err(what) => defects.push(Defect {
                file: name.to_owned(),
                line: Some(line.number),
                what,
            }),
        }
    })
}

fn key_of(content: &[u8]) -> Result<SliceKey, String> {
    let line: LineKey = serde_json::from_slice(content).map_err(|error| error.to_string())?;
    let key = line.key();
    if key.flow >= FLOWS_MAX || key.second >= SECONDS_MAX {
        return Err(format!(
            "flow {} and second {} are beyond any run",
            key.flow, key.second
        ));
    }
    Ok(key)
}

fn shown_name(shown: &str, path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy());
    format!("{shown}/{}", name.unwrap_or_default())
}

fn missing(shown: &str) -> Defect {
    Defect {
        file: format!("{shown}/{}", layout::SLICES),
        line: None,
        what: "missing".to_owned(),
    }
}
