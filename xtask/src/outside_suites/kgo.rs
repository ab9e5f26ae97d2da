//! franz-go's tests of its package kgo, fetched from the Go module proxy by the ordinary `go` command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::prepare;
use super::verdict::TestOutcome;
use crate::kafka::{FinishedJob, Job};

const MODULE: &str = "github.com/twmb/franz-go@v1.22.2";
/// Tests that wait for ever for a feature that is missing. They are left out and count as failed.
const ENDLESS: &[&str] = &["TestTxnEtl"];
/// `go test` itself ends the suite a little earlier and says which test still ran.
const TESTS_MAX: Duration = Duration::from_secs(2460);
const GO_TIMEOUT: &str = "40m";

/// Fetches the module; gives the folder of the package.
pub(super) fn fetch(kept: &Path) -> Result<PathBuf> {
    let mut command = go(kept);
    command
        .args(["mod", "download", "-json", MODULE])
        .current_dir(kept);
    let stdout = prepare(&format!("go mod download {MODULE}"), command)?.stdout;
    let facts: Value = serde_json::from_str(&stdout)?;
    let folder = facts["Dir"].as_str().context("go names no folder")?;
    Ok(Path::new(folder).join("pkg/kgo"))
}

/// The `go` command with a cache of modules below `target`.
fn go(kept: &Path) -> Command {
    let mut command = Command::new("go");
    command.env("GOMODCACHE", kept.join("go-modules"));
    command
}

/// Runs the tests with three replicas for each topic.
pub(super) fn run(
    package: &Path,
    servers: &str,
    records: u64,
    only: Option<&str>,
) -> Result<FinishedJob> {
    let modules = package
        .ancestors()
        .find(|path| path.ends_with("go-modules"));
    let kept = modules.and_then(Path::parent).unwrap_or(package);
    let mut command = go(kept);
    command
        .args(["test", "-json", "-count=1", "-timeout", GO_TIMEOUT])
        .args(only.map(|part| format!("-run={part}")))
        .arg(format!("-skip=^({})$", ENDLESS.join("|")))
        .arg(".")
        .current_dir(package)
        .env("KGO_SEEDS", servers)
        .env("KGO_TEST_RF", "3")
        .env("KGO_TEST_RECORDS", records.to_string());
    Job::new("go test of kgo".to_owned(), command, TESTS_MAX).run()
}

/// The outcomes of the tests, by name. A test with failed subtests is replaced by these subtests.
pub(super) fn outcomes(json_lines: &str) -> Vec<(String, TestOutcome)> {
    let left_out = ENDLESS
        .iter()
        .map(|name| ((*name).to_owned(), TestOutcome::Failed));
    let mut tests: BTreeMap<String, TestOutcome> = left_out.collect();
    for line in json_lines.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let (Some(name), Some(action)) = (event["Test"].as_str(), event["Action"].as_str()) else {
            continue;
        };
        let outcome = match action {
            // A test without an end event has failed.
            "run" => TestOutcome::Failed,
            "pass" => TestOutcome::Passed,
            "skip" => TestOutcome::Skipped,
            "fail" => TestOutcome::Failed,
            _ => continue,
        };
        tests.insert(name.to_owned(), outcome);
    }
    let is_part = |name: &str| name.contains('/');
    let failed: Vec<String> = tests
        .iter()
        .filter(|(name, outcome)| is_part(name) && **outcome == TestOutcome::Failed)
        .map(|(name, _)| name.clone())
        .collect();
    // Failed subtests stand for the test that contains them.
    let by_parts = |name: &str| {
        failed
            .iter()
            .any(|part| part.starts_with(&format!("{name}/")))
    };
    tests.retain(|name, outcome| match outcome {
        TestOutcome::Failed => !by_parts(name),
        TestOutcome::Passed | TestOutcome::Skipped => !is_part(name),
    });
    tests.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_without_an_end_has_failed_and_parts_speak_for_their_test() {
        let event = |action: &str, test: &str| {
            format!("{{\"Action\":\"{action}\",\"Package\":\"kgo\",\"Test\":\"{test}\"}}\n")
        };
        let lines = [
            event("run", "TestA"),
            event("pass", "TestA"),
            event("run", "TestHangs"),
            event("run", "TestB"),
            event("run", "TestB/one"),
            event("run", "TestB/two"),
            event("pass", "TestB/one"),
            event("fail", "TestB/two"),
            event("fail", "TestB"),
            event("skip", "TestC"),
            "ok  kgo 1.2s\n".to_owned(),
        ];
        let pair = |name: &str, outcome| (name.to_owned(), outcome);
        assert_eq!(
            outcomes(&lines.concat()),
            [
                pair("TestA", TestOutcome::Passed),
                pair("TestB/two", TestOutcome::Failed),
                pair("TestC", TestOutcome::Skipped),
                pair("TestHangs", TestOutcome::Failed),
                pair("TestTxnEtl", TestOutcome::Failed),
            ]
        );
    }
}
