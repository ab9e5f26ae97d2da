//! `cargo xtask compare-check`: does `kgauge compare` find real differences, and no others? Pairs of runs of one
//! scenario must show no difference in 19 of 20, and pairs in which a node has a tenth of its capacity less must show
//! one in 19 of 20; so must sides of several of these runs. On Apache Kafka, whose capacity cannot be cut, there are
//! only pairs without a difference. A table of the spread between equal runs follows, from the same pairs (`between`).

mod between;
mod gate;
mod record;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::built::ProgramOption;
use crate::folders::root;
use crate::say::{print_line, remark};
use crate::stop;
use between::Spreads;
use record::CheckRecord;
pub(crate) use record::setup_of;

/// One in this number of pairs may be wrong.
const WRONG_PER: usize = 20;
/// What takes a tenth of the capacity away, in `capped.yaml`.
const CUT: &str = "full-speed.settings.partitioner.broker=2";

/// Of so few comparisons of sides one may be wrong: at a level of 1 in 20 none of six is in three of four checks only.
const WRONG_SIDES: usize = 1;
/// The scenarios in `xtask/compare`.
const NAMES: [&str; 3] = ["capped", "full", "plain"];

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareOptions {
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Runs of a side, of these pairs; 0: compare no sides
    #[arg(long, value_name = "RUNS", default_value_t = 3)]
    side: usize,
    /// Only this scenario
    #[arg(long, value_name = "NAME", value_parser = NAMES)]
    only: Option<String>,
    /// Apache Kafka, whose capacity cannot be cut [default: embedded]
    #[arg(long, value_name = "kafka:V")]
    target: Option<String>,
    /// Only how often a gate of 10 % finds planted drops of 3, 5, 10 and 20 %, with N pairs each
    #[arg(long, value_name = "N")]
    gate: Option<usize>,
    /// Keep the result as Markdown
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramOption,
}

impl CompareOptions {
    /// The options without paths of this machine.
    fn shown(&self) -> String {
        let mut shown = vec![
            format!("--pairs {}", self.pairs),
            format!("--side {}", self.side),
        ];
        shown.extend(self.only.iter().map(|name| format!("--only {name}")));
        shown.extend(
            self.target
                .iter()
                .map(|target| format!("--target {target}")),
        );
        shown.extend(self.gate.iter().map(|pairs| format!("--gate {pairs}")));
        shown.join(" ")
    }

    fn checks(&self) -> Vec<Check<'_>> {
        let target = self.target.as_deref();
        let all = NAMES.into_iter().map(|name| Check {
            name,
            target: target.unwrap_or("embedded"),
            cut: name == "capped",
        });
        let is_selected =
            |check: &Check<'_>| self.only.as_deref().is_none_or(|only| only == check.name);
        all.filter(|check| is_selected(check) && !(check.cut && target.is_some()))
            .collect()
    }
}

/// A scenario in `xtask/compare` on a target.
#[derive(Clone, Copy, Debug)]
struct Check<'a> {
    name: &'static str,
    target: &'a str,
    /// Whether a third run has a tenth of the capacity less than the first of the pair.
    cut: bool,
}

/// How many comparisons were wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    of: usize,
    /// A difference where there is none.
    same: usize,
    /// No lower throughput where it was cut.
    cut: usize,
}

/// What came out of a check.
#[derive(Debug, Default)]
struct CheckOutcome {
    pairs: Wrong,
    sides: Wrong,
    spreads: Spreads,
}

/// Runs the command. Returns false when too many comparisons were wrong.
pub(crate) fn run(options: &CompareOptions) -> Result<bool> {
    ensure!(
        !options.checks().is_empty(),
        "--only capped needs the embedded cluster: Apache Kafka's capacity cannot be cut"
    );
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let mut folders = RunFolders {
        binary: &binary,
        folder: folder.path(),
        record: CheckRecord::default(),
    };
    let is_good = match options.gate {
        Some(pairs) => gate::check(&mut folders, pairs)?,
        None => folders.checks(options)?,
    };
    if let Some(path) = &options.record {
        folders.record.write(
            path,
            &format!("cargo xtask compare-check {}", options.shown()),
        )?;
        remark(&format!("recorded in {}", path.display()));
    }
    Ok(is_good)
}

