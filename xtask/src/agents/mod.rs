//! `cargo xtask agents`: loads from several processes. Do they send what one process sends, are their clocks known as
//! well as kgauge says, does every loss end in time, and what does merging cost?

mod cable;
mod clocks;
mod cost;
mod losses;
mod process;
mod proxy;
mod records;
mod sums;

use anyhow::Result;

use crate::built::ProgramOption;
use crate::kgauge::Kgauge;
use crate::say::print_line;

/// What is run.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentsOptions {
    /// Run only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<AgentsPart>,
    /// How many agents are lost
    #[arg(long, value_name = "N", default_value_t = 50)]
    losses: u32,
    /// Length of the run whose clocks are checked, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    clock_seconds: u32,
    /// Draws the moments of the losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    program: ProgramOption,
}

/// A part of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AgentsPart {
    /// One process, and 1, 2, 4 and 25 local agents: the same records, histograms equal to the sum, counts equal to the
    /// brokers'
    Sums,
    /// Shifted clocks and slow, asymmetric connections; needs root for time namespaces
    Clocks,
    /// Killed, stopped and cut-off agents at random moments; the network of some is only cut for root
    Losses,
    /// CPU time for the slices of 100 agents with 10 flows
    Cost,
}

/// Runs the command. Returns false if a part failed.
pub(crate) fn run(options: &AgentsOptions) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let folder = tempfile::tempdir()?;
    let kgauge = Kgauge {
        binary: &binary,
        folder: folder.path(),
    };
    let mut is_good = true;
    for (part, name) in [
        (AgentsPart::Sums, "sums"),
        (AgentsPart::Clocks, "clocks"),
        (AgentsPart::Losses, "losses"),
        (AgentsPart::Cost, "cost"),
    ] {
        if !options.only.is_empty() && !options.only.contains(&part) {
            continue;
        }
        let passed = match part {
            AgentsPart::Sums => sums::run(&kgauge)?,
            AgentsPart::Clocks => clocks::run(&kgauge, options.clock_seconds)?,
            AgentsPart::Losses => losses::run(&kgauge, options.losses, options.seed)?,
            AgentsPart::Cost => cost::run(&kgauge)?,
        };
        let verdict = if passed { "passed" } else { "FAILED" };
        print_line(&format!("{name}: {verdict}"));
        is_good &= passed;
    }
    Ok(is_good)
}
