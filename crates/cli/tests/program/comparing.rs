//! Several targets in one run, and run folders side by side.

use std::fs;

use crate::site::{Site, json, text};

#[test]
fn a_run_on_several_targets_ends_with_one_table_of_them() {
    let site = Site::new();
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "2"];
    let targets = [
        "--target",
        "embedded",
        "--target",
        "embedded:2,num.partitions=3",
    ];
    let output = site.run(&[&call[..], &targets].concat());
    let (said, table) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(table.contains("x baseline"), "{table}");
    assert!(table.contains("comparison.html"), "{table}");
    let folders = ["out/1-embedded", "out/2-embedded-2-num.partitions-3"];
    let seeds = folders.map(|folder| {
        assert!(site.path(folder).join("report.html").exists(), "{said}");
        json(&site.path(folder).join("plan.json"))["seed"].clone()
    });
    assert_eq!(seeds[0], seeds[1], "the same records on each target");
    let comparison = json(&site.path("out/comparison.json"));
    assert_eq!(comparison["runs"].as_array().unwrap().len(), 2);
    let page = fs::read_to_string(site.path("out/comparison.html")).unwrap();
    assert!(page.contains("<html"));

    let call = ["compare", "--baseline", "2", "--out", "again", "--json"];
    let output = site.run(&[&call[..], &folders].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["baseline"], 1, "counted from 0 in the file");
    assert_eq!(printed, json(&site.path("again/comparison.json")));
}

#[test]
fn a_comparison_can_end_a_build() {
    let site = Site::new();
    for folder in ["one", "other"] {
        site.run(&["run", "tiny.yaml", "--repeat", "1", "--out", folder]);
    }
    let output = site.run(&["compare", "one", "other", "--as", "markdown"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("### 2 runs side by side"));
    let names = fs::read_dir(site.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        !names.into_iter().any(|name| name == "kgauge-runs"),
        "a form writes nothing else"
    );
    // One repeat each: nothing can be judged, and a gate that knows nothing does not open.
    let output = site.run(&[
        "compare",
        "one",
        "other",
        "--as",
        "table",
        "--fail-if-worse",
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("no rate and no time of"));
    let output = site.run(&["compare", "one", "other", "--fail-if-worse=150%"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_target_that_fails_does_not_end_the_others() {
    let site = Site::new();
    // Nobody listens on the port once the listener is dropped.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap().to_string();
    drop(closed);
    let call = ["run", "tiny.yaml", "--repeat", "1", "--out", "out", "--yes"];
    let targets = ["--target", &address, "--target", "embedded"];
    let output = site.run(&[&call[..], &targets].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("only one target was measured"), "{said}");
    assert!(text(&output.stdout).contains("not Apache Kafka"));
    assert!(site.path("out/2-embedded/report.html").exists());
}

#[test]
fn what_cannot_be_compared_is_refused_in_words() {
    let site = Site::new();
    let output = site.run(&["compare", "nowhere", "neither"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nowhere"));
    site.run(&["run", "tiny.yaml", "--repeat", "1", "--out", "one"]);
    let output = site.run(&["compare", "one"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("at least two runs, not 1"));
    let output = site.run(&["compare", "one", "one", "--baseline", "3"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
