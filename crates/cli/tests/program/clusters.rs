//! Clusters that are there already, and what a run may do to them.

use std::fs;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{
    ServingCluster, Site, check_status, children, events, json, text, wait_for, wait_until,
};

#[test]
fn a_cluster_serves_a_run_and_ends_at_ctrl_c() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &["embedded:2", "--data", "data"]);
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "1", "--yes"];
    let output = site.run(&[&call[..], &["--target", &cluster.servers]].concat());
    let stderr = check_status(&output, 0);
    assert!(stderr.contains("would do the following to an existing cluster"));
    assert!(
        stderr.contains("topics   1 to create; partitions up to 2, replicas up to 1"),
        "{stderr}"
    );
    assert!(stderr.contains("rate     up to 800 records/s"), "{stderr}");
    // The report calls it what its user calls it.
    let first = cluster.servers.split(',').next().unwrap();
    let stdout = text(&output.stdout);
    let title = format!("tiny\n  {first} and 1 more (kgauge's embedded cluster)");
    assert!(stdout.starts_with(&title), "{stdout}");
    assert_eq!(cluster.end(), Some(0));
    assert!(site.path("data").exists(), "--data keeps it");
}

/// The settings of Kafka 4.3.1's own config/server.properties, on another address and a free port.
const SERVER_PROPERTIES: &str = "\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://127.0.0.2:0,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
";

#[test]
fn kafkas_own_server_properties_start_a_cluster() {
    let site = Site::new();
    std::fs::write(site.path("server.properties"), SERVER_PROPERTIES).unwrap();
    let mut cluster = ServingCluster::start(&site, &["--config", "server.properties"]);
    assert!(
        cluster.servers.starts_with("127.0.0.2:"),
        "{}",
        cluster.servers
    );
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "1", "--yes"];
    let output = site.run(&[&call[..], &["--target", &cluster.servers]].concat());
    check_status(&output, 0);
    cluster.interrupt();
    let (status, stderr) = cluster.wait();
    assert_eq!(status, Some(0), "{stderr}");
    let lines = stderr.lines();
    let ignored: Vec<&str> = lines.filter(|line| line.contains("ignores")).collect();
    assert_eq!(ignored.len(), 1, "{ignored:?}");
    for key in ["node.id", "num.io.threads", "transaction.state.log.min.isr"] {
        assert!(ignored[0].contains(key), "{ignored:?}");
    }
    assert!(!ignored[0].contains("log.segment.bytes"), "{ignored:?}");
}

#[test]
fn clients_get_the_advertised_host() {
    let site = Site::new();
    let listen = ["--listen", "127.0.0.2", "--advertise", "localhost"];
    let cluster = ServingCluster::start(&site, &[&["embedded:2"], &listen[..]].concat());
    assert_eq!(
        cluster.servers.matches("localhost:").count(),
        2,
        "{}",
        cluster.servers
    );
    assert_eq!(cluster.end(), Some(0));
}

#[test]
fn an_existing_cluster_is_not_touched_without_confirmation() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let target = ["--out", "out", "--target", &cluster.servers];
    let stderr = check_status(&site.run(&[&["run", "tiny.yaml"], &target[..]].concat()), 2);
    assert!(stderr.contains("use --yes to confirm"), "{stderr}");
    assert!(stderr.contains("names    kgauge-"), "{stderr}");
    assert!(!site.path("out").exists(), "nothing began");
    let setting = ["--yes", "--set", "broker.num.partitions=77"];
    let output = site.run(&[&["run", "tiny.yaml"], &target[..], &setting].concat());
    let stderr = check_status(&output, 2);
    assert!(
        stderr.contains("num.partitions is 1, expected 77"),
        "{stderr}"
    );
    cluster.end();
}

