//! Checks: kafka-leader-election and kafka-reassign-partitions, on topics with three replicas.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::scripts::{create, json_file};
use crate::kafka::{KafkaScript, Tools, poll};

const TOPIC: &str = "interop-replicas";
const NODES: usize = 3;
const MOVE_MAX: Duration = Duration::from_secs(60);
const RECORDS: &str = "5000";

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>, folder: &Path) -> Result<()> {
    let name = Name::tool(
        KafkaScript::REASSIGN,
        "change the order of replicas",
        Action::Reassign,
    );
    let turned = checks.check(name, |log| {
        make(log, tools)?;
        let replicas = describe(log, tools)?.replicas;
        let order = [&replicas[1..], &replicas[..1]].concat();
        reassign(log, tools, folder, &order)
    })?;
    let name = Name::tool(
        KafkaScript::LEADER_ELECTION,
        "preferred",
        Action::ElectLeaders,
    );
    checks.follow(turned, name, |log| elect_preferred(log, tools))?;
    let name = Name::tool(
        KafkaScript::LEADER_ELECTION,
        "unclean, not needed",
        Action::ElectLeaders,
    );
    checks.follow(turned, name, |log| elect_unclean(log, tools))?;
    let name = Name::tool(
        KafkaScript::REASSIGN,
        "from three replicas to one",
        Action::Reassign,
    );
    let one = checks.follow(turned, name, |log| {
        let replicas = describe(log, tools)?.replicas;
        reassign(log, tools, folder, &replicas[2..])
    })?;
    let name = Name::tool(
        KafkaScript::REASSIGN,
        "from one replica to three",
        Action::Reassign,
    );
    checks.follow(one, name, |log| {
        let first = describe(log, tools)?.replicas;
        let rest = (1..=NODES as u64).filter(|node| !first.contains(node));
        let replicas: Vec<u64> = first.iter().copied().chain(rest).collect();
        reassign(log, tools, folder, &replicas)
    })?;
    Ok(())
}

/// A topic of one partition on all nodes, with something in it to copy.
fn make(log: &mut Transcript, tools: &Tools<'_>) -> Result<()> {
    log.run(create(tools, TOPIC, 1)?)?;
    let what = ["--topic", TOPIC, "--num-records", RECORDS];
    let how = ["--record-size", "1000", "--throughput", "-1"];
    log.run_tool(tools, KafkaScript::PRODUCER_PERF, &[what, how].concat())?;
    Ok(())
}

fn reassign(
    log: &mut Transcript,
    tools: &Tools<'_>,
    folder: &Path,
    replicas: &[u64],
) -> Result<String> {
    let partition = json!({"topic": TOPIC, "partition": 0, "replicas": replicas});
    let plan: Value = json!({"partitions": [partition], "version": 1});
    let file = json_file(folder, "reassign.json", &plan)?;
    let file = ["--reassignment-json-file", &file];
    let execute = [&file[..], &["--execute"]].concat();
    let stdout = log.run_tool(tools, KafkaScript::REASSIGN, &execute)?;
    ensure!(
        stdout.contains("Successfully started partition reassignment"),
        "it does not start"
    );
    let completed = format!("Reassignment of partition {TOPIC}-0 is completed.");
    let verify = [&file[..], &["--verify"]].concat();
    let verified = poll(MOVE_MAX, || {
        let finished = log.run_any(tools.call(KafkaScript::REASSIGN, &verify)?)?;
        Ok(finished.stdout.contains(&completed).then_some(()))
    })?;
    verified.with_context(|| format!("not completed after {MOVE_MAX:?}"))?;
    let stdout = log.run_tool(tools, KafkaScript::REASSIGN, &["--list"])?;
    ensure!(
        stdout.contains("No partition reassignments found"),
        "it still lists some"
    );
    let now = describe(log, tools)?;
    ensure!(
        now.replicas == replicas,
        "the replicas are {:?}",
        now.replicas
    );
    let (mut in_sync, mut expected) = (now.in_sync, replicas.to_vec());
    in_sync.sort_unstable();
    expected.sort_unstable();
    ensure!(in_sync == expected, "in sync are {in_sync:?}");
    Ok(format!("replicas {replicas:?}, all in sync"))
}

