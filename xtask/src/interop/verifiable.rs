//! Checks: Kafka's verifiable producer and consumers: groups whose members come and go.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::following::{Follower, wait_until};
use super::scripts::create;
use crate::kafka::{KafkaScript, Tools, output};

const PARTITIONS: u32 = 6;
const HALF: usize = 3;
/// Sent before, while and after there are two members.
const PART: u64 = 3_000;
/// The records in their order.
const PARTS: u64 = 3;

const EAGER: &str = "org.apache.kafka.clients.consumer.RangeAssignor";
const COOPERATIVE: &str = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";

const CLIENT: KafkaScript = KafkaScript::VERIFIABLE_CONSUMER;

/// Topic, group and assignor of one check.
struct Case {
    topic: &'static str,
    group: &'static str,
    assignor: &'static str,
}

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>, folder: &Path) -> Result<()> {
    let eager = Case {
        topic: "interop-eager",
        group: "interop-eager-group",
        assignor: EAGER,
    };
    let cooperative = Case {
        topic: "interop-cooperative",
        group: "interop-cooperative-group",
        assignor: COOPERATIVE,
    };
    let fixed = Case {
        topic: "interop-static",
        group: "interop-static-group",
        assignor: EAGER,
    };
    let name = Name::tool(
        KafkaScript::VERIFIABLE_PRODUCER,
        "acks=all",
        Action::Produce,
    );
    let sent = checks.check(name, |log| {
        log.run(create(tools, eager.topic, PARTITIONS)?)?;
        send(log, tools, eager.topic)?;
        Ok(format!("{PART} acked"))
    })?;
    let name = Name::tool(CLIENT, "one joins and leaves, range", Action::Rebalance);
    checks.follow(sent, name, |log| rebalance(log, tools, folder, &eager))?;
    let name = Name::tool(
        CLIENT,
        "one joins and leaves, cooperative-sticky",
        Action::RebalanceCooperative,
    );
    checks.check(name, |log| {
        log.run(create(tools, cooperative.topic, PARTITIONS)?)?;
        send(log, tools, cooperative.topic)?;
        rebalance(log, tools, folder, &cooperative)
    })?;
    let name = Name::tool(CLIENT, "a static member comes back", Action::StaticMember);
    checks.check(name, |log| {
        log.run(create(tools, fixed.topic, PARTITIONS)?)?;
        comes_back(log, tools, folder, &fixed)
    })?;
    Ok(())
}

fn send(log: &mut Transcript, tools: &Tools<'_>, topic: &str) -> Result<()> {
    let records = PART.to_string();
    // Keys, so that every partition gets some.
    let keys = ["--repeating-keys", "60"];
    let arguments = ["--topic", topic, "--max-messages", &records, "--acks", "-1"];
    let arguments = [&arguments[..], &keys].concat();
    let stdout = log.run_tool(tools, KafkaScript::VERIFIABLE_PRODUCER, &arguments)?;
    let events = events(&stdout);
    let total = events.iter().find(|event| event["name"] == "tool_data");
    let acked = total.context("it reports no total")?["acked"].as_u64();
    ensure!(acked == Some(PART), "{acked:?} of {PART} acked");
    Ok(())
}

fn consumer(
    name: &'static str,
    tools: &Tools<'_>,
    folder: &Path,
    case: &Case,
    more: &[&str],
) -> Result<Follower> {
    let what = ["--topic", case.topic, "--group-id", case.group, "--verbose"];
    let how = ["--assignment-strategy", case.assignor];
    let servers = ["--bootstrap-server", tools.servers.as_str()];
    let arguments = [&what[..], &how, &servers, more].concat();
    let command = tools.command(KafkaScript::VERIFIABLE_CONSUMER, &arguments)?;
    Follower::start(name, command, folder)
}

