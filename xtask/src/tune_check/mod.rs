//! `cargo xtask tune-check`: does `kgauge tune` find a planted winner, and leave settings alone that do nothing? Of
//! each kind, 19 of 20 searches must be right. Answers are kept in a folder, so that the check can be made in parts and
//! goes on where it was stopped. Simulated searches are tests of `kgauge-analyze`.

mod beside;
mod kinds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::built::ProgramOption;
use crate::folders::root;
use crate::say::{print_line, remark};
use crate::stop;
use beside::OtherSearches;
use kinds::{KINDS, SearchKind};

/// One in this number of searches may be wrong.
const WRONG_PER: usize = 20;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct TuneCheckOptions {
    /// Seeds of the searches of each kind
    #[arg(long, value_name = "FROM-TO", default_value = "1-20", value_parser = seed_range)]
    seeds: SeedRange,
    /// Only these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = KINDS.map(|kind| kind.name))]
    only: Vec<String>,
    /// Also measure a grid of all combinations for each seed, and draw a random search from it
    #[arg(long)]
    beside: bool,
    /// Folder of the answers; searches that it has are not made again
    #[arg(long, value_name = "DIR", default_value = "target/tune-check")]
    answers: PathBuf,
    #[command(flatten)]
    program: ProgramOption,
}

/// The first and the last seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeedRange {
    first: u32,
    last: u32,
}

fn seed_range(text: &str) -> Result<SeedRange, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(SeedRange { first, last }),
        _ => Err("write two numbers, such as 1-20, or one".to_owned()),
    }
}

/// The answer of one search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SearchAnswer {
    verdict: String,
    /// The settings that it recommends.
    recommended: Vec<String>,
    repeats: f64,
    /// The time of the whole command.
    seconds: f64,
    /// What a grid and a random search would have said, if they were measured.
    #[serde(default)]
    beside: Option<OtherSearches>,
}

/// Runs the command. Returns false when too many searches were wrong.
pub(crate) fn run(options: &TuneCheckOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let folder = root().join(&options.answers);
    fs::create_dir_all(&folder)?;
    let names = &options.only;
    let selected: Vec<SearchKind> = match names.is_empty() {
        true => KINDS.to_vec(),
        false => names
            .iter()
            .filter_map(|name| SearchKind::named(name))
            .collect(),
    };
    let mut is_good = true;
    for kind in selected {
        let mut answers = Vec::new();
        let seeds = options.seeds.first..=options.seeds.last;
        let count = seeds.clone().count();
        for seed in seeds {
            stop::check()?;
            let file = folder.join(format!("{}-{seed}.json", kind.name));
            match answer_of(&binary, kind, seed, &file, options.beside) {
                Ok(answer) => answers.push(answer),
                // A cluster that does not start must not cost the searches of hours.
                Err(error) => remark(&format!("{} {seed}: {error:#}", kind.name)),
            }
        }
        stop::check()?;
        is_good &= print_kind(kind, &answers, count);
    }
    Ok(is_good)
}

/// The answer for a seed: that in its file, or that of a new search.
fn answer_of(
    binary: &Path,
    kind: SearchKind,
    seed: u32,
    file: &Path,
    with_others: bool,
) -> Result<SearchAnswer> {
    let mut answer = match fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged; remove it", file.display()))?,
        Err(_) => {
            let answer = search(binary, kind, seed)?;
            write(file, &answer)?;
            answer
        }
    };
    if with_others && answer.beside.is_none() {
        answer.beside = Some(beside::search(binary, kind, seed)?);
        write(file, &answer)?;
    }
    remark(&format!(
        "{} {seed}: {} {:?} after {} repeats, {:.0} s",
        kind.name, answer.verdict, answer.recommended, answer.repeats, answer.seconds
    ));
    Ok(answer)
}

fn write(file: &Path, answer: &SearchAnswer) -> Result<()> {
    fs::write(file, serde_json::to_vec_pretty(answer)?)
        .with_context(|| format!("cannot write {}", file.display()))
}

/// One search.
fn search(binary: &Path, kind: SearchKind, seed: u32) -> Result<SearchAnswer> {
    let folder = tempfile::tempdir()?;
    let candidates = kind
        .settings()
        .map(|one| format!("--candidate={}={}", one.path, one.new));
    let goal = match kind.is_latency {
        true => "latency",
        false => "throughput",
    };
    let began = Instant::now();
    let ended = Command::new(binary)
        .args(["tune", kind.scenario, "--target", kind.target])
        .args(["--goal", goal, "--budget", kind.budget])
        .args(candidates)
        .args(["--json", "--seed", &seed.to_string()])
        .arg("--out")
        .arg(folder.path().join("run"))
        .current_dir(root().join("xtask/compare"))
        .stdin(Stdio::null())
        .output()?;
    let seconds = began.elapsed().as_secs_f64();
    // 2 is an inconclusive search.
    ensure!(
        matches!(ended.status.code(), Some(0 | 2)),
        "{}\n{}",
        ended.status,
        String::from_utf8_lossy(&ended.stderr)
    );
    let summary: Value = serde_json::from_slice(&ended.stdout).context("the summary is no JSON")?;
    answer(&summary["tune"], seconds).context("the summary has no search")
}

