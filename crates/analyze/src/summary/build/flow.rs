//! The summary of one flow.

use std::collections::BTreeMap;

use kgauge_scenario::{FlowPlan, Shape, Trial};

use super::ack::ack_meaning;
use super::agents;
use super::drivers::driver;
use super::groups::group;
use super::hold::{FlowHold, MeasuredRepeats, kind_of, merged, spread};
use super::latency::latencies;
use super::little::littles_law;
use super::mirrors::mirror;
use super::steadiness::steadiness;
use super::transactions::transactions;
use super::work;
use crate::summary::generator::LATE_AFTER_NS;
use crate::summary::{
    Batching, ConsumerLag, ErrorSummary, FlowKind, FlowShape, FlowSummary, Lateness, LatenessCause,
    RecordCounts, Throttling, Throughput,
};
use kgauge_results::folder::RepeatRead;
use kgauge_results::histogram::Quantile;
use kgauge_results::slice::{Counts, ErrorCounts, Slice, TimeKind, error_name};
use kgauge_results::stage::{SECOND_NS, Stage};

const MB: f64 = 1e6;
const MIB: f64 = (1 << 20) as f64;

/// All flows of a trial: those of the plan, or without one those that recorded anything.
pub(super) fn flows(trial: Option<&Trial>, measured: &MeasuredRepeats<'_>) -> Vec<FlowSummary> {
    let indexes = match trial {
        Some(trial) => (0..trial.flows.len() as u16).collect(),
        None => {
            let repeats = measured.repeats.iter();
            let mut seen = BTreeMap::new();
            for index in repeats.flat_map(|repeat| repeat.flows.keys()) {
                seen.insert(*index, ());
            }
            seen.into_keys().collect::<Vec<_>>()
        }
    };
    let flows = indexes
        .into_iter()
        .map(|index| flow(index, trial, measured));
    let mut flows: Vec<FlowSummary> = flows.collect();
    work::find_idle(&mut flows, trial, measured);
    flows
}

fn flow(index: u16, trial: Option<&Trial>, measured: &MeasuredRepeats<'_>) -> FlowSummary {
    let plan = trial.and_then(|trial| trial.flows.get(usize::from(index)));
    let kind = kind_of(plan);
    let holds = measured.holds(index);
    let produce = plan.and_then(FlowPlan::produces);
    let closed_loop = produce.is_some_and(|flow| flow.shape == Shape::Max);
    // Who commits takes no record meanwhile: that delay is the application's, not the generator's.
    let commits = produce.is_some_and(|flow| flow.transaction.is_some());
    let open_loop = produce.is_some() && !closed_loop && !commits;
    let members = plan.map(|plan| match plan {
        FlowPlan::Produce(flow) => flow.producers,
        FlowPlan::Consume(flow) => flow.consumers_all(),
        FlowPlan::Echo(flow) => flow.produce.producers,
    });
    let totals = totals(&measured.attempts, index);
    let records = counted(holds.iter().map(|hold| hold.slice));
    let all_stages = counted(all_stages(&measured.attempts, index));
    FlowSummary {
        index,
        name: plan.map_or_else(|| format!("flow-{index}"), |plan| plan.name().to_owned()),
        kind,
        agents_lost: agents::has_lost(measured),
        clock_bound_ns: clock_bound_ns(index, measured),
        members,
        shape: produce.map(|flow| FlowShape {
            shape: flow.shape.clone(),
            arrivals: flow.arrivals,
        }),
        closed_loop,
        record_bytes: produce.map(|flow| flow.record.value_bytes),
        throughput: throughput(&holds, kind),
        steadiness: steadiness(index, trial, measured),
        latencies: latencies(&holds),
        records,
        records_all_stages: all_stages,
        errors: errors(&totals.1),
        batching: batching(&holds, kind).map(|batching| Batching {
            behind: behind(&measured.repeats, index, members.unwrap_or(1)),
            ..batching
        }),
        throttling: (totals.0.throttles > 0).then_some(Throttling {
            count: totals.0.throttles,
            total_ns: totals.0.throttle_ns,
        }),
        lateness: open_loop
            .then(|| lateness(&holds, &records, members.unwrap_or(1)))
            .flatten(),
        little: littles_law(&holds, closed_loop),
        ack: ack_meaning(plan, trial, &measured.repeats),
        connections: work::connections(index, measured),
        did_no_work: false,
        driver: driver(index, measured),
        group: group(index, measured),
        mirror: mirror(index, measured),
        transactions: transactions(index, measured),
    }
}

