//! The power of a gate: `kgauge compare --fail-if-worse 10%` on pairs of runs with a planted drop of throughput.

use anyhow::{Result, bail};
use std::process::{Command, Stdio};

use super::RunFolders;
use crate::say::remark;

/// What the gate allows.
const ALLOWED: &str = "10%";

/// Planted drops in percent, and the node of `gate.yaml` whose capacity is lower by that.
const DROPS: [(u32, u32); 5] = [(0, 1), (3, 2), (5, 3), (10, 4), (20, 5)];

/// How often the gate passed, failed and could not decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GateCounts {
    passed: usize,
    worse: usize,
    undecided: usize,
}

impl GateCounts {
    fn add(&mut self, status: Option<i32>) -> Result<&'static str> {
        let (count, verdict) = match status {
            Some(0) => (&mut self.passed, "passed"),
            Some(1) => (&mut self.worse, "worse"),
            Some(2) => (&mut self.undecided, "undecided"),
            other => bail!("kgauge compare ended with status {other:?}"),
        };
        *count += 1;
        Ok(verdict)
    }
}

/// Measures a baseline and one run for each drop, this many times, and asks the gate. True if no drop of 20 % passed
/// and no pair without a drop failed.
pub(super) fn check(folders: &mut RunFolders<'_>, pairs: usize) -> Result<bool> {
    let mut counts = [GateCounts::default(); DROPS.len()];
    for number in 1..=pairs {
        let base = format!("base-{number}");
        folders.measure("gate", "embedded", None, &base)?;
        // The order changes, so that what happens to the machine meanwhile strikes all drops alike.
        for turn in 0..DROPS.len() {
            let index = (turn + number) % DROPS.len();
            let (drop, node) = DROPS[index];
            let set = format!("full-speed.settings.partitioner.broker={node}");
            let dropped = format!("drop-{drop}-{number}");
            folders.measure("gate", "embedded", Some(&set), &dropped)?;
            let ended = Command::new(folders.binary)
                .args(["compare", &base, &dropped, "--fail-if-worse", ALLOWED])
                .current_dir(folders.folder)
                .stdin(Stdio::null())
                .output()?;
            let verdict = counts[index].add(ended.status.code())?;
            remark(&format!(
                "pair {number} of {pairs}, {drop} % less: {verdict}"
            ));
            std::fs::remove_dir_all(folders.folder.join(&dropped))?;
        }
        std::fs::remove_dir_all(folders.folder.join(&base))?;
    }
    folders.print(&table(&counts, pairs));
    Ok(is_good(&counts))
}

fn is_good(counts: &[GateCounts; DROPS.len()]) -> bool {
    let mut rows = DROPS.iter().zip(counts);
    rows.all(|((drop, _), counts)| match drop {
        0 => counts.worse == 0,
        20 => counts.passed == 0,
        _ => true,
    })
}

fn table(counts: &[GateCounts; DROPS.len()], pairs: usize) -> String {
    let mut text = format!(
        "\ngate of {ALLOWED} on embedded, {pairs} pairs of each drop\n\n\
         | planted drop | passed (0) | worse (1) | undecided (2) |\n|---|---|---|---|\n"
    );
    for ((drop, _), row) in DROPS.iter().zip(counts) {
        let GateCounts {
            passed,
            worse,
            undecided,
        } = row;
        text += &format!("| {drop} % | {passed} | {worse} | {undecided} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_drop_that_passes_and_an_alarm_without_a_drop_are_wrong() {
        let mut counts = [GateCounts::default(); DROPS.len()];
        for status in [0, 2] {
            counts[0].add(Some(status)).unwrap();
        }
        counts[4].add(Some(1)).unwrap();
        assert!(is_good(&counts));
        assert!(table(&counts, 2).contains("| 0 % | 1 | 0 | 1 |\n"));
        let mut alarm = counts;
        alarm[0].add(Some(1)).unwrap();
        assert!(!is_good(&alarm));
        counts[4].add(Some(0)).unwrap();
        assert!(!is_good(&counts));
        assert!(counts[4].add(Some(3)).is_err() && counts[4].add(None).is_err());
    }
}
