//! What brokers of several ages tell over the wire while a trial runs.

use serde_json::Value;

use crate::site::{Site, text};
use crate::{NEWEST, kgauge};

const KILLED: &str = "\
kgauge: 1
name: killed
question: What becomes of the replicas?
target: {brokers: 3}
topic: {partitions: 3, replication: 3}
flows:
  - {name: writers, kind: produce, shape: {constant: 1k/s}, record: {size: 100 B}, settings: {acks: 1}}
stages: {warm-up: 1 s, hold: 20 s, drain: 20 s}
faults:
  - {at: 3 s, node: 2, kill: true}
repeats: 1
";

const CALM: &str = "\
kgauge: 1
name: calm
question: What do followers and groups do?
target: {brokers: 3}
topic: {partitions: 3, replication: 3}
flows:
  - {name: writers, kind: produce, shape: {constant: 1k/s}, record: {size: 100 B}, settings: {acks: 1}}
  - {name: readers, kind: consume, group: readers, from: earliest}
stages: {warm-up: 1 s, hold: 8 s, drain: 20 s}
repeats: 1
";

fn run(scenario: &str, target: &str, more: &[&str]) -> Site {
    let site = Site::new();
    site.write("s.yaml", scenario);
    let mut call = vec!["run", "s.yaml", "--out", "out", "--target", target];
    call.extend(more);
    let output = kgauge(&site, &call).output().unwrap();
    let code = output.status.code();
    assert_eq!(code, Some(0), "{target}: {}", text(&output.stderr));
    site
}

fn lines(site: &Site, file: &str) -> Vec<Value> {
    let lines = std::fs::read_to_string(site.path("out").join(file)).unwrap();
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The lines of the cluster, of one kind.
fn told(site: &Site, kind: &str) -> Vec<Value> {
    let lines = lines(site, "evidence.jsonl").into_iter();
    lines
        .filter(|line| line["subject"] == "cluster" && line["evidence"] == kind)
        .collect()
}

/// `is_old`: before groups (0.9), and before brokers told the sizes of logs (1.0).
fn check_calm(version: &str, is_old: bool) {
    let tells_sizes = !is_old;
    let target = format!("kafka:{version},brokers=3,heap=384M");
    let scenario = match is_old {
        true => CALM.replace("group: readers, ", ""),
        false => CALM.to_owned(),
    };
    let site = run(&scenario, &target, &[]);
    let topic = told(&site, "topic");
    assert!(topic.len() >= 2, "{version}: {topic:?}");
    let last = topic.last().unwrap();
    assert_eq!(
        (&last["replicas"], &last["in_sync"]),
        (&9.into(), &9.into())
    );
    assert_eq!(last["under_replicated"], 0, "{version}: {last}");
    let (readable, end) = (&last["high_watermark_sum"], &last["log_end_sum"]);
    let (readable, end) = (readable.as_u64().unwrap(), end.as_u64().unwrap());
    assert!(readable > 0 && end >= readable, "{version}: {last}");
    // The followers on each broker tell where their logs end, in every release.
    let replicas = told(&site, "replicas");
    for broker in replicas.iter().rev().take(3) {
        assert!(broker["lag_records"].is_u64(), "{version}: {broker}");
        assert_eq!(
            broker["log_bytes"].is_u64(),
            tells_sizes,
            "{version}: {broker}"
        );
    }
    assert_eq!(told(&site, "group").is_empty(), is_old, "{version}");
    let not_seen = told(&site, "not-seen");
    assert_eq!(not_seen.is_empty(), tells_sizes, "{version}: {not_seen:?}");
    let summary = std::fs::read_to_string(site.path("out/summary.json")).unwrap();
    assert!(!summary.contains("under-replicated"), "{version}");
}

#[test]
#[ignore = "real Kafka"]
fn followers_groups_and_sizes_are_told_by_the_newest_release() {
    check_calm(NEWEST, false);
}

#[test]
#[ignore = "real Kafka"]
fn followers_groups_and_sizes_are_told_by_1_0_2() {
    check_calm("1.0.2", false);
}

#[test]
#[ignore = "real Kafka"]
fn release_0_8_2_2_tells_all_but_sizes_and_that_is_said() {
    check_calm("0.8.2.2", true);
}

#[test]
#[ignore = "real Kafka"]
fn a_broker_that_dies_is_seen_in_leaders_and_replicas() {
    let site = run(KILLED, &format!("kafka:{NEWEST},brokers=3,heap=384M"), &[]);
    let topic = told(&site, "topic");
    assert_eq!(topic[0]["under_replicated"], 0, "{topic:?}");
    assert_eq!(topic.last().unwrap()["under_replicated"], 3, "{topic:?}");
    let events = lines(&site, "events.jsonl").into_iter();
    let changes: Vec<Value> = events
        .filter(|event| event["event"] == "replicas-changed")
        .collect();
    let sum = |key: &str| -> u64 { changes.iter().map(|one| one[key].as_u64().unwrap()).sum() };
    assert_eq!(
        (sum("leaders_moved"), sum("left_sync")),
        (1, 3),
        "{changes:?}"
    );
    let page = std::fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("Partitions with too few replicas in sync"));
    assert!(page.contains("class=\"fault change\""));
    // It was meant to be sick.
    let summary = std::fs::read_to_string(site.path("out/summary.json")).unwrap();
    assert!(!summary.contains("under-replicated"));
}

#[test]
#[ignore = "real Kafka"]
fn nobody_is_asked_where_the_user_does_not_want_it() {
    let target = format!("kafka:{NEWEST},brokers=3,heap=384M");
    let site = run(CALM, &target, &["--no-wire-evidence"]);
    let lines = lines(&site, "evidence.jsonl");
    assert!(lines.iter().all(|line| line["subject"] != "cluster"));
    assert!(lines.iter().any(|line| line["evidence"] == "client"));
}
