//! Checks: Kafka's performance tools and kafka-get-offsets. What is sent is counted and read back.

use anyhow::{Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::topics::TOPIC;
use crate::kafka::{KafkaScript, Tools, output};

const CODECS_TOPIC: &str = "interop-codecs";
const RECORDS: u64 = 1_000_000;
const RECORDS_PER_CODEC: u64 = 200_000;

const PRODUCER: KafkaScript = KafkaScript::PRODUCER_PERF;
const CONSUMER: KafkaScript = KafkaScript::CONSUMER_PERF;

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    checks.check(
        Name::tool(
            PRODUCER,
            "1,000,000 x 100 B, default settings",
            Action::Produce,
        ),
        |log| produce(log, tools, TOPIC, RECORDS, &[]),
    )?;
    checks.check(
        Name::tool(KafkaScript::OFFSETS, "end offsets", Action::ListOffsets),
        |log| ends_at(log, tools, TOPIC, RECORDS),
    )?;
    checks.check(Name::tool(CONSUMER, "read all", Action::Consume), |log| {
        consume(log, tools, TOPIC, RECORDS)
    })?;
    codecs(checks, tools)
}

/// All codecs go into one topic, which is then read as a whole.
fn codecs(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    let actions = [
        ("gzip", "compression.type=gzip"),
        ("snappy", "compression.type=snappy"),
        ("lz4", "compression.type=lz4"),
        ("zstd", "compression.type=zstd"),
    ];
    let mut sent = 0;
    for (codec, setting) in actions {
        let name = Name::tool(PRODUCER, codec, Action::of_codec(codec));
        checks.check(name, |log| {
            if sent == 0 {
                log.run(tools.create(CODECS_TOPIC, 1)?)?;
            }
            let settings = ["--command-property", setting];
            let summary = produce(log, tools, CODECS_TOPIC, RECORDS_PER_CODEC, &settings)?;
            sent += RECORDS_PER_CODEC;
            ends_at(log, tools, CODECS_TOPIC, sent)?;
            Ok(summary)
        })?;
    }
    checks.check(
        Name::tool(CONSUMER, "read all codecs", Action::Consume),
        |log| {
            ensure!(sent > 0, "nothing was sent");
            consume(log, tools, CODECS_TOPIC, sent)
        },
    )?;
    Ok(())
}

fn produce(
    log: &mut Transcript,
    tools: &Tools<'_>,
    topic: &str,
    records: u64,
    settings: &[&str],
) -> Result<String> {
    let count = records.to_string();
    let what = ["--topic", topic, "--num-records", &count];
    let how = ["--record-size", "100", "--throughput", "-1"];
    let stdout = log.run_tool(tools, PRODUCER, &[&what[..], &how, settings].concat())?;
    let sent = output::sent(&stdout)?;
    ensure!(
        sent.records == records,
        "{} of {records} sent",
        sent.records
    );
    Ok(format!(
        "{records} sent, {:.0} records/s",
        sent.records_per_s
    ))
}

fn consume(log: &mut Transcript, tools: &Tools<'_>, topic: &str, records: u64) -> Result<String> {
    let count = records.to_string();
    let arguments = ["--topic", topic, "--num-records", &count];
    let stdout = log.run_tool(tools, CONSUMER, &arguments)?;
    let consumed = output::consumed(&stdout)?;
    ensure!(consumed == records, "{consumed} of {records} read");
    Ok(format!("{consumed} read"))
}

/// Checks the number of records in all partitions of `topic`.
fn ends_at(log: &mut Transcript, tools: &Tools<'_>, topic: &str, expected: u64) -> Result<String> {
    let stdout = log.run_tool(tools, KafkaScript::OFFSETS, &["--topic", topic])?;
    let ends = output::end_offsets(&stdout);
    let sum: u64 = ends.values().sum();
    ensure!(
        sum == expected,
        "the end offsets add up to {sum}, not {expected}"
    );
    Ok(format!("{sum} in {} partitions", ends.len()))
}

/// Records that were acked before a clean stop exist after it.
pub(super) fn after_restart(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    checks.check(
        Name::tool(
            KafkaScript::OFFSETS,
            "end offsets after a restart",
            Action::ListOffsets,
        ),
        |log| ends_at(log, tools, TOPIC, RECORDS),
    )?;
    Ok(())
}
