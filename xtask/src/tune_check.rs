//! `cargo xtask tune-check`: does `kgauge tune` find a planted winner, and leave settings alone that do nothing? In
//! both kinds 19 of 20 searches must be right. Simulated searches with grid and random search beside them are tests of
//! `kgauge-analyze`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::built::ProgramOption;
use crate::folders::root;
use crate::say::{print_line, remark};
use crate::stop;

/// One in this number of searches may be wrong.
const WRONG_PER: usize = 20;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct TuneCheckOptions {
    /// Searches of each kind
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    searches: u32,
    /// Only this kind
    #[arg(long, value_name = "KIND", value_parser = KINDS.map(|kind| kind.name))]
    only: Option<String>,
    #[command(flatten)]
    program: ProgramOption,
}

/// A kind of search.
#[derive(Clone, Copy, Debug)]
struct SearchKind {
    name: &'static str,
    candidates: &'static [&'static str],
    /// The setting that helps.
    planted: Option<&'static str>,
}

const KINDS: [SearchKind; 2] = [
    SearchKind {
        name: "planted",
        candidates: &[
            "send.buffer.bytes=262144",
            "batch.size=32768",
            "retry.backoff.ms=200",
        ],
        planted: Some("batch.size"),
    },
    SearchKind {
        name: "null",
        candidates: &[
            "send.buffer.bytes=262144",
            "metadata.max.age.ms=200000",
            "retry.backoff.ms=200",
        ],
        planted: None,
    },
];

/// The answer of one search.
#[derive(Debug, PartialEq)]
struct SearchAnswer {
    verdict: String,
    /// The settings that it recommends.
    recommended: Vec<String>,
    repeats: f64,
    seconds: f64,
}

/// Runs the command. Returns false when too many searches were wrong.
pub(crate) fn run(options: &TuneCheckOptions) -> Result<bool> {
    stop::listen()?;
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let mut is_good = true;
    let selected = |kind: &SearchKind| options.only.as_deref().is_none_or(|only| only == kind.name);
    for kind in KINDS.into_iter().filter(selected) {
        let mut answers = Vec::new();
        for number in 1..=options.searches {
            stop::check()?;
            let out = folder.path().join(format!("{}-{number}", kind.name));
            let answer = search(&binary, kind, &out, number)?;
            remark(&format!(
                "{} {number} of {}: {} {:?} after {} repeats, {:.0} s",
                kind.name,
                options.searches,
                answer.verdict,
                answer.recommended,
                answer.repeats,
                answer.seconds
            ));
            std::fs::remove_dir_all(&out)?;
            answers.push(answer);
        }
        is_good &= print_kind(kind, &answers);
    }
    Ok(is_good)
}

/// One search with its own seed.
fn search(binary: &Path, kind: SearchKind, out: &Path, seed: u32) -> Result<SearchAnswer> {
    let candidates = kind.candidates.iter().flat_map(|one| ["--candidate", one]);
    let ended = Command::new(binary)
        .args([
            "tune",
            "tuned.yaml",
            "--target",
            "embedded",
            "--budget",
            "4 min",
        ])
        .args(candidates)
        .args(["--json", "--seed", &seed.to_string()])
        .arg("--out")
        .arg(out)
        .current_dir(root().join("xtask/compare"))
        .stdin(Stdio::null())
        .output()?;
    // 2 is an inconclusive search.
    ensure!(
        matches!(ended.status.code(), Some(0 | 2)),
        "{}: {}\n{}",
        kind.name,
        ended.status,
        String::from_utf8_lossy(&ended.stderr)
    );
    let summary: Value = serde_json::from_slice(&ended.stdout).context("the summary is no JSON")?;
    answer(&summary["tune"]).context("the summary has no search")
}

/// What the part `tune` of a summary says.
fn answer(tune: &Value) -> Option<SearchAnswer> {
    let verdict = tune["verdict"].as_str()?.to_owned();
    let changes = tune["winner"]["changes"].as_array();
    let names = changes
        .into_iter()
        .flatten()
        .filter(|_| verdict == "better");
    let names = names.flat_map(|change| change["names"].as_array().into_iter().flatten());
    let names = names.filter_map(|name| name.as_str().map(str::to_owned));
    let phases = tune["phases"].as_array()?.iter();
    Some(SearchAnswer {
        recommended: names.collect(),
        repeats: phases.filter_map(|phase| phase["repeats"].as_f64()).sum(),
        seconds: tune["took_s"].as_f64()?,
        verdict,
    })
}

fn is_right(kind: SearchKind, answer: &SearchAnswer) -> bool {
    match kind.planted {
        Some(planted) => answer.recommended.iter().any(|name| name == planted),
        None => answer.recommended.is_empty(),
    }
}

/// Prints how often a kind was right and what it cost. True if that is enough.
fn print_kind(kind: SearchKind, answers: &[SearchAnswer]) -> bool {
    let of = answers.len();
    let right = answers
        .iter()
        .filter(|answer| is_right(kind, answer))
        .count();
    let is_good = of - right <= of / WRONG_PER;
    let mean =
        |value: fn(&SearchAnswer) -> f64| answers.iter().map(value).sum::<f64>() / of.max(1) as f64;
    let what = match kind.planted {
        Some(_) => "found",
        None => "left alone",
    };
    print_line(&format!(
        "{}  {}: {what} in {right} of {of} searches; {:.1} repeats and {:.0} s on average",
        if is_good { "ok  " } else { "FAIL" },
        kind.name,
        mean(|one| one.repeats),
        mean(|one| one.seconds),
    ));
    is_good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recommendation_is_read_from_the_summary() {
        let tune = serde_json::json!({
            "verdict": "better",
            "winner": {"changes": [{"names": ["batch.size"]}]},
            "phases": [{"repeats": 3}, {"repeats": 8}],
            "took_s": 60.5,
        });
        let found = answer(&tune).unwrap();
        assert_eq!((found.repeats, found.seconds), (11.0, 60.5));
        assert!(is_right(KINDS[0], &found) && !is_right(KINDS[1], &found));
        let nothing = serde_json::json!({
            "verdict": "nothing-helps",
            "winner": {"changes": [{"names": ["batch.size"]}]},
            "phases": [],
            "took_s": 1.0,
        });
        assert!(is_right(KINDS[1], &answer(&nothing).unwrap()));
        assert!(answer(&Value::Null).is_none());
    }
}
