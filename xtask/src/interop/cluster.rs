//! Checks: what Kafka's tools find out about a cluster, its folders, its first and last offsets.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::scripts::{create, json_file};
use crate::kafka::{KafkaScript, Tools, output};

const TOPIC: &str = "interop-cluster";
const PARTITIONS: u32 = 6;
const RECORDS: u64 = 6_000;
/// Of one partition.
const DELETED: u64 = 100;
const NODES: usize = 3;

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>, folder: &Path) -> Result<()> {
    let name = Name::tool(KafkaScript::API_VERSIONS, "all nodes", Action::ApiVersions);
    checks.check(name, |log| api_versions(log, tools))?;
    let name = Name::tool(
        KafkaScript::CLUSTER,
        "list endpoints",
        Action::DescribeCluster,
    );
    checks.check(name, |log| endpoints(log, tools))?;
    let name = Name::tool(
        KafkaScript::PRODUCER_PERF,
        "acks=all, idempotent",
        Action::Produce,
    );
    checks.check(name, |log| produce(log, tools))?;
    let name = Name::tool(KafkaScript::LOG_DIRS, "describe", Action::LogDirs);
    checks.check(name, |log| log_dirs(log, tools))?;
    let name = Name::tool(
        KafkaScript::DELETE_RECORDS,
        "of one partition",
        Action::DeleteRecords,
    );
    checks.check(name, |log| delete_records(log, tools, folder))?;
    let name = Name::tool(
        KafkaScript::OFFSETS,
        "earliest, latest",
        Action::ListOffsets,
    );
    checks.check(name, |log| offsets(log, tools))?;
    Ok(())
}

fn api_versions(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let stdout = log.run_tool(tools, KafkaScript::API_VERSIONS, &[])?;
    let nodes = stdout
        .lines()
        .filter(|line| line.contains(" (id: "))
        .count();
    ensure!(nodes == NODES, "{nodes} nodes answer, not {NODES}");
    let apis = stdout.lines().filter(|line| line.contains("[usable: "));
    Ok(format!(
        "{nodes} nodes, {} APIs usable",
        apis.count() / nodes
    ))
}

fn endpoints(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let stdout = log.run_tool(tools, KafkaScript::CLUSTER, &["cluster-id"])?;
    let id = stdout.trim().strip_prefix("Cluster ID: ");
    let id = id.context("it reports no cluster id")?.to_owned();
    let stdout = log.run_tool(tools, KafkaScript::CLUSTER, &["list-endpoints"])?;
    let nodes = stdout.lines().filter(|line| line.contains("unfenced"));
    let nodes = nodes.count();
    ensure!(nodes == NODES, "{nodes} endpoints, not {NODES}");
    Ok(format!("{nodes} nodes, id {id}"))
}

fn produce(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    log.run(create(tools, TOPIC, PARTITIONS)?)?;
    let records = RECORDS.to_string();
    let what = ["--topic", TOPIC, "--num-records", &records];
    let how = ["--record-size", "1000", "--throughput", "-1"];
    let settings = [
        "--command-property",
        "acks=all",
        "enable.idempotence=true",
        "max.in.flight.requests.per.connection=5",
    ];
    let arguments = [what, how, settings].concat();
    let stdout = log.run_tool(tools, KafkaScript::PRODUCER_PERF, &arguments)?;
    let sent = output::sent(&stdout)?.records;
    ensure!(sent == RECORDS, "{sent} of {RECORDS} sent");
    let ends = ends(log, tools, "latest")?;
    ensure!(ends == RECORDS, "{ends} are there");
    Ok(format!("{sent} sent, {ends} there"))
}

/// The sum of the offsets at that end of the partitions.
fn ends(log: &mut Transcript, tools: &Tools<'_>, time: &str) -> Result<u64> {
    let arguments = ["--topic", TOPIC, "--time", time];
    let stdout = log.run_tool(tools, KafkaScript::OFFSETS, &arguments)?;
    Ok(output::end_offsets(&stdout).values().sum())
}

fn log_dirs(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let arguments = ["--describe", "--topic-list", TOPIC];
    let stdout = log.run_tool(tools, KafkaScript::LOG_DIRS, &arguments)?;
    let line = stdout.lines().find(|line| line.starts_with('{'));
    let description: Value = serde_json::from_str(line.context("no JSON")?)?;
    let (partitions, bytes) = sizes(&description);
    // Values are random, so that nothing makes them smaller on disk.
    ensure!(
        partitions >= PARTITIONS as usize && bytes >= RECORDS * 1_000,
        "{partitions} replicas with {bytes} bytes"
    );
    Ok(format!("{partitions} replicas, {bytes} bytes"))
}

/// Replicas and their bytes, over all nodes and folders.
fn sizes(description: &Value) -> (usize, u64) {
    let none = Vec::new();
    let list = |value: &Value, name: &str| value[name].as_array().unwrap_or(&none).clone();
    let mut sizes = Vec::new();
    for broker in list(description, "brokers") {
        for folder in list(&broker, "logDirs") {
            let partitions = list(&folder, "partitions");
            let of = |partition: &Value| partition["size"].as_u64();
            sizes.extend(partitions.iter().filter_map(of));
        }
    }
    (sizes.len(), sizes.iter().sum())
}

fn delete_records(log: &mut Transcript, tools: &Tools<'_>, folder: &Path) -> Result<String> {
    let partition = json!({"topic": TOPIC, "partition": 0, "offset": DELETED});
    let request = json!({"partitions": [partition], "version": 1});
    let file = json_file(folder, "delete-records.json", &request)?;
    let arguments = ["--offset-json-file", &file];
    let stdout = log.run_tool(tools, KafkaScript::DELETE_RECORDS, &arguments)?;
    let expected = format!("partition: {TOPIC}-0\tlow_watermark: {DELETED}");
    ensure!(stdout.contains(&expected), "it does not say: {expected}");
    Ok(expected.replace('\t', ", "))
}

fn offsets(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let (first, last) = (ends(log, tools, "earliest")?, ends(log, tools, "latest")?);
    ensure!(
        (first, last) == (DELETED, RECORDS),
        "from {first} to {last}, not from {DELETED} to {RECORDS}"
    );
    Ok(format!("{first} deleted, {last} at the end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_add_up_over_nodes_and_folders() {
        let description = json!({"brokers": [
            {"broker": 1, "logDirs": [{"partitions": [{"partition": "t-0", "size": 5}]}]},
            {"broker": 2, "logDirs": [
                {"partitions": [{"partition": "t-1", "size": 7}]},
                {"partitions": []},
            ]},
        ]});
        assert_eq!(sizes(&description), (2, 12));
        assert_eq!(sizes(&json!({})), (0, 0));
    }
}
