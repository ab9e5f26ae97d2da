//! `cargo xtask outside-suites`: the test suites of client libraries, run against `kgauge cluster up
//! embedded:3`. What fails must be on the list of missing features.
//!
//! Nothing of these suites is kept here: the ordinary package clients fetch them into `target`.

mod kgo;
mod librdkafka;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::built::ProgramOption;
use crate::folders::root;
use crate::kafka::{FinishedJob, Job};
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};
use verdict::{SuiteVerdict, TestOutcome};

/// Fetching and building.
const PREPARE_MAX: Duration = Duration::from_secs(1800);

/// A suite of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    Kgo,
    Librdkafka,
}

impl Suite {
    const ALL: [Suite; 2] = [Suite::Kgo, Suite::Librdkafka];

    fn name(self) -> &'static str {
        match self {
            Suite::Kgo => "kgo",
            Suite::Librdkafka => "librdkafka",
        }
    }

    /// What it runs against.
    fn target(self) -> &'static str {
        match self {
            Suite::Kgo => "embedded:3,default.replication.factor=3",
            // Its tests count on topics of four partitions that a mention creates.
            Suite::Librdkafka => {
                "embedded:3,num.partitions=4,group.initial.rebalance.delay.ms=3000"
            }
        }
    }
}

/// Which tests run.
#[derive(Debug, clap::Args)]
pub(crate) struct SuiteOptions {
    /// Both without a name
    #[arg(value_enum)]
    suites: Vec<Suite>,
    #[command(flatten)]
    program: ProgramOption,
    /// librdkafka's source, instead of the one that npm fetches
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// Records of each large test of kgo
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    records: u64,
    /// Only tests with this in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// Runs the command. Returns false when a test failed that the list does not name.
pub(crate) fn run(options: &SuiteOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let suites = match options.suites.as_slice() {
        [] => &Suite::ALL,
        suites => suites,
    };
    let kept = root().join("target/outside-suites");
    fs::create_dir_all(&kept)?;
    let mut is_good = true;
    for suite in suites {
        let tests = run_suite(*suite, options, &binary, &kept)?;
        is_good &= print(*suite, &tests, options.only.is_none());
    }
    Ok(is_good)
}

fn run_suite(
    suite: Suite,
    options: &SuiteOptions,
    binary: &Path,
    kept: &Path,
) -> Result<Vec<(String, TestOutcome)>> {
    let prepared = match suite {
        Suite::Kgo => kgo::fetch(kept)?,
        Suite::Librdkafka => librdkafka::build(kept, options.source.as_deref())?,
    };
    let work = tempfile::tempdir()?;
    let kgauge = Kgauge {
        binary,
        folder: work.path(),
    };
    let cluster = kgauge.start("cluster", &["cluster", "up", suite.target()])?;
    let servers = cluster.servers()?;
    remark(&format!(
        "{}: tests against {}",
        suite.name(),
        suite.target()
    ));
    let only = options.only.as_deref();
    let finished = match suite {
        Suite::Kgo => kgo::run(&prepared, &servers, options.records, only)?,
        Suite::Librdkafka => librdkafka::run(&prepared, &servers, work.path(), only)?,
    };
    let log = kept.join(format!("{}.log", suite.name()));
    fs::write(&log, format!("{}{}", finished.stdout, finished.stderr))?;
    remark(&format!(
        "{}: all output is in {}",
        suite.name(),
        log.display()
    ));
    if let Some(status) = cluster.running.ended()? {
        bail!("the embedded cluster ended during the suite: {status}");
    }
    let tests = match suite {
        Suite::Kgo => kgo::outcomes(&finished.stdout),
        Suite::Librdkafka => librdkafka::outcomes(&finished.stderr),
    };
    ensure!(
        !tests.is_empty(),
        "{} printed no result; see {}",
        finished.words,
        log.display()
    );
    Ok(tests)
}

/// Prints each test and the totals. False when a test failed that the list does not name.
fn print(suite: Suite, tests: &[(String, TestOutcome)], is_whole: bool) -> bool {
    let (mut passed, mut skipped, mut missing, mut failed) = (0, 0, 0, 0);
    for (name, outcome) in tests {
        let (count, words) = match verdict::of(suite.name(), name, *outcome) {
            SuiteVerdict::Passed => (&mut passed, "passed".to_owned()),
            SuiteVerdict::Skipped => (&mut skipped, "skipped".to_owned()),
            SuiteVerdict::Missing(feature) => (&mut missing, format!("fails: {feature}")),
            SuiteVerdict::Failed => (&mut failed, "FAILED".to_owned()),
        };
        *count += 1;
        print_line(&format!("{:10}  {name:50}  {words}", suite.name()));
    }
    print_line(&format!(
        "{}: {passed} passed, {missing} fail for a missing feature, {failed} FAILED, {skipped} skipped",
        suite.name()
    ));
    if is_whole {
        for (name, feature) in verdict::unneeded(suite.name(), tests) {
            print_line(&format!(
                "{}: {name} does not fail, although the list names it ({feature})",
                suite.name()
            ));
        }
    }
    failed == 0
}

/// Runs a step of fetching or building to its good end.
fn prepare(words: &str, command: Command) -> Result<FinishedJob> {
    remark(&format!("outside-suites: {words}"));
    let finished = Job::new(words.to_owned(), command, PREPARE_MAX).run()?;
    let mut lines: Vec<&str> = finished.stderr.lines().rev().take(15).collect();
    lines.reverse();
    let tail = lines.join("\n");
    finished.success().context(tail)
}
