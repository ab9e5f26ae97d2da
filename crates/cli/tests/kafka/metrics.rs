//! What brokers report about themselves: their counters are those of the run.

use serde_json::Value;

use crate::site::{Site, events, json_lines, text};
use crate::{NEWEST, kafka, kgauge, warm_kafka};

const SCENARIO: &str = "\
kgauge: 1
name: metrics
question: Which metrics do brokers report?
topic: {partitions: 3}
flows:
  - {name: writers, kind: produce, shape: {constant: 1k/s}, records: 3000, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 60 s, drain: 30 s}
repeats: 1
";

/// The evidence of a run, and how often brokers were warmed in it.
fn run(target: &str, arguments: &[&str]) -> (Vec<Value>, usize) {
    let site = Site::new();
    site.write("t.yaml", SCENARIO);
    let call = ["run", "t.yaml", "--out", "out", "--target", target];
    let call = [&call[..], arguments].concat();
    let output = kgauge(&site, &call).output().unwrap();
    let code = output.status.code();
    assert_eq!(code, Some(0), "{target}: {}", text(&output.stderr));
    let warmed = events(&site.path("out"), "brokers-warmed");
    (json_lines(&site.path("out/evidence.jsonl")), warmed.len())
}

fn check(version: &str) {
    let (evidence, warmed) = run(&warm_kafka(version, "heap=384M"), &[]);
    assert_eq!(warmed, 1, "{version}");
    let samples: Vec<&Value> = evidence
        .iter()
        .filter(|one| one["evidence"] == "broker")
        .collect();
    let last = samples
        .last()
        .unwrap_or_else(|| panic!("{version}: no sample of {evidence:?}"));
    assert_eq!(
        (&last["broker"], &last["source"]),
        (&1.into(), &"jolokia".into())
    );
    let first = samples.first().unwrap();
    // After the records of the warm-up, a broker of this run has only the run's records.
    let records = |sample: &Value| sample["traffic"]["messages_in"].as_u64().unwrap();
    let records = records(last) - records(first);
    assert!((1..=3_000).contains(&records), "{version}: {records}");
    let produce = &last["requests"][0];
    assert_eq!(produce["kind"], "produce");
    let ns = |part: &str| {
        produce[part]
            .as_u64()
            .unwrap_or_else(|| panic!("{version}: {part}: {produce}"))
    };
    let parts = [
        "request_queue_ns",
        "local_ns",
        "remote_ns",
        "response_queue_ns",
        "response_send_ns",
    ];
    let sum: u64 = parts.into_iter().map(ns).sum();
    // Kafka rounds each part separately, by up to half a millisecond.
    let count = produce["count"].as_u64().unwrap();
    assert!(count > 0);
    assert!(
        ns("total_ns").abs_diff(sum) <= (count + 1) * 4_000_000,
        "{version}: {produce}"
    );
    let at = |sample: &Value| sample["at_ns"].as_u64().unwrap();
    let idle = |sample: &Value| sample["threads"]["handler_idle_ns"].as_u64().unwrap();
    assert!(at(last) > at(first));
    let share = (idle(last) - idle(first)) as f64 / (at(last) - at(first)) as f64;
    // A thread's wait is counted when it ends, up to 0.3 s later.
    assert!((0.0..1.5).contains(&share), "{version}: {share}");
    assert!(last["threads"]["network_idle_ns"].as_u64().unwrap() > 0);
    // Old releases do not tell listeners apart.
    let listener = &last["listeners"][0];
    if version == NEWEST {
        assert_eq!(listener["listener"], "PLAINTEXT", "{last}");
        assert_eq!(listener["threads"], 3, "as many as Kafka has by itself");
        assert!(listener["idle_ns"].as_u64().unwrap() > 0);
        assert!(last["listeners"][1].is_null(), "{last}");
    }
    assert_eq!(last["replicas"]["under_replicated"], 0);
    assert!(last["jvm"]["heap_bytes"].as_u64().unwrap() > 1 << 20);
}

#[test]
#[ignore = "real Kafka"]
fn the_newest_release_tells_its_metrics() {
    check(NEWEST);
}

#[test]
#[ignore = "real Kafka"]
fn the_oldest_release_tells_its_metrics() {
    check("0.8.2.2");
}

#[test]
#[ignore = "real Kafka"]
fn brokers_are_not_asked_when_metrics_are_off_and_the_evidence_names_the_reason() {
    let target = kafka(NEWEST, "heap=384M,metrics=off");
    let (evidence, warmed) = run(&target, &["--no-wire-evidence"]);
    assert_eq!(warmed, 0, "the target sets warming=off");
    assert!(evidence.iter().all(|one| one["evidence"] != "broker"));
    assert!(evidence.iter().all(|one| one["subject"] != "cluster"));
    assert!(evidence.iter().any(|one| one["evidence"] == "client"));
    let not_seen = evidence
        .iter()
        .find(|one| one["evidence"] == "not-seen" && one["what"] == "metrics of the brokers");
    assert_eq!(not_seen.unwrap()["why"], "the target sets metrics=off");
}
