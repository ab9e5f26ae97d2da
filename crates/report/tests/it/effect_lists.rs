//! Sentences about several effects: what they share is said once, and every ratio keeps its interval.

use kgauge_analyze::summary::TrialSummary;
use kgauge_scenario::{AnswerKind, Comparand};

use crate::answers::{ACKS, FAST, HALF, last, trial};

const CODEC: &str = "writers.settings.compression.type";

/// Repeats that are known to 1 %.
fn around(rate: f64) -> [f64; 3] {
    [rate, rate * 1.01, rate * 0.99]
}

/// Trials with these settings and rates, compared with those where a setting has a value.
fn against((path, value): (&str, &str), trials: &[(&[(&str, &str)], f64)]) -> Vec<TrialSummary> {
    let trials = trials.iter().zip(0..).map(|((factors, rate), index)| {
        let mut trial = trial(index, "several", factors, &around(*rate));
        trial.against = Some(Comparand {
            scenario: None,
            factor: Some((path.to_owned(), value.to_owned())),
        });
        trial
    });
    trials.collect()
}

/// Trials of listed combinations, compared with the first one.
fn listed(names: &[String], rates: &[f64]) -> String {
    let factors: Vec<[(&str, &str); 1]> = names
        .iter()
        .map(|name| [("listed", name.as_str())])
        .collect();
    let trials: Vec<(&[(&str, &str)], f64)> = factors
        .iter()
        .zip(rates)
        .map(|(factors, rate)| (factors.as_slice(), *rate))
        .collect();
    last(against(("listed", "baseline"), &trials))
}

#[test]
fn numbers_have_their_setting() {
    let trials = against(
        (ACKS, "1"),
        &[
            (&[(ACKS, "0")], 1_250.0),
            (&[(ACKS, "1")], 1_000.0),
            (&[(ACKS, "all")], 500.0),
        ],
    );
    assert_eq!(
        last(trials.clone()),
        "Records/s against acks 1: acks 0 +25 %, +22 to +28 %; acks all −50 %, −51 to −49 %."
    );
    let without_a_base = trials.into_iter().map(|mut trial| {
        trial.against = None;
        trial
    });
    assert_eq!(
        last(without_a_base.collect()),
        "Best: acks 0 with records/s 1,250 (±2.5 %), 25 % ahead of acks 1, 2.50× from the worst \
         (acks all)."
    );
    let producers = [("1", 100.0), ("10", 200.0), ("25", 400.0)];
    let producers = producers
        .into_iter()
        .zip(0..)
        .map(|((count, rate), index)| {
            let factors = [("writers.producers", count)];
            trial(index, "producers", &factors, &around(rate))
        });
    assert_eq!(
        last(producers.collect()),
        "Records/s rise from 100.0 at producers 1 to 400.0 at 25 (4.00×)."
    );
    let sizes = [("250 B", FAST), ("500 B", HALF)].into_iter().zip(0..);
    let sizes = sizes.map(|((size, rates), index)| {
        let mut trial = trial(index, "sizes", &[("writers.record.size", size)], &rates);
        trial.asks = Some(AnswerKind::HowMuch);
        trial
    });
    let text = last(sizes.collect());
    assert!(text.starts_with("250 B: "), "{text}");
}

#[test]
fn codecs_are_compared_by_their_bytes_too() {
    let mut trials = against(
        (CODEC, "none"),
        &[
            (&[(CODEC, "none")], 1_000.0),
            (&[(CODEC, "gzip")], 500.0),
            (&[(CODEC, "zstd")], 800.0),
            (&[(CODEC, "lz4")], 1_250.0),
        ],
    );
    for (trial, bytes) in trials.iter_mut().zip([1_000.0, 600.0, 620.0, 1_000.0]) {
        let throughput = trial.flows[0].throughput.as_mut().unwrap();
        throughput.wire_bytes_per_s = throughput.records_per_s.times(bytes);
    }
    assert_eq!(
        last(trials),
        "Records/s against none: gzip −50 %, −51 to −49 %; zstd −20 %, −22 to −18 %; lz4 +25 %, \
         +22 to +28 %; wire bytes: gzip −40 %, zstd −38 %."
    );
}

#[test]
fn a_difference_that_all_share_is_named_once() {
    let trials = against(
        (ACKS, "1"),
        &[
            (&[("target.brokers", "3"), (ACKS, "1")], 1_000.0),
            (&[("target.brokers", "3"), (ACKS, "all")], 500.0),
            (&[("target.brokers", "6"), (ACKS, "1")], 1_000.0),
            (&[("target.brokers", "6"), (ACKS, "all")], 800.0),
        ],
    );
    assert_eq!(
        last(trials),
        "Records/s, acks all against 1: brokers 3 −50 %, −51 to −49 %; brokers 6 −20 %, −22 to \
         −18 %."
    );
}

#[test]
fn a_long_list_gives_intervals_alone_under_the_setting_that_they_share() {
    const RECORDS: &str = "writers.record.compressibility";
    let trials = against(
        ("listed", "baseline"),
        &[
            (&[(RECORDS, "1"), ("listed", "baseline")], 1_000.0),
            (&[(RECORDS, "1"), ("listed", "lower")], 1_250.0),
            (&[(RECORDS, "1"), ("listed", "upper")], 800.0),
            (&[(RECORDS, "8"), ("listed", "baseline")], 1_000.0),
            (&[(RECORDS, "8"), ("listed", "lower")], 2_500.0),
            (&[(RECORDS, "8"), ("listed", "upper")], 1_250.0),
        ],
    );
    assert_eq!(
        last(trials),
        "Records/s against baseline: record.compressibility 1: lower +22 to +28 %, upper −22 to \
         −18 %; 8: lower 2.44 to 2.56×, upper +22 to +28 %."
    );
}

#[test]
fn a_list_of_long_names_shares_results_and_then_names_fewer() {
    let names = |letters: usize, count: usize| {
        let long = ["a", "b", "c", "d"].map(|name| format!("{}-{name}", "x".repeat(letters - 2)));
        let first = std::iter::once("baseline".to_owned());
        first
            .chain(long.into_iter().take(count))
            .collect::<Vec<_>>()
    };
    let shared = names(24, 3);
    let text = listed(&shared, &[1_000.0, 1_000.0, 1_000.0, 500.0]);
    let [_, a, b, c] = shared.as_slice() else {
        panic!("{shared:?}");
    };
    let start = format!("Records/s against baseline: {a} and {b} no difference (");
    assert!(text.starts_with(&start), "{text}");
    let end = format!(" detectable); {c} −51 to −49 %.");
    assert!(text.ends_with(&end), "{text}");

    let long = names(32, 4);
    let (a, b) = (&long[1], &long[2]);
    assert_eq!(
        listed(&long, &[1_000.0, 800.0, 1_250.0, 500.0, 2_000.0]),
        format!("Records/s against baseline: {a} −22 to −18 %; {b} +22 to +28 %; and 2 more.")
    );
}
