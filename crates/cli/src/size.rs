//! `kgauge size`: how many machines a load needs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use kgauge_analyze::Summary;
use kgauge_analyze::sizing::{MachineType, SizingNeed, TrialFacts, size as size_of, trial_facts};
use kgauge_report::{render_size_html, render_size_terminal, text};
use kgauge_results::{FolderError, RunRead};
use kgauge_runner::Question;

use crate::args::{RunArgs, ScenarioArgs};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::print;
use crate::report::write_file;
use crate::run;
use crate::size_args::SizeArgs;

/// The trials that `--measure` makes.
const MEASURED: &str = include_str!("size.yaml");
/// Tables of machine types are small.
const PRICES_BYTES_MAX: u64 = 1 << 20;

/// Sizes a cluster and prints the answer.
pub(crate) fn size(arguments: &SizeArgs) -> anyhow::Result<ExitStatus> {
    let machines = match &arguments.prices {
        Some(file) => prices(file)?,
        None => MachineType::built_in()?,
    };
    let from = match arguments.measure {
        true => vec![measured(arguments)?],
        false => arguments.from.clone(),
    };
    let read = |dir: &PathBuf| {
        let run = RunRead::open(dir)?;
        let summary = Summary::of(&run);
        Ok(trial_facts(&run, &summary))
    };
    let facts: Result<Vec<Vec<TrialFacts>>, FolderError> = from.iter().map(read).collect();
    let facts = facts.or_bad_input()?.concat();
    let answer = size_of(&need(arguments), &facts, &machines)
        .map_err(|error| stop(ExitStatus::BadInput, text::size::size_error(&error)))?;
    if let Some(file) = &arguments.page {
        write_file(file, &render_size_html(&answer))?;
    }
    match arguments.conduct.json {
        true => print::json(&answer)?,
        false => print::result(&render_size_terminal(
            &answer,
            arguments.conduct.detail.style(),
        )),
    }
    Ok(ExitStatus::Good)
}

/// Makes the designed trials. Returns their run folder.
fn measured(arguments: &SizeArgs) -> anyhow::Result<PathBuf> {
    let run = RunArgs {
        targets: arguments.target.iter().cloned().collect(),
        changes: ScenarioArgs {
            quick: arguments.quick,
            set: arguments.set.clone(),
            ..ScenarioArgs::default()
        },
        conduct: arguments.conduct.clone(),
        ..RunArgs::default()
    };
    let question = Question::of_text("broker-costs", MEASURED, &run::changes_of(&run.changes)?)?;
    let dir = run::measure_question(&run, &question)?;
    print::message(&format!(
        "kgauge: the trials are in {0}; for another load: kgauge size --from {0} ...",
        dir.display()
    ));
    Ok(dir)
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
        MachineType::table(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
    };
    read().or_bad_input()
}
