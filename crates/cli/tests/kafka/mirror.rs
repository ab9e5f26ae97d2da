//! Two clusters with a replicator between them: every record arrives, and nothing is left running.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::site::{ServingCluster, Site, check_status, json, text, wait_for};
use crate::{NEWEST, cache, kafka, kgauge, processes, serve};

const MIRROR: &str = "\
kgauge: 1
name: mirror
question: Does every record arrive at the other cluster?
target: {mirror: {settings: {tasks.max: 3}}}
topic: {partitions: 3}
flows:
  - name: records
    kind: echo
    producers: 2
    shape: {constant: 2k/s}
    records: 6000
    record: {size: 200 B}
    settings: {acks: all}
stages: {warm-up: 0 s, hold: 1 min, drain: 1 min}
repeats: 2
";

/// Java without its second compiler, which costs a start of MirrorMaker most of its time.
const JAVA_OPTIONS: (&str, &str) = ("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");

/// kgauge that starts MirrorMaker with these options.
fn mirroring(site: &Site, arguments: &[&str]) -> Command {
    let mut command = kgauge(site, arguments);
    command.envs([JAVA_OPTIONS]);
    command
}

fn mirror_of(site: &Site) -> Value {
    let summary = json(&site.path("out/summary.json"));
    summary["trials"][0]["flows"][0].clone()
}

fn check_whole(flow: &Value) {
    let mirror = &flow["mirror"];
    assert_eq!(mirror["acked"], 12_000, "{mirror}");
    assert_eq!(mirror["counted"], 12_000, "{mirror}");
    assert_eq!(
        (&mirror["missing"], &mirror["doubled"]),
        (&0.into(), &0.into())
    );
    assert!(mirror["caught_up_s"]["n"] == 2, "{mirror}");
    let mean = |kind: &str| flow["latencies"][kind]["mean_ns"].as_f64().unwrap();
    assert!(
        mean("end_to_end") > mean("response"),
        "the copy is read after the source has acked"
    );
}

/// The process of this class that belongs to the site.
fn java_of(site: &Site, class: &str) -> Option<i32> {
    let runs = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(class)
    };
    let pid = processes(site).into_iter().find(runs)?;
    i32::try_from(pid).ok()
}

#[test]
#[ignore = "real Kafka"]
fn mirror_maker_brings_every_record_from_one_kafka_to_another() {
    let site = Site::new();
    site.write("mirror.yaml", MIRROR);
    let target = kafka(NEWEST, "heap=512M");
    let call = [
        "run",
        "mirror.yaml",
        "--out",
        "out",
        "--target",
        &target,
        "-v",
    ];
    let output = mirroring(&site, &call).output().unwrap();
    check_status(&output, 0);
    let flow = mirror_of(&site);
    check_whole(&flow);
    assert!(flow["mirror"]["replicator_cores"]["mean"].as_f64().unwrap() > 0.0);
    let table = text(&output.stdout);
    assert!(table.contains("copied all of 12,000 records"), "{table}");
    assert_eq!(processes(&site), [0; 0]);
    assert!(!site.path("out/target-data-destination").exists());
}

#[test]
#[ignore = "real Kafka"]
fn a_replicator_that_dies_ends_the_run_in_words_and_ctrl_c_leaves_nothing() {
    for (kills_maker, status) in [(true, 3), (false, 130)] {
        let site = Site::new();
        let long = MIRROR.replace("    records: 6000\n", "");
        site.write("mirror.yaml", &long);
        // Embedded clusters start soonest.
        let call = ["run", "mirror.yaml", "--out", "out", "--target", "embedded"];
        let child = mirroring(&site, &call).spawn().unwrap();
        wait_for(&site.path("out/repeats/0000-00/slices.jsonl"));
        let maker = java_of(&site, "org.apache.kafka.connect.mirror.MirrorMaker").unwrap();
        if kills_maker {
            kill_process(Pid::from_raw(maker).unwrap(), Signal::KILL).unwrap();
        } else {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        }
        let stderr = check_status(&child.wait_with_output().unwrap(), status);
        if kills_maker {
            assert!(stderr.contains("MirrorMaker exited (signal 9)"), "{stderr}");
        }
        assert_eq!(processes(&site), [0; 0]);
    }
}

/// Where kgauge has MirrorMaker's jars, once it has fetched them.
fn jars() -> PathBuf {
    cache().join("kgauge/kafka/4.3.1/mirror-maker/libs")
}

/// MirrorMaker, started as its users start it.
struct Replicator(Child);

impl Replicator {
    fn start(site: &Site, source: &ServingCluster, destination: &ServingCluster) -> Replicator {
        let settings = format!(
            "clusters=a,b\na.bootstrap.servers={}\nb.bootstrap.servers={}\na->b.enabled=true\n\
             a->b.topics=kgauge-.*\nb->a.enabled=false\nreplication.factor=1\n\
             refresh.topics.interval.seconds=1\nemit.heartbeats.enabled=false\n\
             sync.topic.acls.enabled=false\noffset-syncs.topic.replication.factor=1\n\
             checkpoints.topic.replication.factor=1\nheartbeats.topic.replication.factor=1\n\
             replication.policy.class=org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n\
             config.storage.replication.factor=1\noffset.storage.replication.factor=1\n\
             status.storage.replication.factor=1\n",
            source.servers, destination.servers
        );
        site.write("own.properties", &settings);
        let jars = jars().join("*");
        let child = Command::new("java")
            .envs([JAVA_OPTIONS])
            .arg("-Xmx512M")
            .arg("-cp")
            .arg(jars)
            .arg("org.apache.kafka.connect.mirror.MirrorMaker")
            .arg(site.path("own.properties"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Replicator(child.unwrap())
    }
}

impl Drop for Replicator {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[ignore = "real Kafka"]
fn a_replicator_that_the_user_runs_is_measured_between_clusters_that_are_there() {
    let site = Site::new();
    site.write("mirror.yaml", MIRROR);
    // kgauge's own run brings the jars.
    if !jars().is_dir() {
        let own = ["run", "mirror.yaml", "--out", "own", "--repeat", "1"];
        assert!(mirroring(&site, &own).status().unwrap().success());
    }
    let source = serve(&site, "embedded:1");
    let destination = serve(&site, "embedded:1");
    let _replicator = Replicator::start(&site, &source, &destination);
    let own = [
        "--set",
        "target.mirror.replicator=none",
        "--set",
        "target.mirror.settings={}",
        "--set",
        "target.mirror.topic=\"{topic}\"",
    ];
    let call = [
        "run",
        "mirror.yaml",
        "--out",
        "out",
        "--yes",
        "--target",
        &source.servers,
        "--destination",
        &destination.servers,
    ];
    let began = Instant::now();
    let output = kgauge(&site, &[&call[..], &own].concat()).output().unwrap();
    let (took, stderr) = (began.elapsed(), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{took:?}: {stderr}");
    assert!(took < Duration::from_secs(240));
    check_whole(&mirror_of(&site));
    assert!(
        stderr.contains("at the destination: kgauge deletes only what it created"),
        "{stderr}"
    );
}
