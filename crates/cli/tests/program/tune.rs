//! Searches for better settings: an answer from end to end, and what is refused.

use std::fs;

use serde_json::Value;

use crate::site::{Site, check_refused, check_status, json, text};

/// Short repeats of the embedded cluster.
const SHORT: [&str; 4] = ["--duration", "1 s", "--set", "stages.warm-up=0 s"];

#[test]
fn a_search_reports_its_answer_everywhere() {
    let site = Site::new();
    let own = [
        "--candidate",
        "linger.ms=0",
        "--set",
        "stages.warm-up-limit=0 s",
    ];
    let budget = ["--budget", "20 s", "--width", "50 %"];
    let call = [&["tune"][..], &own, &budget, &SHORT, &["--out", "out"]].concat();
    let output = site.run(&call);
    let status = output.status.code();
    let stderr = text(&output.stderr);
    assert!(matches!(status, Some(0 | 2)), "{status:?} {stderr}");
    assert!(
        stderr.contains("search for better settings by writers.throughput"),
        "{stderr}"
    );
    assert!(stderr.contains("settings in force, block 3"), "{stderr}");
    let summary: Value = json(&site.path("out/summary.json"));
    let search = &summary["tune"];
    assert_eq!(
        (&search["goal"], &search["metric"]),
        (&"throughput".into(), &"writers.throughput".into())
    );
    let answer = search["answer"].as_str().unwrap_or_default();
    assert!(text(&output.stdout).contains(answer.split(':').next().unwrap_or_default()));
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(
        page.contains("id=\"tune\""),
        "the page has a section of the search"
    );
    assert!(site.path("out/tune.json").is_file());
}

#[test]
fn a_budget_that_is_too_short_and_a_missed_condition_try_nothing() {
    let site = Site::new();
    let call = [
        &["tune"][..],
        &SHORT,
        &["--budget", "1 s", "--out", "short"],
    ]
    .concat();
    check_status(&site.run(&call), 2);
    let summary: Value = json(&site.path("short/summary.json"));
    assert_eq!(summary["tune"]["verdict"], "refused");
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
fn what_cannot_be_tuned_is_refused_before_anything_starts() {
    for (arguments, words) in [
        (&["latency", "--goal", "throughput"][..], "shape=max"),
        (&["--candidate", "acks=1"], "--durability-may-change"),
        (&["--preset", "availability"], "--durability-may-change"),
        (&["--try", "network"], "--try"),
    ] {
        let call = [&["tune"][..], arguments].concat();
        check_refused(&call, 2, &[words]);
    }
}
