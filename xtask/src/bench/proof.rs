//! Keeps a comparison in `proof/<date>-<machine>/`: setup, raw figures, summary.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::compare::{BenchPlan, ComparedRun};
use super::contender::{BATCH_BYTES, BUFFER_BYTES, LINGER_MS, PARTITIONS, VALUE_BYTES};
use super::machine::BenchMachine;
use crate::folders::root;
use crate::kafka::RELEASE;

/// What is kept of a comparison.
pub(super) struct ProofRecord<'a> {
    /// Heads the summary.
    pub(super) title: &'a str,
    /// What was run, as JSON.
    pub(super) setup: Value,
    /// One line a run.
    pub(super) raw: String,
    /// What was printed.
    pub(super) printed: &'a str,
}

/// Writes the three files into a new folder, and gives its path within the project.
pub(super) fn keep(machine: &BenchMachine, kept: &ProofRecord<'_>) -> Result<PathBuf> {
    let folder = new_folder(&root(), &format!("{}-{}", today()?, machine.slug()))?;
    let setup = serde_json::to_string_pretty(&kept.setup)? + "\n";
    let summary = format!("# {}\n\n```\n{}```\n", kept.title, kept.printed);
    let files = [
        ("setup.json", &setup),
        ("raw.csv", &kept.raw),
        ("summary.md", &summary),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(folder.strip_prefix(root())?.to_owned())
}

/// Keeps the comparison of load generators.
pub(super) fn write(
    machine: &BenchMachine,
    plan: BenchPlan,
    measured: &[ComparedRun],
    printed: &str,
) -> Result<PathBuf> {
    let setup = json!({
        "command": "cargo xtask bench",
        "machine": machine,
        "kafka": {
            "release": RELEASE,
            "nodes": 1,
            "where": "on the same machine, loopback",
            "settings": "defaults, log.segment.delete.delay.ms=1000",
        },
        "rounds": plan.rounds,
        "records_per_run": plan.records,
        "value_bytes": VALUE_BYTES,
        "topic": {"partitions": PARTITIONS, "replication": 1},
        "producer": {
            "batch.size": BATCH_BYTES,
            "linger.ms": LINGER_MS,
            "buffer.memory": BUFFER_BYTES,
            "compression.type": "none",
            "enable.idempotence": "with acks=all",
        },
    });
    let title = "What a record costs the load generator";
    let raw = raw(measured);
    keep(
        machine,
        &ProofRecord {
            title,
            setup,
            raw,
            printed,
        },
    )
}

/// One line a run; round 0 is the one that shows what starting costs.
fn raw(measured: &[ComparedRun]) -> String {
    let mut out = "acks,round,place,contender,records,records_per_s,cpu_ms_process,\
                   cpu_ns_per_record_process,cpu_ns_per_record_load_threads\n"
        .to_owned();
    for run in measured {
        let threads = run.ran.threads_ns_per_record;
        let _ = writeln!(
            out,
            "{},{},{},{},{},{:.0},{},{:.1},{}",
            run.acks.word(),
            run.round,
            run.place,
            run.contender.words(),
            run.ran.records,
            run.ran.records_per_s,
            run.ran.cpu.as_millis(),
            run.ran.cpu_ns_per_record(),
            threads.map_or(String::new(), |threads| format!("{threads:.1}"))
        );
    }
    out
}

/// Recordings of one day do not overwrite each other.
fn new_folder(root: &Path, name: &str) -> Result<PathBuf> {
    let proof = root.join("proof");
    fs::create_dir_all(&proof)?;
    for number in 1..100 {
        let folder = match number {
            1 => proof.join(name),
            _ => proof.join(format!("{name}-{number}")),
        };
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).context("cannot make a folder in proof"),
        }
    }
    anyhow::bail!("proof has 99 folders {name} already")
}

/// The date in UTC, from the machine's own clock program.
fn today() -> Result<String> {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output()?;
    let date = String::from_utf8(output.stdout)?.trim().to_owned();
    ensure!(date.len() == 10, "date says {date:?}");
    Ok(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_recording_gets_a_folder_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let name = |folder: PathBuf| folder.file_name().unwrap().to_owned();
        assert_eq!(name(new_folder(root.path(), "a").unwrap()), "a");
        assert_eq!(name(new_folder(root.path(), "a").unwrap()), "a-2");
    }
}
