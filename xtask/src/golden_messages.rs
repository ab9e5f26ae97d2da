//! `cargo xtask golden-messages`: message sets of the formats 0 and 1 by Kafka's own Java classes of
//! their time, in both directions.
//!
//! * no argument: remakes `crates/wire/tests/golden_messages/*.bin`, which the tests of `wire` read;
//! * `--check`: only says whether the checked-in files are the same;
//! * `--read`: has `wire` write every format with every codec, and Kafka's classes read and compare
//!   them. Prints OK for each.
//!
//! `xtask/java/GoldenMessages.java` and `crates/wire/tests/golden_messages/cases.rs` hold the same
//! cases.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::codegen::{maven, root};
use crate::golden_batches::GoldenOptions;
use crate::say::print_line;

/// Magic, and the release that writes it.
const WRITERS: &[(&str, &str)] = &[("0", "0.8.2.2"), ("1", "0.10.1.0")];

/// It reads both. 0.8.2 itself reads compressed sets only if they are small: it takes a short read
/// for a whole one.
const READER: &str = "0.10.1.0";

/// Runs the command.
pub(crate) fn run(options: &GoldenOptions) -> Result<()> {
    let golden = root().join("crates/wire/tests/golden_messages");
    match (options.check, options.read) {
        (true, _) => compare(&written()?, &golden),
        (_, true) => read(),
        (false, false) => copy(&written()?, &golden),
    }
}

/// A folder under `target/` without what an earlier run left in it.
fn empty_folder(name: &str) -> Result<PathBuf> {
    let folder = root().join("target/codegen/messages").join(name);
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn written() -> Result<PathBuf> {
    let folder = empty_folder("by-kafka")?;
    for (magic, release) in WRITERS {
        java(release, "write", &folder, magic)?;
    }
    Ok(folder)
}

fn sets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(Some(name).filter(|name| name.ends_with(".bin")));
    }
    names.sort();
    Ok(names)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for name in sets(from)? {
        fs::copy(from.join(&name), to.join(&name))?;
    }
    Ok(())
}

fn compare(made: &Path, kept: &Path) -> Result<()> {
    ensure!(
        sets(made)? == sets(kept)?,
        "the files are not the same ones"
    );
    for name in sets(made)? {
        let same = fs::read(made.join(&name))? == fs::read(kept.join(&name))?;
        ensure!(same, "{name} is not what Kafka's classes write");
    }
    print_line(&format!(
        "{} message sets are what Kafka's classes write",
        sets(kept)?.len()
    ));
    Ok(())
}

fn read() -> Result<()> {
    let folder = empty_folder("by-kgauge")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let example = [
        "run",
        "--quiet",
        "--package",
        "kgauge-wire",
        "--example",
        "golden_messages",
        "--",
    ];
    let written = Command::new(cargo)
        .args(example)
        .arg(&folder)
        .current_dir(root())
        .status()
        .context("cargo could not be started")?;
    ensure!(written.success(), "the message sets could not be written");
    WRITERS
        .iter()
        .try_for_each(|(magic, _)| java(READER, "read", &folder, magic))
}

/// Compiles and runs the Java program against the classes of a release.
fn java(release: &str, direction: &str, folder: &Path, magic: &str) -> Result<()> {
    let jars = maven::class_path(release)?;
    let classes = empty_folder(&format!("classes-{release}"))?;
    let compiled = Command::new("javac")
        .args(["-cp", &jars, "-d"])
        .arg(&classes)
        .arg(root().join("xtask/java/GoldenMessages.java"))
        .status()
        .context("the Java compiler (javac) could not be started")?;
    ensure!(compiled.success(), "GoldenMessages.java does not compile");
    let done = Command::new("java")
        .args([
            "-cp",
            &format!("{jars}:{}", classes.display()),
            "GoldenMessages",
            direction,
        ])
        .arg(folder)
        .arg(magic)
        .status()
        .context("java could not be started")?;
    ensure!(
        done.success(),
        "Kafka's classes could not {direction} the message sets"
    );
    Ok(())
}
