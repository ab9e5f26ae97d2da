//! Runs of many trials: their clusters, trials that fail or are skipped, resumed runs.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::site::{COUNTED, Site, check_status, events, good, json, text, wait_for, wait_until};

/// A scenario of 800 records by count, with these factors.
fn varied(site: &Site, repeats: u32, vary: &str) {
    let scenario = COUNTED.replace("repeats: 1", &format!("repeats: {repeats}"));
    site.write("varied.yaml", &format!("{scenario}vary:\n{vary}"));
}

/// Trial name -> (repeats measured, repeats planned, why not).
fn trials(summary: &Value) -> BTreeMap<String, (u64, u64, Option<String>)> {
    let trials = summary["trials"].as_array().unwrap().iter();
    let entries = trials.map(|trial| {
        let name = trial["name"].as_str().unwrap().to_owned();
        let count = |key: &str| trial[key].as_u64().unwrap();
        let why = trial["not_measured"].as_str().map(str::to_owned);
        (
            name,
            (count("repeats_measured"), count("repeats_planned"), why),
        )
    });
    entries.collect()
}

#[test]
fn a_trial_that_fails_does_not_end_the_run() {
    let site = Site::new();
    let bad = "topic.config.min.insync.replicas: 0";
    let vary = format!(
        "  listed:\n    - {{name: good}}\n    - {{name: bad, {bad}}}\n    - {{name: fair}}\n"
    );
    varied(&site, 2, &vary);
    let output = site.run(&["run", "varied.yaml", "--out", "out", "--seed", "1"]);
    let stderr = check_status(&output, 3);
    assert!(stderr.contains("1 of 3 trials failed"), "{stderr}");
    let found = trials(&json(&site.path("out/summary.json")));
    assert_eq!(found["good"], (2, 2, None));
    assert_eq!(found["fair"], (2, 2, None));
    let why = found["bad"].2.clone().unwrap();
    assert!(why.contains("min.insync.replicas"), "{why}");
    assert_eq!(found["bad"].0, 0);

    // Resuming repeats what failed.
    let again = site.run(&["run", "--resume", "out"]);
    let stderr = check_status(&again, 3);
    assert!(stderr.contains("1 trial, 2 repeats left to do"), "{stderr}");
    let found = trials(&json(&site.path("out/summary.json")));
    let why = found["bad"].2.clone().unwrap();
    assert!(why.contains("min.insync.replicas"), "{why}");
}

#[test]
fn a_cluster_that_dies_takes_no_other_trial_with_it() {
    let site = Site::new();
    let scenario = COUNTED
        .replace("    records: 800\n", "")
        .replace("hold: 2 min", "hold: 2 s");
    let scenario = scenario.replace("repeats: 1", "repeats: 2");
    site.write(
        "dying.yaml",
        &format!("{scenario}vary:\n  writers.record.size: [50 B, 100 B, 150 B]\n"),
    );
    let run = site.start(&["run", "dying.yaml", "--out", "out", "--seed", "5"]);
    // The first repeat is in progress: its cluster is killed.
    let repeats = site.path("out/repeats");
    wait_for(&site.path("out/plan.json"));
    let first = || {
        let mut names = fs::read_dir(&repeats).ok()?.flatten();
        names.next().map(|entry| entry.path().join("slices.jsonl"))
    };
    wait_until("a repeat has a folder", || first().is_some());
    wait_for(&first().unwrap());
    let children = crate::site::children(run.id());
    let [cluster] = children.as_slice() else {
        panic!("{children:?}");
    };
    kill_process(Pid::from_raw(*cluster).unwrap(), Signal::KILL).unwrap();
    let stderr = check_status(&run.wait_with_output().unwrap(), 3);
    let found = trials(&json(&site.path("out/summary.json")));
    let failed = found.values().filter(|(_, _, why)| why.is_some()).count();
    let whole = found
        .values()
        .filter(|(measured, ..)| *measured == 2)
        .count();
    assert_eq!((failed, whole), (1, 2), "{found:?}");
    let started = events(&site.path("out"), "cluster-started");
    assert_eq!(started.len(), 1, "{stderr}");
}

