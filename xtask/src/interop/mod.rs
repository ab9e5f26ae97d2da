//! `cargo xtask interop`: real clients against the embedded cluster, and kgauge against a real Kafka.

mod actions;
mod checks;
mod clients;
mod cluster;
mod configs;
mod console;
pub(crate) mod drop_in;
mod embedded;
mod following;
mod groups;
mod kcat;
mod latency;
mod leftovers;
mod performance;
mod quotas;
mod real;
mod replicas;
mod scripts;
mod security;
mod stopped;
mod table;
mod topics;
mod verifiable;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::built::ProgramOption;
use crate::folders::{root, temporary_in};
use crate::kafka::{self, RELEASE, ReleaseTools};
use crate::say::print_line;
use actions::InteropClient;
use checks::{Checks, MissingTool};

/// Which checks run.
#[derive(Debug, clap::Args)]
pub(crate) struct InteropOptions {
    #[command(flatten)]
    program: ProgramOption,
    /// Only this half
    #[arg(long, value_enum)]
    only: Option<Half>,
    /// Only this client against the embedded cluster; repeatable
    #[arg(long = "client", value_name = "NAME", value_parser = client)]
    clients: Vec<InteropClient>,
    /// Fail if a client is not installed
    #[arg(long)]
    require_all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Half {
    Embedded,
    Kafka,
}

impl InteropOptions {
    fn wants(&self, half: Half) -> bool {
        self.only.is_none_or(|only| only == half)
    }

    fn wants_client(&self, column: InteropClient) -> bool {
        self.clients.is_empty() || self.clients.contains(&column)
    }
}

fn client(word: &str) -> Result<InteropClient> {
    InteropClient::named(word).with_context(|| {
        let names = InteropClient::ALL.map(InteropClient::short).join(", ");
        format!("--client takes one of {names}, not {word:?}")
    })
}

/// Runs the command. Returns false when a check failed.
pub(crate) fn run(options: &InteropOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let release = kafka::tools(RELEASE)?.with_quick_start();
    let folder = root().join("target/interop");
    fs::create_dir_all(&folder)?;
    let output = folder.join("output");
    let missing = if options.require_all {
        MissingTool::Fails
    } else {
        MissingTool::Skips
    };
    let mut checks = Checks::new(output.clone(), missing)?;
    print_line(&format!(
        "Kafka {RELEASE}'s tools, {}; what they say is kept in {}",
        binary.display(),
        output.display()
    ));
    check(&mut checks, options, &release, &binary, &folder)?;
    print_line(&format!("\n{}", checks.table()));
    if options.wants(Half::Embedded) {
        let table = checks.client_table();
        fs::write(folder.join("table.md"), &table)?;
        print_line(&table);
    }
    print_line(&checks.totals());
    Ok(checks.all_good())
}

fn check(
    checks: &mut Checks,
    options: &InteropOptions,
    release: &ReleaseTools,
    binary: &Path,
    folder: &Path,
) -> Result<()> {
    let work = temporary_in(folder)?;
    if options.wants(Half::Embedded) {
        checks.against("embedded cluster");
        let parts = embedded::EmbeddedHalf {
            release,
            binary,
            work: &work.path().join("embedded"),
            installed: folder,
            wants: &|column| options.wants_client(column),
        };
        embedded::run(checks, &parts)?;
    }
    if options.wants(Half::Kafka) {
        checks.against("Apache Kafka");
        real::run(checks, release, binary, &work.path().join("kafka"))?;
    }
    Ok(())
}
