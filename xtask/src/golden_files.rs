//! `cargo xtask golden-batches` and `golden-messages`: record batches and message sets by Kafka's own Java classes, in
//! both directions.
//!
//! * no argument: remakes the `*.bin` files that the tests of `wire` read;
//! * `--check`: only reports whether the checked-in files are the same;
//! * `--read`: has `wire` write every case, and Kafka's classes read and compare them.
//!
//! A program in `xtask/java` and the `cases.rs` next to the files contain the same cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::built;
use crate::codegen::{RELEASE_NEW, maven};
use crate::folders::{make_empty, root};
use crate::say::print_line;

/// What is done instead of writing the files.
#[derive(Debug, clap::Args)]
pub(crate) struct GoldenOptions {
    /// Only tell whether the checked-in files are the same
    #[arg(long)]
    check: bool,
    /// Have Kafka's classes read what crates/wire writes
    #[arg(long, conflicts_with = "check")]
    read: bool,
}

/// One set of golden files.
#[derive(Debug)]
pub(crate) struct GoldenFiles {
    /// Their folder in `crates/wire/tests`, and the example of `wire` that writes the same cases.
    name: &'static str,
    /// The program in `xtask/java`.
    class: &'static str,
    /// The releases that write the files, each with the program's arguments for it.
    writers: &'static [(&'static str, &'static [&'static str])],
    /// The release that reads what `wire` writes.
    reader: &'static str,
}

pub(crate) const BATCHES: GoldenFiles = GoldenFiles {
    name: "golden_batches",
    class: "GoldenBatches",
    writers: &[(RELEASE_NEW, &[])],
    reader: RELEASE_NEW,
};

pub(crate) const MESSAGES: GoldenFiles = GoldenFiles {
    name: "golden_messages",
    class: "GoldenMessages",
    // The argument is the magic that the release writes.
    writers: &[("0.8.2.2", &["0"]), ("0.10.1.0", &["1"])],
    // 0.8.2 itself reads compressed sets only if they are small: it takes a short read for a whole one.
    reader: "0.10.1.0",
};

impl GoldenFiles {
    /// Runs the command.
    pub(crate) fn run(&self, options: &GoldenOptions) -> Result<()> {
        if options.read {
            return self.read();
        }
        let folder = root().join("crates/wire/tests").join(self.name);
        let (made, kept) = (self.made()?, files_in(&folder)?);
        if options.check {
            let names = made.keys().chain(kept.keys());
            let differing: Vec<_> = names
                .filter(|name| made.get(*name) != kept.get(*name))
                .collect();
            ensure!(
                differing.is_empty(),
                "not what Kafka's classes write: {differing:?}"
            );
            print_line(&format!(
                "{} files are what Kafka's classes write",
                made.len()
            ));
            return Ok(());
        }
        for stale in kept.keys().filter(|name| !made.contains_key(*name)) {
            fs::remove_file(folder.join(stale))?;
        }
        for (name, bytes) in &made {
            fs::write(folder.join(name), bytes)?;
        }
        print_line(&format!("{} files written", made.len()));
        Ok(())
    }

    /// The files as Kafka's classes write them.
    fn made(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let folder = self.empty_folder("by-kafka")?;
        for (release, arguments) in self.writers {
            self.java(release, "write", &folder, arguments)?;
        }
        files_in(&folder)
    }

    fn read(&self) -> Result<()> {
        let folder = self.empty_folder("by-kgauge")?;
        let written = Command::new(built::test_example(self.name)?)
            .arg(&folder)
            .current_dir(root())
            .status()
            .context("the example could not be started")?;
        ensure!(written.success(), "the files could not be written");
        let mut writers = self.writers.iter();
        writers.try_for_each(|(_, arguments)| self.java(self.reader, "read", &folder, arguments))
    }

    /// Compiles and runs the Java program against the classes of a release; its output goes where ours goes.
    fn java(
        &self,
        release: &str,
        direction: &str,
        folder: &Path,
        arguments: &[&str],
    ) -> Result<()> {
        let mut program = maven::java(release, self.class)?;
        let done = program.arg(direction).arg(folder).args(arguments).status();
        ensure!(
            done.context("java could not be started")?.success(),
            "Kafka's classes could not {direction} the files"
        );
        Ok(())
    }

    fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = root().join(format!("target/codegen/{}-{name}", self.name));
        make_empty(&folder)?;
        Ok(folder)
    }
}

/// The golden files of a folder by their names.
fn files_in(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".bin") {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(files)
}