/// A second member joins and leaves again; records come before, while and after there are two.
fn rebalance(
    log: &mut Transcript,
    tools: &Tools<'_>,
    folder: &Path,
    case: &Case,
) -> Result<String> {
    let stays = consumer("stays", tools, folder, case, &[])?;
    let done = meet(log, tools, folder, case, &stays);
    stays.log_lines(log);
    let by_guest = done?;

    let arguments = ["--describe", "--group", case.group];
    let stdout = log.run_tool(tools, KafkaScript::GROUPS, &arguments)?;
    let standing = output::standing(&stdout, case.group)?;
    ensure!(
        (standing.committed, standing.lag) == (PARTS * PART, 0),
        "{} committed, lag {}",
        standing.committed,
        standing.lag
    );
    Ok(format!(
        "{} records, each once, {by_guest} by the second member",
        PARTS * PART
    ))
}

/// How many records the second member has read.
fn meet(
    log: &mut Transcript,
    tools: &Tools<'_>,
    folder: &Path,
    case: &Case,
    stays: &Follower,
) -> Result<usize> {
    let sum = |of: &[&Follower]| -> Result<u64> {
        let counts = of
            .iter()
            .map(|follower| Ok(read(follower)?.records.len() as u64));
        counts.sum()
    };
    wait_until("one member has read the first part", &[stays], || {
        Ok(sum(&[stays])? >= PART)
    })?;
    let guest = consumer("guest", tools, folder, case, &[])?;
    let both = [stays, &guest];
    let met = wait_until("both members have half of the partitions", &both, || {
        let owned = [read(stays)?.owned.len(), read(&guest)?.owned.len()];
        Ok(owned == [HALF, HALF])
    });
    let met = met
        .and_then(|()| described(log, tools, case))
        .and_then(|()| send(log, tools, case.topic))
        .and_then(|()| {
            wait_until("both have read the second part", &both, || {
                Ok(sum(&both)? >= 2 * PART)
            })
        });
    let left = met.and_then(|()| guest.end());
    guest.log_lines(log);
    left?;
    wait_until("one member has all partitions again", &[stays], || {
        Ok(read(stays)?.owned.len() == PARTITIONS as usize)
    })?;
    send(log, tools, case.topic)?;
    wait_until("it has read the third part", &[stays], || {
        Ok(sum(&[stays, &guest])? >= PARTS * PART)
    })?;
    stays.end()?;
    let (one, other) = (read(stays)?.records, read(&guest)?.records);
    ensure!(!other.is_empty(), "the second member has read nothing");
    each_once(&one, &other)?;
    Ok(other.len())
}

/// Checks that kafka-consumer-groups shows two members with half of the partitions each.
fn described(log: &mut Transcript, tools: &Tools<'_>, case: &Case) -> Result<()> {
    let mut describe = |how: &[&str]| -> Result<Vec<Vec<String>>> {
        let arguments = [&["--describe", "--group", case.group][..], how].concat();
        let stdout = log.run_tool(tools, KafkaScript::GROUPS, &arguments)?;
        Ok(rows(&stdout, case.group))
    };
    let members = describe(&["--members", "--verbose"])?;
    let half = HALF.to_string();
    // Group, member, host, client, number of partitions.
    let halves = members.iter().filter(|row| row.get(4) == Some(&half));
    ensure!(
        members.len() == 2 && halves.count() == 2,
        "its members are {members:?}"
    );
    let state = describe(&["--state"])?.concat();
    ensure!(
        state.iter().any(|cell| cell == "Stable") && state.last().is_some_and(|cell| cell == "2"),
        "its state is {state:?}"
    );
    Ok(())
}

/// The cells of the lines that are about a group.
fn rows(stdout: &str, group: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    let rows = stdout.lines().map(cells);
    rows.filter(|row: &Vec<String>| row.first().is_some_and(|cell| cell == group))
        .collect()
}

/// Checks that no record was read twice and none is missing.
fn each_once(one: &[(u64, u64)], other: &[(u64, u64)]) -> Result<()> {
    let read = one.len() + other.len();
    let different: BTreeSet<_> = one.iter().chain(other).collect();
    ensure!(
        read == different.len(),
        "{} records were read more than once",
        read - different.len()
    );
    let sent = usize::try_from(PARTS * PART)?;
    ensure!(read == sent, "{read} records read, {sent} sent");
    Ok(())
}