/// Where the runs go.
struct RunFolders<'a> {
    binary: &'a Path,
    folder: &'a Path,
    record: CheckRecord,
}

impl RunFolders<'_> {
    fn print(&mut self, text: &str) {
        print_line(text);
        self.record.add(text);
    }

    /// Makes all checks, and prints the spreads between equal runs. True if enough comparisons were right.
    fn checks(&mut self, options: &CompareOptions) -> Result<bool> {
        let mut is_good = true;
        let mut tables = Vec::new();
        for check in options.checks() {
            let found = self.pairs(check, options)?;
            is_good &= self.print_check(check, &found, options.side);
            tables.push(format!(
                "\n{} on {}, {} pairs\n{}",
                check.name,
                check.target,
                options.pairs,
                found.spreads.table()
            ));
        }
        for table in tables {
            self.print(&table);
        }
        Ok(is_good)
    }

    /// Prints how often a check was right. True if that is enough.
    fn print_pair(
        &mut self,
        place: &str,
        what: &str,
        (wrong, of): (usize, usize),
        allowed: usize,
    ) -> bool {
        let good = wrong <= allowed;
        let word = if good { "ok  " } else { "FAIL" };
        self.print(&format!(
            "{word}  {place}: {what} in {} of {of} pairs",
            of - wrong
        ));
        good
    }

    fn print_check(&mut self, check: Check<'_>, found: &CheckOutcome, side: usize) -> bool {
        let Check { name, target, cut } = check;
        let allowed = found.pairs.of / WRONG_PER;
        let kinds = [
            (format!("{name} on {target}"), found.pairs, allowed),
            (
                format!("{name} on {target}, sides of {side} runs"),
                found.sides,
                WRONG_SIDES,
            ),
        ];
        let mut good = true;
        for (place, wrong, allowed) in kinds.into_iter().filter(|(_, wrong, _)| wrong.of > 0) {
            good &= self.print_pair(
                &place,
                "no difference found",
                (wrong.same, wrong.of),
                allowed,
            );
            if cut {
                let what = "a tenth of the capacity less was found";
                good &= self.print_pair(&place, what, (wrong.cut, wrong.of), allowed);
            }
        }
        good
    }

    /// Runs the pairs, and for a cut a third run each. Every second pair runs in the other order, so that changes on
    /// the machine affect both sides alike.
    fn pairs(&mut self, check: Check<'_>, options: &CompareOptions) -> Result<CheckOutcome> {
        let Check { name, target, cut } = check;
        let mut found = CheckOutcome::default();
        let mut side: Vec<usize> = Vec::new();
        for number in 1..=usize::try_from(options.pairs)? {
            let mut order = vec!["one", "other"];
            if cut {
                order.push("cut");
            }
            if number % 2 == 0 {
                order.reverse();
            }
            for which in order {
                let set = (which == "cut").then_some(CUT);
                self.measure(name, target, set, &format!("{which}-{number}"))?;
            }
            let place = format!("{name} on {target}, pair {number} of {}", options.pairs);
            self.judge(
                &place,
                &[number],
                cut,
                &mut found.pairs,
                Some(&mut found.spreads),
            )?;
            side.push(number);
            if side.len() >= options.side.max(1) {
                if options.side > 1 {
                    let place = format!("{name} on {target}, pairs {side:?} as sides");
                    self.judge(&place, &side, cut, &mut found.sides, None)?;
                }
                for number in side.drain(..) {
                    self.remove(number)?;
                }
            }
        }
        for number in side {
            self.remove(number)?;
        }
        Ok(found)
    }

    /// Compares the runs of these pairs, one side with the other and with the cut one. Wrong comparisons are recorded.
    fn judge(
        &mut self,
        place: &str,
        pairs: &[usize],
        cut: bool,
        wrong: &mut Wrong,
        spreads: Option<&mut Spreads>,
    ) -> Result<()> {
        let comparison = self.comparison(pairs, "other")?;
        if let Some(spreads) = spreads {
            spreads.add(&comparison);
        }
        self.record.setup_of(&comparison);
        let differences = found(&comparison);
        wrong.of += 1;
        wrong.same += usize::from(!differences.is_empty());
        let line = format!("{place}: {}", words(&differences));
        remark(&line);
        if !differences.is_empty() {
            self.record.add(&line);
        }
        if cut {
            let differences = found(&self.comparison(pairs, "cut")?);
            let slower = differences
                .iter()
                .any(|words| words.starts_with("throughput: slower"));
            wrong.cut += usize::from(!slower);
            let line = format!("{place}, a tenth less: {}", words(&differences));
            remark(&line);
            if !slower {
                self.record.add(&line);
            }
        }
        Ok(())
    }

    fn remove(&self, number: usize) -> Result<()> {
        for which in ["one", "other", "cut"] {
            let dir = self.folder.join(format!("{which}-{number}"));
            if dir.exists() {
                fs::remove_dir_all(&dir)?;
            }
        }
        Ok(())
    }

    fn measure(&self, name: &str, target: &str, set: Option<&str>, out: &str) -> Result<()> {
        stop::check()?;
        let mut command = Command::new(self.binary);
        command
            .arg("run")
            .arg(root().join(format!("xtask/compare/{name}.yaml")))
            .args(["--target", target])
            .args(["--out", out]);
        if let Some(set) = set {
            command.args(["--set", set]);
        }
        self.call(command).map(|_| ())
    }

    /// The comparison of the first runs of these pairs with their other ones. One that judged nothing is an error.
    fn comparison(&self, pairs: &[usize], other: &str) -> Result<Value> {
        let side = |which: &str| -> Vec<String> {
            pairs
                .iter()
                .map(|number| format!("{which}-{number}"))
                .collect()
        };
        let mut command = Command::new(self.binary);
        command.arg("compare").args(side("one"));
        if pairs.len() > 1 {
            command.arg("--with");
        }
        command.args(side(other)).args(["--as", "json"]);
        let comparison: Value =
            serde_json::from_slice(&self.call(command)?).context("the comparison is not JSON")?;
        let decided = comparison["method"]["comparisons"].as_u64().unwrap_or(0);
        ensure!(decided > 0, "no figure could be judged: {comparison}");
        Ok(comparison)
    }

    fn call(&self, mut command: Command) -> Result<Vec<u8>> {
        let ended = command
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .output()?;
        let stderr = String::from_utf8_lossy(&ended.stderr);
        ensure!(
            ended.status.success(),
            "{command:?}: {}\n{stderr}",
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

    fn parse(words: &[&str]) -> Result<CompareOptions, clap::Error> {
        #[derive(clap::Parser)]
        struct CompareCheck {
            #[command(flatten)]
            options: CompareOptions,
        }
        let words = ["compare-check"].iter().chain(words);
        <CompareCheck as clap::Parser>::try_parse_from(words).map(|check| check.options)
    }

    #[test]
    fn checks_are_chosen_by_name_and_target() {
        let names = |words: &[&str]| -> Vec<&str> {
            let options = parse(words).unwrap();
            let checks = options.checks();
            checks.iter().map(|check| check.name).collect()
        };
        assert_eq!(names(&[]), NAMES);
        assert_eq!(names(&["--only", "plain"]), ["plain"]);
        let kafka = ["--target", "kafka:4.3.1"];
        assert_eq!(
            names(&kafka),
            ["full", "plain"],
            "nobody can cut its capacity"
        );
        assert!(names(&[&kafka[..], &["--only", "capped"]].concat()).is_empty());
        assert!(parse(&["--only", "other"]).is_err());
    }

    #[test]
    fn a_record_has_no_paths_of_the_machine() {
        let words = [
            "--binary",
            "/home/me/kgauge",
            "--pairs",
            "5",
            "--record",
            "/home/me/x",
        ];
        assert_eq!(parse(&words).unwrap().shown(), "--pairs 5 --side 3");
    }
}
