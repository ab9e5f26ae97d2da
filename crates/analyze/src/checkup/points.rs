//! The figures of a checkup's parts, from the trials of its run.

use kgauge_results::run::{CAPACITY_SHARES, CheckupPart};
use kgauge_results::{Quantile, TimeKind};

use super::{CheckupPoint, CheckupSummary, ReadPoint};
use crate::summary::{FlowKind, FlowSummary, TrialSummary};

/// Fills in what was measured.
pub(super) fn fill(summary: &mut CheckupSummary, trials: &[TrialSummary]) {
    let of = |part: CheckupPart| {
        let trials = trials
            .iter()
            .filter(move |trial| trial.scenario == part.scenario());
        trials.filter(|trial| trial.repeats_measured > 0)
    };
    let points = |part| of(part).filter_map(point).collect::<Vec<CheckupPoint>>();
    summary.idle = points(CheckupPart::Idle).into_iter().next();
    summary.end_to_end = end_to_end(trials);
    summary.acks = points(CheckupPart::Acks);
    summary.replication = points(CheckupPart::Replication);
    summary.tail = of(CheckupPart::Tail).find_map(reads);
    let from_start = |is_on_disk: bool| {
        let mut trials = of(CheckupPart::FromStart);
        trials.find(|trial| leaves_cache(trial) == is_on_disk)
    };
    summary.from_start = from_start(false).and_then(reads);
    summary.from_disk = from_start(true).and_then(reads);
}

/// Whether a trial varies that its records are in the page cache, and they are not.
fn leaves_cache(trial: &TrialSummary) -> bool {
    trial.factors.iter().any(|factor| factor.value == "false")
}

/// The trials follow each other by rising share; one that was not measured leaves a gap.
fn end_to_end(trials: &[TrialSummary]) -> Vec<CheckupPoint> {
    let scenario = CheckupPart::EndToEnd.scenario();
    let trials = trials.iter().filter(|trial| trial.scenario == scenario);
    let of_share = |(trial, share): (&TrialSummary, f64)| {
        let measured = (trial.repeats_measured > 0).then_some(trial);
        Some(CheckupPoint {
            share: Some(share),
            ..point(measured?)?
        })
    };
    trials.zip(CAPACITY_SHARES).filter_map(of_share).collect()
}

/// The flow that writes, with its times.
fn point(trial: &TrialSummary) -> Option<CheckupPoint> {
    let writes = |flow: &&FlowSummary| matches!(flow.kind, FlowKind::Produce | FlowKind::Echo);
    let flow = trial.flows.iter().find(writes)?;
    let kind = match flow.kind {
        FlowKind::Echo => TimeKind::EndToEnd,
        FlowKind::Produce | FlowKind::Consume | FlowKind::Unknown => TimeKind::Response,
    };
    let times = flow.latencies.get(kind);
    let percentile = |quantile| Some(times?.percentile(quantile)?.value_ns as f64);
    let value = trial.factors.first();
    Some(CheckupPoint {
        value: value.map_or_else(String::new, |factor| factor.value.clone()),
        share: None,
        planned_per_s: flow.planned_per_s(),
        records_per_s: flow.throughput.as_ref()?.records_per_s.mean,
        kept_rate: flow.has_kept_rate(),
        p50_ns: percentile(Quantile::P50),
        p99_ns: percentile(Quantile::P99),
    })
}

fn reads(trial: &TrialSummary) -> Option<ReadPoint> {
    let of = |kind: FlowKind| trial.flows.iter().find(move |flow| flow.kind == kind);
    let readers = of(FlowKind::Consume)?;
    let read = readers.throughput.as_ref()?;
    let behind = readers
        .batching
        .as_ref()
        .and_then(|batching| batching.behind);
    let written = of(FlowKind::Produce).and_then(|flow| flow.throughput.as_ref());
    Some(ReadPoint {
        read_per_s: read.records_per_s.mean,
        bytes_per_s: read.logical_bytes_per_s.mean,
        written_per_s: written.map(|written| written.records_per_s.mean),
        lag_max: behind.map(|behind| behind.records_max),
    })
}
