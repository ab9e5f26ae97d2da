//! kgauge against a real Kafka: whole runs, and what they leave.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::checks::{Checks, Transcript};
use super::leftovers::{PREFIX, RUN, delete_left, nothing_left};
use super::{drop_in, stopped};
use crate::kafka::{KafkaBroker, KafkaScript, ReleaseTools, Tools, output};
use crate::kgauge::{Kgauge, counts};

/// All checks of this half; `folder` is made for them.
pub(super) fn run(
    checks: &mut Checks,
    release: &ReleaseTools,
    binary: &Path,
    folder: &Path,
) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut broker = None;
    checks.check(("Kafka", "start"), |_| {
        let started = broker.insert(KafkaBroker::start(&folder.join("broker"))?);
        Ok(started.servers())
    })?;
    let Some(broker) = broker else {
        return Ok(());
    };
    let tools = Tools {
        release,
        servers: broker.servers(),
        alive: &|| broker.check(),
    };
    let kgauge = Kgauge { binary, folder };
    let ran = checks.check((RUN, "linkedin-2014 --quick"), |log| {
        study(log, &kgauge, &tools)
    })?;
    checks.follow(ran, (RUN, "its topics are gone"), |log| {
        nothing_left(log, &tools)
    })?;
    checks.check((RUN, "acked = counted by Kafka's tool"), |log| {
        kept(log, &kgauge, &tools)
    })?;
    stopped::run(checks, &kgauge, &tools)?;
    drop_in::run(checks, &kgauge, &tools)
}

/// Runs some scenarios of the study into a folder. Returns the summary that it prints.
fn run_study(
    log: &mut Transcript,
    kgauge: &Kgauge<'_>,
    tools: &Tools<'_>,
    out: &Path,
    more: &[&str],
) -> Result<Value> {
    let out = out.to_str().context("the folder's name is not UTF-8")?;
    let call = ["run", "linkedin-2014", "--quick", "--repeat", "1", "--json"];
    let place = ["--yes", "--target", &tools.servers, "--out", out];
    let printed = log.run(kgauge.call(&[&call[..], &place, more].concat()))?;
    serde_json::from_str(&printed.stdout).context("--json printed no JSON")
}

fn study(log: &mut Transcript, kgauge: &Kgauge<'_>, tools: &Tools<'_>) -> Result<String> {
    let out = kgauge.folder.join("study");
    let only = ["--only", "single-producer,single-consumer"];
    let summary = run_study(log, kgauge, tools, &out, &only)?;
    let written: Value = serde_json::from_slice(&fs::read(out.join("summary.json"))?)?;
    ensure!(
        written == summary,
        "summary.json is not what --json printed"
    );

    let counts = counts(&summary)?;
    let [producer, consumer] = &counts[..] else {
        anyhow::bail!("{} trials in the summary, not 2", counts.len());
    };
    ensure!(
        producer.acked > 0 && producer.on_broker == Some(producer.acked),
        "{} acked, the brokers count {:?}",
        producer.acked,
        producer.on_broker
    );
    ensure!(
        producer.agrees == Some(true),
        "the summary does not say that they agree"
    );
    let preload = preloaded(&out.join("plan.json"))?;
    ensure!(
        consumer.consumed == preload,
        "{} read of {preload} preloaded",
        consumer.consumed
    );
    Ok(format!(
        "{} acked and on the broker, {preload} preloaded and read",
        producer.acked
    ))
}

/// How many records the plan put into the second trial's topic.
fn preloaded(plan: &Path) -> Result<u64> {
    let plan: Value = serde_json::from_slice(&fs::read(plan)?)?;
    let records = plan.pointer("/trials/1/topic/preload/records");
    records
        .and_then(Value::as_u64)
        .context("the plan has no preload")
}

/// Kafka's own tool counts the records, so the topic is kept until then.
fn kept(log: &mut Transcript, kgauge: &Kgauge<'_>, tools: &Tools<'_>) -> Result<String> {
    let out = kgauge.folder.join("kept");
    let only = ["--only", "single-producer", "--keep"];
    let summary = run_study(log, kgauge, tools, &out, &only)?;
    let counts = counts(&summary)?;
    let acked: u64 = counts.iter().map(|trial| trial.acked).sum();

    let topics = format!("{PREFIX}.*");
    let stdout = log.run_tool(tools, KafkaScript::OFFSETS, &["--topic", &topics])?;
    let ends = output::end_offsets(&stdout);
    let counted: u64 = ends.values().sum();
    delete_left(log, tools)?;
    ensure!(
        acked > 0 && acked == counted,
        "{acked} acked, Kafka counts {counted}"
    );
    Ok(format!("{acked} acked, {counted} counted"))
}
