//! `kgauge size`: how many machines a load needs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use kgauge_analyze::Summary;
use kgauge_analyze::sizing::{
    MachineType, NeededCompression, RecordSample, SizingNeed, TrialFacts, batch_bytes,
    size as size_of, trial_facts,
};
use kgauge_report::{render_size_html, render_size_terminal, text};
use kgauge_results::{FolderError, RunRead};
use kgauge_runner::Question;
use kgauge_wire::compress::Codec;

use crate::args::{RunArgs, ScenarioArgs};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::print;
use crate::report::write_file;
use crate::run;
use crate::size_args::SizeArgs;
use crate::size_sample;

/// The trials that `--measure` makes.
const MEASURED: &str = include_str!("size.yaml");
/// Kafka brokers refuse larger records by default; keys, headers and batches need some bytes too.
const RECORD_BYTES_MAX: f64 = 900e3;
/// Smaller records have no place for what kgauge writes into them.
const RECORD_BYTES_MIN: f64 = 16.0;
/// The larger `batch.size` of the trials.
const BATCH_BYTES: f64 = 65_536.0;
/// Bytes per second of the lowest scheduled rate, and the records per second that it may have: fewer have no
/// percentiles.
const LOW_BYTES_PER_S: f64 = 1e6;
const LOW_RECORDS_PER_S: [f64; 2] = [10.0, 10_000.0];
/// The scheduled rates, as multiples of the lowest one.
const SCHEDULED: [(&str, f64); 3] = [("LOW", 1.0), ("MIDDLE", 10.0), ("HIGH", 40.0)];
/// How far a codec compresses the trials' records, if neither a ratio nor a sample is given.
const COMPRESSION_DEFAULT: f64 = 2.0;
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
    let need = need(arguments);
    let sample = sample(arguments, &need, &facts)?;
    let need = SizingNeed {
        compression: compression(arguments, sample.as_ref()),
        ..need
    };
    let mut answer = size_of(&need, &facts, &machines)
        .map_err(|error| stop(ExitStatus::BadInput, text::size::size_error(&error)))?;
    answer.sample = sample;
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
    let text = measured_text(arguments)?;
    let question = Question::of_text("broker-costs", &text, &run::changes_of(&run.changes)?)?;
    let dir = run::measure_question(&run, &question)?;
    print::message(&format!(
        "kgauge: the trials are in {0}; for another load: kgauge size --from {0} ...",
        dir.display()
    ));
    Ok(dir)
}

/// The scenario of the designed trials, with records like those that are to be sized.
fn measured_text(arguments: &SizeArgs) -> anyhow::Result<String> {
    let codec = arguments.codec.unwrap_or(Codec::None);
    let sampled = match arguments.sample.is_empty() || codec == Codec::None {
        true => None,
        false => Some(
            size_sample::measured(&arguments.sample, arguments.whole_files, BATCH_BYTES)
                .or_bad_input()?,
        ),
    };
    let compression = compression(arguments, sampled.as_ref());
    let ratio = compression.map_or(COMPRESSION_DEFAULT, |compression| compression.ratio);
    let record = arguments.record;
    let size = |bytes: f64| format!("{} B", bytes.max(RECORD_BYTES_MIN).round());
    let of_record = match codec {
        Codec::None => size(record),
        _ => format!("{}, compressibility: {:.3}", size(record), ratio.max(1.0)),
    };
    let [least, most] = LOW_RECORDS_PER_S;
    let low = (LOW_BYTES_PER_S / record).clamp(least, most).round();
    let scheduled = SCHEDULED
        .iter()
        .fold(MEASURED.to_owned(), |text, (name, times)| {
            let rate = format!("{{constant: {}/s}}", low * times);
            text.replace(&format!("{{constant: {name}}}"), &rate)
        });
    Ok(scheduled
        .replace("{size: RECORD}", &format!("{{size: {of_record}}}"))
        .replace("size: SMALL", &format!("size: {}", size(record / 10.0)))
        .replace(
            "size: LARGE",
            &format!(
                "size: {}",
                size((record * 3.0).min(RECORD_BYTES_MAX).max(record))
            ),
        )
        .replace("type: CODEC", &format!("type: {}", codec.name())))
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
        compression: None,
        recompressed: arguments.recompress,
        latency_ns_p99: arguments.p99.map(|seconds| seconds * 1e9),
        outage_s: arguments.outage,
        catch_up_s: arguments.catch_up,
        zones: arguments.zones,
        controllers: arguments.controllers,
    }
}

