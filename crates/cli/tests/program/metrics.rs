//! What the embedded cluster's nodes tell of themselves: their counters are those of the run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::site::{Site, good, json_lines};

const REPLICATED: &str = "\
kgauge: 1
name: metrics
question: Which metrics do nodes report?
target: {brokers: 3}
topic: {partitions: 3, replication: 3}
flows:
  - {name: writers, kind: produce, shape: {constant: 1k/s}, records: 1500, record: {size: 100 B}, settings: {acks: all}}
stages: {warm-up: 0 s, hold: 60 s, drain: 30 s}
repeats: 1
";

fn run(site: &Site, scenario: &str, more: &[&str]) -> Vec<Value> {
    good(&site.run(&[&["run", scenario, "--out", "out"], more].concat()));
    json_lines(&site.path("out/evidence.jsonl"))
}

/// Each broker's looks, in their order.
fn looks(evidence: &[Value]) -> BTreeMap<u64, Vec<&Value>> {
    let mut looks: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for one in evidence.iter().filter(|one| one["evidence"] == "broker") {
        let broker = one["broker"].as_u64().unwrap();
        looks.entry(broker).or_default().push(one);
    }
    looks
}

#[test]
fn each_node_tells_what_it_has_counted_and_together_it_is_what_was_sent() {
    let site = Site::new();
    site.write("t.yaml", REPLICATED);
    let evidence = run(&site, "t.yaml", &[]);
    let looks = looks(&evidence);
    assert_eq!(looks.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    // The last look comes after the last answer.
    let last: Vec<&Value> = looks.values().map(|all| *all.last().unwrap()).collect();
    assert!(last.iter().all(|look| look["source"] == "embedded"));
    let sum = |of: fn(&Value) -> &Value| -> u64 {
        last.iter().map(|look| of(look).as_u64().unwrap()).sum()
    };
    assert_eq!(sum(|look| &look["traffic"]["messages_in"]), 1_500);
    let bytes_in = sum(|look| &look["traffic"]["bytes_in"]);
    assert!(bytes_in > 150_000);
    // Two followers had it all before it was acknowledged.
    let to_followers = sum(|look| &look["traffic"]["replication_bytes_out"]);
    assert_eq!(to_followers, 2 * bytes_in);
    assert_eq!(sum(|look| &look["replicas"]["leaders"]), 3);
    assert_eq!(sum(|look| &look["replicas"]["partitions"]), 9);
    let mut waited_ns = 0;
    for look in &last {
        let produce = &look["requests"][0];
        assert_eq!(produce["kind"], "produce");
        let ns = |part: &str| produce[part].as_u64().unwrap();
        let parts = [
            "request_queue_ns",
            "local_ns",
            "remote_ns",
            "response_queue_ns",
            "response_send_ns",
        ];
        assert_eq!(ns("total_ns"), parts.into_iter().map(ns).sum::<u64>());
        waited_ns += ns("remote_ns");
        assert!(look["threads"]["handler_idle_ns"].as_u64().unwrap() > 0);
        // It has no other threads, no queue between threads and no Java.
        assert!(look["threads"]["network_idle_ns"].is_null());
        assert!(look["threads"]["request_queue"].is_null() && look["jvm"].is_null());
    }
    assert!(waited_ns > 0, "acks=all waits for followers");
    let page = std::fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("embedded cluster&#39;s nodes"));
    assert!(page.contains("broker 3 thread"));
}

#[test]
fn metrics_off_collects_none_and_the_evidence_names_the_reason() {
    let site = Site::new();
    let evidence = run(&site, "counted.yaml", &["--target", "embedded,metrics=off"]);
    assert!(looks(&evidence).is_empty());
    let not_seen = evidence
        .iter()
        .find(|one| one["evidence"] == "not-seen" && one["what"] == "metrics of the brokers");
    assert_eq!(not_seen.unwrap()["why"], "the target sets metrics=off");
}

#[test]
fn nodes_that_are_down_or_stand_still_are_missed_in_words_and_hold_up_nobody() {
    let site = Site::new();
    // Longer than the time between two looks, so that each of them is met by one at least.
    let faults = "faults:\n  - {at: 200 ms, node: 2, pause: true, for: 1500 ms}\n  \
                  - {at: 200 ms, node: 3, crash: true, restart-after: 1500 ms}\n";
    let broken = REPLICATED
        .replace("records: 1500, ", "")
        .replace("hold: 60 s", "hold: 3 s");
    site.write("t.yaml", &format!("{broken}{faults}"));
    let evidence = run(&site, "t.yaml", &[]);
    let looks = looks(&evidence);
    let why = |node: u64| {
        let what = format!("metrics of broker {node}");
        let not_seen = evidence.iter().find(|one| one["what"] == what.as_str());
        not_seen.map(|one| one["why"].as_str().unwrap().to_owned())
    };
    assert_eq!(why(1), None);
    let (still, down) = (why(2).unwrap(), why(3).unwrap());
    assert!(
        still.contains(" scrapes failed: it stands still"),
        "{still}"
    );
    assert!(down.contains(" scrapes failed: node 3 is down"), "{down}");
    assert!(looks[&1].len() > looks[&2].len() && looks[&1].len() > looks[&3].len());
    // Another life counts anew.
    let began = |look: &Value| look["started_unix_ms"].as_u64().unwrap();
    let crashed = &looks[&3];
    assert!(began(crashed.last().unwrap()) > began(crashed[0]));
}
