//! `cargo xtask golden-batches`: record batches by Kafka's own Java classes, in both directions.
//!
//! * no argument: remakes `crates/wire/tests/golden_batches/*.bin`, which the tests of `wire` read;
//! * `--check`: only says whether the checked-in files are the same;
//! * `--read`: has `wire` write every case with every codec, and Kafka's classes read and compare
//!   them. Prints OK for each.
//!
//! `xtask/java/GoldenBatches.java` and `crates/wire/tests/golden_batches/cases.rs` hold the same
//! cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::codegen::{RELEASE_NEW, maven, root};
use crate::say::print_line;

/// What is done instead of writing the files.
#[derive(Debug, clap::Args)]
pub(crate) struct GoldenOptions {
    /// Only tell whether the checked-in files are the same
    #[arg(long)]
    pub(crate) check: bool,
    /// Have Kafka's classes read what crates/wire writes
    #[arg(long, conflicts_with = "check")]
    pub(crate) read: bool,
}

/// Runs the command.
pub(crate) fn run(options: &GoldenOptions) -> Result<()> {
    match (options.check, options.read) {
        (true, _) => check(),
        (_, true) => read(),
        (false, false) => remake(),
    }
}

fn golden_folder() -> PathBuf {
    root().join("crates/wire/tests/golden_batches")
}

/// A folder under `target/` without what an earlier run left in it.
fn empty_folder(name: &str) -> Result<PathBuf> {
    let folder = root().join("target/codegen").join(RELEASE_NEW).join(name);
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn remake() -> Result<()> {
    let made = made_by_kafka()?;
    for stale in batches_in(&golden_folder())?
        .keys()
        .filter(|name| !made.contains_key(*name))
    {
        fs::remove_file(golden_folder().join(stale))?;
    }
    for (name, bytes) in &made {
        fs::write(golden_folder().join(name), bytes)?;
    }
    print_line(&format!("{} batches written", made.len()));
    Ok(())
}

fn check() -> Result<()> {
    let (made, kept) = (made_by_kafka()?, batches_in(&golden_folder())?);
    let names = made.keys().chain(kept.keys());
    let differing: Vec<_> = names
        .filter(|name| made.get(*name) != kept.get(*name))
        .collect();
    ensure!(
        differing.is_empty(),
        "not what Kafka's classes write: {differing:?}"
    );
    print_line(&format!(
        "{} batches are what Kafka's classes write",
        made.len()
    ));
    Ok(())
}

fn made_by_kafka() -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = empty_folder("batches-by-kafka")?;
    java("write", &folder)?;
    batches_in(&folder)
}

fn read() -> Result<()> {
    let folder = empty_folder("batches-by-kgauge")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let written = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--package",
            "kgauge-wire",
            "--example",
            "golden_batches",
            "--",
        ])
        .arg(&folder)
        .current_dir(root())
        .status()
        .context("cargo could not be started")?;
    ensure!(written.success(), "the batches could not be written");
    java("read", &folder)
}

/// The batches of a folder by their file names.
fn batches_in(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut batches = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            batches.insert(name, fs::read(&path)?);
        }
    }
    Ok(batches)
}

/// Compiles and runs the Java program; its output goes where ours goes.
fn java(direction: &str, folder: &Path) -> Result<()> {
    let jars = maven::class_path(RELEASE_NEW)?;
    let classes = empty_folder("batch-classes")?;
    let compiled = Command::new("javac")
        .args(["-cp", &jars, "-d"])
        .arg(&classes)
        .arg(root().join("xtask/java/GoldenBatches.java"))
        .status()
        .context("the Java compiler (javac) could not be started")?;
    ensure!(compiled.success(), "GoldenBatches.java does not compile");
    let done = Command::new("java")
        .args([
            "-cp",
            &format!("{jars}:{}", classes.display()),
            "GoldenBatches",
            direction,
        ])
        .arg(folder)
        .status()
        .context("java could not be started")?;
    ensure!(done.success(), "GoldenBatches.java failed");
    Ok(())
}
