//! Consuming beside Kafka's own consumers and tools, on the newest release.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kgauge_client::Interrupt;
use kgauge_target::kafka::{KafkaSetup, ReleaseTools};
use rustix::process::{Pid, Signal, kill_process};

use crate::site::{ServingCluster, Site, check_status, good, json, text};
use crate::{NEWEST, cache, kafka, kgauge, serve};

/// Real Kafka that serves until it is dropped, and its own tools.
struct Cluster {
    // Ends before its site is removed.
    serving: ServingCluster,
    tools: ReleaseTools,
    site: Site,
}

impl Cluster {
    fn start() -> Cluster {
        let site = Site::new();
        Cluster {
            serving: serve(&site, &kafka(NEWEST, "heap=512M")),
            tools: tools(&site),
            site,
        }
    }

    /// kgauge under the name of a tool.
    fn ours(&self, line: &str) -> Command {
        let line = line.replace("SERVERS", &self.serving.servers);
        let words: Vec<&str> = line.split_whitespace().collect();
        kgauge(&self.site, &words)
    }

    /// A tool of Kafka's own, by its class.
    fn theirs(&self, class: &str, line: &str) -> Command {
        let line = line.replace("SERVERS", &self.serving.servers);
        let mut command = self
            .tools
            .command(&format!("org.apache.kafka.tools.{class}"));
        command
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn topic(&self, name: &str, partitions: u32, records: u32) {
        let made = format!(
            "kafka-topics --bootstrap-server SERVERS --create --topic {name} --partitions {partitions} \
             --replication-factor 1"
        );
        good(&self.ours(&made).output().unwrap());
        self.topic_records(name, records);
    }

    /// Writes records to a topic.
    fn topic_records(&self, name: &str, records: u32) {
        let sent = format!(
            "kafka-producer-perf-test --bootstrap-server SERVERS --topic {name} --num-records {records} \
             --record-size 100 --throughput -1"
        );
        good(&self.ours(&sent).output().unwrap());
    }
}

fn tools(site: &Site) -> ReleaseTools {
    let setup = KafkaSetup {
        name: "tools".to_owned(),
        cache_dir: cache().join("kgauge"),
        state_dir: site.path("state"),
        data_dir: site.path("none"),
        keep_data: false,
        log_dir: site.path("logs"),
        java_home: None,
        path: std::env::var_os("PATH"),
        time_limit: Duration::from_secs(300),
        remark: |_| (),
    };
    let version = NEWEST.parse().unwrap();
    let tools = ReleaseTools::find(&version, &setup, &Interrupt::new());
    tools.unwrap().with_quick_start()
}

/// The parts that both tools print alike: lines without digits, and MB and records of the last row.
fn compared(out: &str) -> (Vec<String>, String) {
    let lines = out.lines().map(|line| {
        let words = line.split(", ");
        let bare = words.map(|word| word.trim_matches(|c: char| !c.is_ascii_alphabetic()));
        bare.collect::<Vec<_>>().join(", ")
    });
    let row: Vec<&str> = out.lines().last().unwrap().split(", ").collect();
    (
        lines.collect(),
        format!("{} MB, {} records", row[2], row[4]),
    )
}

#[test]
#[ignore = "real Kafka"]
fn topics_that_a_pattern_fits_are_read_as_by_kafkas_own_tool() {
    let cluster = Cluster::start();
    for (topic, partitions) in [("in-a", 3), ("in-b", 2), ("out-a", 1)] {
        cluster.topic(topic, partitions, 5_000);
    }
    for (pattern, records, expected) in [
        ("in-[ab]", 10_000, "0.9537 MB, 10000 records"),
        ("(in|out)-a", 10_000, "0.9537 MB, 10000 records"),
        // All of it, and no record of an internal topic.
        (".*", 100_000, "1.4305 MB, 15000 records"),
        ("nothing.*", 10, "0.0000 MB, 0 records"),
    ] {
        let line = format!(
            "--bootstrap-server SERVERS --include {pattern} --num-records {records} --timeout 5000"
        );
        let theirs = cluster.theirs("ConsumerPerformance", &line).output();
        let ours = cluster
            .ours(&format!("kafka-consumer-perf-test {line}"))
            .output();
        let (theirs, ours) = (good(&theirs.unwrap()), good(&ours.unwrap()));
        assert_eq!(compared(&ours), compared(&theirs), "{ours}\n{theirs}");
        assert_eq!(compared(&ours).1, expected);
    }
}

/// A member of a group that prints JSON, ours or Kafka's; its lines as they come.
struct Follower {
    process: Child,
    lines: std::sync::mpsc::Receiver<String>,
    partitions: std::collections::BTreeSet<u64>,
    records: u64,
    /// Records of each partition, to see each once.
    offsets: std::collections::BTreeMap<u64, u64>,
    revoked: usize,
}

impl Follower {
    fn start(mut command: Command) -> Follower {
        let mut process = command.stderr(Stdio::inherit()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (tell, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Follower {
            process,
            lines,
            partitions: Default::default(),
            records: 0,
            offsets: Default::default(),
            revoked: 0,
        }
    }

    /// Reads the events so far.
    fn hear(&mut self) {
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(20)) {
            let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) else {
                continue;
            };
            let partitions = event["partitions"].as_array().cloned().unwrap_or_default();
            let named = partitions
                .iter()
                .map(|one| one["partition"].as_u64().unwrap());
            match event["name"].as_str() {
                Some("partitions_assigned") => self.partitions.extend(named),
                Some("partitions_revoked") => {
                    self.revoked += partitions.len();
                    named.for_each(|one| {
                        self.partitions.remove(&one);
                    });
                }
                Some("records_consumed") => {
                    self.records += event["count"].as_u64().unwrap();
                    for part in &partitions {
                        let read = self.offsets.entry(part["partition"].as_u64().unwrap());
                        *read.or_default() += part["count"].as_u64().unwrap();
                    }
                }
                _ => {}
            }
        }
    }

