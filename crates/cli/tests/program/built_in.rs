//! Built-in scenarios and their flags.

use std::fs;

use crate::site::{Site, check_refused, good, json, text};

#[test]
fn a_built_in_scenario_runs_without_a_file_and_can_be_kept() {
    let site = Site::new();
    let load = ["--rate", "500/s", "--record-size", "100 B"];
    let time = ["--duration", "1 s", "--set", "stages.warm-up=0 s"];
    let goal = ["--goal", "writers.failed <= 0", "--repeat", "1"];
    let to = ["--out", "out", "--write-scenario", "kept.yaml"];
    good(&site.run(&[&["run", "latency"][..], &load, &time, &goal, &to].concat()));
    let trial = json(&site.path("out/summary.json"))["trials"][0].clone();
    assert_eq!(trial["scenario"], "latency");
    assert_eq!(trial["counted"][0]["acked"], 500);
    assert_eq!(trial["goals"][0]["word"], "held");
    let kept = fs::read_to_string(site.path("kept.yaml")).unwrap();
    assert!(kept.contains("shape: {constant: 500/s}"), "{kept}");
    let again = site.run(&["check", "latency", "--write-scenario", "kept.yaml"]);
    assert_eq!(again.status.code(), Some(2), "nothing is overwritten");
}

#[test]
fn a_kept_scenario_has_what_other_flags_change_and_the_same_command_works_again() {
    let site = Site::new();
    let flags = ["--set", "linger.ms=20", "--repeat", "7", "--quick"];
    let keep = ["--write-scenario", "kept.yaml"];
    let command = [&["check", "latency"][..], &flags, &keep].concat();
    let plan = text(&site.run(&command).stdout);
    let kept = fs::read_to_string(site.path("kept.yaml")).unwrap();
    for line in ["linger.ms: 20}", "repeats: 7\n", "hold: 5 s}"] {
        assert!(kept.contains(line), "{line:?} is missing in {kept}");
    }
    assert_eq!(text(&site.run(&["check", "kept.yaml"]).stdout), plan);
    good(&site.run(&command));
    let other = site.run(&[&command[..], &["--verify"]].concat());
    assert_eq!(other.status.code(), Some(2), "nothing is overwritten");
}

#[test]
fn flags_that_do_not_apply_are_refused_in_words() {
    for (arguments, words) in [
        (
            &["run", "throughput", "--rate", "5k/s"][..],
            "--rate does not apply to `throughput`; use `latency` for a fixed rate",
        ),
        (&["run", "latency", "--rate", "5k"], "--rate: `5k`"),
        (
            &["run", "latency", "--acks", "2", "--linger", "5x"],
            "--acks: invalid value `2`\n  write one of: all, -1, 1, 0\n--linger: `5x` is not",
        ),
        (
            &["run", "tiny.yaml", "--rate", "5k/s"],
            "use --set PATH=VALUE to change `tiny.yaml`",
        ),
        (&["run", "latancy"], "did you mean `latency`?"),
        (&["run", "latency", "--size", "1 kB"], "'--record-size'"),
    ] {
        check_refused(arguments, 2, &[words]);
    }
}
