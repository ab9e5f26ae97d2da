//! Clusters that are there already, and what a run may do to them.

use std::io::{BufRead, BufReader};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{Site, json, text};

/// An embedded cluster that serves as somebody's.
pub(crate) struct Somebodys {
    process: Child,
    pub(crate) servers: String,
}

impl Somebodys {
    pub(crate) fn start(site: &Site, arguments: &[&str]) -> Self {
        let mut process = site.start(&[&["cluster", "up"], arguments].concat());
        let mut first = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let servers = first.trim().strip_prefix("bootstrap.servers=").unwrap();
        Self {
            servers: servers.to_owned(),
            process,
        }
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        self.process.wait().unwrap().code()
    }
}

impl Drop for Somebodys {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
            let _ = self.process.wait();
        }
    }
}

#[test]
fn a_cluster_serves_a_run_and_ends_at_ctrl_c() {
    let site = Site::new();
    let cluster = Somebodys::start(&site, &["embedded:2", "--data", "data"]);
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "1", "--yes"];
    let output = site.run(&[&call[..], &["--target", &cluster.servers]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("would do the following to an existing cluster"));
    assert!(
        said.contains("topics   1 to be made, of up to 2 partitions x 1 replicas"),
        "{said}"
    );
    assert!(said.contains("rate     up to 800 records/s"), "{said}");
    assert_eq!(cluster.end(), Some(0));
    assert!(site.path("data").exists(), "--data keeps it");
}

#[test]
fn nobody_s_cluster_is_touched_unasked() {
    let site = Site::new();
    let cluster = Somebodys::start(&site, &[]);
    let target = ["--out", "out", "--target", &cluster.servers];
    let output = site.run(&[&["run", "tiny.yaml"], &target[..]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("give --yes if it may"), "{said}");
    assert!(said.contains("names    kgauge-"), "{said}");
    assert!(!site.path("out").exists(), "nothing began");
    let setting = ["--yes", "--set", "broker.num.partitions=77"];
    let output = site.run(&[&["run", "tiny.yaml"], &target[..], &setting].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("num.partitions is 1, wanted is 77"), "{said}");
    cluster.end();
}

#[test]
fn a_topic_that_is_there_is_used_only_when_it_is_named_and_stays() {
    let site = Site::new();
    let cluster = Somebodys::start(&site, &[]);
    let target = ["--yes", "--target", &cluster.servers];
    // The first run leaves its topic, which is then somebody's.
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
    let said = text(&output.stderr);
    let kept = said
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
    let output = site.run(&[&call, &target[..]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains(&format!("none; it writes to {topic}")),
        "{said}"
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
    // It is still there, and it must suit the scenario.
    let call = [
        "run",
        "tiny.yaml",
        "--set",
        "topic.partitions=3",
        "--allow-existing",
        &topic,
    ];
    let output = site.run(&[&call, &target[..]].concat());
    let said = text(&output.stderr);
    assert!(
        said.contains("has 2 partitions, the trial wants 3"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2), "{said}");
    let call = ["run", "tiny.yaml", "--allow-existing", "nobodys"];
    let output = site.run(&[&call, &target[..]].concat());
    assert!(text(&output.stderr).contains("topic nobodys is not there"));
    cluster.end();
}
