//! `cargo xtask tune-check`: does `kgauge tune` find a planted winner, and leave settings alone that do nothing? Of
//! each kind, 19 of 20 searches must be right. Answers are kept in a folder, so that the check can be made in parts and
//! goes on where it was stopped. Simulated searches are tests of `kgauge-analyze`.

mod beside;
mod kinds;
mod outcome;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::built::{ProgramOption, fingerprint};
use crate::folders::root;
use crate::kafka::Job;
use crate::say::{print_line, remark};
use crate::session_time::{SessionClock, SessionLimit};
use crate::stop;
use beside::OtherSearches;
use kinds::{KINDS, SearchKind};
use outcome::KindOutcome;

/// The verdict of a search that could not judge the settings in force.
const REFUSED: &str = "refused";
/// `--quick` makes this number of searches of each kind.
const QUICK_SEEDS: u32 = 3;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct TuneCheckOptions {
    /// Seeds of the searches of each kind
    #[arg(long, value_name = "FROM-TO", default_value = "1-20", value_parser = seed_range)]
    seeds: SeedRange,
    /// Only these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = KINDS.map(|kind| kind.name))]
    only: Vec<String>,
    /// Only the first three seeds, for a first look
    #[arg(long)]
    quick: bool,
    /// Also measure a grid of all combinations for each seed, and draw a random search from it
    #[arg(long)]
    beside: bool,
    /// Make no search: print the answers that are there
    #[arg(long)]
    answered: bool,
    /// Folder of the answers; searches that it has are not made again
    #[arg(long, value_name = "DIR", default_value = "target/tune-check")]
    answers: PathBuf,
    #[command(flatten)]
    session: SessionLimit,
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

impl TuneCheckOptions {
    fn kinds(&self) -> Vec<SearchKind> {
        match self.only.is_empty() {
            true => KINDS.to_vec(),
            false => self
                .only
                .iter()
                .filter_map(|name| SearchKind::named(name))
                .collect(),
        }
    }

    fn seeds(&self) -> std::ops::RangeInclusive<u32> {
        let SeedRange { first, last } = self.seeds;
        match self.quick {
            true => first..=last.min(first.saturating_add(QUICK_SEEDS - 1)),
            false => first..=last,
        }
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
    /// The build that made it.
    #[serde(default)]
    build: String,
    /// What a grid and a random search would have said, if they were measured.
    #[serde(default)]
    beside: Option<OtherSearches>,
}

/// Runs the command. Returns false when too many searches were wrong, or some are still to be made.
pub(crate) fn run(options: &TuneCheckOptions) -> Result<bool> {
    let clock = options.session.start();
    let folder = root().join(&options.answers);
    fs::create_dir_all(&folder)?;
    let program = match options.answered {
        true => None,
        false => Some(SearchProgram::of(options)?),
    };
    let searches = Searches {
        program,
        folder,
        with_others: options.beside,
        clock,
    };
    let mut is_good = true;
    for kind in options.kinds() {
        let mut answers = Vec::new();
        for seed in options.seeds() {
            stop::check()?;
            match searches.answer(kind, seed) {
                Ok(answer) => answers.extend(answer),
                // A cluster that does not start must not cost the searches of hours.
                Err(error) => remark(&format!("{} {seed}: {error:#}", kind.name)),
            }
        }
        stop::check()?;
        let outcome = KindOutcome::of(kind, &answers, options.seeds().count());
        outcome.lines().iter().for_each(|line| print_line(line));
        is_good &= outcome.is_good();
    }
    Ok(is_good)
}

/// The kgauge that makes searches.
struct SearchProgram {
    binary: PathBuf,
    build: String,
}

impl SearchProgram {
    fn of(options: &TuneCheckOptions) -> Result<SearchProgram> {
        let binary = options.program.kgauge()?;
        let build = fingerprint(&binary)?;
        Ok(SearchProgram { binary, build })
    }
}

/// Answers that are there, and new ones as long as there is time.
struct Searches {
    /// Absent if only answers that are there count.
    program: Option<SearchProgram>,
    folder: PathBuf,
    with_others: bool,
    clock: SessionClock,
}

impl Searches {
    /// The answer for a seed: that in its file, or that of a new search. `None` without time for one.
    fn answer(&self, kind: SearchKind, seed: u32) -> Result<Option<SearchAnswer>> {
        let file = self.folder.join(format!("{}-{seed}.json", kind.name));
        let program = self.program.as_ref();
        let in_time = |expected| program.filter(|_| self.clock.has(expected));
        let mut answer = match (read(&file)?, in_time(kind.time())) {
            (Some(answer), _) => answer,
            (None, Some(program)) => {
                let answer = search(program, kind, seed)?;
                write(&file, &answer)?;
                answer
            }
            (None, None) => return Ok(None),
        };
        let others = in_time(beside::TIME_MAX).filter(|_| self.with_others);
        if let Some(program) = others.filter(|_| answer.beside.is_none()) {
            answer.beside = Some(beside::search(&program.binary, kind, seed)?);
            write(&file, &answer)?;
        }
        remark(&format!(
            "{} {seed}: {} {:?} after {} repeats, {:.0} s",
            kind.name, answer.verdict, answer.recommended, answer.repeats, answer.seconds
        ));
        Ok(Some(answer))
    }
}

fn read(file: &Path) -> Result<Option<SearchAnswer>> {
    let Ok(bytes) = fs::read(file) else {
        return Ok(None);
    };
    let answer = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is damaged; remove it", file.display()))?;
    Ok(Some(answer))
}

fn write(file: &Path, answer: &SearchAnswer) -> Result<()> {
    fs::write(file, serde_json::to_vec_pretty(answer)?)
        .with_context(|| format!("cannot write {}", file.display()))
}

/// One search.
fn search(program: &SearchProgram, kind: SearchKind, seed: u32) -> Result<SearchAnswer> {
    let folder = tempfile::tempdir()?;
    let candidates = kind
        .settings()
        .map(|one| format!("--candidate={}={}", one.path, one.new));
    let goal = match kind.is_latency {
        true => "latency",
        false => "throughput",
    };
    let mut command = Command::new(&program.binary);
    command
        .args(["tune", kind.scenario, "--target", kind.target])
        .args(["--goal", goal])
        .args(["--budget", &format!("{} min", kind.budget_min)])
        .args(candidates)
        .args(["--json", "--seed", &seed.to_string()])
        .arg("--out")
        .arg(folder.path().join("run"))
        .current_dir(root().join("xtask/compare"));
    // A search ends by its budget. One that does not is ended after twice that time.
    let words = format!("kgauge tune {}", kind.scenario);
    let ended = Job::new(words, command, 2 * kind.time()).run()?;
    let code = ended.status.and_then(|status| status.code());
    // 2 is an inconclusive search.
    ensure!(
        matches!(code, Some(0 | 2)),
        "{}: {:?}\n{}",
        ended.words,
        ended.status,
        ended.stderr
    );
    let summary: Value = serde_json::from_str(&ended.stdout).context("the summary is not JSON")?;
    let answer = answer(&summary["tune"], ended.took.as_secs_f64());
    let answer = answer.context("the summary has no search")?;
    // Settings in force that cannot be judged say nothing of the search, whatever is planted.
    ensure!(answer.verdict != REFUSED, "nothing was tried");
    Ok(SearchAnswer {
        build: program.build.clone(),
        ..answer
    })
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
        build: String::new(),
        beside: None,
        verdict,
    })
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
        assert!(kind("batch").is_exact(&found.recommended));
        assert!(!kind("null").is_right(&found.recommended));
        let nothing = serde_json::json!({
            "verdict": "nothing-helps",
            "winner": {"changes": [{"names": ["batch.size"]}]},
            "phases": [],
        });
        let found = answer(&nothing, 1.0).unwrap();
        assert!(kind("null").is_right(&found.recommended));
        assert!(answer(&Value::Null, 1.0).is_none());
    }

    #[test]
    fn answers_of_earlier_parts_are_read_again_and_others_need_a_program() {
        let answer = SearchAnswer {
            verdict: "better".to_owned(),
            recommended: vec!["topic.partitions".to_owned()],
            repeats: 40.0,
            seconds: 80.0,
            build: "one".to_owned(),
            beside: None,
        };
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("partitions-1.json"), &answer).unwrap();
        let searches = Searches {
            program: None,
            folder: folder.path().to_owned(),
            with_others: true,
            clock: SessionLimit::default().start(),
        };
        let found = |seed| searches.answer(kind("partitions"), seed).unwrap();
        assert_eq!((found(1), found(2)), (Some(answer), None));
        std::fs::write(folder.path().join("partitions-3.json"), "{").unwrap();
        assert!(searches.answer(kind("partitions"), 3).is_err());
    }

    #[test]
    fn seeds_are_a_range_or_one() {
        assert_eq!(seed_range("3-5"), Ok(SeedRange { first: 3, last: 5 }));
        assert_eq!(seed_range("7"), Ok(SeedRange { first: 7, last: 7 }));
        assert!(seed_range("5-3").is_err() && seed_range("x").is_err());
    }
}
