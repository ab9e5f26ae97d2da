//! Echo flows against the embedded cluster: every record comes back, and the parts of its way add up.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod bench;

use bench::Bench;
use kgauge_load::CopyTally;
use kgauge_results::{Histogram, Slice, TimeKind};

fn merged(slices: &[Slice], kind: TimeKind) -> Histogram {
    let mut sum = Histogram::new();
    for slice in slices {
        sum.add(slice.times(kind));
    }
    sum
}

fn sum_ns(slices: &[Slice], kind: TimeKind) -> f64 {
    let times = merged(slices, kind);
    times.mean_ns().unwrap_or(0.0) * times.count() as f64
}

/// Settled: what was recorded once for several kinds stands in each.
fn settled(mut slices: Vec<Slice>) -> Vec<Slice> {
    slices.iter_mut().for_each(Slice::settle);
    slices
}

#[test]
fn every_record_comes_back_and_its_waits_add_up() {
    let bench = Bench::new();
    let flow = "  - {name: e, kind: echo, producers: 2, consumers: 3, shape: {constant: 4k/s}, \
                record: {size: 100 B}, settings: {linger.ms: 2}}";
    let (outcome, slices) = bench.run(flow, "warm-up: 0 s, hold: 1 s");
    let slices = settled(slices);
    let totals = outcome.flows[0].totals;
    assert_eq!(totals.acked, totals.scheduled - totals.skipped);
    assert!(totals.acked > 3_000, "{totals:?}");
    assert_eq!(totals.consumed, totals.acked);
    let count = |kind| merged(&slices, kind).count();
    for kind in [
        TimeKind::EndToEnd,
        TimeKind::BatchWait,
        TimeKind::AckWait,
        TimeKind::FetchWait,
    ] {
        assert_eq!(count(kind), totals.acked, "{kind:?}");
    }
    let early: u64 = slices
        .iter()
        .map(|one| one.counts.records_echoed_early)
        .sum();
    let parts = [
        TimeKind::Lag,
        TimeKind::BatchWait,
        TimeKind::AckWait,
        TimeKind::FetchWait,
    ];
    let parts: f64 = parts.into_iter().map(|kind| sum_ns(&slices, kind)).sum();
    let whole = sum_ns(&slices, TimeKind::EndToEnd);
    // What was read before its ack waited less for the fetch than the parts say.
    assert!(parts >= whole * 0.999, "{parts} {whole}");
    if early == 0 {
        assert!(parts <= whole * 1.001, "{parts} {whole}");
    }
}

#[test]
fn a_copy_on_another_cluster_is_read_and_no_record_is_missing_or_double() {
    let (source, destination) = (Bench::new(), Bench::new());
    let flow = "  - {name: e, kind: echo, producers: 2, consumers: 2, shape: {constant: 2k/s}, records: 1k, \
                record: {size: 64 B}}";
    let share = source.share(flow, "warm-up: 0 s, hold: none, drain: 1 s");
    // Nobody copies: all of it is missing, and that is a figure and no fault.
    let nothing = source.try_run_on(&share, Some(destination.as_copy()));
    let (outcome, slices) = nothing.unwrap();
    let totals = outcome.flows[0].totals;
    assert_eq!((totals.acked, totals.consumed), (1_000, 0));
    let tally = CopyTally {
        missing: 1_000,
        ..CopyTally::default()
    };
    assert_eq!(outcome.flows[0].copy, Some(tally));
    assert_eq!(merged(&slices, TimeKind::EndToEnd).count(), 0);
    // The topic itself is a copy that is there at once.
    let (outcome, slices) = source.try_run_on(&share, Some(source.as_copy())).unwrap();
    assert_eq!(outcome.flows[0].totals.consumed, 1_000);
    let tally = outcome.flows[0].copy.unwrap();
    assert_eq!((tally.missing, tally.doubled), (0, 0));
    assert!((1..=outcome.end_ns).contains(&tally.last_read_ns));
    assert_eq!(merged(&settled(slices), TimeKind::EndToEnd).count(), 1_000);
}

#[test]
fn the_records_of_other_flows_are_not_taken_for_echoes() {
    let bench = Bench::new();
    let flows = "  - {name: w, kind: produce, shape: {constant: 2k/s}, records: 1k, record: {size: 100 B}}\n  \
                 - {name: e, kind: echo, shape: {constant: 1k/s}, records: 500, record: {size: 64 B}, \
                 settings: {compression.type: lz4}}";
    let (outcome, slices) = bench.run(flows, "warm-up: 0 s, hold: none");
    assert_eq!(outcome.flows[0].totals.acked, 1_000);
    let echo = outcome.flows[1].totals;
    assert_eq!((echo.acked, echo.consumed), (500, 500));
    let echoed: u64 = slices.iter().map(|one| one.counts.records_echoed).sum();
    assert_eq!(echoed, 500);
}
