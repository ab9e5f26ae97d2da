//! `--network-speed`: the speeds of network interfaces.

use std::fs;

use crate::site::{Site, check_refused, good, json, json_lines};

#[test]
fn a_wrong_speed_is_refused_with_an_example_before_anything_starts() {
    let with = |speed| ["run", "tiny.yaml", "--network-speed", speed];
    let wrong = [
        (
            "lo",
            "write the interface and its speed, such as eth0=10Gbit",
        ),
        (
            "lo=10",
            "a number without a unit; write bits per second, such as 300Mbit",
        ),
        ("lo=125MB/s", "1000Mbit"),
        (
            "no-such-card=1Gbit",
            "this machine has no interface \"no-such-card\"; it has ",
        ),
    ];
    for (speed, words) in wrong {
        check_refused(&with(speed), 2, &["--network-speed ", speed, words]);
    }
}

#[test]
fn a_speed_that_was_given_is_in_the_folder_and_its_use_in_the_report() {
    let site = Site::new();
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "1"];
    let speed = ["--network-speed", "lo=1Mbit"];
    good(&site.run(&[&call[..], &speed].concat()));
    let mut speeds = json_lines(&site.path("out/evidence.jsonl"));
    speeds.retain(|line| line["evidence"] == "network-speed" && line["interface"] == "lo");
    assert_eq!(speeds.len(), 1, "once a repeat: {speeds:?}");
    assert_eq!(speeds[0]["bits_per_s"], 1_000_000);
    assert_eq!(speeds[0]["told_by"], "user");
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("<strong>Network utilisation</strong>"));
    let head = json(&site.path("out/run.json"));
    let command = head["command"].as_array().unwrap();
    assert!(command.iter().any(|word| word == "lo=1Mbit"), "{command:?}");
}
