//! `kgauge size` as a user meets it.

use crate::site::{Site, check_refused, json, text};

const NEED: [&str; 4] = ["--rate", "1MB/s", "--record", "1kB"];

#[test]
fn trials_are_made_and_kept_for_other_needs() {
    let site = Site::new();
    let measure = [
        "size",
        "--measure",
        "--quick",
        "--target",
        "embedded:3",
        "--out",
        "costs",
    ];
    let shorter = ["--set", "stages.hold=200 ms", "--set", "stages.warm-up=0 s"];
    let output = site.run(&[&measure[..], &NEED, &shorter].concat());
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("for another load: kgauge size --from costs"),
        "{stderr}"
    );
    let summary = json(&site.path("costs/summary.json"));
    assert_eq!(summary["trials"].as_array().unwrap().len(), 15);
    // Beside other programs its trials may say nothing; then this is refused with what is missing, and never fails.
    let code = output.status.code();
    assert!(
        code == Some(0) || stderr.contains("the runs do not show enough"),
        "{code:?} {stderr}"
    );
}

#[test]
fn bad_input_is_named() {
    for (words, message) in [
        (&["--from", "nowhere"][..], "nowhere"),
        (
            &["--from", "nowhere", "--prices", "tiny.yaml"],
            "the columns are: name, vcpus",
        ),
        (
            &["--from", "nowhere", "--prices", "none.csv"],
            "cannot open none.csv: No such file",
        ),
        (&[], "--from"),
        (
            &["--from", "nowhere", "--peak", "0.5x"],
            "a factor of at least 1",
        ),
    ] {
        check_refused(&[&["size"][..], &NEED, words].concat(), 2, &[message]);
    }
}

#[test]
fn what_the_trials_would_not_show_is_refused_before_they_start() {
    for (words, message) in [
        (&["--recompress"][..], "--recompress"),
        (&["--compression", "3x"], "add --codec"),
        (&["--fan-out", "10"], "--fan-out"),
        (&["--replication", "9"], "--replication"),
    ] {
        let measure = ["size", "--measure", "--target", "embedded:3"];
        check_refused(&[&measure[..], &NEED, words].concat(), 2, &[message]);
    }
}
