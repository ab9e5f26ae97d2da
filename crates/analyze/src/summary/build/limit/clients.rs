//! kgauge's own clients as suspects: what they were asked to do, what they were allowed to, how they asked for it.

use super::facts::Facts;
use super::{Findings, Weight};
use crate::series::{client_series_of, lag_grows};
use crate::statistics::mean;
use crate::summary::{
    Bottleneck, FlowKind, FlowSummary, GeneratorState, KeptRate, LatenessCause, LimitFact,
    MissedRate,
};
use kgauge_results::run::RunStatus;
use kgauge_results::{Quantile, TimeKind};

/// Pauses that take more of the connections' time than this are what is felt.
const PAUSED_PART: f64 = 0.10;
/// From here up they are suspects.
const PAUSED_PART_NEAR: f64 = 0.01;
/// An open loop that reached this share of its rate had no bottleneck.
const DONE_PART: f64 = 0.99;
/// A producer at full speed with fewer records in a request pays for requests.
const RECORDS_PER_REQUEST: f64 = 3.0;
/// From here down it may.
const RECORDS_PER_REQUEST_NEAR: f64 = 10.0;
/// A buffer with this share in use is full: the free space is smaller than the next batch.
const BUFFER_PART: f64 = 0.60;
/// With a smaller share of the allowed requests in flight, the connections wait for the buffer.
const IN_FLIGHT_PART: f64 = 0.60;
/// From this share on, the allowed requests are used up.
const IN_FLIGHT_PART_FULL: f64 = 0.90;
/// Batches that are fuller than this may have left before their linger was over.
const LINGERING_FILL: f64 = 0.5;

/// The flows, if all of them had a rate and kept it.
pub(super) fn all_done(facts: &Facts<'_>) -> Option<LimitFact> {
    let trial = facts.trial;
    if trial.generator.word == GeneratorState::Limited {
        return None;
    }
    let mut flows = Vec::new();
    for flow in &trial.flows {
        if flow.kind == FlowKind::Consume {
            // Whoever reads what others write does what they do, unless it falls behind.
            let batching = flow.batching.as_ref()?;
            let waits = batching.empty_part.is_some_and(|part| part > 0.0);
            if !waits && grows(facts, flow) != Some(false) {
                return None;
            }
            continue;
        }
        if !has_kept_up(facts, flow) {
            return None;
        }
        flows.push(KeptRate {
            flow: flow.name.clone(),
            acked: flow.records.acked,
            scheduled: flow.records.scheduled,
        });
    }
    let is_late = trial.generator.blame != LatenessCause::None;
    (!flows.is_empty()).then_some(LimitFact::AllDone { flows, is_late })
}

/// Whether a flow that sends had a rate and kept it: what was due in the hold was acked, as much was acked while it
/// lasted, and whoever reads it back had it.
fn has_kept_up(facts: &Facts<'_>, flow: &FlowSummary) -> bool {
    // Of a flow that never got a record away nothing was due, as far as anybody counted.
    if flow.closed_loop || flow.records.scheduled == 0 || !is_done(facts, flow) {
        return false;
    }
    let required = flow.records.scheduled as f64 * DONE_PART;
    // What piles up in a buffer is acked too, later.
    let holds = facts.measured.holds(flow.index);
    let in_hold: u64 = holds.iter().map(|one| one.slice.counts.records_acked).sum();
    let lost = flow
        .mirror
        .as_ref()
        .is_some_and(|mirror| mirror.missing > 0);
    let is_read = flow.kind != FlowKind::Echo || flow.records.echoed as f64 >= required;
    in_hold as f64 >= required && is_read && !lost
}

/// Whether a flow's lag kept growing in most of the repeats with a known trend.
fn grows(facts: &Facts<'_>, flow: &FlowSummary) -> Option<bool> {
    let (mut grew, mut known) = (0, 0);
    for hold in &facts.holds {
        let mut repeats = facts.measured.repeats.iter();
        let Some(repeat) = repeats.find(|repeat| repeat.key == hold.key) else {
            continue;
        };
        let series = client_series_of(facts.run, repeat).into_iter();
        let of_flow = series.filter(|one| one.flow == flow.index);
        let within = hold.start_ns..hold.end_ns;
        let lag: Vec<(u64, u64)> = of_flow
            .flat_map(|one| one.seconds)
            .filter(|second| within.contains(&second.start_ns))
            .filter_map(|second| Some((second.start_ns, second.figures.lag_records? as u64)))
            .collect();
        // More than all that was read in a quarter of a second: less is always in flight.
        let throughput = flow.throughput.as_ref();
        let read_per_s = throughput.map_or(0.0, |throughput| throughput.records_per_s.mean);
        if let Some(grows) = lag_grows(&lag, read_per_s / 4.0) {
            known += 1;
            grew += u32::from(grows);
        }
    }
    (known > 0).then_some(2 * grew > known)
}