/// A static member ends and comes back: no other member's partitions move.
fn comes_back(
    log: &mut Transcript,
    tools: &Tools<'_>,
    folder: &Path,
    case: &Case,
) -> Result<String> {
    let member = |file, instance| {
        let more = [
            "--group-instance-id",
            instance,
            "--session-timeout",
            "60000",
        ];
        consumer(file, tools, folder, case, &more)
    };
    let (stays, goes) = (member("stays", "one")?, member("goes", "two")?);
    let both = [&stays, &goes];
    let halves = wait_until("both members have half of the partitions", &both, || {
        Ok([read(&stays)?.owned.len(), read(&goes)?.owned.len()] == [HALF, HALF])
    });
    let (before, gone) = (read(&stays)?, read(&goes)?.owned);
    let ended = halves.and_then(|()| goes.end());
    goes.log_lines(log);
    ended?;
    let back = member("back", "two")?;
    let found = wait_until("it has its partitions again", &[&stays, &back], || {
        Ok(read(&back)?.owned == gone)
    });
    let after = read(&stays);
    for follower in [&stays, &back] {
        follower.log_lines(log);
    }
    found?;
    ensure!(
        after?.changes == before.changes,
        "the other member's partitions were assigned again"
    );
    Ok("the same partitions, and the other member noticed nothing".to_owned())
}

/// The events of a verifiable consumer, added up.
#[derive(Debug, Default)]
struct ConsumedRecords {
    /// Partition and offset of each record.
    records: Vec<(u64, u64)>,
    /// The partitions that it has.
    owned: BTreeSet<u64>,
    /// How often partitions were given or taken.
    changes: u32,
}

impl ConsumedRecords {
    fn of(stdout: &str) -> ConsumedRecords {
        let mut seen = ConsumedRecords::default();
        for event in events(stdout) {
            match event["name"].as_str() {
                Some("record_data") => {
                    let place = event["partition"].as_u64().zip(event["offset"].as_u64());
                    seen.records.extend(place);
                }
                Some("partitions_assigned") => {
                    seen.changes += 1;
                    seen.owned.extend(partitions(&event));
                }
                Some("partitions_revoked") => {
                    seen.changes += 1;
                    for partition in partitions(&event) {
                        seen.owned.remove(&partition);
                    }
                }
                _ => {}
            }
        }
        seen
    }
}

/// What a member has read so far.
fn read(follower: &Follower) -> Result<ConsumedRecords> {
    Ok(ConsumedRecords::of(&follower.stdout()?))
}

fn partitions(event: &Value) -> Vec<u64> {
    let none = Vec::new();
    let list = event["partitions"].as_array().unwrap_or(&none);
    let numbers = list.iter().filter_map(|place| place["partition"].as_u64());
    numbers.collect()
}

/// One JSON object a line; the last line may be in the middle of being written.
fn events(stdout: &str) -> Vec<Value> {
    let events = stdout.lines().map(serde_json::from_str);
    events.filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_that_are_given_and_taken_are_followed() {
        let seen = ConsumedRecords::of(
            r#"{"name":"startup_complete"}
{"name":"partitions_assigned","partitions":[{"topic":"t","partition":0},{"topic":"t","partition":1}]}
{"name":"record_data","key":null,"value":"7","topic":"t","partition":1,"offset":5}
{"name":"partitions_revoked","partitions":[{"topic":"t","partition":0}]}
{"name":"partitions_ass"#,
        );
        assert_eq!(seen.owned, BTreeSet::from([1]));
        assert_eq!(seen.records, [(1, 5)]);
        assert_eq!(seen.changes, 2);
    }

    #[test]
    fn a_groups_lines_are_told_from_its_head() {
        let text = "\nGROUP  CONSUMER-ID\ng      m-1\nother  m-2\n";
        assert_eq!(rows(text, "g"), [["g", "m-1"]]);
    }

    #[test]
    fn a_record_read_twice_or_never_is_noticed() {
        let sent: Vec<(u64, u64)> = (0..PARTS * PART).map(|offset| (0, offset)).collect();
        let (one, other) = sent.split_at(10);
        assert!(each_once(one, other).is_ok());
        assert!(each_once(one, &sent).is_err());
        assert!(each_once(one, &other[1..]).is_err());
    }
}
