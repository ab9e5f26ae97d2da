//! `kgauge size`: how many machines a load needs.

use std::path::Path;

use anyhow::Context;
use kgauge_analyze::Summary;
use kgauge_analyze::sizing::{MachineType, SizingNeed, TrialFacts, size as size_of, trial_facts};
use kgauge_report::{render_size_html, render_size_terminal, text};
use kgauge_results::{FolderError, RunRead};

use crate::exit::{ExitStatus, OrStop, stop};
use crate::print;
use crate::report::write_file;
use crate::size_args::SizeArgs;

/// Tables of machine types are small.
const PRICES_BYTES_MAX: u64 = 1 << 20;

/// Sizes a cluster and prints the answer.
pub(crate) fn size(arguments: &SizeArgs) -> anyhow::Result<ExitStatus> {
    let machines = match &arguments.prices {
        Some(file) => prices(file)?,
        None => MachineType::built_in()?,
    };
    let read = |dir: &std::path::PathBuf| {
        let run = RunRead::open(dir)?;
        let summary = Summary::of(&run);
        Ok(trial_facts(&run, &summary))
    };
    let facts: Result<Vec<Vec<TrialFacts>>, FolderError> =
        arguments.from.iter().map(read).collect();
    let facts = facts.or_bad_input()?.concat();
    let answer = size_of(&need(arguments), &facts, &machines)
        .map_err(|error| stop(ExitStatus::BadInput, text::size::size_error(&error)))?;
    if let Some(file) = &arguments.out {
        write_file(file, &render_size_html(&answer))?;
    }
    match arguments.json {
        true => print::json(&answer)?,
        false => print::result(&render_size_terminal(&answer, arguments.detail.style())),
    }
    Ok(ExitStatus::Good)
}

fn need(arguments: &SizeArgs) -> SizingNeed {
    SizingNeed {
        rate_bytes_per_s: arguments.rate,
        record_bytes: arguments.record,
        peak: arguments.peak,
        retention_s: arguments.retention,
        fan_out: arguments.fan_out,
        replication: arguments.replication,
        lose: arguments.lose,
        tls: arguments.tls,
        compression_ratio: arguments.compression,
        latency_ns_p99: arguments.p99.map(|seconds| seconds * 1e9),
        outage_s: arguments.outage,
        catch_up_s: arguments.catch_up,
    }
}

fn prices(file: &Path) -> anyhow::Result<Vec<MachineType>> {
    let read = || {
        let length =
            std::fs::metadata(file).with_context(|| format!("cannot open {}", file.display()))?;
        anyhow::ensure!(
            length.is_file() && length.len() <= PRICES_BYTES_MAX,
            "{} is no table of machine types: it must be a file of at most 1 MiB",
            file.display()
        );
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        MachineType::table(&text).with_context(|| format!("{} cannot be used", file.display()))
    };
    read().or_bad_input()
}
