//! kgauge as checks and benchmarks see it: a program, a run folder with JSON in it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::folders::cache;
use crate::kafka::{ChildProcess, Job, poll};

/// No call of kgauge here takes longer, even when the machine is busy.
const TIME_MAX: Duration = Duration::from_secs(300);

/// The program under test.
#[derive(Debug)]
pub(crate) struct Kgauge<'a> {
    pub(crate) binary: &'a Path,
    /// Where it runs, so that it leaves nothing elsewhere.
    pub(crate) folder: &'a Path,
}

impl Kgauge<'_> {
    /// A call that runs to its end.
    pub(crate) fn call(&self, arguments: &[&str]) -> Job {
        let words = format!("kgauge {}", arguments.join(" "));
        Job::new(words, self.command(arguments), TIME_MAX)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command
            .args(arguments)
            .env("XDG_CACHE_HOME", cache())
            .current_dir(self.folder);
        command
    }

    /// A call in the background, with its streams in files.
    pub(crate) fn start(&self, name: &str, arguments: &[&str]) -> Result<Background> {
        Background::start("kgauge", self.command(arguments), &self.folder.join(name))
    }

    /// The same, within what another command makes of it.
    pub(crate) fn start_within(
        &self,
        name: &str,
        arguments: &[&str],
        around: impl FnOnce(&Command) -> Command,
    ) -> Result<Background> {
        let command = around(&self.command(arguments));
        Background::start("kgauge", command, &self.folder.join(name))
    }
}

/// A program in the background, with its streams in files that grow. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Background {
    pub(crate) running: ChildProcess,
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
}

impl Background {
    /// Starts a command; `program` is what messages call it. Its streams go to `stem.stdout` and `stem.stderr`.
    pub(crate) fn start(program: &str, mut command: Command, stem: &Path) -> Result<Background> {
        let path = |ending: &str| PathBuf::from(format!("{}.{ending}", stem.display()));
        let (stdout, stderr) = (path("stdout"), path("stderr"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?);
        let running = ChildProcess::start(program, &mut command)?;
        Ok(Background {
            running,
            stdout,
            stderr,
        })
    }

    /// The bootstrap servers that `kgauge cluster up` prints.
    pub(crate) fn servers(&self) -> Result<String> {
        self.value("bootstrap.servers")
    }

    /// What it prints behind `name=`, on a separate line.
    pub(crate) fn value(&self, name: &str) -> Result<String> {
        let found = poll(TIME_MAX, || {
            let ended = self.running.ended()?;
            let text = fs::read_to_string(&self.stdout)?;
            // The last line may be in the middle of being written.
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let mut pairs = whole.lines().filter_map(|line| line.split_once('='));
            let value = pairs.find(|(key, _)| *key == name);
            let value = value.map(|(_, value)| value.to_owned());
            if let (None, Some(status)) = (&value, ended) {
                bail!("kgauge ended before it printed {name}: {status}");
            }
            Ok(value)
        })?;
        found.with_context(|| format!("kgauge printed no {name} within {TIME_MAX:?}"))
    }

    /// Waits until the run in `folder` has written slices of this number of seconds of its hold stage.
    pub(crate) fn reaches(&self, folder: &Path, seconds: usize) -> Result<()> {
        let reached = poll(TIME_MAX, || {
            if let Some(status) = self.running.ended()? {
                bail!("kgauge ended too early: {status}");
            }
            Ok((hold_seconds(folder) >= seconds).then_some(()))
        })?;
        reached.with_context(|| format!("no slices in {}", folder.display()))
    }

    /// All that it printed so far.
    pub(crate) fn text(&self) -> String {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        text(&self.stdout) + &text(&self.stderr)
    }
}

/// The seconds of the hold stage in the slices of a run; 0 before the run has started.
fn hold_seconds(run: &Path) -> usize {
    let Ok(repeats) = fs::read_dir(run.join("repeats")) else {
        return 0;
    };
    let seconds = repeats.flatten().map(|repeat| {
        let text = fs::read_to_string(repeat.path().join("slices.jsonl"));
        hold_seconds_in(&text.unwrap_or_default())
    });
    seconds.sum()
}

/// The last line may be in the middle of being written.
fn hold_seconds_in(slices: &str) -> usize {
    let slices = slices.lines().filter_map(|line| {
        let slice: Value = serde_json::from_str(line).ok()?;
        (slice["stage"] == "hold").then(|| slice["second"].as_u64())?
    });
    slices.collect::<BTreeSet<u64>>().len()
}

/// What one trial of a summary says about its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrialCounts {
    pub(crate) scenario: String,
    /// Records acked, by kgauge.
    pub(crate) acked: u64,
    /// Records that the brokers counted.
    pub(crate) on_broker: Option<u64>,
    /// kgauge's own judgement of the two.
    pub(crate) agrees: Option<bool>,
    /// Records read.
    pub(crate) consumed: u64,
}

