//! A run folder of an older kgauge, in `recorded/`: it must stay readable, with the same figures.
//!
//! It was recorded on 2026-11-28 by `kgauge run latency --rate 2k/s --duration 2s --agents local:2 --verify`, then cut
//! to its first repeat and to the first and last sample of each source. The expected figures were computed from its
//! slices by a separate decoder. Never write this folder again: a format that cannot read it breaks users' runs.

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_analyze::summary::Status;
use kgauge_results::run::{EventKind, EvidenceKind, RunStatus, TargetKind};
use kgauge_results::{Quantile, RunRead, TimeKind};

fn recorded_run() -> RunRead {
    RunRead::open(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/it/recorded"
    )))
    .unwrap()
}

#[test]
fn every_file_of_an_older_run_folder_is_read() {
    let run = recorded_run();
    assert!(run.defects.is_empty(), "{:?}", run.defects);
    assert_eq!(run.status, RunStatus::Complete);
    assert_eq!(run.head.run_id, "20261128-013249-ed08");
    assert_eq!(run.scenarios.len(), 1);
    assert_eq!(run.plan.as_ref().unwrap().trials.len(), 1);
    let target = &run.environment.as_ref().unwrap().target;
    assert_eq!(target.kind, TargetKind::Embedded);
    assert_eq!(target.brokers[0].settings["num.partitions"], "1");
    assert_eq!((run.events.len(), run.evidence.len()), (4, 54));
    let events = run.events.iter();
    assert!(
        events
            .map(|event| &event.kind)
            .all(|kind| *kind != EventKind::Unknown)
    );
    let evidence = run.evidence.iter();
    assert!(
        evidence
            .map(|evidence| &evidence.kind)
            .all(|kind| *kind != EvidenceKind::Unknown)
    );
    assert!(run.repeats[0].record.is_some());
}

#[test]
fn the_figures_of_an_older_run_folder_stay_the_same() {
    let summary = Summary::of(&recorded_run());
    assert_eq!((summary.status, summary.exit_status), (Status::Good, 0));
    let trial = &summary.trials[0];
    assert_eq!((trial.repeats_planned, trial.repeats_measured), (1, 1));
    assert_eq!(trial.agents.as_ref().unwrap().count, 2);
    let verification = trial.repeats[0].verification.as_ref().unwrap();
    assert_eq!(
        (verification.acked, verification.confirmed),
        (10_623, 10_623)
    );

    let flow = &trial.flows[0];
    let throughput = flow.throughput.as_ref().unwrap();
    assert_eq!(throughput.records_per_s.mean, 1_998.5);
    assert_eq!(
        throughput.wire_bytes_per_s.as_ref().unwrap().mean,
        2_042_550.5
    );
    assert_eq!((flow.records.scheduled, flow.records.acked), (4_000, 4_000));
    assert_eq!(flow.records_all_stages.acked, 10_623);
    let response = flow.latencies.get(TimeKind::Response).unwrap();
    assert_eq!(response.count, 4_000);
    assert_eq!((response.min_ns, response.max_ns), (137_590, 10_682_147));
    for (quantile, expected_ns) in [
        (Quantile::P50, 2_756_607),
        (Quantile::P90, 4_812_799),
        (Quantile::P99, 5_308_415),
        (Quantile::P99_9, 8_683_519),
    ] {
        let percentile = response.percentile(quantile).unwrap();
        assert_eq!(percentile.value_ns, expected_ns, "{}", quantile.name());
    }
}
