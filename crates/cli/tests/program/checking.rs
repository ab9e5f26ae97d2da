//! `kgauge check`, and values that need no path.

use serde_json::Value;

use crate::site::{Site, TINY, check_refused, check_status, text};

fn checked(site: &Site, arguments: &[&str]) -> String {
    let output = site.run(&[&["check"], arguments].concat());
    check_status(&output, 0);
    text(&output.stdout)
}

#[test]
fn a_check_shows_plan_time_and_bytes_and_starts_nothing() {
    let site = Site::new();
    let shown = checked(&site, &["tiny.yaml", "latency", "--repeat", "4"]);
    for line in [
        "tiny: Does it work?",
        "  4 repeats, no warm-up, hold 1 s",
        "  goal writers.throughput >= 10/s",
        "latency: What is the latency of 1 kB records at 10k/s?",
    ] {
        assert!(shown.lines().any(|one| one == line), "{line:?}\n{shown}");
    }
    assert!(
        shown.contains("plan     1 trial, 4 repeats, about "),
        "{shown}"
    );
    assert!(!site.path("kgauge-runs").exists());
    let list: Value = serde_json::from_str(&checked(&site, &["tiny.yaml", "--json"])).unwrap();
    assert_eq!(list[0]["trials"][0]["repeats"], 2);
    // 800 records a second for a second, and one at its start; twice.
    assert_eq!(list[0]["records_max"], 1_602);
    assert!(list[0]["order"].is_null());
    // The flags of built-in scenarios apply as in `kgauge run`.
    let load = ["latency", "--rate", "20k/s", "--record-size", "2 kB"];
    let built_in = checked(&site, &load);
    let question = "latency: What is the latency of 2 kB records at 20k/s?\n";
    assert!(built_in.starts_with(question), "{built_in}");
    let rate = "\nrate     up to 20,000 records/s\n";
    assert!(built_in.contains(rate), "{built_in}");
    let study = checked(&site, &["linkedin-2014", "--quick", "--seed", "7"]);
    assert!(study.starts_with("study linkedin-2014: "), "{study}");
    assert!(
        study.contains("order    single-producer, repeat 1\n"),
        "{study}"
    );
}

#[test]
fn mistakes_are_those_of_a_run_and_hide_no_other_file() {
    let site = Site::new();
    site.write("wrong.yaml", &TINY.replace("size: 100 B", "size: 100"));
    let output = site.run(&["check", "wrong.yaml", "tiny.yaml"]);
    check_status(&output, 2);
    let run = site.run(&["run", "wrong.yaml"]);
    assert_eq!(text(&output.stderr), text(&run.stderr));
    assert!(text(&output.stdout).contains("tiny: Does it work?"));
    check_refused(&["check", "latancy"], 2, &["did you mean `latency`?"]);
    check_refused(&["check"], 2, &["<FILE>..."]);
}

#[test]
fn a_setting_of_the_only_producer_flow_needs_no_path() {
    let site = Site::new();
    checked(&site, &["tiny.yaml", "--set", "linger.ms=20"]);
    for (change, meant) in [
        ("lingr.ms=20", "did you mean `linger.ms`?"),
        ("hold=5 s", "did you mean `stages.hold`?"),
    ] {
        check_refused(&["check", "latency", "--set", change], 2, &[meant]);
    }
    let two = TINY.replace(
        "  - name: readers",
        "  - {name: more, kind: produce, shape: max, record: {size: 1 B}}\n  - name: readers",
    );
    site.write("two.yaml", &two);
    let output = site.run(&["check", "two.yaml", "--set", "linger.ms=20"]);
    let stderr = check_status(&output, 2);
    let paths = "writers.settings.linger.ms, more.settings.linger.ms";
    assert!(stderr.contains(paths), "{stderr}");
    checked(&site, &["two.yaml", "--set", "more.settings.linger.ms=20"]);
}

#[test]
fn an_unknown_scenario_of_a_study_gets_a_proposal_or_a_list() {
    let near = ["check", "linkedin-2014", "--only", "mesage-size"];
    check_refused(
        &near,
        2,
        &["no scenario `mesage-size`\n  did you mean `message-size`?"],
    );
    let far = ["run", "linkedin-2014", "--only", "nothing-like-it"];
    check_refused(
        &far,
        2,
        &["; it has\n  single-producer\n  async-replication\n"],
    );
}

#[test]
fn a_goal_that_cannot_be_read_is_the_only_error() {
    // The study has scenarios without producers, which no search fits.
    let call = ["capacity", "linkedin-2014", "--goal", "p99 < 20"];
    let output = Site::new().run(&call);
    check_status(&output, 2);
    let expected = "kgauge: error: --goal: `20` has no unit\n  write a unit: `20 s`\n";
    assert_eq!(text(&output.stderr), expected);
}