#[test]
fn an_existing_topic_is_used_only_if_it_is_named_and_stays() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let target = ["--yes", "--target", &cluster.servers];
    // The first run leaves its topic, which exists from then on.
    let keep = [
        "run",
        "tiny.yaml",
        "--out",
        "first",
        "--repeat",
        "1",
        "--keep",
    ];
    let output = site.run(&[&keep, &target[..]].concat());
    let stderr = text(&output.stderr);
    let kept = stderr
        .lines()
        .find_map(|line| line.strip_prefix("kgauge: kept topic "));
    let topic = kept.unwrap().to_owned();
    let call = [
        "run",
        "tiny.yaml",
        "--out",
        "second",
        "--allow-existing",
        &topic,
    ];
    let stderr = check_status(&site.run(&[&call, &target[..]].concat()), 0);
    assert!(
        stderr.contains(&format!("none; it writes to {topic}")),
        "{stderr}"
    );
    let summary = json(&site.path("second/summary.json"));
    for repeat in summary["trials"][0]["counted"].as_array().unwrap() {
        assert_eq!(repeat["acked"], 800, "800 a second for a second");
        assert_eq!(repeat["on_broker"], 800, "only what this repeat wrote");
    }
    let readers = &summary["trials"][0]["flows"][1];
    assert!(
        readers["records"]["consumed"].as_u64().unwrap() <= 1_600,
        "not what was there before"
    );
    // The topic still exists, and must have the scenario's number of partitions.
    let call = [
        "run",
        "tiny.yaml",
        "--set",
        "topic.partitions=3",
        "--allow-existing",
        &topic,
    ];
    let output = site.run(&[&call, &target[..]].concat());
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("has 2 partitions, but the trial wants 3"),
        "{stderr}"
    );
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let call = ["run", "tiny.yaml", "--allow-existing", "nobodys"];
    let output = site.run(&[&call, &target[..]].concat());
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("topic nobodys does not exist"), "{stderr}");
    assert!(stderr.contains("--allow-existing TOPIC"), "{stderr}");
    assert!(
        output.stdout.is_empty(),
        "no report of a run that never began"
    );
    assert!(!site.path("kgauge-runs").join("tiny").exists());
    cluster.end();
}

/// A load that outlives its cluster.
const LONG: &str = "\
kgauge: 1
name: outlives
question: Does it end?
topic: {partitions: 2, replication: 1}
flows:
  - name: writers
    kind: produce
    shape: {constant: 200/s}
    record: {size: 100 B}
stages: {warm-up: 0 s, hold: 8 s, drain: 1 s}
repeats: 3
";

/// Starts such a load, and kills the cluster once the load runs.
fn outlives(site: &Site) -> (Child, ServingCluster) {
    site.write("outlives.yaml", LONG);
    let cluster = ServingCluster::start(site, &["embedded:1"]);
    let call = ["run", "outlives.yaml", "--out", "out", "--yes", "--target"];
    let run = site.start(&[&call[..], &[&cluster.servers]].concat());
    let events = site.path("out/events.jsonl");
    wait_for(&events);
    wait_until("a repeat starts", || {
        let text = fs::read_to_string(&events).unwrap();
        text.contains("repeat-started")
    });
    for child in children(cluster.process.id()) {
        kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    }
    (run, cluster)
}

fn outages_of(site: &Site) -> Vec<serde_json::Value> {
    events(&site.path("out"), "broker-unreachable")
}

#[test]
fn a_cluster_that_dies_ends_the_run_after_its_drain_with_status_3_and_what_is_left_there() {
    let site = Site::new();
    let (run, _cluster) = outlives(&site);
    let stderr = check_status(&run.wait_with_output().unwrap(), 3);
    for words in [
        "broker 1 (127.0.0.1:",
        "(connections fail); 2 of 2 partitions have no leader. Waiting up to",
        "(drain 1 s); Ctrl-C stops now.",
        "no partition has a leader that answers",
        "the cluster does not answer; repeats skipped: 2",
        "was not deleted",
        "kgauge kafka-topics --bootstrap-server 127.0.0.1:",
        " --delete --topic 'kgauge-",
    ] {
        assert!(stderr.contains(words), "{words:?} is not in {stderr}");
    }
    assert!(!stderr.contains("within 0.0 s"), "{stderr}");
    let outages = outages_of(&site);
    assert_eq!(outages.len(), 1, "{outages:?}");
    assert_eq!(outages[0]["broker"], 1);
    assert_eq!(outages[0]["cause"], "unconnected");
    assert_eq!(outages[0]["partitions_without_leader"], 2);
    let head = json(&site.path("out/run.json"));
    assert_eq!(head["status"], "failed", "{head}");
    let repeat = json(&site.path("out/repeats/0000-00/repeat.json"));
    assert_eq!(repeat["outcome"]["outcome"], "failed", "{repeat}");
    assert!(repeat["flows"][0]["connections"]["lost"].as_u64() > Some(0));
    assert!(!site.path("out/repeats/0000-01").exists());
}

#[test]
fn ctrl_c_ends_a_run_on_a_dead_cluster_at_once() {
    let site = Site::new();
    let (run, _cluster) = outlives(&site);
    wait_until("an outage is recorded", || !outages_of(&site).is_empty());
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let stderr = check_status(&run.wait_with_output().unwrap(), 130);
    assert!(stderr.contains(" --delete --topic 'kgauge-"), "{stderr}");
}
