//! Verified repeats that are killed: what a resumed run says about the records that they had acked.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

use crate::site::{ServingCluster, Site, check_status, events, good, json, wait_until};

/// A thousand records per second for long enough to be killed in between.
const LONG: &str = "\
kgauge: 1
name: long
question: Is every record where its ack said?
topic: {partitions: 2}
flows:
  - {name: writers, kind: produce, shape: {constant: 1k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 4 s}
verify: true
repeats: 1
";

fn ledger(site: &Site) -> PathBuf {
    site.path("out/repeats/0000-00/ledgers/flow0-producer0.ledger")
}

/// Acked records of a producer's ledger: entries of 16 bytes behind a head of 16. Kind 0 in the lowest three bits is an
/// ack; the number of its records are 20 bits behind those and 19 of the partition.
fn acked(ledger: &[u8]) -> u64 {
    let entries = ledger[16..].chunks_exact(16);
    let words = entries.map(|entry| u128::from_le_bytes(entry.try_into().unwrap()));
    let acked = words.filter(|word| word & 7 == 0);
    acked.map(|word| (word >> 22) as u64 & 0xf_ffff).sum()
}

/// Kills a run in its only repeat. Returns the number of acked records in the ledger, whose last entry is then torn.
fn kill_in_repeat(site: &Site, more: &[&str]) -> u64 {
    site.write("long.yaml", LONG);
    let call = ["run", "long.yaml", "--out", "out", "--yes"];
    let mut run = site.start(&[&call[..], more].concat());
    let path = ledger(site);
    wait_until("acks are in the ledger", || {
        fs::metadata(&path).is_ok_and(|facts| facts.len() >= 500)
    });
    run.kill().unwrap();
    run.wait().unwrap();
    let acked = acked(&fs::read(&path).unwrap());
    assert!(acked > 0);
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    file.write_all(&[0x55; 7]).unwrap();
    acked
}

fn resume(site: &Site) -> Output {
    site.run(&["run", "--resume", "out", "--yes"])
}

/// What the resumed run says about its records.
fn verification(site: &Site) -> Value {
    let verification = json(&site.path("out/summary.json"))["verification"].clone();
    let text = verification["text"].as_str().unwrap();
    let again = "4,000 acked records were read back";
    assert!(text.contains(again), "the repeat ran again: {text}");
    verification
}

/// A cluster that outlives a run, which is killed as by [`kill_in_repeat`].
fn killed_on_cluster() -> (Site, ServingCluster, u64) {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &["embedded:2"]);
    let acked = kill_in_repeat(&site, &["--target", &cluster.servers]);
    (site, cluster, acked)
}

/// What `kafka-topics` prints.
fn kafka_topics(site: &Site, cluster: &ServingCluster, options: &[&str]) -> String {
    let tool = ["kafka-topics", "--bootstrap-server", &cluster.servers];
    good(&site.run(&[&tool[..], options].concat()))
}

/// Deletes the topic of the killed run. Returns its name.
fn delete_topic(site: &Site, cluster: &ServingCluster) -> String {
    let created = events(&site.path("out"), "topic-created");
    let topic = created[0]["topic"].as_str().unwrap();
    kafka_topics(site, cluster, &["--delete", "--topic", topic]);
    topic.to_owned()
}

#[test]
fn the_acked_records_of_a_killed_repeat_are_checked_before_it_runs_again() {
    let (site, cluster, acked) = killed_on_cluster();
    let topics = || kafka_topics(&site, &cluster, &["--list"]);
    assert!(topics().contains("kgauge-"));
    good(&resume(&site));
    let found = verification(&site);
    let cut_short = &found["cut_short"];
    assert_eq!(cut_short["repeats"], 1, "{found:#}");
    for count in ["acked", "checked", "confirmed"] {
        assert_eq!(cut_short[count], acked, "{count}: {found:#}");
    }
    for list in ["anomalies", "unchecked"] {
        let list = found[list].as_array().unwrap();
        assert!(list.is_empty(), "{found:#}");
    }
    let text = found["text"].as_str().unwrap();
    let all = "were read back, once and in order, with their contents. Cut short: ";
    assert!(text.contains(all), "{text}");
    let left = topics();
    assert!(!left.contains("kgauge-"), "both topics are deleted: {left}");
}

#[test]
fn acked_records_that_a_killed_repeat_lost_fail_the_resumed_run() {
    let (site, cluster, acked) = killed_on_cluster();
    let topic = delete_topic(&site, &cluster);
    let create = ["--create", "--topic", &topic];
    let layout = ["--partitions", "2", "--replication-factor", "1"];
    kafka_topics(&site, &cluster, &[&create[..], &layout].concat());
    check_status(&resume(&site), 1);
    let found = verification(&site);
    let lost = &found["anomalies"][0];
    assert_eq!(lost["anomaly"], "lost-write", "{found:#}");
    assert_eq!(lost["is_permitted"], false, "{found:#}");
    assert_eq!(lost["count"], acked, "{found:#}");
    assert_eq!(found["cut_short"]["confirmed"], 0, "{found:#}");
}

#[test]
fn the_report_names_acked_records_of_a_killed_repeat_that_cannot_be_checked() {
    let (site, cluster, acked) = killed_on_cluster();
    delete_topic(&site, &cluster);
    good(&resume(&site));
    check_unchecked(&site, "topic-gone", acked);

    // The embedded cluster of a killed run ends with it.
    let site = Site::new();
    let acked = kill_in_repeat(&site, &[]);
    good(&resume(&site));
    check_unchecked(&site, "cluster-gone", acked);
}

fn check_unchecked(site: &Site, cause: &str, acked: u64) {
    let found = verification(site);
    let unchecked = &found["unchecked"][0];
    assert_eq!(unchecked["cause"], cause, "{found:#}");
    assert_eq!(unchecked["records"], acked, "{found:#}");
    assert_eq!(found["cut_short"]["checked"], 0, "{found:#}");
    let text = found["text"].as_str().unwrap();
    assert!(text.contains("Not checked: "), "{text}");
    assert!(text.contains("their repeat was cut short"), "{text}");
}
