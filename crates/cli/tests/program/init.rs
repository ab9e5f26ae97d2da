//! `kgauge init`: scenario files to start from.

use std::fs;

use crate::site::{Site, check_refused, check_status, text};

#[test]
fn a_new_scenario_can_be_checked_and_is_not_overwritten() {
    let site = Site::new();
    let output = site.run(&["init", "mine.yaml"]);
    check_status(&output, 0);
    assert!(output.stdout.is_empty());
    let written = fs::read_to_string(site.path("mine.yaml")).unwrap();
    assert_eq!(text(&site.run(&["init", "-"]).stdout), written);
    let checked = site.run(&["check", "mine.yaml"]);
    check_status(&checked, 0);

    site.write("mine.yaml", "precious");
    check_refused(&["init", "latency"], 2, &["is a built-in scenario"]);
    let refused = site.run(&["init", "mine.yaml"]);
    check_status(&refused, 2);
    assert!(text(&refused.stderr).contains("the file exists; use --force"));
    assert_eq!(
        fs::read_to_string(site.path("mine.yaml")).unwrap(),
        "precious"
    );
    assert_eq!(
        site.run(&["init", "mine.yaml", "--force"]).status.code(),
        Some(0)
    );
    assert_eq!(fs::read_to_string(site.path("mine.yaml")).unwrap(), written);
    assert_eq!(site.run(&["init"]).status.code(), Some(0));
    assert!(site.path("scenario.yaml").exists());
}

#[test]
fn a_command_line_of_kafkas_tool_becomes_a_scenario_that_runs() {
    let site = Site::new();
    let line = "bin/kafka-producer-perf-test.sh --topic t --num-records 500 --record-size 100 \
                --throughput 1000 --producer-props bootstrap.servers=b1:9092 acks=1 linger.ms=0";
    let output = site.run(&["init", "perf.yaml", "--from-perf-test", line]);
    check_status(&output, 0);
    let written = fs::read_to_string(site.path("perf.yaml")).unwrap();
    assert!(
        written.contains("# Run it with --target b1:9092"),
        "{written}"
    );
    let run = ["run", "perf.yaml", "--out", "out", "--repeat", "1"];
    let output = site.run(&[&run[..], &["--set", "stages.warm-up=0 s"]].concat());
    check_status(&output, 0);
    let summary = crate::site::json(&site.path("out/summary.json"));
    assert_eq!(summary["trials"][0]["counted"][0]["acked"], 500);
}

#[test]
fn what_cannot_be_translated_is_refused_in_words() {
    let init = |line| ["init", "--from-perf-test", line];
    check_refused(
        &init("ls -l"),
        2,
        &["calls none of kafka-producer-perf-test"],
    );
    let missing = "kafka-producer-perf-test --topic t --record-size 1 --throughput -1";
    check_refused(&init(missing), 2, &["argument --num-records is required"]);
    check_refused(
        &["init", "no/such/folder.yaml"],
        2,
        &["cannot write no/such/folder.yaml"],
    );
}
