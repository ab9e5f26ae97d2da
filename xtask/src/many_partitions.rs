//! `cargo xtask many-partitions`: how long requests to the embedded cluster wait, whether leaders change,
//! and how long stopping takes, with thousands of partitions.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::built::ProgramOption;
use crate::kafka;

/// How many partitions, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct PartitionOptions {
    /// Half of it idle, half under load on some partitions [default: 60]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    #[arg(long, value_name = "N")]
    partitions: Option<u64>,
    #[arg(long, value_name = "N")]
    topics: Option<u64>,
    /// Partitions under load
    #[arg(long, value_name = "N")]
    loaded: Option<u64>,
    /// Folder of the cluster's data
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    #[command(flatten)]
    program: ProgramOption,
}

/// Runs the command. Returns false when the example fails.
pub(crate) fn run(options: &PartitionOptions) -> Result<bool> {
    let binary = options
        .program
        .example("kgauge-broker", "many_partitions")?;
    let mut command = Command::new(&binary);
    for (name, number) in [
        ("--seconds", options.seconds),
        ("--partitions", options.partitions),
        ("--topics", options.topics),
        ("--loaded", options.loaded),
    ] {
        if let Some(number) = number {
            command.arg(name).arg(number.to_string());
        }
    }
    let own = tempfile::tempdir()?;
    let data = options.data.as_deref().map_or(own.path(), Path::new);
    command.arg("--data").arg(data);
    Ok(kafka::status(&mut command)?.success())
}
