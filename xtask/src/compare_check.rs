//! `cargo xtask compare-check`: does `kgauge compare` find what is there, and nothing else? Pairs of runs of one scenario
//! must show no difference in 19 of 20, and pairs in which a node has a tenth of its capacity less must show one in
//! 19 of 20. Also with Apache Kafka, whose capacity nobody can cut: only pairs without a difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::built;
use crate::codegen::root;
use crate::say::{remark, say};
use crate::stop;

/// Of so many pairs one may be wrong.
const WRONG_PER: usize = 20;
/// What takes a tenth of the capacity away, in `capped.yaml`.
const CUT: &str = "full-speed.settings.partitioner.broker=2";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    pairs: usize,
    binary: Option<PathBuf>,
    target: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            pairs: 20,
            binary: None,
            target: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next();
            match (argument.as_str(), value) {
                ("--pairs", Some(number)) => options.pairs = number.parse()?,
                ("--binary", Some(path)) => options.binary = Some(path.into()),
                ("--target", Some(target)) => options.target = Some(target.clone()),
                _ => bail!(
                    "compare-check takes --pairs N, --binary PATH and --target kafka:V, not {argument:?}"
                ),
            }
        }
        ensure!(options.pairs > 0, "--pairs 0 would check nothing");
        Ok(options)
    }
}

/// A scenario in `xtask/compare` on a target.
#[derive(Clone, Copy, Debug)]
struct Check<'a> {
    name: &'a str,
    target: &'a str,
    /// Whether a third run has a tenth of the capacity less than the first of the pair.
    cut: bool,
}

/// Of how many pairs the comparison said something wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    /// A difference where there is none.
    same: usize,
    /// No lower throughput where it was cut.
    cut: usize,
}

/// Runs the command with what stood after its name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    stop::listen()?;
    let options = Options::parse(arguments)?;
    let binary = match &options.binary {
        Some(path) => path.canonicalize()?,
        None => built::kgauge()?,
    };
    let folder = tempfile::tempdir()?;
    let site = Site {
        binary: &binary,
        folder: folder.path(),
    };
    let check = |name, target, cut| Check { name, target, cut };
    let checks = match &options.target {
        Some(target) => vec![check("plain", target.as_str(), false)],
        None => vec![
            check("capped", "embedded", true),
            check("plain", "embedded", false),
        ],
    };
    let mut good = true;
    for check in checks {
        let wrong = site.pairs(check, options.pairs)?;
        good &= tell(check, "no difference found", wrong.same, options.pairs);
        if check.cut {
            let what = "a tenth of the capacity less was found";
            good &= tell(check, what, wrong.cut, options.pairs);
        }
    }
    Ok(match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Says how often a check was right; returns whether that is enough.
fn tell(check: Check<'_>, what: &str, wrong: usize, pairs: usize) -> bool {
    let good = wrong <= pairs / WRONG_PER;
    let word = if good { "ok  " } else { "FAIL" };
    let right = pairs - wrong;
    let Check { name, target, .. } = check;
    say(&format!(
        "{word}  {name} on {target}: {what} in {right} of {pairs} pairs"
    ));
    good
}

/// Where the runs go.
struct Site<'a> {
    binary: &'a Path,
    folder: &'a Path,
}

impl Site<'_> {
    /// Runs the pairs, and where a cut is asked for a third run each.
    fn pairs(&self, check: Check<'_>, count: usize) -> Result<Wrong> {
        let Check { name, target, cut } = check;
        let mut wrong = Wrong::default();
        for number in 1..=count {
            self.measure(name, target, None, "one")?;
            self.measure(name, target, None, "other")?;
            let place = format!("{name} on {target}, pair {number} of {count}");
            let found = self.found("other")?;
            wrong.same += usize::from(!found.is_empty());
            remark(&format!("{place}: {}", words(&found)));
            if cut {
                self.measure(name, target, Some(CUT), "cut")?;
                let found = self.found("cut")?;
                let slower = found
                    .iter()
                    .any(|words| words.starts_with("throughput: slower"));
                wrong.cut += usize::from(!slower);
                remark(&format!("{place}, a tenth less: {}", words(&found)));
            }
        }
        Ok(wrong)
    }

    fn measure(&self, name: &str, target: &str, set: Option<&str>, out: &str) -> Result<()> {
        stop::check()?;
        let dir = self.folder.join(out);
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        let mut command = Command::new(self.binary);
        command
            .arg("run")
            .arg(root().join(format!("xtask/compare/{name}.yaml")))
            .args(["--target", target])
            .arg("--out")
            .arg(&dir);
        if let Some(set) = set {
            command.args(["--set", set]);
        }
        self.call(command).map(|_| ())
    }

    /// What differs between the first run and this one. A comparison that judged nothing is an error.
    fn found(&self, other: &str) -> Result<Vec<String>> {
        let mut command = Command::new(self.binary);
        command.args(["compare", "one", other, "--as", "json"]);
        let comparison: Value =
            serde_json::from_slice(&self.call(command)?).context("the comparison is no JSON")?;
        let decided = comparison["method"]["comparisons"].as_u64().unwrap_or(0);
        ensure!(decided > 0, "no figure could be judged: {comparison}");
        Ok(found(&comparison))
    }

    fn call(&self, mut command: Command) -> Result<Vec<u8>> {
        let ended = command
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&ended.stderr);
        ensure!(
            ended.status.success(),
            "{command:?}: {}\n{said}",
            ended.status
        );
        Ok(ended.stdout)
    }
}

fn words(found: &[String]) -> String {
    match found {
        [] => "no difference found".to_owned(),
        found => found.join("; "),
    }
}

/// What a comparison calls different: `throughput: slower, 0.900 times the baseline ...`.
fn found(comparison: &Value) -> Vec<String> {
    let rows = comparison["rows"].as_array().into_iter().flatten();
    let mut found = Vec::new();
    for row in rows {
        let figure = row["figure"].as_str().unwrap_or_default();
        for cell in row["cells"].as_array().into_iter().flatten() {
            let word = cell["against"]["word"].as_str().unwrap_or_default();
            if ["faster", "slower", "cheaper", "dearer", "smaller", "larger"].contains(&word) {
                let why = cell["against"]["why"].as_str().unwrap_or_default();
                found.push(format!("{figure}: {word}, {why}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_for_differences_are_differences() {
        let cell = |word: &str| serde_json::json!({"against": {"word": word, "why": "so"}});
        let row = serde_json::json!({"figure": "throughput", "cells": [
            {"against": null}, cell("no-difference"), cell("undecided"), cell("slower")]});
        let comparison = serde_json::json!({"rows": [row]});
        assert_eq!(found(&comparison), ["throughput: slower, so"]);
        assert!(found(&serde_json::json!({})).is_empty());
    }

    #[test]
    fn flags_that_it_does_not_know_are_refused() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Options::parse(&words)
        };
        assert_eq!(parse(&[]).unwrap().pairs, 20);
        assert_eq!(parse(&["--pairs", "2"]).unwrap().pairs, 2);
        assert!(parse(&["--pairs"]).is_err() && parse(&["--pairs", "0"]).is_err());
    }
}
