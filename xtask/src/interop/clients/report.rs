//! What a client program prints: a line of JSON about each action, such as
//! `{"action": "consume", "ok": true, "detail": "2000 records", "seconds": 1.5}`. For an action that
//! the client cannot do, `"skipped"` has the reason, and `"ok"` and `"detail"` are not there.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::super::actions::Action;
use crate::kafka::FinishedJob;

/// A line as it is printed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    action: String,
    ok: Option<bool>,
    detail: Option<String>,
    skipped: Option<String>,
    seconds: Option<f64>,
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActionOutcome {
    Done,
    Failed,
    Skipped,
}

/// A program's report on one action.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ActionReport {
    action: Action,
    pub(super) outcome: ActionOutcome,
    /// What was seen, what went wrong, or why it was not done.
    pub(super) detail: String,
    pub(super) took: Duration,
}

/// The full report of a program.
#[derive(Debug)]
pub(super) struct ClientReport {
    entries: Vec<ActionReport>,
    /// The first line that says nothing.
    amiss: Option<String>,
}

impl ClientReport {
    pub(super) fn read(stdout: &str) -> ClientReport {
        let mut report = ClientReport {
            entries: Vec::new(),
            amiss: None,
        };
        for line in stdout.lines().filter(|line| !line.trim().is_empty()) {
            match parse_report(line) {
                Ok(entry) => report.entries.push(entry),
                Err(error) => {
                    let words = format!("{error:#} in {line:?}");
                    report.amiss.get_or_insert(words);
                }
            }
        }
        report
    }

    /// The entry of this action. Of several entries, a failed one.
    pub(super) fn of(&self, action: Action) -> Option<&ActionReport> {
        let here = || self.entries.iter().filter(|entry| entry.action == action);
        let failed = here().find(|entry| entry.outcome == ActionOutcome::Failed);
        failed.or_else(|| here().next())
    }

    /// The reason when the report as a whole is not to be trusted. A program that reports a failed
    /// action ends with status 1, and that is sound.
    pub(super) fn sound(&self, finished: &FinishedJob) -> Result<(), String> {
        if let Some(amiss) = &self.amiss {
            return Err(amiss.clone());
        }
        let failed = self
            .entries
            .iter()
            .any(|entry| entry.outcome == ActionOutcome::Failed);
        let code = finished.status.map(|status| status.code());
        match (code, failed) {
            (Some(Some(0)), false) | (Some(Some(1)), true) => Ok(()),
            (Some(Some(code)), _) => {
                let last = finished.stderr.trim().lines().next_back();
                let last = last.map_or("it does not say why", str::trim);
                Err(format!("its program ended with status {code}: {last}"))
            }
            (Some(None), _) => Err("its program was killed".to_owned()),
            (None, _) => Err(format!(
                "its program still ran after {:.0} s",
                finished.took.as_secs_f64()
            )),
        }
    }
}

fn parse_report(line: &str) -> Result<ActionReport> {
    let line: Line = serde_json::from_str(line).context("no line of a report")?;
    let action = Action::named(&line.action).context("an action that is not in the table")?;
    let seconds = line.seconds.unwrap_or_default();
    let took = Duration::try_from_secs_f64(seconds).context("no time")?;
    if let Some(why) = line.skipped {
        ensure!(line.ok.is_none(), "both done and skipped");
        return Ok(ActionReport {
            action,
            outcome: ActionOutcome::Skipped,
            detail: why,
            took,
        });
    }
    let outcome = if line.ok.context("neither ok nor skipped")? {
        ActionOutcome::Done
    } else {
        ActionOutcome::Failed
    };
    let detail = line.detail.context("no detail")?;
    Ok(ActionReport {
        action,
        outcome,
        detail,
        took,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn done_failed_and_skipped_are_told_apart() {
        let report = ClientReport::read(
            r#"{"action": "consume", "ok": true, "detail": "5 records", "seconds": 1.5}
{"action": "produce, zstd", "ok": false, "detail": "timed out"}

{"action": "log directories", "skipped": "no call for it"}"#,
        );
        let seen = |action| {
            let entry = report.of(action).unwrap();
            (entry.outcome, entry.detail.as_str(), entry.took)
        };
        let took = Duration::from_millis(1_500);
        assert_eq!(
            seen(Action::Consume),
            (ActionOutcome::Done, "5 records", took)
        );
        let none = Duration::ZERO;
        assert_eq!(
            seen(Action::ProduceZstd),
            (ActionOutcome::Failed, "timed out", none)
        );
        assert_eq!(
            seen(Action::LogDirs),
            (ActionOutcome::Skipped, "no call for it", none)
        );
        assert!(report.of(Action::Produce).is_none());
        assert_eq!(report.amiss, None);
    }

    #[test]
    fn lines_that_say_nothing_are_noticed() {
        for line in [
            "Traceback (most recent call last):",
            r#"{"action": "make coffee", "ok": true, "detail": ""}"#,
            r#"{"action": "consume", "ok": true}"#,
            r#"{"action": "consume", "detail": "5"}"#,
            r#"{"action": "consume", "ok": true, "skipped": "no"}"#,
            r#"{"action": "consume", "ok": true, "detail": "", "seconds": -1}"#,
        ] {
            assert!(ClientReport::read(line).amiss.is_some(), "{line}");
        }
    }

    #[test]
    fn the_exit_status_has_to_fit_what_was_told() {
        let ended = |script: &str, stdout: &str| {
            let status = Command::new("sh").args(["-c", script]).status().unwrap();
            let finished = FinishedJob {
                words: "client".into(),
                status: Some(status),
                took: Duration::ZERO,
                stdout: stdout.into(),
                stderr: "Traceback:\n  no such module\n".into(),
            };
            ClientReport::read(stdout).sound(&finished)
        };
        let good = r#"{"action": "consume", "ok": true, "detail": "5"}"#;
        let bad = r#"{"action": "consume", "ok": false, "detail": "none"}"#;
        assert_eq!(ended("exit 0", good), Ok(()));
        assert_eq!(ended("exit 1", bad), Ok(()));
        assert!(ended("exit 0", bad).is_err());
        let died = ended("exit 1", good).unwrap_err();
        assert!(died.ends_with("status 1: no such module"), "{died}");
    }

    #[test]
    fn an_action_told_twice_is_as_good_as_its_worst() {
        let report = ClientReport::read(
            r#"{"action": "consume", "ok": true, "detail": "a"}
{"action": "consume", "ok": false, "detail": "b"}"#,
        );
        assert_eq!(report.of(Action::Consume).unwrap().detail, "b");
    }
}