/// The counts of every trial in a `summary.json`, over its repeats.
pub(crate) fn counts(summary: &Value) -> Result<Vec<TrialCounts>> {
    let trials = list(summary, "trials")?;
    trials.iter().map(trial_counts).collect()
}

fn trial_counts(trial: &Value) -> Result<TrialCounts> {
    let mut counts = TrialCounts {
        scenario: trial["scenario"].as_str().unwrap_or_default().to_owned(),
        acked: 0,
        on_broker: Some(0),
        agrees: Some(true),
        consumed: 0,
    };
    for repeat in list(trial, "counted")? {
        counts.acked += number(repeat, "acked")?;
        let on_broker = repeat["on_broker"].as_u64();
        counts.on_broker = counts
            .on_broker
            .zip(on_broker)
            .map(|(sum, more)| sum + more);
        let agrees = repeat["agrees"].as_bool();
        counts.agrees = counts
            .agrees
            .zip(agrees)
            .map(|(so_far, this)| so_far && this);
    }
    for flow in list(trial, "flows")? {
        counts.consumed += number(&flow["records_all_stages"], "consumed")?;
    }
    Ok(counts)
}

/// Records acked by all flows of all trials, also those of repeats that were cut short.
pub(crate) fn acked_in_flows(summary: &Value) -> Result<u64> {
    let mut acked = 0;
    for trial in list(summary, "trials")? {
        for flow in list(trial, "flows")? {
            acked += number(&flow["records_all_stages"], "acked")?;
        }
    }
    Ok(acked)
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value[name]
        .as_array()
        .with_context(|| format!("the summary has no list {name}"))
}

fn number(value: &Value, name: &str) -> Result<u64> {
    value[name]
        .as_u64()
        .with_context(|| format!("the summary has no number {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = r#"{"trials": [{"scenario": "s",
        "counted": [{"repeat": 0, "acked": 7, "on_broker": 7, "agrees": true},
                    {"repeat": 1, "acked": 5, "on_broker": 6, "agrees": false}],
        "flows": [{"records_all_stages": {"acked": 12, "consumed": 3}},
                  {"records_all_stages": {"acked": 0, "consumed": 4}}]}]}"#;

    #[test]
    fn a_second_of_the_hold_counts_once_however_many_slices_tell_of_it() {
        let slices = r#"{"flow":0,"stage":"warm-up","second":1}
{"flow":0,"stage":"hold","second":2}
{"flow":0,"stage":"hold","second":2}
{"flow":0,"stage":"hold","second":3}
{"flow":0,"stage":"hold","seco"#;
        assert_eq!(hold_seconds_in(slices), 2);
    }

    #[test]
    fn counts_add_up_over_repeats_and_flows() {
        let summary: Value = serde_json::from_str(SUMMARY).unwrap();
        let expected = TrialCounts {
            scenario: "s".into(),
            acked: 12,
            on_broker: Some(13),
            agrees: Some(false),
            consumed: 7,
        };
        assert_eq!(counts(&summary).unwrap(), [expected]);
        assert_eq!(acked_in_flows(&summary).unwrap(), 12);
    }

    #[test]
    fn what_the_brokers_did_not_count_is_not_zero() {
        let unknown = SUMMARY.replace(r#""on_broker": 6, "agrees": false"#, r#""on_broker": null"#);
        let summary: Value = serde_json::from_str(&unknown).unwrap();
        let counts = counts(&summary).unwrap();
        assert_eq!((counts[0].on_broker, counts[0].agrees), (None, None));
    }

    #[test]
    fn a_summary_without_the_counts_is_an_error() {
        assert!(counts(&serde_json::json!({"trials": [{}]})).is_err());
        assert!(acked_in_flows(&serde_json::json!({})).is_err());
    }
}