/// Compresses the user's records in batches as large as those of the runs.
fn sample(
    arguments: &SizeArgs,
    need: &SizingNeed,
    facts: &[TrialFacts],
) -> anyhow::Result<Option<RecordSample>> {
    if arguments.sample.is_empty() {
        return Ok(None);
    }
    let batch_bytes = batch_bytes(need, facts).unwrap_or(need.record_bytes);
    let sample = size_sample::measured(&arguments.sample, arguments.whole_files, batch_bytes);
    Ok(Some(sample.or_bad_input()?))
}

/// The ratio that was given, or that of the sample with the producers' codec.
fn compression(arguments: &SizeArgs, sample: Option<&RecordSample>) -> Option<NeededCompression> {
    let codec = arguments.codec.map(|codec| codec.name().to_owned());
    if let Some(ratio) = arguments.compression {
        return Some(NeededCompression {
            codec,
            ratio,
            interval: None,
        });
    }
    let codec = codec.or_else(|| sample.map(|_| "none".to_owned()))?;
    let found = sample.and_then(|sample| sample.codecs.iter().find(|one| one.codec == codec));
    match found {
        Some(found) => Some(NeededCompression {
            ratio: found.ratio,
            interval: found.interval,
            codec: Some(codec),
        }),
        None if codec == "none" => Some(NeededCompression {
            codec: Some(codec),
            ratio: 1.0,
            interval: None,
        }),
        None => None,
    }
}

fn prices(file: &Path) -> anyhow::Result<Vec<MachineType>> {
    let read = || {
        let length =
            std::fs::metadata(file).with_context(|| format!("cannot open {}", file.display()))?;
        anyhow::ensure!(
            length.is_file() && length.len() <= PRICES_BYTES_MAX,
            "{} is not a table of machine types: it must be a file of at most 1 MiB",
            file.display()
        );
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        MachineType::table(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))
    };
    read().or_bad_input()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kgauge_scenario::Scenario;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        size: SizeArgs,
    }

    fn text(words: &[&str]) -> String {
        let need = ["size", "--measure", "--rate", "1MB/s"];
        let line = Line::try_parse_from(need.iter().chain(words)).unwrap();
        measured_text(&line.size).unwrap()
    }

    #[test]
    fn the_measured_records_are_those_that_are_sized() {
        let plain = text(&["--record", "400 kB"]);
        assert!(plain.contains("record: {size: 400000 B}"), "{plain}");
        // 4, 40 and 160 MB/s: ten records per second are the fewest.
        for rate in ["10/s", "100/s", "400/s"] {
            assert!(plain.contains(&format!("constant: {rate}")), "{plain}");
        }
        assert!(plain.contains("record.size: 40000 B") && plain.contains("record.size: 900000 B"));
        assert!(plain.contains("compression.type: none"));
        let packed = text(&[
            "--record",
            "100 B",
            "--codec",
            "zstd",
            "--compression",
            "3x",
        ]);
        assert!(
            packed.contains("{size: 100 B, compressibility: 3.000}"),
            "{packed}"
        );
        assert!(packed.contains("record.size: 16 B") && packed.contains("type: zstd"));
        assert!(packed.contains("constant: 400000/s"), "{packed}");
        for text in [plain, packed] {
            let scenario = Scenario::parse("broker-costs", &text);
            assert!(scenario.is_ok(), "{:?}", scenario.err());
        }
    }
}
