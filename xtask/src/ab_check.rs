//! `cargo xtask ab-check`: does `kgauge ab` find a planted difference, and none between equal sides? A node that lets
//! through 5 % less must be found in 19 of 20 tests, and equal sides may be called different in 1 of 20, with and
//! without noise. Pairs and seconds are shown next to those of a test with a fixed number of blocks.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::built::ProgramOption;
use crate::folders::root;
use crate::say::{print_line, remark};
use crate::stop;

/// One in this number of tests may be wrong.
const WRONG_PER: usize = 20;
/// The planted difference: the node lets through 19 of 20 thousand records.
const PLANTED: f64 = 0.05;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct AbCheckOptions {
    /// Tests of each kind
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    tests: u32,
    /// Only this kind
    #[arg(long, value_name = "KIND", value_parser = KINDS.map(|kind| kind.name))]
    only: Option<String>,
    #[command(flatten)]
    program: ProgramOption,
}

/// A kind of test.
#[derive(Clone, Copy, Debug)]
struct TestKind {
    name: &'static str,
    /// What its sides are, for `kgauge ab` in the folder with the scenarios.
    sides: &'static [&'static str],
    /// The right answer.
    is_different: bool,
}

const KINDS: [TestKind; 5] = [
    TestKind {
        name: "planted",
        sides: &[
            "gate.yaml",
            "--a",
            "full-speed.settings.partitioner.broker=1",
            "--b",
            "full-speed.settings.partitioner.broker=3",
        ],
        is_different: true,
    },
    TestKind {
        name: "planted-noisy",
        sides: &[
            "noisy.yaml",
            "--a",
            "full-speed.settings.partitioner.broker=1",
            "--b",
            "full-speed.settings.partitioner.broker=3",
        ],
        is_different: true,
    },
    TestKind {
        name: "equal-noisy",
        sides: &[
            "noisy.yaml",
            "--a",
            "full-speed.settings.partitioner.broker=1",
            "--b",
            "full-speed.settings.partitioner.broker=2",
        ],
        is_different: false,
    },
    TestKind {
        name: "equal-limited",
        sides: &["capped.yaml", "./capped.yaml"],
        is_different: false,
    },
    TestKind {
        name: "equal-full-speed",
        sides: &["full.yaml", "./full.yaml"],
        is_different: false,
    },
];

/// The answer of one test.
#[derive(Debug)]
struct TestAnswer {
    is_different: bool,
    verdict: String,
    pairs: f64,
    seconds: f64,
    noise: f64,
}

/// Runs the command. Returns false when too many tests were wrong.
pub(crate) fn run(options: &AbCheckOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let mut is_good = true;
    let selected = |kind: &TestKind| options.only.as_deref().is_none_or(|only| only == kind.name);
    for kind in KINDS.into_iter().filter(selected) {
        let mut answers = Vec::new();
        for number in 1..=options.tests {
            stop::check()?;
            let out = folder.path().join(format!("{}-{number}", kind.name));
            let answer = test(&binary, kind, &out, number)?;
            remark(&format!(
                "{} {number} of {}: {} after {} pairs, {:.0} s",
                kind.name, options.tests, answer.verdict, answer.pairs, answer.seconds
            ));
            std::fs::remove_dir_all(&out)?;
            answers.push(answer);
        }
        is_good &= print_kind(kind, &answers);
    }
    Ok(is_good)
}

/// One test with its own seed.
fn test(binary: &Path, kind: TestKind, out: &Path, seed: u32) -> Result<TestAnswer> {
    let ended = Command::new(binary)
        .arg("ab")
        .args(kind.sides)
        .args(["--target", "embedded", "--budget", "10 min", "--json"])
        .args(["--seed", &seed.to_string()])
        .arg("--out")
        .arg(out)
        .current_dir(root().join("xtask/compare"))
        .stdin(Stdio::null())
        .output()?;
    // 2 is an inconclusive test.
    ensure!(
        matches!(ended.status.code(), Some(0 | 2)),
        "{}: {}\n{}",
        kind.name,
        ended.status,
        String::from_utf8_lossy(&ended.stderr)
    );
    let summary: Value =
        serde_json::from_slice(&ended.stdout).context("the summary is not JSON")?;
    answer(&summary["ab"]).context("the summary has no A/B test")
}

/// What the part `ab` of a summary says.
fn answer(ab: &Value) -> Option<TestAnswer> {
    let verdict = ab["verdict"].as_str()?.to_owned();
    Some(TestAnswer {
        is_different: verdict == "different",
        verdict,
        pairs: ab["pairs"].as_f64()?,
        seconds: ab["took_s"].as_f64()?,
        noise: ab["noise"].as_f64().unwrap_or(0.0),
    })
}

/// Blocks of a t test that finds the planted difference in 95 % of tests, if this noise is known in advance: the
/// squared ratio of the sum of both normal quantiles to the difference, and two for the unknown variance.
fn fixed_blocks(noise: f64) -> f64 {
    let needed = (1.96 + 1.645) * noise / PLANTED.ln_1p();
    (needed * needed).ceil() + 2.0
}

/// Prints how often a kind was right and what it cost. True if that is enough.
fn print_kind(kind: TestKind, answers: &[TestAnswer]) -> bool {
    let of = answers.len();
    let is_wrong = |answer: &&TestAnswer| answer.is_different != kind.is_different;
    let wrong = answers.iter().filter(is_wrong).count();
    let is_good = wrong <= of / WRONG_PER;
    let mean =
        |value: fn(&TestAnswer) -> f64| answers.iter().map(value).sum::<f64>() / of.max(1) as f64;
    let (pairs, seconds, noise) = (
        mean(|one| one.pairs),
        mean(|one| one.seconds),
        mean(|one| one.noise),
    );
    let fixed = fixed_blocks(noise);
    let what = match kind.is_different {
        true => "found",
        false => "not called different",
    };
    print_line(&format!(
        "{}  {}: {what} in {} of {of} tests; {pairs:.1} pairs and {seconds:.0} s on average, noise {:.2} %; \
         {fixed:.0} pairs and {:.0} s with fixed blocks",
        if is_good { "ok  " } else { "FAIL" },
        kind.name,
        of - wrong,
        100.0 * noise,
        seconds / pairs.max(1.0) * fixed,
    ));
    is_good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_from_the_summary() {
        let ab =
            serde_json::json!({"verdict": "different", "pairs": 7, "took_s": 31.5, "noise": 0.03});
        let found = answer(&ab).unwrap();
        assert!(found.is_different);
        assert_eq!((found.pairs, found.seconds), (7.0, 31.5));
        assert!(answer(&Value::Null).is_none());
    }

    #[test]
    fn fixed_blocks_grow_with_the_square_of_the_noise() {
        // (3.605 * 0.05 / 0.04879)^2 = 13.65.
        assert_eq!(fixed_blocks(0.05), 16.0);
        assert_eq!(fixed_blocks(0.0), 2.0);
    }

    #[test]
    fn one_wrong_test_of_twenty_is_allowed() {
        let tests = |wrong: usize| {
            let one = |index| TestAnswer {
                is_different: index >= wrong,
                verdict: String::new(),
                pairs: 7.0,
                seconds: 30.0,
                noise: 0.01,
            };
            (0..20).map(one).collect::<Vec<_>>()
        };
        assert!(print_kind(KINDS[0], &tests(1)));
        assert!(!print_kind(KINDS[0], &tests(2)));
    }
}
