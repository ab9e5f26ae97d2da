//! `cargo xtask verify`: does verification find what is wrong, and nothing where all is right, and what does it cost?
//! Every load ends by itself; Ctrl-C and SIGTERM end it with all its processes.

mod cost;
mod loads;
mod verified_run;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::built::{self, ProgramOption};
use crate::folders::temporary_in;
use crate::kafka::ChildProcess;
use crate::kgauge::Kgauge;
use crate::say::print_line;

/// All seeds of the simulation take no longer.
const SIMULATION_MAX: Duration = Duration::from_secs(7_200);

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyOptions {
    /// Run only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<VerifyPart>,
    /// Simulated runs of the unmodified cluster
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    seeds: u64,
    /// Pairs of runs with and without --verify
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    pairs: u32,
    /// Records of the large run, in several repeats if the disk does not hold them
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,
    /// Length of the run on Apache Kafka, with 333,360 records per minute
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
    /// Draws the faults
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where the clusters' data goes [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramOption,
}

/// A part of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum VerifyPart {
    /// Broken rules of the simulated cluster, 20 seeds each: a table of the classes that were found
    Mutants,
    /// The unmodified simulated cluster with random faults: no alarm
    Clean,
    /// CPU time of the generator per record with and without --verify, in alternating runs. About 20 minutes
    Cost,
    /// A billion records on the embedded cluster with a crash every 20 s: losses, memory and rate. About an hour, and
    /// some 200 bytes of disk per record, or several repeats where that is not free
    Volume,
    /// Ten million records on three brokers of Apache Kafka 4.3.1 with random faults
    Kafka,
    /// Three minutes of the same with each client: kgauge, librdkafka, Java
    Drivers,
}

impl VerifyPart {
    const ALL: [Self; 6] = [
        Self::Mutants,
        Self::Clean,
        Self::Cost,
        Self::Volume,
        Self::Kafka,
        Self::Drivers,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Mutants => "mutants",
            Self::Clean => "clean",
            Self::Cost => "cost",
            Self::Volume => "volume",
            Self::Kafka => "kafka",
            Self::Drivers => "drivers",
        }
    }
}

/// Runs the command. Returns false if a part failed.
pub(crate) fn run(options: &VerifyOptions) -> Result<bool> {
    let mut is_good = true;
    for part in VerifyPart::ALL {
        if !options.only.is_empty() && !options.only.contains(&part) {
            continue;
        }
        let passed = match part {
            VerifyPart::Mutants => simulate(&["mutants"])?,
            VerifyPart::Clean => simulate(&["clean", "--seeds", &options.seeds.to_string()])?,
            _ => load(part, options)?,
        };
        let verdict = if passed { "passed" } else { "FAILED" };
        print_line(&format!("{}: {verdict}", part.name()));
        is_good &= passed;
    }
    Ok(is_good)
}

/// Runs the simulation, which prints what it finds.
fn simulate(arguments: &[&str]) -> Result<bool> {
    let mut command = Command::new(built::example("kgauge-simulation", "verified")?);
    let running = ChildProcess::start("the simulation", command.args(arguments))?;
    let status = running.wait(SIMULATION_MAX)?;
    match status.context("the simulation did not end")?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        other => bail!("the simulation ended with status {other:?}"),
    }
}

/// Runs a part with kgauge itself, in a folder that is removed afterwards.
fn load(part: VerifyPart, options: &VerifyOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let folder = match &options.dir {
        Some(dir) => temporary_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let kgauge = Kgauge {
        binary: &binary,
        folder: folder.path(),
    };
    match part {
        VerifyPart::Cost => cost::check(&kgauge, options.pairs),
        VerifyPart::Volume => loads::volume(&kgauge, options.records),
        VerifyPart::Kafka => loads::kafka(&kgauge, options.minutes, options.seed),
        VerifyPart::Drivers => loads::drivers(&kgauge, options.seed),
        VerifyPart::Mutants | VerifyPart::Clean => bail!("{} needs no kgauge", part.name()),
    }
}