/// What the tool prints about an election of this kind.
fn elect(log: &mut Transcript, tools: &Tools<'_>, kind: &str) -> Result<String> {
    let partition = ["--topic", TOPIC, "--partition", "0"];
    let arguments = [&["--election-type", kind][..], &partition].concat();
    log.run_tool(tools, KafkaScript::LEADER_ELECTION, &arguments)
}

/// After the replicas' order has changed, the first one is to lead.
fn elect_preferred(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let before = describe(log, tools)?;
    let preferred = before.replicas.first().copied();
    ensure!(
        before.leader != preferred,
        "{:?} leads already",
        before.leader
    );
    let stdout = elect(log, tools, "preferred")?;
    ensure!(
        stdout.contains("Successfully completed leader election (PREFERRED)"),
        "it does not say so"
    );
    let after = describe(log, tools)?;
    ensure!(after.leader == preferred, "{:?} leads", after.leader);
    let again = elect(log, tools, "preferred")?;
    ensure!(
        again.contains("Valid replica already elected"),
        "a second time it elects again"
    );
    Ok(format!("{:?} led, then {:?}", before.leader, after.leader))
}

/// While there is a leader, there is nothing to elect.
fn elect_unclean(log: &mut Transcript, tools: &Tools<'_>) -> Result<String> {
    let stdout = elect(log, tools, "unclean")?;
    ensure!(
        stdout.contains("Valid replica already elected"),
        "it elects"
    );
    Ok("the leader stays".to_owned())
}

/// A partition as kafka-topics describes it.
#[derive(Debug, PartialEq, Eq)]
struct DescribedPartition {
    leader: Option<u64>,
    replicas: Vec<u64>,
    in_sync: Vec<u64>,
}

fn describe(log: &mut Transcript, tools: &Tools<'_>) -> Result<DescribedPartition> {
    let arguments = ["--describe", "--topic", TOPIC];
    let stdout = log.run_tool(tools, KafkaScript::TOPICS, &arguments)?;
    described(&stdout)
}

/// The line of the first partition: names and values, between tabs.
fn described(stdout: &str) -> Result<DescribedPartition> {
    let line = stdout
        .lines()
        .find(|line| line.contains("\tPartition: 0\t"));
    let line = line.context("no line of partition 0")?;
    let value = |name: &str| {
        let mut parts = line.split('\t').map(str::trim);
        parts
            .find_map(|part| part.strip_prefix(name))
            .map(str::trim)
    };
    let nodes = |name: &str| -> Result<Vec<u64>> {
        let text = value(name).with_context(|| format!("no {name}"))?;
        let numbers = text.split(',').filter(|number| !number.is_empty());
        numbers.map(|number| Ok(number.trim().parse()?)).collect()
    };
    Ok(DescribedPartition {
        leader: value("Leader:").and_then(|leader| leader.parse().ok()),
        replicas: nodes("Replicas:")?,
        in_sync: nodes("Isr:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partitions_leader_and_replicas_are_read() {
        let text = "Topic: t\tTopicId: x\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n\
            \tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 3,1,2\tIsr: 2,1\tElr: \tLastKnownElr: \n";
        let expected = DescribedPartition {
            leader: Some(2),
            replicas: vec![3, 1, 2],
            in_sync: vec![2, 1],
        };
        assert_eq!(described(text).unwrap(), expected);
        assert!(described("Topic: t\n").is_err());
        let leaderless = text
            .replace("Leader: 2", "Leader: none")
            .replace("Isr: 2,1", "Isr: ");
        let described = described(&leaderless).unwrap();
        assert_eq!((described.leader, described.in_sync), (None, vec![]));
    }
}