#[test]
fn trials_get_the_clusters_that_they_want() {
    let site = Site::new();
    let vary = "  target.brokers: [1, 2]\n  one-at-a-time:\n    broker.num.network.threads: [8]\n    \
                broker.log.segment.bytes: [1048576]\n";
    varied(&site, 1, vary);
    let output = site.run(&["run", "varied.yaml", "--out", "out", "--seed", "3"]);
    let stderr = check_status(&output, 0);
    // The embedded cluster has no network threads to set.
    assert!(stderr.contains("skipped 2 trials of counted"), "{stderr}");
    let found = trials(&json(&site.path("out/summary.json")));
    assert_eq!(found.len(), 6);
    for (name, (measured, planned, why)) in found {
        let expected = u64::from(!name.contains("num.network.threads"));
        assert_eq!((measured, planned), (expected, expected), "{name}");
        assert_eq!(why.is_some(), expected == 0, "{name}");
    }
    // Four kinds of clusters: three more than the first.
    let started = events(&site.path("out"), "cluster-started");
    assert_eq!(started.len(), 3, "{started:?}");
    assert!(!site.path("out/target-data").exists());
    assert!(!site.path("out/target-data-2").exists());
}

#[test]
fn an_existing_cluster_is_not_asked_to_be_another() {
    let site = Site::new();
    varied(&site, 1, "  target.brokers: [1, 3]\n");
    let output = site.run(&["run", "varied.yaml", "--target", "127.0.0.1:9", "--yes"]);
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("need different clusters"), "{stderr}");
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_results() {
    let site = Site::new();
    let vary = "  writers.record.size: [50 B, 100 B, 150 B]\n";
    varied(&site, 2, vary);
    let text_of = |path: &str| fs::read(site.path(path)).unwrap();
    good(&site.run(&["run", "varied.yaml", "--out", "whole", "--seed", "5"]));
    // Every run with this seed executes its repeats in this order.
    let order = order(&site, "whole");

    let kill_at = |arguments: &[&str], done: usize, signal: Signal| {
        let mut run = site.start(arguments);
        // The repeat after this many is in progress.
        wait_for(&site.path(&format!("out/repeats/{}/slices.jsonl", order[done])));
        kill_process(Pid::from_child(&run), signal).unwrap();
        run.wait().unwrap().code()
    };
    let first = ["run", "varied.yaml", "--out", "out", "--seed", "5"];
    assert_eq!(kill_at(&first, 2, Signal::INT), Some(130));
    let kept = text_of(&format!("out/repeats/{}/repeat.json", order[0]));
    let more = ["run", "--resume", "out"];
    assert_eq!(kill_at(&more, 4, Signal::KILL), None);
    good(&site.run(&more));

    let (whole, out) = (
        json(&site.path("whole/summary.json")),
        json(&site.path("out/summary.json")),
    );
    assert_eq!(trials(&whole), trials(&out));
    let counted = |summary: &Value| {
        let trials = summary["trials"].as_array().unwrap().clone();
        let counts = trials.iter().map(|trial| trial["counted"].clone());
        counts.collect::<Vec<_>>()
    };
    assert_eq!(counted(&whole), counted(&out));
    assert_eq!(
        text_of(&format!("out/repeats/{}/repeat.json", order[0])),
        kept
    );
    assert_eq!(
        json(&site.path("out/run.json"))["resumed_unix_ms"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let left = fs::read_dir(site.path("out")).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let data: Vec<_> = names
        .filter(|name| name.starts_with("target-data"))
        .collect();
    assert!(
        data.is_empty(),
        "what a killed run has left is removed: {data:?}"
    );
    let nothing = site.run(&more);
    check_status(&nothing, 2);
    let stderr = text(&nothing.stderr);
    assert!(stderr.contains("there is nothing left to do"), "{stderr}");
}

/// Folders of repeats in the order in which they began.
fn order(site: &Site, dir: &str) -> Vec<String> {
    let started = events(&site.path(dir), "repeat-started");
    let names = started.iter().map(|event| {
        let number = |key: &str| event["repeat"][key].as_u64().unwrap();
        format!("{:04}-{:02}", number("trial"), number("repeat"))
    });
    names.collect()
}

#[test]
fn a_run_that_cannot_be_resumed_is_refused() {
    let site = Site::new();
    fs::create_dir(site.path("empty")).unwrap();
    for dir in ["empty", "nowhere"] {
        let stderr = check_status(&site.run(&["run", "--resume", dir]), 2);
        assert!(
            stderr.contains("holds no run") || stderr.contains("cannot read"),
            "{stderr}"
        );
    }
    let both = site.run(&["run", "tiny.yaml", "--resume", "empty"]);
    check_status(&both, 2);
    good(&site.run(&["run", "counted.yaml", "--out", "whole"]));
    let two = ["--target", "embedded", "--target", "embedded:2"];
    let two = site.run(&[&["run", "--resume", "whole"][..], &two].concat());
    check_status(&two, 2);
    assert!(text(&two.stderr).contains("one target"));
}

/// A run of two trials of which one fails, so that something is left to do.
fn half_failed(site: &Site, more: &[&str]) {
    let bad = "topic.config.min.insync.replicas: 0";
    let vary = format!("  listed:\n    - {{name: good}}\n    - {{name: bad, {bad}}}\n");
    varied(site, 1, &vary);
    let call = ["run", "varied.yaml", "--out", "out", "--seed", "1"];
    let output = site.run(&[&call[..], more].concat());
    check_status(&output, 3);
}

#[test]
fn a_run_goes_on_with_its_own_kind_of_cluster_only() {
    let site = Site::new();
    half_failed(&site, &[]);
    let before = fs::read(site.path("out/run.json")).unwrap();
    let other = ["run", "--resume", "out", "--target", "embedded:2"];
    let stderr = check_status(&site.run(&other), 2);
    assert!(
        stderr.contains("made on embedded, and the target is embedded:2"),
        "{stderr}"
    );
    let (before, after) = (
        serde_json::from_slice::<Value>(&before).unwrap(),
        json(&site.path("out/run.json")),
    );
    assert_eq!(before["status"], after["status"]);
}

#[test]
fn data_that_was_kept_survives_a_resumed_run() {
    let site = Site::new();
    half_failed(&site, &["--keep"]);
    assert!(site.path("out/target-data").exists());
    let output = site.run(&["run", "--resume", "out"]);
    check_status(&output, 3);
    assert!(site.path("out/target-data").exists());
}

#[test]
fn a_trial_that_is_left_out_demands_nothing() {
    let site = Site::new();
    let vary = "  one-at-a-time:\n    broker.num.network.threads: [8]\ngoals: [writers.throughput >= 1/s]\n";
    varied(&site, 1, vary);
    let stderr = check_status(&site.run(&["run", "varied.yaml", "--out", "out"]), 0);
    assert!(stderr.contains("skipped 1 trial of counted"), "{stderr}");
}

#[test]
fn the_plan_knows_the_target_and_not_the_cluster_of_the_first_trial() {
    let site = Site::new();
    varied(&site, 1, "  target.brokers: [1, 2]\n");
    for seed in ["1", "2", "3"] {
        let call = [
            "run",
            "varied.yaml",
            "--target",
            "embedded:2",
            "--out",
            seed,
            "--seed",
            seed,
        ];
        good(&site.run(&call));
        let plan = json(&site.path(seed).join("plan.json"));
        assert_eq!(plan["cluster"]["brokers"], 2, "seed {seed}");
    }
}

#[test]
fn security_is_varied_like_anything_else() {
    let site = Site::new();
    varied(
        &site,
        1,
        "  target.security: [plaintext, scram-sha-256+tls]\n",
    );
    let stderr = check_status(&site.run(&["run", "varied.yaml", "--out", "out"]), 0);
    let found = trials(&json(&site.path("out/summary.json")));
    assert_eq!(found.len(), 2);
    assert!(
        found.values().all(|(measured, ..)| *measured == 1),
        "{found:?}"
    );
    let started = events(&site.path("out"), "cluster-started");
    assert_eq!(started.len(), 1, "{stderr}");
    // A scenario does not override what --target sets.
    let call = ["run", "varied.yaml", "--target", "embedded,security=mtls"];
    let refused = site.run(&call);
    let stderr = check_status(&refused, 2);
    assert!(stderr.contains("sets security"), "{stderr}");
}

#[test]
fn the_cpu_of_a_load_that_ends_at_once_is_known() {
    let site = Site::new();
    let scenario = "kgauge: 1\nname: short\nquestion: What does a glance cost?\n\
        topic: {partitions: 1, preload: {records: 300000, record: {size: 100 B}}}\n\
        flows: [{name: readers, kind: consume, records: all}]\n\
        stages: {warm-up: 0 s, hold: 60 s}\n";
    site.write("short.yaml", scenario);
    good(&site.run(&["run", "short.yaml", "--out", "out", "--repeat", "1"]));
    let cpu = &json(&site.path("out/summary.json"))["trials"][0]["cpu"];
    // Reading 300,000 records takes CPU time on both sides, however soon it is over.
    for figure in ["generator_cores", "target_cores"] {
        assert!(cpu[figure].as_f64().unwrap() > 0.0, "{figure}: {cpu:#}");
    }
}
