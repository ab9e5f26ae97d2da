//! `kgauge audit` as a user meets it.

use serde_json::Value;

use crate::site::{Site, check_refused, text};

/// Published in 2018.
const LINE: &str = "10000000 records sent, 107101.928906 records/sec (102.14 MB/sec), 598.85 ms avg latency, 2896.00 ms \
                    max latency, 3 ms 50th, 585 ms 95th, 689 ms 99th, 710 ms 99.9th.\n";

#[test]
fn a_contradiction_is_reported_with_its_place_and_exit_status_1() {
    let site = Site::new();
    site.write(
        "notes.md",
        &format!("# Results\n\nOur best run:\n\n    {LINE}"),
    );
    let output = site.run(&["audit", "notes.md"]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(
        stdout.contains("contradiction  notes.md:5\n  | 10000000 records sent, 107101.928906"),
        "{stdout}"
    );
    assert!(
        stdout.contains("\n  The mean latency is 598.85 ms, but"),
        "{stdout}"
    );
    let verdict = "Latency: not usable as broker latency in 1 of 1 line: mean and percentiles\ncontradict each other in 1";
    assert!(stdout.starts_with(verdict), "{stdout}");
    assert!(
        stdout.lines().all(|line| line.chars().count() <= 80),
        "{stdout}"
    );
    let output = site.run(&["audit", "notes.md", "--json", "--buffer-memory", "64MiB"]);
    let audit: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&audit["summaries"], &audit["contradictions"]),
        (&1.into(), &1.into())
    );
    let checks = audit["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["check"]);
    let checks: Vec<&Value> = checks.collect();
    assert_eq!(
        checks,
        ["mean-and-percentiles", "saturated-buffer", "truncation"]
    );
}

#[test]
fn a_consistent_line_has_no_findings() {
    let site = Site::new();
    site.write(
        "run.log",
        &LINE
            .replace("3 ms 50th", "601 ms 50th")
            .replace("585 ms", "640 ms"),
    );
    let output = site.run(&["audit", "run.log", "--buffer-memory", "1MiB"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(
        text(&output.stdout),
        "Latency: nothing wrong found in 1 line.\nThroughput: nothing wrong found in 1 line.\nSpread: unknown, because \
         there are no repeats.\n\n0 contradictions, 0 artefacts, 0 cautions; 1 line read, 1 with percentiles\n"
    );
}

#[test]
fn a_file_without_output_of_a_tool_is_refused() {
    // A scenario is in the folder of every test, and no tool has printed it.
    check_refused(&["audit", "tiny.yaml"], 2, &["there is nothing to audit"]);
    check_refused(
        &["audit", "gone.log"],
        2,
        &["cannot open gone.log: No such file"],
    );
    let fast = ["audit", "tiny.yaml", "--nic", "fast"];
    check_refused(&fast, 2, &["--nic fast", "such as 1G"]);
    let alone = ["audit", "tiny.yaml", "--nic", "1G"];
    check_refused(&alone, 2, &["--nic needs --brokers"]);
    check_refused(
        &["audit", "tiny.yaml", "--as-of", "new"],
        2,
        &["--as-of new"],
    );
}
