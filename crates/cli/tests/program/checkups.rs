//! `kgauge checkup` on a cluster that somebody else started: the embedded one.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{
    ServingCluster, Site, check_refused, check_status, files, good, json, text, wait_until,
};

/// The topics of a cluster.
fn topics(site: &Site, servers: &str) -> String {
    good(&site.run(&["kafka-topics", "--bootstrap-server", servers, "--list"]))
}

#[test]
fn a_dry_run_shows_facts_and_limits_and_creates_nothing() {
    let site = Site::with_free_disk();
    let cluster = ServingCluster::start(&site, &["embedded:3"]);
    let arguments = [
        "checkup",
        "--target",
        &cluster.servers,
        "--dry-run",
        "--max-rate",
        "5k/s",
    ];
    let shown = good(&site.run(&arguments));
    for start in [
        "cluster  3 brokers",
        "health   all replicas in sync",
        "rate     at most 5,000 records/s of 1.00 kB (--max-rate)",
        "time     at most 15 min",
    ] {
        let has_line = shown.lines().any(|line| line.starts_with(start));
        assert!(has_line, "{start}\n{shown}");
    }
    let output = site.run(&[&arguments[..], &["--json"]].concat());
    let preview: serde_json::Value = serde_json::from_str(&good(&output)).unwrap();
    assert_eq!(preview["limits"]["rate_max"], 5_000.0);
    assert_eq!(preview["cluster"]["brokers"].as_array().unwrap().len(), 3);
    assert_eq!(topics(&site, &cluster.servers), "");
    assert!(!site.path("kgauge-runs").exists());
}

#[test]
fn a_stopped_checkup_leaves_its_page_and_nothing_on_the_cluster() {
    let site = Site::with_free_disk();
    let cluster = ServingCluster::start(&site, &["embedded:2"]);
    let mut checkup = site.start(&[
        "checkup",
        "--target",
        &cluster.servers,
        "--yes",
        "--max-rate",
        "1k/s",
        "--budget",
        "90 s",
        "--out",
        "out",
    ]);
    // The second part has been added to the plan, and its first load runs.
    let plan = site.path("out/plan.json");
    wait_until("a load of the capacity search", || {
        let has_part = fs::read_to_string(&plan).is_ok_and(|text| text.contains("\"capacity\""));
        has_part && !files(&site.path("out/repeats/0001-00")).is_empty()
    });
    kill_process(Pid::from_child(&checkup), Signal::INT).unwrap();
    assert_eq!(checkup.wait().unwrap().code(), Some(130));
    let output = checkup.wait_with_output().unwrap();
    let page = text(&output.stdout);
    assert!(page.contains("\nCluster     2 brokers"), "{page}");
    assert!(page.contains("\nend to end p50"), "{page}");
    assert_eq!(topics(&site, &cluster.servers), "");
    let summary = json(&site.path("out/summary.json"));
    let checkup = &summary["checkup"];
    assert_eq!(checkup["limits"]["rate_max"], 1_000.0);
    assert_eq!(checkup["after"], serde_json::Value::Null);
    let findings = checkup["findings"].as_array().unwrap();
    let mut settings = findings.iter().map(|finding| &finding["setting"]);
    // Its default on a cluster of two brokers.
    assert!(settings.any(|name| name == "default.replication.factor"));
    let page_again = text(&site.run(&["report", "out"]).stdout);
    assert!(page_again.contains("Cluster     2 brokers"), "{page_again}");
    let refused = check_status(&site.run(&["run", "--resume", "out"]), 2);
    assert!(refused.contains("cannot be resumed"), "{refused}");
}

#[test]
fn what_a_checkup_cannot_do_is_refused_before_anything_starts() {
    for (arguments, words) in [
        (&["checkup", "--dry-run"][..], "nothing to protect"),
        (&["checkup", "--keep"], "--keep: a checkup leaves nothing"),
        (&["checkup", "--budget", "10 s"], "needs at least 60 s"),
        (&["checkup", "--goal", "p99 <= 20"], "has no unit"),
        (&["checkup", "--max-disk", "20"], "--max-disk: "),
    ] {
        check_refused(arguments, 2, &[words]);
    }
    let site = Site::with_free_disk();
    let cluster = ServingCluster::start(&site, &[]);
    let output = site.run(&["checkup", "--target", &cluster.servers]);
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("use --yes to confirm"), "{stderr}");
    assert_eq!(topics(&site, &cluster.servers), "");
}

#[test]
fn a_cluster_that_keeps_all_topics_gets_none() {
    let site = Site::with_free_disk();
    let cluster = ServingCluster::start(&site, &["embedded,delete.topic.enable=false"]);
    let output = site.run(&["checkup", "--target", &cluster.servers, "--yes"]);
    let stderr = check_status(&output, 3);
    assert!(
        stderr.contains("does not allow the deletion of topics"),
        "{stderr}"
    );
    assert_eq!(topics(&site, &cluster.servers), "");
}
