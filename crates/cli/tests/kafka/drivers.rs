//! Kafka's Java client and librdkafka send what kgauge feeds them, and the brokers count it.

use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::site::{Site, check_status, children, good, json, wait_for, wait_until};
use crate::{kafka, kgauge, start};

/// Keys, headers and nulls, so that every part of a record goes through the pipes.
const CLIENTS: &str = "\
kgauge: 1
name: clients
question: Do all clients write what they are fed?
topic: {partitions: 3}
flows:
  - name: writers
    kind: produce
    producers: 2
    shape: SHAPE
    records: RECORDS
    record:
      size: 100 B
      key: {zipf: {keys: 1k, size: 8 B}}
      headers: {count: 2, key-size: 10 B, value-size: 24 B}
      null-values: 10 %
    # So little that all of it cannot wait in the buffer: what is acked is acked in the hold.
    settings: {compression.type: lz4, buffer.memory: 1048576}
stages: {warm-up: 0 s, hold: 60 s, drain: 30 s}
repeats: 1
";

/// A run that would send for a minute.
const LONG: &str = "\
kgauge: 1
name: long
question: Does it end in good order?
topic: {partitions: 1}
flows:
  - {name: writers, kind: produce, shape: {constant: 2k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 60 s}
repeats: 1
";

fn flow_of(trial: &Value) -> &Value {
    &trial["flows"][0]
}

/// At full speed, the hold of so few records would end before the CPU time of processes is sampled.
const SHORT: u64 = 30_000;

fn check_written(target: &str, (shape, count): (&str, u64), drivers: &[&str]) -> Site {
    let site = Site::new();
    let scenario = CLIENTS.replace("SHAPE", shape);
    site.write(
        "clients.yaml",
        &scenario.replace("RECORDS", &count.to_string()),
    );
    let mut call = vec!["run", "clients.yaml", "--out", "out", "--target", target];
    for driver in drivers {
        call.extend(["--driver", driver]);
    }
    good(&kgauge(&site, &call).output().unwrap());
    let summary = json(&site.path("out/summary.json"));
    let trials = summary["trials"].as_array().unwrap();
    assert_eq!(trials.len(), drivers.len());
    for trial in trials {
        let name = &trial["name"];
        let records = &flow_of(trial)["records_all_stages"];
        assert_eq!(records["scheduled"], count, "{name}");
        assert_eq!(records["acked"], count, "{name}");
        assert_eq!(records["unresolved"], 0, "{name}");
        let counted = &trial["counted"][0];
        assert_eq!(counted["on_broker"], count, "{name}");
        assert_eq!(counted["agrees"], true, "{name}");
    }
    site
}

#[test]
#[ignore = "real Kafka"]
fn every_client_writes_what_it_is_fed() {
    let drivers = ["kgauge", "java", "java:3.9.1", "librdkafka"];
    let target = kafka(crate::NEWEST, "heap=512M");
    let site = check_written(&target, ("max", 300_000), &drivers);
    let summary = json(&site.path("out/summary.json"));
    let compared = &summary["drivers"][0];
    let rows = compared["rows"].as_array().unwrap();
    let clients: Vec<&str> = rows
        .iter()
        .map(|row| row["client"].as_str().unwrap_or("none"))
        .collect();
    assert_eq!(clients[0], "none");
    assert!(clients[1].starts_with("kafka-clients 4.3.1 on Java "));
    assert!(clients[2].starts_with("kafka-clients 3.9.1 on Java "));
    assert!(clients[3].starts_with("librdkafka "));
    for row in &rows[1..] {
        // This kgauge was built without optimisation, so the size of the factor says nothing.
        let factor = row["cpu_factor"].as_f64();
        assert!(factor.is_some_and(|factor| factor > 0.0), "{compared:#}");
    }
    let report = std::fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(report.contains("kafka-clients 3.9.1 on Java"));
    assert_eq!(crate::processes(&site), [0; 0]);
}

#[test]
#[ignore = "real Kafka"]
fn a_schedule_is_kept_by_every_client() {
    let drivers = ["java", "librdkafka"];
    // A rate that this kgauge, built without optimisation, keeps while other tests have a processor too.
    let site = check_written("embedded", ("{poisson: 3k/s}", 12_000), &drivers);
    let summary = json(&site.path("out/summary.json"));
    for trial in summary["trials"].as_array().unwrap() {
        // The median, because a JVM is late in its first second.
        let lag_ns = flow_of(trial)["lateness"]["lag_ns_p50"].as_u64().unwrap();
        assert!(lag_ns < 20_000_000, "{lag_ns} ns late, {}", trial["name"]);
    }
}

#[test]
#[ignore = "real Kafka"]
fn secured_clusters_let_them_in() {
    for security in ["mtls", "scram-sha-512+tls"] {
        let target = format!("embedded,security={security}");
        check_written(&target, ("max", SHORT), &["java", "librdkafka"]);
    }
}

#[test]
#[ignore = "real Kafka"]
fn a_setting_that_a_release_lacks_is_refused_by_name() {
    let site = Site::new();
    let call = ["run", "tiny.yaml", "--driver", "java:2.8.2"];
    let asked = ["--set", "writers.settings.partitioner.ignore.keys=true"];
    let output = kgauge(&site, &[&call[..], &asked].concat())
        .output()
        .unwrap();
    let stderr = check_status(&output, 2);
    let words = "kafka-clients 2.8.2 has no partitioner.ignore.keys";
    assert!(stderr.contains(words), "{stderr}");
}

/// A run in the middle of its hold, and the process of its driver.
fn middle(site: &Site, driver: &str) -> (Child, i32) {
    site.write("long.yaml", LONG);
    let call = ["run", "long.yaml", "--out", "out", "--driver", driver];
    let child = start(site, &call);
    wait_for(&site.path("out/repeats/0000-00/slices.jsonl"));
    let pid = driver_of(child.id()).expect("a driver runs");
    (child, pid)
}

/// The child of a process that is a driver.
fn driver_of(parent: u32) -> Option<i32> {
    children(parent).into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.contains("KgaugeDriver") || line.contains("kgauge_driver")
    })
}

fn wait_until_gone(pid: i32) {
    let process = PathBuf::from(format!("/proc/{pid}"));
    wait_until("the driver has ended", || !process.exists());
}

#[test]
#[ignore = "real Kafka"]
fn a_driver_ends_with_ctrl_c_and_with_a_killed_kgauge() {
    for driver in ["java", "librdkafka"] {
        let site = Site::new();
        let (child, pid) = middle(&site, driver);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        check_status(&output, 130);
        assert!(site.path("out/report.html").exists());
        wait_until_gone(pid);

        let site = Site::new();
        let (mut child, pid) = middle(&site, driver);
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        wait_until_gone(pid);
    }
}

#[test]
#[ignore = "real Kafka"]
fn a_driver_that_is_killed_fails_the_run_in_words() {
    for driver in ["java", "librdkafka"] {
        let site = Site::new();
        let (child, pid) = middle(&site, driver);
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        let stderr = check_status(&child.wait_with_output().unwrap(), 1);
        assert!(stderr.contains("exited (signal 9)"), "{stderr}");
        assert!(site.path("out/report.html").exists());
    }
}
