//! A/B tests: one run with both sides, two runs with one each, and what is refused.

use std::fs;

use serde_json::Value;

use crate::site::{Site, check_refused, check_status, json, text};

/// One pair of short repeats, which is never enough for an answer.
const SHORT: [&str; 6] = [
    "--pairs",
    "1",
    "--duration",
    "1 s",
    "--set",
    "stages.warm-up=0 s",
];

#[test]
fn a_test_without_an_answer_is_inconclusive_and_can_be_continued() {
    let site = Site::new();
    let sides = ["--a", "linger.ms=0", "--b", "linger.ms=5,batch.size=64 KiB"];
    let call = [&["ab"][..], &sides, &SHORT, &["--out", "out"]].concat();
    let output = site.run(&call);
    let stderr = check_status(&output, 2);
    assert!(
        stderr.contains("A/B test of linger.ms=0 and linger.ms=5, batch.size=64 KiB"),
        "{stderr}"
    );
    assert!(stderr.contains("pair 1: B "), "{stderr}");
    let table = text(&output.stdout);
    assert!(table.contains("Inconclusive after 1 pair"), "{table}");
    assert!(table.contains("--resume continues it"), "{table}");
    let test = json(&site.path("out/summary.json"))["ab"].clone();
    assert_eq!(
        (&test["pairs"], &test["metric"]),
        (&1.into(), &"writers.throughput".into())
    );
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(
        page.contains("id=\"ab\""),
        "the page has a section of the test"
    );

    let output = site.run(&["ab", "--resume", "out", "--json"]);
    check_status(&output, 2);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["ab"]["pairs"], 2);
    let record = json(&site.path("out/ab.json"));
    assert_eq!(
        (
            &record["blocks"][0]["repeat"],
            &record["blocks"][1]["repeat"]
        ),
        (&0.into(), &1.into())
    );
    // Other figures need not wait for the answer.
    assert_eq!(summary["trials"][1]["repeats_measured"], 2);
}

#[test]
fn two_targets_have_a_folder_each_and_both_know_the_pairs() {
    let site = Site::new();
    let targets = [
        "--target",
        "embedded",
        "--target",
        "embedded,log.flush.interval.messages=1",
    ];
    let call = [&["ab"][..], &targets, &SHORT, &["--duet", "--out", "out"]].concat();
    let output = site.run(&call);
    let stderr = check_status(&output, 2);
    assert!(
        stderr.contains("kgauge: A: ") && stderr.contains("kgauge: B: "),
        "{stderr}"
    );
    assert!(text(&output.stdout).contains("Both sides ran at the same time"));
    let folders = || {
        let entries = fs::read_dir(site.path("out")).unwrap();
        let mut folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders
    };
    let [a, b] = folders().try_into().unwrap();
    let records = || [json(&a.join("ab.json")), json(&b.join("ab.json"))];
    let [of_a, of_b] = records();
    assert_eq!(of_a["blocks"], of_b["blocks"]);
    assert_eq!(of_a["blocks"].as_array().unwrap().len(), 1);
    assert_eq!(json(&a.join("run.json"))["status"], "complete");
    let page = fs::read_to_string(b.join("report.html")).unwrap();
    assert!(
        page.contains("../1-embedded/report.html"),
        "each report leads to the other"
    );

    let output = site.run(&["ab", "--resume", "out"]);
    check_status(&output, 2);
    let [of_a, of_b] = records();
    assert_eq!(of_a["blocks"], of_b["blocks"]);
    assert_eq!(of_a["blocks"].as_array().unwrap().len(), 2);
    // A side alone has nothing to compare with.
    let side = a.join("plan.json").display().to_string();
    let stderr = check_status(&site.run(&["run", &side]), 2);
    assert!(stderr.contains("one side of an A/B test"), "{stderr}");
}

#[test]
fn a_test_that_cannot_be_is_refused_with_a_way_out() {
    let settings = ["ab", "--a", "linger.ms=0", "--b", "linger.ms=5"];
    for (more, words) in [
        (&["--metric", "p99"][..], "own buffer"),
        (&["--width", "3"], "--width"),
        (&["--budget", "15"], "--budget"),
        (&["--duet"], "--duet needs two targets"),
        (
            &["--target", "embedded", "--target", "kafka:4.3.1"],
            "in one way only",
        ),
    ] {
        check_refused(&[&settings[..], more].concat(), 2, &[words]);
    }
    check_refused(&["ab"], 2, &["no two sides", "--aa"]);
    check_refused(&["ab", "--a", "linger.ns=0"], 2, &["linger.ns"]);
    check_refused(&["ab", "--aa", "--set", "topic"], 2, &["PATH=VALUE"]);
    check_refused(&["ab", "--resume", "nowhere"], 2, &["nowhere"]);
    check_refused(&["ab", "--resume", "."], 2, &["neither a run folder"]);
}

#[test]
fn a_test_or_a_run_that_cannot_begin_leaves_no_folder() {
    let site = Site::new();
    // Port 1 is reserved, so nobody listens there.
    let nobody = ["--target", "127.0.0.1:1"];
    // The same port by another name: equal targets would be refused before anything is tried.
    let other = ["--target", "localhost:1"];
    let both = [&["ab"][..], &nobody, &other, &["--yes"]].concat();
    check_status(&site.run(&both), 3);
    assert!(!site.path("kgauge-runs").exists());
    let one = [&["run", "latency"][..], &nobody, &["--yes"]].concat();
    check_status(&site.run(&one), 3);
    assert!(!site.path("kgauge-runs").exists());
    let several = [&["run", "latency"][..], &nobody, &nobody, &["--yes"]].concat();
    check_status(&site.run(&several), 3);
    assert!(!site.path("kgauge-runs").exists());
}
