//! Flows that need more of a broker than produce and fetch: transactions and echoes.

use crate::site::{Site, check_status, good, json};
use crate::{NEWEST, kafka, kgauge};

const TRANSACTIONS: &str = "\
kgauge: 1
name: transactions
question: Is everything that was committed read, and nothing lost?
topic: {partitions: 3}
flows:
  - name: writers
    kind: produce
    producers: 2
    shape: {constant: 2k/s}
    records: 6000
    record: {size: 100 B}
    transaction: LENGTH
  - {name: readers, kind: consume, records: 6000, settings: {isolation.level: read_committed}}
stages: {warm-up: 0 s, hold: 60 s, drain: 30 s}
repeats: 1
";

fn check_transactions(version: &str, length: &str, at_least: u64) {
    let site = Site::new();
    site.write("t.yaml", &TRANSACTIONS.replace("LENGTH", length));
    let target = kafka(version, "heap=512M");
    let call = ["run", "t.yaml", "--out", "out", "--target", &target];
    good(&kgauge(&site, &call).output().unwrap());
    let trial = &json(&site.path("out/summary.json"))["trials"][0];
    let counted = &trial["counted"][0];
    assert_eq!(counted["acked"], 6_000);
    assert_eq!(counted["on_broker"], 6_000, "markers are no records");
    let writers = &trial["flows"][0]["records_all_stages"];
    let committed = writers["transactions"].as_u64().unwrap();
    assert!(committed >= at_least, "{committed}");
    assert!(writers.get("transactions_aborted").is_none(), "{writers}");
    assert!(
        trial["flows"][0]["latencies"]["commit"]["count"]
            .as_u64()
            .unwrap()
            >= at_least
    );
    assert_eq!(trial["flows"][1]["records_all_stages"]["consumed"], 6_000);
}

#[test]
#[ignore = "real Kafka"]
fn what_is_committed_is_read_on_the_newest_release() {
    // Three seconds, two producers, less the time that commits take.
    check_transactions(NEWEST, "200 ms", 10);
}

#[test]
#[ignore = "real Kafka"]
fn what_is_committed_is_read_on_1_0_2() {
    // 3,000 records of each producer.
    check_transactions("1.0.2", "500", 12);
}

#[test]
#[ignore = "real Kafka"]
fn echoes_come_back_from_three_brokers() {
    let site = Site::new();
    site.write(
        "e.yaml",
        "kgauge: 1\nname: e\nquestion: How long from end to end?\ntarget: {brokers: 3}\n\
         topic: {partitions: 6, replication: 3}\nflows:\n  - {name: echo, kind: echo, producers: 2, consumers: 2, \
         shape: {constant: 1k/s}, record: {size: 100 B}}\n\
         stages: {warm-up: 1 s, hold: 3 s}\nrepeats: 1\n",
    );
    let target = kafka(NEWEST, "heap=384M,brokers=3");
    let call = ["run", "e.yaml", "--out", "out", "--target", &target];
    let output = kgauge(&site, &call).output().unwrap();
    check_status(&output, 0);
    let flow = &json(&site.path("out/summary.json"))["trials"][0]["flows"][0];
    let all = &flow["records_all_stages"];
    assert_eq!(all["acked"], all["echoed"], "{all}");
    let mean = |kind: &str| flow["latencies"][kind]["mean_ns"].as_f64().unwrap();
    let parts = mean("lag") + mean("batch_wait") + mean("ack_wait") + mean("fetch_wait");
    // A record is visible once all replicas have it, and its ack is sent at the same time.
    assert!(parts >= mean("end_to_end") * 0.99, "{parts}");
    assert!(mean("end_to_end") >= mean("ack_wait") * 0.5);
}