/// What the part `tune` of a summary says.
fn answer(tune: &Value, seconds: f64) -> Option<SearchAnswer> {
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
        seconds,
        beside: None,
        verdict,
    })
}

/// Whether the settings that change are right: the planted one is among them, or there are none.
fn is_right(kind: SearchKind, changed: &[String]) -> bool {
    match kind.planted {
        Some(planted) => changed.iter().any(|name| name == planted.name()),
        None => changed.is_empty(),
    }
}

/// Whether nothing else changes either.
fn is_exact(kind: SearchKind, changed: &[String]) -> bool {
    is_right(kind, changed) && changed.len() == usize::from(kind.planted.is_some())
}

/// Prints how often a kind was right and what it cost. True if that is enough. Searches without an answer are wrong.
fn print_kind(kind: SearchKind, answers: &[SearchAnswer], of: usize) -> bool {
    let count = |is_it: fn(SearchKind, &[String]) -> bool| {
        let found = answers.iter().filter(|one| is_it(kind, &one.recommended));
        found.count()
    };
    let right = count(is_right);
    let is_good = of - right <= of / WRONG_PER;
    let mean = |value: fn(&SearchAnswer) -> f64| {
        answers.iter().map(value).sum::<f64>() / answers.len().max(1) as f64
    };
    let what = match kind.planted {
        Some(_) => "found",
        None => "left alone",
    };
    print_line(&format!(
        "{}  {}: {what} in {right} of {of} searches, exactly in {}; {:.1} repeats and {:.0} s on average",
        if is_good { "ok  " } else { "FAIL" },
        kind.name,
        count(is_exact),
        mean(|one| one.repeats),
        mean(|one| one.seconds),
    ));
    print_others(kind, answers);
    is_good
}

/// Prints what the other searches chose, as far as they were measured.
fn print_others(kind: SearchKind, answers: &[SearchAnswer]) {
    let others: Vec<&OtherSearches> = answers
        .iter()
        .filter_map(|one| one.beside.as_ref())
        .collect();
    let Some(first) = others.first() else {
        return;
    };
    let exact = |chosen: fn(&OtherSearches) -> &[String]| {
        let found = others.iter().filter(|one| is_exact(kind, chosen(one)));
        found.count()
    };
    let seconds = others.iter().map(|one| one.seconds).sum::<f64>() / others.len() as f64;
    print_line(&format!(
        "      a grid of {} combinations: exactly in {} of {}, {seconds:.0} s; a random search in half of it: exactly in \
         {}, {:.0} s",
        first.combinations,
        exact(|one| &one.grid),
        others.len(),
        exact(|one| &one.random),
        seconds / 2.0,
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> SearchKind {
        SearchKind::named(name).unwrap()
    }

    #[test]
    fn a_recommendation_is_read_from_the_summary() {
        let tune = serde_json::json!({
            "verdict": "better",
            "winner": {"changes": [{"names": ["batch.size"]}]},
            "phases": [{"repeats": 3}, {"repeats": 8}],
        });
        let found = answer(&tune, 60.5).unwrap();
        assert_eq!((found.repeats, found.seconds), (11.0, 60.5));
        assert!(is_exact(kind("batch"), &found.recommended));
        assert!(!is_right(kind("null"), &found.recommended));
        let nothing = serde_json::json!({
            "verdict": "nothing-helps",
            "winner": {"changes": [{"names": ["batch.size"]}]},
            "phases": [],
        });
        let found = answer(&nothing, 1.0).unwrap();
        assert!(is_right(kind("null"), &found.recommended));
        assert!(answer(&Value::Null, 1.0).is_none());
    }

    #[test]
    fn answers_of_earlier_parts_are_read_again() {
        let answer = SearchAnswer {
            verdict: "better".to_owned(),
            recommended: vec!["topic.partitions".to_owned()],
            repeats: 40.0,
            seconds: 80.0,
            beside: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("partitions-1.json");
        write(&file, &answer).unwrap();
        // No program is needed for a search that was made.
        let nobody = Path::new("/nonexistent");
        let again = answer_of(nobody, kind("partitions"), 1, &file, false).unwrap();
        assert_eq!(again, answer);
        assert!(is_exact(kind("partitions"), &again.recommended));
    }

    #[test]
    fn a_search_without_an_answer_is_wrong() {
        let right = SearchAnswer {
            verdict: "better".to_owned(),
            recommended: vec!["batch.size".to_owned()],
            repeats: 40.0,
            seconds: 80.0,
            beside: None,
        };
        assert!(print_kind(kind("batch"), &vec![right.clone(); 19], 20));
        assert!(!print_kind(kind("batch"), &vec![right; 18], 20));
    }

    #[test]
    fn seeds_are_a_range_or_one() {
        assert_eq!(seed_range("3-5"), Ok(SeedRange { first: 3, last: 5 }));
        assert_eq!(seed_range("7"), Ok(SeedRange { first: 7, last: 7 }));
        assert!(seed_range("5-3").is_err() && seed_range("x").is_err());
    }
}
