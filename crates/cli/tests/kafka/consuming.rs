//! Consuming beside Kafka's own consumers and tools, on the newest release.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use kgauge_client::Interrupt;
use kgauge_target::kafka::{KafkaSetup, ReleaseTools};
use rustix::process::{Pid, Signal, kill_process};

use crate::site::{Site, text};
use crate::{NEWEST, cache, kafka, kgauge};

/// Real Kafka that serves until it is dropped.
pub(crate) struct Cluster {
    pub(crate) site: Site,
    process: Child,
    pub(crate) servers: String,
    tools: ReleaseTools,
}

impl Cluster {
    pub(crate) fn start(more: &str) -> Cluster {
        let site = Site::new();
        let target = kafka(NEWEST, &format!("heap=512M{more}"));
        let mut command = kgauge(&site, &["cluster", "up", &target]);
        let mut process = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let servers = first.trim().strip_prefix("bootstrap.servers=").unwrap();
        Cluster {
            servers: servers.to_owned(),
            process,
            tools: tools(&site),
            site,
        }
    }

    /// kgauge under the name of a tool.
    pub(crate) fn ours(&self, line: &str) -> Command {
        let line = line.replace("SERVERS", &self.servers);
        let words: Vec<&str> = line.split_whitespace().collect();
        kgauge(&self.site, &words)
    }

    /// A tool of Kafka's own, by its class.
    pub(crate) fn theirs(&self, class: &str, line: &str) -> Command {
        let line = line.replace("SERVERS", &self.servers);
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

    pub(crate) fn topic(&self, name: &str, partitions: u32, records: u32) {
        let made = format!(
            "kafka-topics --bootstrap-server SERVERS --create --topic {name} --partitions {partitions} \
             --replication-factor 1"
        );
        good(&self.ours(&made).output().unwrap());
        let sent = format!(
            "kafka-producer-perf-test --bootstrap-server SERVERS --topic {name} --num-records {records} \
             --record-size 100 --throughput -1"
        );
        good(&self.ours(&sent).output().unwrap());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
        let _ = self.process.wait();
    }
}

fn tools(site: &Site) -> ReleaseTools {
    let setup = KafkaSetup {
        name: "tools".to_owned(),
        cache_dir: cache().join("kgauge/kafka"),
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
    ReleaseTools::find(&version, &setup, &Interrupt::new()).unwrap()
}

#[track_caller]
pub(crate) fn good(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// What is the same in both: lines without their digits, and of the last row MB and records.
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
    let cluster = Cluster::start("");
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
