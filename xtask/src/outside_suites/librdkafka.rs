//! librdkafka's own tests, quick mode. The package that npm has for JavaScript carries librdkafka's whole
//! source with its tests; `--source DIR` takes another one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::prepare;
use super::verdict::TestOutcome;
use crate::kafka::{self, FinishedJob, HEAP, Job, RELEASE};

/// librdkafka 2.15.1 is in it.
const PACKAGE: &str = "@confluentinc/kafka-javascript@1.10.1";
const INSIDE: &str = "package/deps/librdkafka";
const TESTS_MAX: Duration = Duration::from_secs(3600);
/// The broker version that tests are chosen by: the newest before share groups.
const BROKER_VERSION: &str = "4.0.0";

/// Fetches and builds the tests; gives the source's folder.
pub(super) fn build(kept: &Path, source: Option<&Path>) -> Result<PathBuf> {
    let folder = match source {
        Some(source) => std::path::absolute(source)?,
        None => fetch(kept)?,
    };
    if folder.join("tests/test-runner").is_file() {
        return Ok(folder);
    }
    ensure!(
        folder.join("tests/Makefile").is_file(),
        "{} has no tests of librdkafka",
        folder.display()
    );
    let mut configure = Command::new("./configure");
    configure
        .args(["--disable-gssapi", "--disable-curl"])
        .current_dir(&folder);
    prepare("librdkafka: configure", configure)?;
    for (words, arguments) in [
        ("librdkafka: make libs", &["-j2", "libs"][..]),
        (
            "librdkafka: make its tests",
            &["-j2", "-C", "tests", "build"],
        ),
    ] {
        let mut make = Command::new("make");
        make.args(arguments).current_dir(&folder);
        prepare(words, make)?;
    }
    Ok(folder)
}

fn fetch(kept: &Path) -> Result<PathBuf> {
    let folder = kept.join("librdkafka").join(PACKAGE.replace('/', "-"));
    let source = folder.join(INSIDE);
    if source.is_dir() {
        return Ok(source);
    }
    fs::create_dir_all(&folder)?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", PACKAGE])
        .current_dir(&folder);
    let stdout = prepare(&format!("npm pack {PACKAGE}"), pack)?.stdout;
    let archive = stdout.trim().lines().last().unwrap_or_default().to_owned();
    let mut unpack = Command::new("tar");
    unpack
        .arg("-xzf")
        .arg(archive)
        .arg(INSIDE)
        .current_dir(&folder);
    prepare("tar: librdkafka's source", unpack)?;
    Ok(source)
}

/// Runs the tests that need a broker.
pub(super) fn run(
    source: &Path,
    servers: &str,
    work: &Path,
    only: Option<&str>,
) -> Result<FinishedJob> {
    let config = work.join("test.conf");
    fs::write(&config, format!("bootstrap.servers={servers}\n"))?;
    let libraries =
        [source.join("src"), source.join("src-cpp")].map(|dir| dir.display().to_string());
    let mut command = Command::new(source.join("tests/test-runner"));
    command
        // Several at once take each other's sockets: the layer that delays them counts on file numbers.
        .args(["-Q", "-L", "-p1"])
        .args(only)
        .current_dir(work)
        .env("LD_LIBRARY_PATH", libraries.join(":"))
        .env("RDKAFKA_TEST_CONF", &config)
        .env("TEST_KAFKA_VERSION", BROKER_VERSION)
        .env("KAFKA_PATH", kafka_scripts(work)?)
        .env("BROKERS", servers);
    Job::new("librdkafka's test-runner".to_owned(), command, TESTS_MAX).run()
}

/// A folder with the scripts of a Kafka release that some tests call.
fn kafka_scripts(work: &Path) -> Result<PathBuf> {
    let release = kafka::tools(RELEASE)?;
    let folder = work.join("kafka");
    fs::create_dir_all(folder.join("bin"))?;
    for (script, class) in [
        ("kafka-topics.sh", "org.apache.kafka.tools.TopicCommand"),
        ("kafka-acls.sh", "kafka.admin.AclCommand"),
    ] {
        let java = release.command_with_heap(HEAP, class);
        let words = std::iter::once(java.get_program()).chain(java.get_args());
        let quoted = words.map(|word| format!("'{}'", word.to_string_lossy()));
        let line = quoted.collect::<Vec<_>>().join(" ");
        let path = folder.join("bin").join(script);
        fs::write(&path, format!("#!/bin/sh\nexec {line} \"$@\"\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(folder)
}

/// The tests and what became of them, as the runner prints it on stderr: `=== Running test NAME ===`,
/// `=== Test NAME PASSED ===`, or `### Test "NAME (PART)" failed at` where a test gave up.
pub(super) fn outcomes(output: &str) -> Vec<(String, TestOutcome)> {
    let mut tests = BTreeMap::new();
    for line in output.lines() {
        let Some((name, outcome)) = parse_line(line) else {
            continue;
        };
        // The runner itself fails when a failed test's client still lives.
        if !name.starts_with('<') && tests.get(&name) != Some(&(TestOutcome::Failed, IsOver::Yes)) {
            tests.insert(name, outcome);
        }
    }
    let tests = tests.into_iter();
    tests.map(|(name, (outcome, _))| (name, outcome)).collect()
}

/// Whether a test has ended; one that has not counts as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsOver {
    Yes,
    No,
}

fn parse_line(line: &str) -> Option<(String, (TestOutcome, IsOver))> {
    let named = |name: &str, outcome| Some((name.to_owned(), outcome));
    if let Some((_, rest)) = line.split_once("### Test \"") {
        let name = rest.split([' ', '"']).next()?;
        return named(name, (TestOutcome::Failed, IsOver::Yes));
    }
    if let Some((_, rest)) = line.split_once("= Running test ") {
        return named(
            rest.split_whitespace().next()?,
            (TestOutcome::Failed, IsOver::No),
        );
    }
    let mut words = line.split_once("= Test ")?.1.split_whitespace();
    let name = words.next()?;
    match words.next()? {
        "PASSED" => named(name, (TestOutcome::Passed, IsOver::Yes)),
        "FAILED" => named(name, (TestOutcome::Failed, IsOver::Yes)),
        "SKIPPED" => named(name, (TestOutcome::Skipped, IsOver::Yes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_tests_are_read_among_their_other_lines() {
        let output = "\
[0034_offset_reset           /  1.322s] ================= Test 0034_offset_reset PASSED =================
\u{1b}[31m[0077_compaction /  4.298s] ================= Test 0077_compaction FAILED =================
\u{1b}[0m[0030_offset_commit          /  4.298s] ================= Running test 0030_offset_commit =================
### Test \"<MAIN>\" failed at test.c:1950:test_wait_exit() at now: ###
### Test \"0081_admin (do_test_CreateAcls:1539)\" failed at 0081-admin.c:1622:do_test_CreateAcls() at now: ###
[<MAIN> / 0.1s] ================= Test 0055_producer_latency SKIPPED =================
";
        let pair = |name: &str, outcome| (name.to_owned(), outcome);
        assert_eq!(
            outcomes(output),
            [
                // It has no end.
                pair("0030_offset_commit", TestOutcome::Failed),
                pair("0034_offset_reset", TestOutcome::Passed),
                pair("0055_producer_latency", TestOutcome::Skipped),
                pair("0077_compaction", TestOutcome::Failed),
                pair("0081_admin", TestOutcome::Failed),
            ]
        );
    }
}
