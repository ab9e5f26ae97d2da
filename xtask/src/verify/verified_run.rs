//! A run of kgauge, what its verification found, and the memory that it took.

use std::fs;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::kafka::poll;
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};

/// What the part `verification` of `summary.json` says.
#[derive(Debug, Deserialize)]
pub(super) struct VerifiedFigures {
    acked: u64,
    confirmed: u64,
    read: u64,
    span_ns: u64,
    anomalies: Vec<ClassFigures>,
    unchecked: Vec<Value>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct ClassFigures {
    is_permitted: bool,
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct CheckedRun {
    status: ExitStatus,
    pub(super) summary: Value,
    /// Faults that were injected.
    faults: usize,
    /// The most memory that kgauge's process held, as the system saw it: the generator's part is in it.
    pub(super) peak_bytes: u64,
}

impl CheckedRun {
    /// Runs a scenario to its end; its folder is removed.
    pub(super) fn of(
        kgauge: &Kgauge<'_>,
        (name, scenario): (&str, &str),
        arguments: &[&str],
        time_max: Duration,
    ) -> Result<Self> {
        let file = format!("{name}.yaml");
        fs::write(kgauge.folder.join(&file), scenario)?;
        let run = ["run", &file, "--out", name, "--seed", "1"];
        let running = kgauge.start(name, &[&run[..], arguments].concat())?;
        let mut peak_bytes = 0;
        let ended = poll(time_max, || {
            let seen = fs::read_to_string(format!("/proc/{}/status", running.running.id()));
            let seen = seen.ok().and_then(|status| peak_in(&status));
            peak_bytes = peak_bytes.max(seen.unwrap_or(0));
            running.running.ended()
        })?;
        let status = ended.with_context(|| format!("{name} did not end within {time_max:?}"))?;
        let dir = kgauge.folder.join(name);
        let summary = fs::read(dir.join("summary.json"));
        let summary = summary.with_context(|| format!("{name}: {status}\n{}", running.text()))?;
        let events = fs::read_to_string(dir.join("events.jsonl")).unwrap_or_default();
        if !status.success() {
            remark(&running.text());
        }
        fs::remove_dir_all(&dir)?;
        Ok(Self {
            status,
            summary: serde_json::from_slice(&summary)?,
            faults: faults_in(&events),
            peak_bytes,
        })
    }

    /// What verification found.
    pub(super) fn figures(&self) -> Result<VerifiedFigures> {
        let verification = self.summary["verification"].clone();
        serde_json::from_value(verification).context("the summary has no verification")
    }

    /// Prints what was found. True if every acked record was read back, and the settings forbid nothing of the rest.
    pub(super) fn print(&self, name: &str) -> Result<bool> {
        let figures = self.figures()?;
        print_line(&format!(
            "{name}: {} acked, {} read back, {} faults, {:.2} M records/s checked, at most {} MiB; status {}. {}",
            figures.acked,
            figures.confirmed,
            self.faults,
            figures.rate() / 1e6,
            self.peak_bytes >> 20,
            self.status.code().unwrap_or(-1),
            figures.text
        ));
        Ok(self.status.success() && figures.are_good())
    }
}

impl VerifiedFigures {
    /// Records read and checked per second.
    pub(super) fn rate(&self) -> f64 {
        self.read as f64 / (self.span_ns.max(1) as f64 / 1e9)
    }

    fn are_good(&self) -> bool {
        let is_permitted = |class: &ClassFigures| class.is_permitted;
        self.acked > 0
            && self.confirmed == self.acked
            && self.unchecked.is_empty()
            && self.anomalies.iter().all(is_permitted)
    }
}

/// `VmHWM:   12345 kB` of `/proc/PID/status` (proc_pid_status(5)).
fn peak_in(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Faults that began, one event per line.
fn faults_in(events: &str) -> usize {
    let events = events.lines();
    let events = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let begins = |event: &Value| event["event"] == "fault" && event["active"] == true;
    events.filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verification_is_good_if_all_that_was_acked_is_there() {
        let good = |confirmed: u64, is_permitted: bool, unchecked: &[u64]| {
            let figures = serde_json::json!({
                "acked": 10, "confirmed": confirmed, "read": 12, "span_ns": 2_000_000_000_u64, "text": "",
                "anomalies": [{"anomaly": "duplicate", "is_permitted": is_permitted, "count": 2}],
                "unchecked": unchecked,
            });
            let figures: VerifiedFigures = serde_json::from_value(figures).unwrap();
            assert_eq!(figures.rate(), 6.0);
            figures.are_good()
        };
        assert!(good(10, true, &[]));
        assert!(!good(9, true, &[]) && !good(10, false, &[]) && !good(10, true, &[1]));
    }

    #[test]
    fn memory_and_faults_are_read_from_files_of_lines() {
        let status = "Name:\tkgauge\nVmHWM:\t    2048 kB\n";
        assert_eq!(peak_in(status), Some(2 << 20));
        assert_eq!(peak_in("Name:\tkgauge\n"), None);
        let events = r#"{"at_unix_ms":1,"event":"fault","text":"node 1: crash","active":true}
{"at_unix_ms":2,"event":"fault","text":"node 1: crash","active":false}
{"at_unix_ms":3,"event":"repeat-started"}
{"at_unix"#;
        assert_eq!(faults_in(events), 1);
    }
}
