//! The same scenario on every checked release.

use serde_json::Value;

use crate::site::{Site, check_status, good, json, text};
use crate::{NEWEST, kafka, kgauge};

/// 20,000 records with each codec, written and read again.
const CODECS: &str = "\
kgauge: 1
name: codecs
question: Do all codecs arrive as they were sent?
topic: {partitions: 3}
flows:
  - name: writers
    kind: produce
    shape: max
    records: 20000
    record: {size: 100 B}
  - name: readers
    kind: consume
    partitions: all
    from: earliest
    records: 20000
vary: {writers.settings.compression.type: [none, gzip, snappy, lz4]}
stages: {warm-up: 0 s, hold: 60 s, drain: 30 s}
repeats: 1
";

/// Returns the facts of the target.
fn check(version: &str) -> Value {
    let site = Site::new();
    site.write("codecs.yaml", CODECS);
    let target = kafka(version, "heap=512M,num.io.threads=3");
    let call = ["run", "codecs.yaml", "--out", "out", "--target", &target];
    good(&kgauge(&site, &call).output().unwrap());
    let summary = json(&site.path("out/summary.json"));
    let trials = summary["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    for trial in trials {
        let name = &trial["name"];
        let counted = &trial["counted"][0];
        assert_eq!(counted["acked"], 20_000, "{version} {name}");
        assert_eq!(
            counted["on_broker"], 20_000,
            "{version} {name}: as its brokers count"
        );
        let readers = &trial["flows"][1]["records_all_stages"];
        assert_eq!(readers["consumed"], 20_000, "{version} {name}");
        assert_eq!(readers["corrupt"], 0, "{version} {name}");
    }
    let target = json(&site.path("out/environment.json"))["target"].clone();
    assert_eq!(target["version"], version);
    assert_eq!(target["started"]["checked"], true);
    assert_eq!(
        target["brokers"][0]["settings"]["num.io.threads"], "3",
        "as it is in force"
    );
    assert!(!site.path("out/target-data").exists(), "its data is gone");
    assert!(site.path("out/target-logs/broker-1.log").exists());
    assert_eq!(
        crate::processes(&site),
        [0; 0],
        "{version}: nothing runs any more"
    );
    target
}

#[test]
#[ignore = "real Kafka"]
fn kafka_0_8_2_2() {
    check("0.8.2.2");
}

#[test]
#[ignore = "real Kafka"]
fn kafka_0_10_1_0() {
    let target = check("0.10.1.0");
    // The default is idempotence. This release lacks it, so kgauge drops it and adds a note.
    assert_eq!(target["notes"][0]["kind"], "no-idempotence", "{target}");
}

#[test]
#[ignore = "real Kafka"]
fn kafka_1_0_2() {
    check("1.0.2");
}

#[test]
#[ignore = "real Kafka"]
fn kafka_2_8_2() {
    check("2.8.2");
}

#[test]
#[ignore = "real Kafka"]
fn kafka_3_9_1() {
    check("3.9.1");
}

#[test]
#[ignore = "real Kafka"]
fn kafka_4_1_1() {
    check("4.1.1");
}

#[test]
#[ignore = "real Kafka"]
fn kafka_4_3_1() {
    check("4.3.1");
}

#[test]
#[ignore = "real Kafka"]
fn what_an_old_release_cannot_do_is_refused_before_anything_is_made() {
    let site = Site::new();
    let target = kafka("0.10.1.0", "heap=512M");
    let call = ["run", "counted.yaml", "--out", "out", "--target", &target];
    let asked = ["--set", "writers.settings.enable.idempotence=true"];
    let output = kgauge(&site, &[&call[..], &asked].concat())
        .output()
        .unwrap();
    let stderr = check_status(&output, 2);
    assert!(
        stderr.contains("enable.idempotence needs Kafka 0.11 or newer"),
        "{stderr}"
    );
    assert!(!site.path("out").exists());
}

#[test]
#[ignore = "real Kafka"]
fn two_releases_are_compared_in_one_table() {
    let site = Site::new();
    let call = ["run", "counted.yaml", "--out", "out"];
    let [old, new] = ["1.0.2", NEWEST].map(|version| kafka(version, "heap=512M"));
    let targets = ["--target", &old, "--target", &new];
    let output = kgauge(&site, &[&call[..], &targets].concat())
        .output()
        .unwrap();
    let (stderr, table) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        table.contains("Kafka 1.0.2") && table.contains("Kafka 4.3.1"),
        "{table}"
    );
}
