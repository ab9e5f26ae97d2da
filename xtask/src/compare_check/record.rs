//! What came out, as Markdown: `compare.md` in the machine's folder in `proof`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct CheckRecord {
    /// Where it was measured and by which kgauge, from the first comparison.
    setup: Option<String>,
    /// What was printed.
    lines: Vec<String>,
}

impl CheckRecord {
    /// Takes machine and version from a comparison, once.
    pub(super) fn setup_of(&mut self, comparison: &Value) {
        self.setup
            .get_or_insert_with(|| setup_of(&comparison["runs"][0]));
    }

    /// Keeps what is printed.
    pub(super) fn add(&mut self, text: &str) {
        self.lines.push(text.trim_end().to_owned());
    }

    /// The whole text.
    fn text(&self, command: &str) -> String {
        let setup = self.setup.as_deref().unwrap_or("unknown machine");
        let lines = self.lines.join("\n");
        format!(
            "# What comparisons say of pairs of runs\n\n`{command}`: pairs of runs of one thing, and runs in which a node lets \
             through a tenth less; {setup}. \"Between runs\" is the part by which equal runs differ beyond what their repeats \
             explain.\n\n```\n{lines}\n```\n"
        )
    }

    /// Writes it.
    pub(super) fn write(&self, path: &Path, command: &str) -> Result<()> {
        fs::write(path, self.text(command))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// `2 x AMD EPYC, 23 GiB, Linux 6.18, kgauge 0.1.0`, of the `machine` and the `kgauge` of a run.
pub(crate) fn setup_of(run: &Value) -> String {
    const GIB: u64 = 1 << 30;
    let machine = &run["machine"];
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let build = match run["kgauge"]["debug"].as_bool() {
        Some(true) => ", built without optimisation",
        _ => "",
    };
    format!(
        "{} x {}, {} GiB, Linux {}, kgauge {}{build}",
        machine["cpu_count"],
        text(&machine["cpu_model"]),
        machine["memory_bytes"].as_u64().unwrap_or(0) / GIB,
        text(&machine["kernel"]),
        text(&run["kgauge"]["version"])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_where_and_what_and_is_written_once() {
        let comparison = serde_json::json!({"runs": [{
            "machine": {"cpu_count": 2, "cpu_model": "AMD EPYC", "memory_bytes": 24_696_061_952_u64, "kernel": "6.18"},
            "kgauge": {"version": "0.1.0", "debug": true}}]});
        let mut record = CheckRecord::default();
        record.setup_of(&comparison);
        record.setup_of(&serde_json::json!({}));
        record.add("ok    plain\n");
        record.add("table");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compare.md");
        record
            .write(&path, "cargo xtask compare-check --pairs 2")
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let setup = "2 x AMD EPYC, 23 GiB, Linux 6.18, kgauge 0.1.0, built without optimisation";
        assert!(text.contains(setup), "{text}");
        assert!(text.contains("```\nok    plain\ntable\n```"), "{text}");
        assert!(record.write(&folder.path().join("no/such"), "").is_err());
    }
}