    fn end(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        self.process.wait().unwrap();
        self.hear();
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Listens until the members have these numbers of partitions and records.
fn until(members: &mut [&mut Follower], counts: &[usize], records: u64) {
    let start = std::time::Instant::now();
    loop {
        members.iter_mut().for_each(|member| member.hear());
        let mut has: Vec<usize> = members.iter().map(|one| one.partitions.len()).collect();
        has.sort_unstable();
        let read: u64 = members.iter().map(|one| one.records).sum();
        if has == counts && read >= records {
            return;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{has:?}, {read} records"
        );
    }
}

/// Our verifiable consumer and Kafka's share a group, with `protocol` for both. Each leads the group at some time. A
/// new member takes its share, no other partition moves, and each record is read once.
fn shares(cluster: &Cluster, topic: &str, protocol: &str, are_kept: bool) {
    cluster.topic(topic, 6, 600);
    let line = format!("--bootstrap-server SERVERS --topic {topic} --group-id {topic} {protocol}");
    let ours = || Follower::start(cluster.ours(&format!("kafka-verifiable-consumer {line}")));
    let theirs = || Follower::start(cluster.theirs("VerifiableConsumer", &line));
    let mut kept = ours();
    until(&mut [&mut kept], &[6], 600);
    let mut guest = theirs();
    until(&mut [&mut kept, &mut guest], &[3, 3], 600);
    let revoked = if are_kept { 3 } else { 6 };
    assert_eq!(kept.revoked, revoked, "{topic}: given up when one came");
    cluster.topic_records(topic, 600);
    until(&mut [&mut kept, &mut guest], &[3, 3], 1_200);
    // A third member joins, then the other two leave one after the other: the rest takes all partitions.
    let mut third = ours();
    until(&mut [&mut kept, &mut guest, &mut third], &[2, 2, 2], 1_200);
    kept.end();
    until(&mut [&mut guest, &mut third], &[3, 3], 0);
    cluster.topic_records(topic, 600);
    let before = kept.records;
    until(&mut [&mut guest, &mut third], &[3, 3], 1_800 - before);
    guest.end();
    until(&mut [&mut third], &[6], 0);
    third.end();
    let all: u64 = kept.records + guest.records + third.records;
    assert_eq!(all, 1_800, "{topic}: each record once");
}

const PACKAGE: &str = "--assignment-strategy org.apache.kafka.clients.consumer.";

#[test]
#[ignore = "real Kafka"]
fn members_share_a_group_with_kafkas_own_by_every_assignor_and_protocol() {
    let cluster = Cluster::start();
    shares(
        &cluster,
        "eager",
        &format!("{PACKAGE}StickyAssignor"),
        false,
    );
    shares(
        &cluster,
        "cooperative",
        &format!("{PACKAGE}CooperativeStickyAssignor"),
        true,
    );
    shares(&cluster, "anew", "--group-protocol consumer", true);
}

#[test]
#[ignore = "real Kafka"]
fn a_run_reads_by_the_new_protocol_and_is_refused_where_there_is_none() {
    let site = Site::new();
    let scenario = "\
kgauge: 1
name: anew
question: Does a group whose brokers deal out read all?
topic: {partitions: 4}
flows:
  - {name: writers, kind: produce, shape: max, records: 20000, record: {size: 100 B}}
  - name: readers
    kind: consume
    group: true
    consumers: 3
    from: earliest
    records: 20000
    settings: {group.protocol: consumer, group.remote.assignor: range, auto.commit.interval.ms: 100}
stages: {warm-up: 0 s, hold: 60 s, drain: 30 s}
repeats: 1
";
    site.write("anew.yaml", scenario);
    let target = kafka(NEWEST, "heap=512M");
    let call = ["run", "anew.yaml", "--out", "out", "--target", &target];
    good(&kgauge(&site, &call).output().unwrap());
    let summary = json(&site.path("out/summary.json"));
    let readers = &summary["trials"][0]["flows"][1];
    assert_eq!(
        readers["records_all_stages"]["consumed"], 20_000,
        "{readers}"
    );
    assert_eq!(readers["group"]["members"], 3, "{readers}");
    assert_eq!(readers["group"]["commits_failed"], 0, "{readers}");
    let call = ["run", "anew.yaml", "--out", "none", "--target", "embedded"];
    let refused = kgauge(&site, &call).output().unwrap();
    check_status(&refused, 2);
    assert!(text(&refused.stderr).contains("group.protocol consumer needs Kafka 4.0"));
}