/// The largest error of times that compare the clocks of two agents, in any repeat.
fn clock_bound_ns(index: u16, measured: &MeasuredRepeats<'_>) -> Option<u64> {
    let repeats = measured.repeats.iter();
    let records = repeats.filter_map(|repeat| repeat.record.as_ref());
    let flows = records.filter_map(|record| record.flows.get(usize::from(index)));
    flows.filter_map(|flow| flow.clock_bound_ns).max()
}

/// How far consumers were behind in the hold: second by second, so that the worst one is known.
fn behind(repeats: &[&RepeatRead], flow: u16, members: u32) -> Option<ConsumerLag> {
    let flows = repeats.iter().filter_map(|repeat| repeat.flows.get(&flow));
    let seconds = flows.flat_map(|flow| &flow.seconds);
    let sampled =
        seconds.filter(|second| second.stage == Stage::Hold && second.counts.lag_samples > 0);
    let (mut sum, mut samples, mut records_max) = (0.0, 0.0, 0.0_f64);
    for second in sampled {
        let counts = &second.counts;
        // A second that a border cuts has the samples of some consumers only.
        let each = counts.lag_records as f64 / counts.lag_samples as f64;
        records_max = records_max.max(each * f64::from(members));
        sum += counts.lag_records as f64;
        samples += counts.lag_samples as f64;
    }
    (samples > 0.0).then(|| ConsumerLag {
        records_mean: sum / samples * f64::from(members),
        records_max,
    })
}

