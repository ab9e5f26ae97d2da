//! Runs of `kgauge capacity`, some at the same time, and what their summaries say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde::Deserialize;

use crate::kafka::Job;
use crate::say::remark;
use crate::stop;

/// No search takes longer.
const TIME_MAX: Duration = Duration::from_secs(1_800);

/// A search to make.
#[derive(Clone, Debug)]
pub(super) struct SearchJob {
    /// What messages and folders call it: letters, digits, hyphens.
    pub(super) name: String,
    /// The scenario, as YAML.
    pub(super) scenario: String,
    pub(super) target: String,
    /// Where arrivals and the noise of nodes come from.
    pub(super) seed: u32,
}

/// What is read of `summary.json`.
#[derive(Debug, Deserialize)]
struct SummaryFile {
    capacities: Vec<Capacity>,
}

#[derive(Debug, Deserialize)]
struct Capacity {
    searches: Vec<FoundCapacity>,
}

/// What a search found.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FoundCapacity {
    pub(super) strict: Bracket,
    pub(super) typical: Bracket,
    pub(super) typical_band: Option<CredibleBand>,
    pub(super) bottleneck: Option<serde_json::Value>,
    pub(super) steps: Vec<serde_json::Value>,
    pub(super) took_s: f64,
}

/// Two loads.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Bracket {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
}

/// The credible interval of the typical capacity.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct CredibleBand {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bracket {
    pub(super) fn contains(self, rate: f64) -> bool {
        self.lower.is_some_and(|lower| lower <= rate)
            && self.upper.is_some_and(|upper| rate <= upper)
    }

    /// The distance of the ends, as a share of the upper one.
    pub(super) fn width(self) -> Option<f64> {
        Some(1.0 - self.lower? / self.upper?)
    }

    pub(super) fn text(self) -> String {
        let end = |end: Option<f64>| end.map_or("none".to_owned(), |rate| format!("{rate:.0}"));
        format!("{}..{}", end(self.lower), end(self.upper))
    }
}

impl FoundCapacity {
    /// Both readings together: from the rate that every window keeps to the one that half of them break.
    pub(super) fn whole(&self) -> Bracket {
        Bracket {
            lower: self.strict.lower,
            upper: self.typical.upper,
        }
    }

    /// Whether the band has the rate.
    pub(super) fn is_in_band(&self, rate: f64) -> bool {
        let is_in = |band: CredibleBand| band.low <= rate && rate <= band.high;
        self.typical_band.is_some_and(is_in)
    }

    /// Loads that were measured and do not count.
    pub(super) fn void_loads(&self) -> usize {
        let is_void = |step: &&serde_json::Value| !step["void"].is_null();
        self.steps.iter().filter(is_void).count()
    }
}

/// Makes the searches, `at_once` at the same time, in a folder of their own. Results are in the order of the jobs; a
/// search that ended without a summary is an error text.
pub(super) fn search_all(
    binary: &Path,
    jobs: &[SearchJob],
    at_once: usize,
) -> Result<Vec<Result<FoundCapacity>>> {
    let folder = tempfile::tempdir()?;
    let waiting = Mutex::new(jobs.iter().enumerate());
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((index, job)) = next(&waiting) {
                    let one = search(binary, folder.path(), job);
                    remark(&match &one {
                        Ok(found) => format!("{}: {}", job.name, found.strict.text()),
                        Err(error) => format!("{}: {error:#}", job.name),
                    });
                    if let Ok(mut found) = found.lock() {
                        found.push((index, one));
                    }
                }
            });
        }
    });
    stop::check()?;
    let mut found = found.into_inner().map_err(|_| anyhow!("a thread died"))?;
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

fn next<T>(waiting: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    stop::check().ok()?;
    waiting.lock().ok()?.next()
}

fn search(binary: &Path, folder: &Path, job: &SearchJob) -> Result<FoundCapacity> {
    let scenario = folder.join(format!("{}.yaml", job.name));
    fs::write(&scenario, &job.scenario)?;
    let out = folder.join(&job.name);
    let mut command = Command::new(binary);
    command
        .arg("capacity")
        .arg(&scenario)
        .args(["--target", &job.target])
        .args(["--seed", &job.seed.to_string(), "--out"])
        .arg(&out)
        .current_dir(folder);
    let ended = Job::new(format!("kgauge capacity {}", job.name), command, TIME_MAX).run()?;
    let found = read(&out).with_context(|| {
        let mut lines = ended.stderr.lines();
        let error = lines.find(|line| line.contains("error"));
        format!("{:?}: {}", ended.status, error.unwrap_or_default())
    });
    // Hundreds of them would fill the disk.
    if out.is_dir() {
        fs::remove_dir_all(&out)?;
    }
    found
}

fn read(out: &Path) -> Result<FoundCapacity> {
    let path: PathBuf = out.join("summary.json");
    let text = fs::read(&path).with_context(|| format!("there is no {}", path.display()))?;
    let summary: SummaryFile = serde_json::from_slice(&text)?;
    let mut searches = summary.capacities.into_iter().flat_map(|one| one.searches);
    searches.next().context("the summary has no search")
}
