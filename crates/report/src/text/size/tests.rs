//! Texts of an answer and of what is missing for one.

use kgauge_analyze::sizing::{MachineType, MeasuredRelease, SizingMachine, TrialFacts, size};

use super::*;
use crate::{TerminalStyle, render_size_html, render_size_terminal};

#[path = "../../../../analyze/src/sizing/tests/made.rs"]
mod made;

use made::{facts, need};

/// 1 ns for a byte in and 10 µs for a batch.
fn trials() -> Vec<TrialFacts> {
    let trial = |(in_bytes, batches): (f64, f64)| TrialFacts {
        out_bytes: in_bytes,
        fetch_requests: 100.0,
        cpu_cores: Some(1e-9 * in_bytes + 10e-6 * batches),
        release: MeasuredRelease {
            is_embedded: true,
            version: None,
        },
        ..facts(in_bytes, batches)
    };
    let loads = [
        (1e7, 1e3),
        (2e7, 1e4),
        (1e8, 2e4),
        (5e7, 1e3),
        (3e7, 3e4),
        (6e7, 2e4),
    ];
    loads.map(trial).to_vec()
}

fn small() -> SizingNeed {
    SizingNeed {
        rate_bytes_per_s: 10e6,
        record_bytes: 1_900.0,
        peak: 2.0,
        retention_s: 86_400.0,
        fan_out: 1.0,
        ..need()
    }
}

#[test]
fn the_answer_comes_with_its_reason_and_its_caveats() {
    let machines = MachineType::built_in().expect("a table");
    let answer = size(&small(), &trials(), &machines).expect("an answer");
    let text = render_size_terminal(&answer, TerminalStyle::default());
    assert!(
        text.starts_with("10.0 MB/s of 1.90 kB records on average, 20.0 MB/s at the peak"),
        "{text}"
    );
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "3 brokers of type m7g.large",
        "The replicas and the brokers that may be down require this number",
        // Two brokers are left, and each has a replica of everything.
        "the busiest broker receives 20.0 MB/s, sends",
        "this sizes that cluster, not Apache Kafka",
        "Outside the measured range: 1.90 kB per record (nearest: 1.00 kB, a factor of 1.90)",
    ] {
        assert!(words.contains(part), "{part}: {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.lines().count() <= 48, "{text}");
    let page = render_size_html(&answer);
    assert!(page.contains("m7g.large") && page.contains("How it was made"));
}

#[test]
fn what_is_missing_is_listed() {
    let need = SizingNeed {
        tls: true,
        latency_ns_p99: Some(20e6),
        ..small()
    };
    let error = size(&need, &trials(), &[]).expect_err("an error");
    assert_eq!(
        size_error(&error),
        "the runs do not show enough; missing:\n  - 2 more setups with other batch and record sizes, replicas and \
         readers\n  - a trial with TLS\n  - trials at constant rates, for latencies\n  \
         run scenarios with such trials, and pass their folders with --from"
    );
    let plain = SizingNeed { tls: false, ..need };
    let error = size(&plain, &trials(), &[]).expect_err("an error");
    let text = size_error(&error);
    let advice = "\n  `kgauge size --measure --target TARGET` makes such trials";
    assert!(text.ends_with(advice), "{text}");
}

#[test]
fn times_are_whole_where_they_can_be() {
    let of = |seconds: f64| super::kept(seconds);
    assert_eq!(of(60.0), "60 s");
    assert_eq!(of(180.0), "3 min");
    assert_eq!(of(86_400.0), "24 h");
    assert_eq!(of(7.0 * 86_400.0), "7 days");
}
