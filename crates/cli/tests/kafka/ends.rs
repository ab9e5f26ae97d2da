//! Nothing is left running: after a good end, Ctrl-C, `kill -9`, and the death of a broker.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{Site, check_status, good, json, text, wait_for, wait_until};
use crate::{NEWEST, kafka, kgauge, processes, serve, start};

/// A run on some brokers that is in the middle of its hold.
fn middle(site: &Site, brokers: usize) -> Child {
    let target = kafka(NEWEST, &format!("brokers={brokers},heap=384M"));
    let call = ["run", "tiny.yaml", "--out", "out", "--target", &target];
    let replication = format!("topic.replication={brokers}");
    let brokers = format!("target.brokers={brokers}");
    let long = ["stages.hold='60 s'", &replication, &brokers];
    let long = long.iter().flat_map(|one| ["--set", one]);
    let call: Vec<&str> = call.into_iter().chain(long).collect();
    let child = start(site, &call);
    wait_for(&site.path("out/repeats/0000-00/slices.jsonl"));
    child
}

/// Kills the first broker.
fn kill_first(site: &Site) {
    let broker = i32::try_from(processes(site)[0]).unwrap();
    kill_process(Pid::from_raw(broker).unwrap(), Signal::KILL).unwrap();
}

#[test]
#[ignore = "real Kafka"]
fn three_brokers_lead_their_share_and_all_are_gone_after_ctrl_c() {
    let site = Site::new();
    let child = middle(&site, 3);
    assert_eq!(processes(&site).len(), 3, "three brokers");
    let brokers = json(&site.path("out/environment.json"))["target"]["brokers"].clone();
    assert_eq!(brokers.as_array().unwrap().len(), 3);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    check_status(&output, 130);
    assert_eq!(processes(&site), [0; 0]);
    assert!(!site.path("out/target-data").exists());
    assert!(site.path("out/report.html").exists());
}

#[test]
#[ignore = "real Kafka"]
fn after_kill_9_cluster_down_ends_what_is_left() {
    let site = Site::new();
    let mut child = middle(&site, 2);
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(processes(&site).len(), 2, "the brokers live on");
    let status = kgauge(&site, &["cluster", "status"]).output().unwrap();
    let stdout = text(&status.stdout);
    assert!(
        stdout.contains("left behind by a kgauge that has exited"),
        "{stdout}"
    );
    let down = kgauge(&site, &["cluster", "down"]).output().unwrap();
    check_status(&down, 0);
    assert!(text(&down.stdout).contains("2 processes, data removed"));
    assert_eq!(processes(&site), [0; 0]);
    assert!(!site.path("out/target-data").exists());
    let again = kgauge(&site, &["cluster", "down"]).output().unwrap();
    assert_eq!(text(&again.stdout), "no cluster to stop\n");
}

#[test]
#[ignore = "real Kafka"]
fn a_broker_that_dies_ends_the_run_with_its_last_words() {
    let site = Site::new();
    let child = middle(&site, 2);
    kill_first(&site);
    let stderr = check_status(&child.wait_with_output().unwrap(), 3);
    assert!(
        stderr.contains("exited (signal 9); the last lines of"),
        "{stderr}"
    );
    assert_eq!(processes(&site), [0; 0]);
    assert!(site.path("out/report.html").exists());
}

#[test]
#[ignore = "real Kafka"]
fn a_detached_cluster_serves_until_it_is_ended_by_name() {
    let site = Site::new();
    let target = kafka(NEWEST, "heap=512M");
    let up = ["cluster", "up", &target, "--detach"];
    let call = |arguments: &[&str]| good(&kgauge(&site, arguments).output().unwrap());
    let printed = call(&up);
    let servers = printed.trim().strip_prefix("bootstrap.servers=").unwrap();
    let run = ["run", "counted.yaml", "--out", "out", "--yes", "--target"];
    call(&[&run[..], &[servers]].concat());
    let status = call(&["cluster", "status", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(listed[0]["state"], "detached");
    call(&["cluster", "down", listed[0]["name"].as_str().unwrap()]);
    wait_until("the broker ends", || processes(&site).is_empty());
    assert!(left(&site).is_empty(), "logs go after a good end");
    assert_eq!(
        fs::read_dir(site.path("state/kgauge/clusters"))
            .unwrap()
            .count(),
        0
    );
}

/// What lies in the folder for temporary files.
fn left(site: &Site) -> Vec<PathBuf> {
    let entries = fs::read_dir(site.path("tmp")).unwrap();
    // Java keeps figures of its processes there for a while.
    let is_ours = |path: &PathBuf| path.display().to_string().contains("/kgauge-");
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(is_ours).collect()
}

#[test]
#[ignore = "real Kafka"]
fn a_cluster_that_ends_well_leaves_nothing() {
    let site = Site::new();
    let mut cluster = serve(&site, &kafka(NEWEST, "heap=512M"));
    assert_eq!(left(&site).len(), 1, "while it serves");
    cluster.interrupt();
    let (status, stderr) = cluster.wait();
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(processes(&site), [0; 0]);
    assert!(left(&site).is_empty(), "{:?}", left(&site));
}

#[test]
#[ignore = "real Kafka"]
fn a_cluster_that_is_stopped_while_it_starts_leaves_nothing() {
    let site = Site::new();
    let target = kafka(NEWEST, "heap=512M");
    let up = ["cluster", "up", &target];
    let cluster = start(&site, &up);
    wait_until("a broker's log", || {
        let logs = left(&site).pop().map(|dir| dir.join("target-logs"));
        logs.is_some_and(|logs| fs::metadata(logs.join("broker-1.log")).is_ok_and(|f| f.len() > 0))
    });
    kill_process(Pid::from_child(&cluster), Signal::INT).unwrap();
    let output = cluster.wait_with_output().unwrap();
    check_status(&output, 130);
    assert_eq!(processes(&site), [0; 0]);
    assert!(left(&site).is_empty(), "{:?}", left(&site));
}

#[test]
#[ignore = "real Kafka"]
fn a_cluster_of_which_a_broker_dies_leaves_its_logs_and_tells_where() {
    let site = Site::new();
    let mut cluster = serve(&site, &kafka(NEWEST, "heap=512M"));
    kill_first(&site);
    let (status, stderr) = cluster.wait();
    assert_eq!(status, Some(3), "{stderr}");
    let kept = left(&site).pop().unwrap();
    let words = format!("its logs are kept in {}", kept.display());
    assert!(stderr.contains(&words), "{stderr}");
    assert!(kept.join("target-logs/broker-1.log").exists());
    assert!(!kept.join("data").exists(), "only the logs");
}