pub(super) fn throughput(holds: &[FlowHold<'_>], kind: FlowKind) -> Option<Throughput> {
    let records_per_s = spread(holds, |hold| hold.records(kind) as f64 / hold.seconds())?;
    let reads = holds
        .iter()
        .all(|hold| kind == FlowKind::Consume || hold.slice.counts.records_acked == 0);
    let bytes_of = |counts: &Counts| {
        if reads {
            (counts.logical_bytes_consumed, counts.wire_bytes_consumed)
        } else {
            (counts.logical_bytes_acked, counts.wire_bytes_sent)
        }
    };
    let logical = spread(holds, |hold| {
        bytes_of(&hold.slice.counts).0 as f64 / hold.seconds()
    })?;
    let wire = spread(holds, |hold| {
        bytes_of(&hold.slice.counts).1 as f64 / hold.seconds()
    });
    let wire = wire.filter(|wire| wire.max > 0.0);
    Some(Throughput {
        records_per_s,
        logical_mb_per_s: logical.mean / MB,
        logical_mib_per_s: logical.mean / MIB,
        logical_bytes_per_s: logical,
        wire_mb_per_s: wire.as_ref().map(|wire| wire.mean / MB),
        wire_mib_per_s: wire.as_ref().map(|wire| wire.mean / MIB),
        wire_bytes_per_s: wire,
        hold_s: holds.iter().map(FlowHold::seconds).sum(),
    })
}

/// Every stage of a flow in every repeat.
fn all_stages<'a>(repeats: &'a [&'a RepeatRead], flow: u16) -> impl Iterator<Item = &'a Slice> {
    let flows = repeats
        .iter()
        .filter_map(move |repeat| repeat.flows.get(&flow));
    flows.flat_map(|flow| flow.stages.values())
}

fn totals(repeats: &[&RepeatRead], flow: u16) -> (Counts, ErrorCounts) {
    let (mut counts, mut errors) = (Counts::default(), ErrorCounts::default());
    for slice in all_stages(repeats, flow) {
        counts.add(&slice.counts);
        errors.add(&slice.errors);
    }
    (counts, errors)
}

/// Records by what became of them. Acked are counted by their intended time, as the rest is.
pub(super) fn counted<'a>(slices: impl Iterator<Item = &'a Slice>) -> RecordCounts {
    let (mut counts, mut acked) = (Counts::default(), 0_u64);
    for slice in slices {
        counts.add(&slice.counts);
        acked = acked.saturating_add(slice.times(TimeKind::Response).count());
    }
    let resolved = [
        counts.records_skipped,
        acked,
        counts.records_failed,
        counts.records_indeterminate,
    ];
    let resolved = resolved
        .iter()
        .map(|records| i128::from(*records))
        .sum::<i128>();
    let unresolved = i128::from(counts.records_scheduled) - resolved;
    RecordCounts {
        scheduled: counts.records_scheduled,
        skipped: counts.records_skipped,
        acked,
        failed: counts.records_failed,
        indeterminate: counts.records_indeterminate,
        unresolved: i64::try_from(unresolved).unwrap_or(i64::MAX),
        retried: counts.records_retried,
        consumed: counts.records_consumed,
        echoed: counts.records_echoed,
        echoed_early: counts.records_echoed_early,
        transactions: counts.transactions,
        transactions_aborted: counts.transactions_aborted,
        aborted: counts.records_aborted,
        transaction_markers: counts.transaction_markers,
        markers_doubted: counts.markers_doubted,
        corrupt: counts.records_corrupt,
        clock_anomalies: counts.clock_anomalies,
    }
}

fn errors(counts: &ErrorCounts) -> Vec<ErrorSummary> {
    let errors = counts.iter().map(|error| ErrorSummary {
        outcome: error.outcome,
        code: error.code,
        name: error_name(error.code)
            .map_or_else(|| format!("error code {}", error.code), str::to_owned),
        records: error.records,
    });
    errors.collect()
}

fn batching(holds: &[FlowHold<'_>], kind: FlowKind) -> Option<Batching> {
    let mut sum = Counts::default();
    holds.iter().for_each(|hold| sum.add(&hold.slice.counts));
    let part = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    if kind == FlowKind::Consume {
        return Some(Batching {
            requests_per_s: spread(holds, |hold| {
                hold.slice.counts.fetches as f64 / hold.seconds()
            })?,
            records_per_request: part(sum.records_consumed, sum.fetches)?,
            records_per_batch: None,
            batches_per_request: None,
            wire_bytes_per_request: part(sum.wire_bytes_consumed, sum.fetches)?,
            empty_part: part(sum.fetches_empty, sum.fetches),
            compression_ratio: None,
            behind: None,
        });
    }
    Some(Batching {
        requests_per_s: spread(holds, |hold| {
            hold.slice.counts.requests as f64 / hold.seconds()
        })?,
        records_per_request: part(sum.request_records, sum.requests)?,
        records_per_batch: part(sum.request_records, sum.request_batches),
        batches_per_request: part(sum.request_batches, sum.requests),
        wire_bytes_per_request: part(sum.wire_bytes_sent, sum.requests)?,
        empty_part: None,
        compression_ratio: part(sum.batch_bytes_plain, sum.batch_bytes_compressed),
        behind: None,
    })
}

/// How late records were; whose doing it was is judged once the machine is known.
fn lateness(holds: &[FlowHold<'_>], records: &RecordCounts, members: u32) -> Option<Lateness> {
    let lag = merged(holds, TimeKind::Lag);
    let late = lag.count_above(LATE_AFTER_NS);
    let mut counts = Counts::default();
    holds.iter().for_each(|hold| counts.add(&hold.slice.counts));
    let scheduled = records.scheduled.max(1);
    let sent = scheduled.saturating_sub(records.skipped).max(1);
    let late_part = late as f64 / lag.count() as f64;
    // Other clients do not tell what they waited for, and neither did earlier versions.
    let is_known = late == 0 || counts.records_late > 0;
    let late_waiting = counts.records_late_waiting as f64 / sent as f64;
    let skipped_waiting = counts.records_skipped_waiting as f64 / scheduled as f64;
    Some(Lateness {
        lag_ns_p50: lag.value_ns_at(Quantile::P50)?,
        lag_ns_p99: lag.value_ns_at(Quantile::P99)?,
        lag_ns_max: lag.max_ns()?,
        late,
        late_after_ns: LATE_AFTER_NS,
        late_part,
        skipped_part: records.skipped as f64 / scheduled as f64,
        late_waiting_part: is_known.then(|| late_waiting.min(late_part)),
        skipped_waiting_part: is_known.then_some(skipped_waiting),
        waiting_time_part: waiting_time_part(holds, members),
        blame: LatenessCause::Unknown,
    })
}

/// For which part of the hold the flow's buffers were full, a mean over its members.
fn waiting_time_part(holds: &[FlowHold<'_>], members: u32) -> f64 {
    let waits = holds.iter();
    let waits = waits.map(|hold| hold.slice.times(TimeKind::BufferWait).sum_ns());
    let waited_s = waits.sum::<u128>() as f64 / SECOND_NS as f64;
    let seconds = holds.iter().map(FlowHold::seconds).sum::<f64>();
    match seconds > 0.0 {
        true => (waited_s / seconds / f64::from(members.max(1))).min(1.0),
        false => 0.0,
    }
}
