//! Searches for better settings: an answer from end to end, a search that goes on, and what is refused.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::site::{Site, check_refused, check_status, good, json, text, wait_for};

/// Short repeats of the embedded cluster.
const SHORT: [&str; 6] = [
    "--duration",
    "1 s",
    "--set",
    "stages.warm-up=0 s",
    "--set",
    "stages.warm-up-limit=0 s",
];

/// Each request takes 10 ms, so that larger batches help.
const PLANTED: &str = "\
kgauge: 1
name: planted
question: Do larger batches help?
topic: {partitions: 1}
flows:
  - name: writers
    kind: produce
    shape: max
    record: {size: 1000 B}
    settings: {buffer.memory: 1 MiB}
stages: {warm-up: 300 ms, warm-up-limit: 300 ms, hold: 1 s}
faults:
  - {at: start, node: 1, api: produce, delay: 10 ms}
";

#[test]
fn an_interrupted_search_goes_on_and_reports_its_answer_everywhere() {
    let site = Site::new();
    site.write("planted.yaml", PLANTED);
    let candidate = ["--candidate", "batch.size=64 KiB"];
    let call = [
        &["tune", "planted.yaml", "--out", "out", "--seed", "5"][..],
        &candidate,
    ]
    .concat();
    let mut run = site.start(&call);
    // The winner's second block of the proof is in progress.
    wait_for(&site.path("out/repeats/0001-01/slices.jsonl"));
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let before = json(&site.path("out/tune.json"));
    assert_eq!(before["end"], Value::Null);

    let output = site.run(&["tune", "--resume", "out"]);
    let table = good(&output);
    let recommended = "Recommended: batch.size=65536. Throughput ";
    assert!(table.contains(recommended), "{table}");
    let lines: Vec<&str> = table.lines().map(str::trim).collect();
    assert!(lines.contains(&"client.properties:"), "{table}");
    assert!(lines.contains(&"batch.size=65536"), "{table}");
    let search = json(&site.path("out/summary.json"))["tune"].clone();
    assert_eq!(
        (&search["verdict"], &search["metric"]),
        (&"better".into(), &"writers.throughput".into())
    );
    assert!(search["answer"].as_str().unwrap().starts_with(recommended));
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(
        page.contains("id=\"tune\""),
        "the page has a section of the search"
    );
    assert!(!page.contains("Rerun from the saved plan"));
    // The first phase is as it was, and each block of the proof has all of its arms.
    let after = json(&site.path("out/tune.json"));
    assert_eq!(after["phases"][0], before["phases"][0]);
    let measures = after["phases"][1]["measures"].as_array().unwrap();
    assert_eq!((measures.len() % 3, measures.len() >= 21), (0, true));
    let again = check_status(&site.run(&["tune", "--resume", "out"]), 2);
    assert!(again.contains("complete"), "{again}");
}

#[test]
fn a_search_without_time_and_one_with_a_missed_condition_try_nothing() {
    let site = Site::new();
    site.write("planted.yaml", PLANTED);
    // 24 repeats of 1.3 s fit by their stages alone, but not with their topics and connections.
    let candidate = ["--candidate", "batch.size=64 KiB"];
    let call = ["tune", "planted.yaml", "--budget", "32 s", "--out", "short"];
    let stderr = check_status(&site.run(&[&call[..], &candidate].concat()), 2);
    assert!(
        stderr.contains("search for better settings by writers.throughput"),
        "{stderr}"
    );
    assert!(
        stderr.contains("settings in force: 3 repeats measured"),
        "{stderr}"
    );
    let summary: Value = json(&site.path("short/summary.json"));
    assert_eq!(summary["tune"]["verdict"], "refused");
    let spent = check_status(&site.run(&["tune", "--resume", "short"]), 2);
    assert!(
        spent.contains("no time left") && spent.contains("--budget"),
        "{spent}"
    );
    let keep = ["--keep", "writers.throughput >= 1G/s", "--out", "missed"];
    let call = [&["tune"][..], &SHORT, &keep].concat();
    let output = site.run(&call);
    check_status(&output, 1);
    assert!(
        text(&output.stdout).contains("miss a condition"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_candidate_that_the_cluster_does_not_support_is_left_out_with_its_cause() {
    let site = Site::new();
    let readers = "  - {name: readers, kind: consume, group: true, from: latest}\nstages:";
    site.write("planted.yaml", &PLANTED.replace("stages:", readers));
    let candidate = "readers.settings.group.protocol=consumer";
    let output = site.run(&["tune", "planted.yaml", "--candidate", candidate]);
    check_status(&output, 2);
    let answer = text(&output.stdout);
    for words in ["Nothing was tried", "KIP-848"] {
        assert!(answer.contains(words), "{answer}");
    }
}

#[test]
fn what_cannot_be_tuned_is_refused_before_anything_starts() {
    for (arguments, words) in [
        (&["latency", "--goal", "throughput"][..], "shape=max"),
        (&["--candidate", "acks=1"], "--durability-may-change"),
        (&["--candidate", "linger.msx=5"], "linger.msx"),
        (&["--preset", "availability"], "--durability-may-change"),
        (&["--try", "network"], "--try"),
        (&["--budget", "1 min"], "24 repeats"),
        (&["--resume", "nowhere"], "nowhere"),
        (&["--resume", "out", "--goal", "cost"], "--goal"),
    ] {
        let call = [&["tune"][..], arguments].concat();
        check_refused(&call, 2, &[words]);
    }
}
