//! What others would have done: a grid of all combinations, measured once each, and a random search in half of it. The
//! best single measurement wins.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kgauge_scenario::{derive_seed, shuffle};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kinds::SearchKind;
use crate::folders::root;
use crate::kafka::Job;

/// No grid takes longer: 32 combinations on Apache Kafka take some six minutes.
pub(super) const TIME_MAX: Duration = Duration::from_secs(900);

/// What a grid and a random search choose, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OtherSearches {
    /// Combinations of the grid; the random search measures half of them.
    pub(super) combinations: usize,
    pub(super) seconds: f64,
    /// The settings with new values in the best combination.
    pub(super) grid: Vec<String>,
    pub(super) random: Vec<String>,
}

/// A combination that was measured.
#[derive(Clone, Debug)]
struct GridTrial {
    changed: Vec<String>,
    /// The figure; more is better.
    value: f64,
}

/// Measures the grid of a kind.
pub(super) fn search(binary: &Path, kind: SearchKind, seed: u32) -> Result<OtherSearches> {
    let folder = tempfile::tempdir()?;
    let source = root().join("xtask/compare").join(kind.scenario);
    let mut text = std::fs::read_to_string(&source)?;
    text.push_str("vary:\n");
    for setting in kind.settings() {
        let (path, values) = (setting.path, [setting.in_force, setting.new]);
        text.push_str(&format!("  {path}: [{}]\n", values.join(", ")));
    }
    let scenario = folder.path().join("grid.yaml");
    std::fs::write(&scenario, text)?;
    let mut command = Command::new(binary);
    command
        .arg("run")
        .arg(&scenario)
        .args(["--target", kind.target, "--repeat", "1", "--json"])
        .args(["--seed", &seed.to_string()])
        .arg("--out")
        .arg(folder.path().join("run"));
    let words = format!("the grid of {}", kind.name);
    let ended = Job::new(words, command, TIME_MAX).run()?;
    let is_complete = ended.status.is_some_and(|status| status.success());
    ensure!(
        is_complete,
        "{}: {:?}\n{}",
        ended.words,
        ended.status,
        ended.stderr
    );
    let summary: Value = serde_json::from_str(&ended.stdout).context("the summary is not JSON")?;
    let trials = trials(kind, &summary).context("a trial of the grid has no figure")?;
    ensure!(!trials.is_empty(), "the grid of {} is empty", kind.name);
    let mut random = trials.clone();
    shuffle(&mut random, derive_seed(u64::from(seed), "random search"));
    random.truncate(trials.len().div_ceil(2));
    Ok(OtherSearches {
        combinations: trials.len(),
        seconds: ended.took.as_secs_f64(),
        grid: best(&trials),
        random: best(&random),
    })
}

/// The trials of a summary.
fn trials(kind: SearchKind, summary: &Value) -> Option<Vec<GridTrial>> {
    let of_trial = |trial: &Value| {
        let flow = &trial["flows"][0];
        let value = match kind.is_latency {
            false => flow["throughput"]["records_per_s"]["mean"].as_f64()?,
            true => {
                let mut percentiles = flow["latencies"]["response"]["percentiles"]
                    .as_array()?
                    .iter();
                let p99 = percentiles.find(|one| one["name"] == "p99")?;
                -p99["value_ns"].as_f64()?
            }
        };
        let has = |path: &str, value: &str| {
            let mut factors = trial["factors"].as_array().into_iter().flatten();
            factors.any(|factor| factor["path"] == path && factor["value"] == value)
        };
        let changed = kind.settings().filter(|one| has(one.path, one.new));
        Some(GridTrial {
            changed: changed.map(|one| one.name().to_owned()).collect(),
            value,
        })
    };
    summary["trials"].as_array()?.iter().map(of_trial).collect()
}

fn best(trials: &[GridTrial]) -> Vec<String> {
    let best = trials.iter().max_by(|a, b| a.value.total_cmp(&b.value));
    best.map_or_else(Vec::new, |trial| trial.changed.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune_check::kinds::SearchKind;

    #[test]
    fn the_best_combination_is_read_from_the_summary() {
        let trial = |batch: &str, retries: &str, rate: f64| {
            serde_json::json!({
                "factors": [
                    {"path": "writers.settings.batch.size", "value": batch},
                    {"path": "writers.settings.retry.backoff.ms", "value": retries},
                ],
                "flows": [{"throughput": {"records_per_s": {"mean": rate}}}],
            })
        };
        let summary = serde_json::json!({"trials": [
            trial("16384", "100", 100.0),
            trial("32768", "200", 151.0),
            trial("32768", "100", 150.0),
        ]});
        let kind = SearchKind::named("batch").unwrap();
        let trials = trials(kind, &summary).unwrap();
        assert_eq!(trials.len(), 3);
        assert_eq!(best(&trials), ["batch.size", "retry.backoff.ms"]);
        assert_eq!(best(&[]), Vec::<String>::new());
        let latency = SearchKind::named("linger").unwrap();
        assert!(super::trials(latency, &summary).is_none());
    }
}
