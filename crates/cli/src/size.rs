//! `kgauge size`: how many machines a load needs.

use std::path::PathBuf;

use kgauge_analyze::sizing::SizingNeed;
use kgauge_report::{render_size_html, render_size_terminal};
use kgauge_runner::{Question, SizeRequest, read_machine_types};

use crate::args::{RunArgs, ScenarioArgs};
use crate::exit::ExitStatus;
use crate::print;
use crate::report::write_file;
use crate::run;
use crate::size_args::SizeArgs;

/// Sizes a cluster and prints the answer.
pub(crate) fn size(arguments: &SizeArgs) -> anyhow::Result<ExitStatus> {
    let machines = read_machine_types(arguments.prices.as_deref())?;
    let request = request(arguments);
    let from = match arguments.measure {
        true => vec![measured(arguments, &request)?],
        false => arguments.from.clone(),
    };
    let answer = request.answer(&from, &machines)?;
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
fn measured(arguments: &SizeArgs, request: &SizeRequest) -> anyhow::Result<PathBuf> {
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
    let text = request.trials_text()?;
    let question = Question::of_text("broker-costs", &text, &run::changes_of(&run.changes)?)?;
    let dir = run::measure_question(&run, &question)?;
    print::remark(&format!(
        "the trials are in {0}; for another load: kgauge size --from {0} ...",
        dir.display()
    ));
    Ok(dir)
}

fn request(arguments: &SizeArgs) -> SizeRequest {
    SizeRequest {
        need: SizingNeed {
            rate_bytes_per_s: arguments.rate,
            record_bytes: arguments.record,
            peak: arguments.peak,
            retention_s: arguments.retention,
            fan_out: arguments.fan_out,
            replication: arguments.replication,
            lose: arguments.lose,
            tls: arguments.tls,
            compression: None,
            recompressed: arguments.recompress,
            latency_ns_p99: arguments.p99.map(|seconds| seconds * 1e9),
            outage_s: arguments.outage,
            catch_up_s: arguments.catch_up,
            zones: arguments.zones,
            controllers: arguments.controllers,
        },
        codec: arguments.codec,
        ratio: arguments.compression,
        sample: arguments.sample.clone(),
        is_record_per_file: arguments.whole_files,
    }
}
