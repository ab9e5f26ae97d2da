//! What the embedded cluster's nodes report about themselves: their counters are those of the run.

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

/// Each broker's samples, in their order.
fn samples(evidence: &[Value]) -> BTreeMap<u64, Vec<&Value>> {
    let mut samples: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for one in evidence.iter().filter(|one| one["evidence"] == "broker") {
        let broker = one["broker"].as_u64().unwrap();
        samples.entry(broker).or_default().push(one);
    }
    samples
}

#[test]
fn each_node_tells_what_it_has_counted_and_together_it_is_what_was_sent() {
    let site = Site::new();
    site.write("t.yaml", REPLICATED);
    let evidence = run(&site, "t.yaml", &[]);
    let samples = samples(&evidence);
    assert_eq!(samples.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    // The last sample comes after the last answer.
    let last: Vec<&Value> = samples.values().map(|all| *all.last().unwrap()).collect();
    assert!(last.iter().all(|sample| sample["source"] == "embedded"));
    let sum = |of: fn(&Value) -> &Value| -> u64 {
        last.iter().map(|sample| of(sample).as_u64().unwrap()).sum()
    };
    assert_eq!(sum(|sample| &sample["traffic"]["messages_in"]), 1_500);
    let bytes_in = sum(|sample| &sample["traffic"]["bytes_in"]);
    assert!(bytes_in > 150_000);
    // Two followers had it all before it was acknowledged.
    let to_followers = sum(|sample| &sample["traffic"]["replication_bytes_out"]);
    assert_eq!(to_followers, 2 * bytes_in);
    assert_eq!(sum(|sample| &sample["replicas"]["leaders"]), 3);
    assert_eq!(sum(|sample| &sample["replicas"]["partitions"]), 9);
    let mut waited_ns = 0;
    for sample in &last {
        let produce = &sample["requests"][0];
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
        assert!(sample["threads"]["handler_idle_ns"].as_u64().unwrap() > 0);
        // It has no other threads, no queue between threads and no Java.
        assert!(sample["threads"]["network_idle_ns"].is_null());
        assert!(sample["threads"]["request_queue"].is_null() && sample["jvm"].is_null());
    }
    assert!(waited_ns > 0, "acks=all waits for followers");
    let page = std::fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("embedded cluster&#39;s nodes"));
    assert!(page.contains("broker 3"));
}

#[test]
fn metrics_off_collects_none_and_the_evidence_names_the_reason() {
    let site = Site::new();
    let evidence = run(&site, "counted.yaml", &["--target", "embedded,metrics=off"]);
    assert!(samples(&evidence).is_empty());
    let not_seen = evidence
        .iter()
        .find(|one| one["evidence"] == "not-seen" && one["what"] == "metrics of the brokers");
    assert_eq!(not_seen.unwrap()["why"], "the target sets metrics=off");
}

#[test]
fn nodes_that_are_down_or_paused_are_reported_and_delay_no_other() {
    let site = Site::new();
    // Longer than the time between two samples, so that at least one sample meets each fault.
    let faults = "faults:\n  - {at: 200 ms, node: 2, pause: true, for: 1500 ms}\n  \
                  - {at: 200 ms, node: 3, crash: true, restart-after: 1500 ms}\n";
    let broken = REPLICATED
        .replace("records: 1500, ", "")
        .replace("hold: 60 s", "hold: 3 s");
    site.write("t.yaml", &format!("{broken}{faults}"));
    let evidence = run(&site, "t.yaml", &[]);
    let samples = samples(&evidence);
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
    assert!(samples[&1].len() > samples[&2].len() && samples[&1].len() > samples[&3].len());
    // A restarted node counts from zero.
    let began = |sample: &Value| sample["started_unix_ms"].as_u64().unwrap();
    let crashed = &samples[&3];
    assert!(began(crashed.last().unwrap()) > began(crashed[0]));
}
