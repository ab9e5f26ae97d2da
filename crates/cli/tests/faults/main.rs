//! Faults of a scenario: what they do, that they are written down, and that the cluster heals. They
//! happen at moments, so these tests have the machine for themselves, one after the other.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

#[path = "../program/site.rs"]
#[allow(dead_code)]
mod site;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use site::{Site, check_status, events, json, json_lines, text};

/// One test at a time, also after another one has panicked.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scenario(brokers: u32, stages: &str, shape: &str, faults: &str) -> String {
    format!(
        "kgauge: 1\nname: broken\nquestion: What happens?\ntarget: {{brokers: {brokers}}}\n\
         topic: {{partitions: 3, replication: {brokers}}}\nstages: {stages}\nrepeats: 1\n\
         flows:\n  - name: writers\n    kind: produce\n    shape: {shape}\n    \
         record: {{size: 100 B}}\n    settings: {{batch.size: 16 KiB}}\nfaults:\n{faults}"
    )
}

/// (ns on the repeat's clock, begins, words) of each fault that was written down.
fn faults(folder: &Path) -> Vec<(u64, bool, String)> {
    let faults = events(folder, "fault").into_iter();
    faults
        .map(|event| {
            (
                event["at_ns"].as_u64().unwrap(),
                event["active"].as_bool().unwrap(),
                event["text"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

#[test]
fn a_stall_shows_in_the_events_on_time_and_in_the_latency() {
    let _alone = alone();
    let site = Site::new();
    let stall = "  - {at: 1 s, node: all, api: produce, stall: 600 ms}\n";
    let stages = "{warm-up: 200 ms, hold: 2500 ms}";
    site.write("s.yaml", &scenario(1, stages, "{constant: 1k/s}", stall));
    let output = site.run(&["run", "s.yaml", "--out", "out", "-v"]);
    let stderr = check_status(&output, 0);
    let words = "kgauge: fault at 1 s, all nodes: produce requests stalled for 600 ms";
    assert!(stderr.contains(words), "{stderr}");
    let found = faults(&site.path("out"));
    let stall = "node 1: produce requests stalled for 600 ms";
    let [(from_ns, true, set), (to_ns, false, lifted), ..] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(set, stall, "{found:?}");
    // The end of the stall reports what the nodes counted: at least one request per partition was in flight.
    let counted = lifted.strip_prefix(stall).unwrap_or_default();
    assert!(
        counted.starts_with("; ") && counted.ends_with(" records"),
        "{found:?}"
    );
    // A second after the warm-up, and 600 ms of it; a busy machine may be late, never early.
    assert!(
        *from_ns >= 1_200_000_000 && *to_ns >= 1_800_000_000,
        "{found:?}"
    );
    let table = text(&output.stdout);
    assert!(table.contains("Faults of trial 1, repeat 1"), "{table}");
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("class=\"fault\""));
    let latency = largest_response_ns(&site.path("out"));
    assert!(
        latency >= (to_ns - from_ns) * 9 / 10,
        "{latency} ns, {found:?}"
    );
}

/// The largest response of the hold, as the summary has it.
fn largest_response_ns(folder: &Path) -> u64 {
    let summary = json(&folder.join("summary.json"));
    let flow = &summary["trials"][0]["flows"][0];
    let found = find(flow, "response").unwrap_or_else(|| panic!("{flow:#}"));
    largest(found)
}

fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map
            .get(key)
            .or_else(|| map.values().find_map(|value| find(value, key))),
        Value::Array(items) => items.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

fn largest(value: &Value) -> u64 {
    match value {
        Value::Object(map) => map.values().map(largest).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(largest).max().unwrap_or(0),
        Value::Number(number) => number.as_f64().unwrap_or(0.0) as u64,
        _ => 0,
    }
}

#[test]
fn a_capacity_is_what_a_run_at_full_speed_measures() {
    let _alone = alone();
    let site = Site::new();
    let cap = "  - {at: start, node: 1, api: produce, capacity: 10k/s}\n";
    let stages = "{warm-up: 1 s, hold: 4 s}";
    site.write("s.yaml", &scenario(1, stages, "max", cap));
    // A small buffer, so that little is left to drain: 0.2 s at this rate.
    let buffer = ["--set", "writers.settings.buffer.memory=256 KiB"];
    let measure = |out: &str| {
        let output = site.run(&[&["run", "s.yaml", "--out", out][..], &buffer].concat());
        check_status(&output, 0);
        let summary = json(&site.path(out).join("summary.json"));
        let flow = &summary["trials"][0]["flows"][0];
        let rate = flow["throughput"]["records_per_s"]["mean"].as_f64();
        rate.unwrap_or_else(|| panic!("{flow:#}")) / 10_000.0
    };
    // Within 1 % on an idle machine, which `kgauge truth` checks. Other programs can lower the rate, and late responses
    // from before the hold can raise it.
    let mut shares = Vec::new();
    for attempt in ["1", "2", "3", "4"] {
        let share = measure(attempt);
        shares.push(share);
        if (0.75..=1.25).contains(&share) {
            return;
        }
    }
    panic!("{shares:?} of the cap");
}

#[test]
fn crashes_and_all_the_rest_are_healed_before_the_next_repeat() {
    let _alone = alone();
    let site = Site::new();
    let broken = "  - {at: 200 ms, node: 1, crash: true, restart-after: 500 ms}\n  \
                  - {at: 300 ms, node: 1, stop: true}\n  \
                  - {at: start, node: 3, clock-offset: -5 s}\n  \
                  - {at: 1 s, node: 3, api: metadata, delay: {uniform: [1 ms, 9 ms]}, for: 200 ms}\n  \
                  - {at: 1200 ms, node: follower, pause: true, for: 200 ms}\n  \
                  - {at: 1500 ms, node: 1, cut: {with: 3}, for: 200 ms}\n  \
                  - {at: 1900 ms, node: 2, stop: true}\n";
    let stages = "{warm-up: 0 s, hold: 2 s}";
    let text_of = scenario(3, stages, "{constant: 500/s}", broken);
    site.write("s.yaml", &text_of.replace("repeats: 1", "repeats: 2"));
    let call = [
        "run",
        "s.yaml",
        "--out",
        "out",
        "--target",
        "embedded:3",
        "-v",
    ];
    // Followers that are cut off leave the ISR after `replica.lag.time.max.ms`, as long as the drain is;
    // who waits for them may wait in vain.
    let leader_only = ["--set", "writers.settings.acks=1"];
    let output = site.run(&[&call[..], &leader_only].concat());
    // With acks=1, records that only the crashed leader had are lost. The run reports those that were acked.
    let table = text(&output.stdout);
    let lost = table.contains("records acked, but the brokers count");
    let status = i32::from(lost);
    assert_eq!(output.status.code(), Some(status), "{table}");
    let events = json_lines(&site.path("out/events.jsonl"));
    let of = |repeat: u64| {
        let mine = events
            .iter()
            .filter(move |event| event["repeat"]["repeat"] == repeat);
        mine.filter_map(|event| event["text"].as_str())
            .collect::<Vec<_>>()
    };
    for repeat in 0..2 {
        let words = of(repeat);
        let has = |word: &str| {
            assert!(
                words.iter().any(|one| one.contains(word)),
                "{word}: {words:#?}"
            )
        };
        has("node 1: crash; ");
        has("bytes were not flushed and are lost");
        has("node 1: started again after crash");
        has("node 1 is registered again");
        has("node 2: stop, with the repeat's end");
        has("failed: node 1 is down");
        has("pause");
        has("node 3: clock 5 s behind, with the repeat's end");
        has("metadata requests delayed by 1 ms to 9 ms (uniform)");
        has("node 1: cut off in both directions from node 3");
        has("all nodes are up and all replicas in sync");
    }
    let lost = events.iter().filter(|event| event["bytes_lost"].is_u64());
    assert_eq!(lost.count(), 2);
}

#[test]
fn what_a_target_cannot_have_is_refused_before_anything_starts() {
    let _alone = alone();
    let site = Site::new();
    let stages = "{warm-up: 0 s, hold: 1 s}";
    let fail = "  - {at: 0 s, node: 1, api: produce, fail: UNKNOWN_SERVER_ERROR}\n";
    site.write("s.yaml", &scenario(1, stages, "{constant: 1k/s}", fail));
    for (target, words) in [
        ("kafka:4.3.1", "not on Apache Kafka"),
        ("127.0.0.1:9", "only into clusters that it started"),
    ] {
        let output = site.run(&["run", "s.yaml", "--out", "out", "--target", target]);
        let stderr = check_status(&output, 2);
        assert!(
            stderr.contains(words) && stderr.contains("node 1: produce requests fail"),
            "{stderr}"
        );
        assert!(!site.path("out").exists());
    }
}