/// Consumers that read less than others wrote. They limit nobody who writes as fast as can be.
pub(super) fn consumers(facts: &Facts<'_>, findings: &mut Findings) {
    let flows = &facts.trial.flows;
    let mut writes = flows.iter().filter(|flow| flow.kind != FlowKind::Consume);
    if writes.clone().count() == 0 {
        return;
    }
    let all_kept_up = writes.all(|flow| has_kept_up(facts, flow));
    for flow in flows.iter().filter(|flow| flow.kind == FlowKind::Consume) {
        let (Some(behind), Some(grows)) = (
            flow.batching.as_ref().and_then(|one| one.behind),
            grows(facts, flow),
        ) else {
            continue;
        };
        let lag = LimitFact::ConsumerLag {
            flow: flow.name.clone(),
            records_mean: behind.records_mean,
            records_max: behind.records_max,
            grows,
        };
        let weight = Weight::of(grows && all_kept_up, grows);
        findings.note(Bottleneck::Consumer, weight, lag);
    }
}

pub(super) fn quota(facts: &Facts<'_>, findings: &mut Findings) {
    for flow in &facts.trial.flows {
        let Some(throttling) = &flow.throttling else {
            continue;
        };
        let holds = facts.measured.holds(flow.index);
        let hold_ns: f64 = holds.iter().map(|hold| hold.length_ns as f64).sum();
        let paused_ns: u64 = holds.iter().map(|hold| hold.slice.counts.throttle_ns).sum();
        let members = f64::from(flow.members.unwrap_or(1).max(1));
        // A connection to each broker, each with pauses of its own.
        let part = paused_ns as f64 / (hold_ns * members * facts.broker_count()).max(1.0);
        let pauses = LimitFact::Pauses {
            flow: flow.name.clone(),
            count: throttling.count,
            time_part: part.min(1.0),
        };
        let weight = Weight::of(part >= PAUSED_PART, part > PAUSED_PART_NEAR);
        findings.note(Bottleneck::Quota, weight, pauses);
    }
}

/// The flows that send as much as they can: closed loops, and those that do not keep their rate.
fn at_full_speed<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a FlowSummary> {
    let flows = facts.trial.flows.iter();
    let sends = |flow: &&FlowSummary| matches!(flow.kind, FlowKind::Produce | FlowKind::Echo);
    flows.filter(move |flow| sends(flow) && (flow.closed_loop || !is_done(facts, flow)))
}

/// Whoever made records late of a rate that was not kept, though there was room for them.
pub(super) fn late(facts: &Facts<'_>, findings: &mut Findings) {
    let generator = &facts.trial.generator;
    let word = match generator.blame {
        LatenessCause::OtherPrograms { .. } => Bottleneck::OtherPrograms,
        LatenessCause::Hypervisor { .. } => Bottleneck::Hypervisor,
        LatenessCause::SharedProcessors => Bottleneck::Processors,
        LatenessCause::Generator { .. } => Bottleneck::Generator,
        LatenessCause::None
        | LatenessCause::Target { .. }
        | LatenessCause::Fault
        | LatenessCause::Unknown => return,
    };
    if not_kept(facts).all(|flow| flow.closed_loop) {
        return;
    }
    findings.note(word, Weight::Strong, LimitFact::Generator);
}

/// The flows with a rate that did not keep it, though the generator did all that it had room for.
pub(super) fn slow_answers(facts: &Facts<'_>) -> Option<LimitFact> {
    if facts.trial.generator.word != GeneratorState::Fine {
        return None;
    }
    let flows = not_kept(facts).filter(|flow| !flow.closed_loop);
    let flows: Vec<MissedRate> = flows
        .map(|flow| MissedRate {
            flow: flow.name.clone(),
            acked: flow.records.acked,
            scheduled: flow.records.scheduled,
            waiting_part: flow
                .lateness
                .map_or(0.0, |lateness| lateness.waiting_time_part),
            round_trip_ns_mean: flow
                .latencies
                .get(TimeKind::RoundTrip)
                .map(|times| times.mean_ns),
        })
        .collect();
    (!flows.is_empty()).then_some(LimitFact::SlowAnswers { flows })
}

