//! What brokers of old and new releases report over the wire while a trial runs.

use serde_json::Value;

use crate::site::{Site, events, json_lines, text};
use crate::{NEWEST, kafka, kgauge};

const KILLED: &str = "\
kgauge: 1
name: killed
question: What becomes of the replicas?
target: {brokers: 3}
topic: {partitions: 3, replication: 3}
flows:
  - {name: writers, kind: produce, shape: {constant: 1k/s}, record: {size: 100 B}, settings: {acks: all}}
stages: {warm-up: 1 s, hold: 11 s, drain: 20 s}
faults:
  - {at: 1 s, node: 2, kill: true}
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
  - {name: readers, kind: consume, group: readers, from: earliest, settings: {auto.commit.interval.ms: 500}}
stages: {warm-up: 1 s, hold: 4 s, drain: 20 s}
repeats: 1
";

/// Groups are seen once they have committed.
const COMMIT: &str = ", settings: {auto.commit.interval.ms: 500}";

fn run(scenario: &str, target: &str) -> Site {
    let site = Site::new();
    site.write("s.yaml", scenario);
    let call = ["run", "s.yaml", "--out", "out", "--target", target];
    let output = kgauge(&site, &call).output().unwrap();
    let code = output.status.code();
    assert_eq!(code, Some(0), "{target}: {}", text(&output.stderr));
    site
}

/// The evidence of one kind about the cluster.
fn cluster_evidence(site: &Site, kind: &str) -> Vec<Value> {
    let mut evidence = json_lines(&site.path("out/evidence.jsonl"));
    evidence.retain(|line| line["subject"] == "cluster" && line["evidence"] == kind);
    evidence
}

/// `is_old`: before groups (0.9), and before brokers reported the sizes of logs (1.0).
fn check_calm(version: &str, is_old: bool) {
    let tells_sizes = !is_old;
    // ZooKeeper is a process too.
    let brokers: u16 = if version == NEWEST { 3 } else { 2 };
    let target = kafka(version, &format!("brokers={brokers},heap=384M"));
    let mut scenario = CALM
        .replace("brokers: 3", &format!("brokers: {brokers}"))
        .replace("replication: 3", &format!("replication: {brokers}"));
    if is_old {
        scenario = scenario.replace("group: readers, ", "").replace(COMMIT, "");
    }
    let site = run(&scenario, &target);
    let topic = cluster_evidence(&site, "topic");
    assert!(topic.len() >= 2, "{version}: {topic:?}");
    let last = topic.last().unwrap();
    assert_eq!(
        (&last["replicas"], &last["in_sync"]),
        (&(3 * brokers).into(), &(3 * brokers).into())
    );
    assert_eq!(last["under_replicated"], 0, "{version}: {last}");
    let (readable, end) = (&last["high_watermark_sum"], &last["log_end_sum"]);
    let (readable, end) = (readable.as_u64().unwrap(), end.as_u64().unwrap());
    assert!(readable > 0 && end >= readable, "{version}: {last}");
    // In every release, brokers report the log ends of their followers.
    let replicas = cluster_evidence(&site, "replicas");
    assert!(
        replicas.len() >= usize::from(brokers),
        "{version}: {replicas:?}"
    );
    for broker in replicas.iter().rev().take(brokers.into()) {
        assert!(broker["lag_records"].is_u64(), "{version}: {broker}");
        assert_eq!(
            broker["log_bytes"].is_u64(),
            tells_sizes,
            "{version}: {broker}"
        );
    }
    assert_eq!(
        cluster_evidence(&site, "group").is_empty(),
        is_old,
        "{version}"
    );
    let not_seen = cluster_evidence(&site, "not-seen");
    assert_eq!(not_seen.is_empty(), tells_sizes, "{version}: {not_seen:?}");
    let summary = std::fs::read_to_string(site.path("out/summary.json")).unwrap();
    assert!(!summary.contains("under-replicated"), "{version}");
}

#[test]
#[ignore = "real Kafka"]
fn the_newest_release_reports_followers_groups_and_sizes() {
    check_calm(NEWEST, false);
}

#[test]
#[ignore = "real Kafka"]
fn release_1_0_2_reports_followers_groups_and_sizes() {
    check_calm("1.0.2", false);
}

#[test]
#[ignore = "real Kafka"]
fn release_0_8_2_2_reports_all_but_sizes_and_the_evidence_names_the_gap() {
    check_calm("0.8.2.2", true);
}

#[test]
#[ignore = "real Kafka"]
fn a_broker_that_dies_is_seen_in_leaders_and_replicas() {
    // Half of the default time after which a silent broker counts as dead.
    let session = "brokers=3,heap=384M,broker.session.timeout.ms=4500";
    let site = run(KILLED, &kafka(NEWEST, session));
    let topic = cluster_evidence(&site, "topic");
    assert_eq!(topic[0]["under_replicated"], 0, "{topic:?}");
    assert_eq!(topic.last().unwrap()["under_replicated"], 3, "{topic:?}");
    let changes = events(&site.path("out"), "replicas-changed");
    let sum = |key: &str| -> u64 { changes.iter().map(|one| one[key].as_u64().unwrap()).sum() };
    assert_eq!(
        (sum("leaders_moved"), sum("left_sync")),
        (1, 3),
        "{changes:?}"
    );
    let page = std::fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("Under-replicated partitions"));
    assert!(page.contains("class=\"fault change\""));
    // No warning: the fault was intended.
    let summary = std::fs::read_to_string(site.path("out/summary.json")).unwrap();
    assert!(!summary.contains("under-replicated"));
}