/// Flows that send and have not kept up with their rate, or have none.
fn not_kept<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a FlowSummary> {
    let flows = facts.trial.flows.iter();
    let sends = |flow: &&FlowSummary| matches!(flow.kind, FlowKind::Produce | FlowKind::Echo);
    flows.filter(move |flow| sends(flow) && !has_kept_up(facts, flow))
}

/// The first flow that did nothing in the hold although there was something to do: the bottleneck is then unknown.
pub(super) fn without_work<'a>(facts: &'a Facts<'_>) -> Option<&'a FlowSummary> {
    let flows = &facts.trial.flows;
    let are_written = flows.iter().any(|flow| flow.records_all_stages.acked > 0);
    flows.iter().find(|flow| {
        let throughput = flow.throughput.as_ref();
        let is_idle = throughput.is_some_and(|found| found.records_per_s.max == 0.0);
        let has_work = match flow.kind {
            FlowKind::Produce | FlowKind::Echo => true,
            FlowKind::Consume => are_written,
            FlowKind::Unknown => false,
        };
        is_idle && has_work
    })
}

/// Whether a flow with a rate kept it.
fn is_done(facts: &Facts<'_>, flow: &FlowSummary) -> bool {
    let records = &flow.records;
    // While a run goes on, what is not answered yet is not lost.
    let awaited = match facts.run.status == RunStatus::Running {
        true => records.unresolved.max(0) as f64,
        false => 0.0,
    };
    let done = (records.acked as f64 + awaited) / records.scheduled.max(1) as f64;
    done >= DONE_PART && records.skipped == 0
}

/// Requests so small that their number limits throughput.
pub(super) fn requests(facts: &Facts<'_>, findings: &mut Findings) {
    for flow in at_full_speed(facts) {
        let Some(batching) = &flow.batching else {
            continue;
        };
        let records = batching.records_per_request;
        if records >= RECORDS_PER_REQUEST_NEAR {
            continue;
        }
        // Records of megabytes fill a request alone.
        let is_small = batching.wire_bytes_per_request < 16_384.0;
        let requests = LimitFact::SmallRequests {
            flow: flow.name.clone(),
            records_per_request: records,
            requests_per_s: batching.requests_per_s.mean,
            bytes_per_request: batching.wire_bytes_per_request,
        };
        let weight = Weight::of(is_small && records < RECORDS_PER_REQUEST, is_small);
        findings.note(Bottleneck::Batching, weight, requests);
    }
}

/// Producers that wait for their own memory, though brokers and machine have time.
pub(super) fn buffers(facts: &Facts<'_>, findings: &mut Findings) {
    for flow in at_full_speed(facts) {
        let clients = facts.clients(flow.index);
        let buffer = mean(clients.iter().filter_map(|one| one.buffer_part));
        let in_flight = mean(clients.iter().filter_map(|one| one.in_flight_part));
        let (Some(buffer), Some(in_flight)) = (buffer, in_flight) else {
            continue;
        };
        let used = LimitFact::BufferUse {
            flow: flow.name.clone(),
            buffer_part: buffer,
            in_flight_part: in_flight,
        };
        let is_full = buffer >= BUFFER_PART && in_flight < IN_FLIGHT_PART;
        let is_at_ease = facts.is_at_ease();
        let is_near = is_full || is_at_ease && in_flight >= IN_FLIGHT_PART_FULL;
        let weight = Weight::of(is_full && is_at_ease, is_near);
        findings.note(Bottleneck::Buffer, weight, used);
    }
}

/// A flow at a rate whose times are mostly its own waiting for company: linger.ms limits no rate, since
/// a producer that runs out of memory sends what it has.
pub(super) fn linger(facts: &Facts<'_>, findings: &mut Findings) {
    for flow in facts.trial.flows.iter().filter(|flow| !flow.closed_loop) {
        let service = flow.latencies.get(TimeKind::Service);
        let median = service.and_then(|service| service.percentile(Quantile::P50));
        let (Some(plan), Some(median)) = (facts.produces(flow.index), median) else {
            continue;
        };
        let (linger_ns, median_ns) = (plan.settings.linger_ns, median.value_ns);
        let clients = facts.clients(flow.index);
        let fill = mean(clients.iter().filter_map(|one| one.figures.batch_fill_part));
        let is_near = 3 * median_ns >= linger_ns && 2 * median_ns <= 3 * linger_ns;
        if linger_ns == 0 || !is_near || fill.is_none_or(|fill| fill >= LINGERING_FILL) {
            continue;
        }
        findings.evidence.push(LimitFact::Lingering {
            flow: flow.name.clone(),
            service_ns_p50: median_ns,
            linger_ns,
        });
    }
}
