//! kgauge's own clients over time: batches, requests, buffers, pauses. What slices count is made from slices; the rest
//! from evidence.

use std::collections::BTreeMap;

use super::mean::{SpanMean, mean_within};
use super::samples_by_thing::{SamplesByThing, Span};
use crate::summary::ClientWait;
use kgauge_results::folder::{FlowRead, RepeatRead, RunRead, TimesRead};
use kgauge_results::run::{ClientSample, Evidence, EvidenceKind, RepeatKey, Subject};
use kgauge_results::slice::{Counts, TimeKind};
use kgauge_results::stage::{SECOND_NS, Stage};
use kgauge_scenario::FlowPlan;

/// The clients of one flow over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientSeries {
    /// Index in the trial.
    pub flow: u16,
    /// Second by second, ascending, as the flow's slices tell it; seconds in which nothing was counted are left out.
    pub seconds: Vec<ClientSecond>,
    /// The buffers of producers between two samples; only of kgauge's own clients.
    pub held: Vec<HeldPoint>,
}

/// What the clients of a flow did in one second, stages together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientSecond {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// What it comes to.
    pub figures: ClientFigures,
}

/// Figures of a flow's clients over some time. `None` where there is nothing to divide by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientFigures {
    /// Mean size of a batch on the wire as a part of `batch.size`, at most 1. The frames of requests count too: a
    /// hundred bytes or so of each batch.
    pub batch_fill_part: Option<f64>,
    /// Records in a batch.
    pub records_per_batch: Option<f64>,
    /// Records in a produce request.
    pub records_per_request: Option<f64>,
    /// Produce requests that were answered.
    pub requests_per_s: f64,
    /// How often records waited for room in the buffer.
    pub buffer_waits_per_s: f64,
    /// How long such a wait was, in nanoseconds.
    pub buffer_wait_ns_mean: Option<f64>,
    /// Pauses that brokers asked for, as a part of all the clients' time; above 1 where one client was paused on
    /// several connections.
    pub throttle_part: f64,
    /// Records that were sent once more.
    pub retried_per_s: f64,
    /// Records that failed permanently or whose fate is not known, by the second in which they were due.
    pub failed_per_s: f64,
    /// Fetch requests that were answered.
    pub fetches_per_s: f64,
    /// Records in a fetch.
    pub records_per_fetch: Option<f64>,
    /// Records that all consumers together were behind the ends of their partitions.
    pub lag_records: Option<f64>,
}

/// The buffers of a flow's producers between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// What of `buffer.memory` was in use, 0 to 1.
    pub buffer_part: f64,
    /// Requests in flight, as a share of the number that the settings allow on a producer's connections, 0 to 1.
    pub in_flight_part: f64,
    /// Requests in flight per producer.
    pub in_flight_mean: f64,
    /// In which parts of the time records waited for room, and why.
    pub waits: WaitShares,
}

/// For which parts of the time a flow's producers waited for room in their buffers, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitShares {
    /// At all.
    pub any: f64,
    /// Of that, while there was no connection to a broker.
    pub unconnected: f64,
    /// Of that, while a partition had no leader.
    pub leaderless: f64,
    /// Of that, in pauses that brokers asked for.
    pub throttled: f64,
}

impl WaitShares {
    /// The mean of several repeats.
    pub fn mean(repeats: &[WaitShares]) -> WaitShares {
        let mean = |of: fn(&WaitShares) -> f64| {
            repeats.iter().map(of).sum::<f64>() / repeats.len().max(1) as f64
        };
        WaitShares {
            any: mean(|one| one.any),
            unconnected: mean(|one| one.unconnected),
            leaderless: mean(|one| one.leaderless),
            throttled: mean(|one| one.throttled),
        }
    }

    /// What was waited for most of the time; `None` where nothing was.
    pub fn longest(&self) -> Option<ClientWait> {
        let answers = self.any - self.unconnected - self.leaderless - self.throttled;
        let waits = [
            (ClientWait::Response, answers),
            (ClientWait::Connection, self.unconnected),
            (ClientWait::Leader, self.leaderless),
            (ClientWait::Throttle, self.throttled),
        ];
        let known = waits.into_iter().filter(|(_, part)| *part > 0.0);
        let longest = known.max_by(|one, other| one.1.total_cmp(&other.1));
        longest.map(|(wait, _)| wait)
    }
}

/// A flow's clients over the hold stage of one repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientHold {
    /// As over a second; of lag the mean of what was sampled.
    pub figures: ClientFigures,
    /// What of `buffer.memory` was in use, 0 to 1; `None` of other clients than kgauge's, and of consumers.
    pub buffer_part: Option<f64>,
    /// Requests in flight, as a share of the allowed number, 0 to 1.
    pub in_flight_part: Option<f64>,
    /// What its producers waited for; `None` of other clients than kgauge's, and of consumers.
    pub waits: Option<WaitShares>,
}

/// What has to be known of a flow beside what it counted.
#[derive(Clone, Copy, Default)]
struct Plan {
    batch_bytes: Option<u32>,
    members: u32,
}

impl Plan {
    fn of(run: &RunRead, trial: u32, flow: u16) -> Plan {
        let plan = run.plan.as_ref();
        let mut trials = plan.iter().flat_map(|plan| &plan.trials);
        let trial = trials.find(|known| known.index == trial);
        match trial.and_then(|trial| trial.flows.get(usize::from(flow))) {
            Some(FlowPlan::Consume(flow)) => Plan {
                batch_bytes: None,
                members: flow.consumers_all(),
            },
            Some(flow) => {
                let produces = flow.produces();
                Plan {
                    batch_bytes: produces.map(|flow| flow.settings.batch_bytes),
                    members: produces.map_or(1, |flow| flow.producers),
                }
            }
            None => Plan::default(),
        }
    }
}

/// The clients of each flow of a repeat.
pub(super) fn series_of(
    run: &RunRead,
    repeat: &RepeatRead,
    evidence: &[&Evidence],
) -> Vec<ClientSeries> {
    let mut held = held_of(evidence);
    let flows = repeat.flows.iter().map(|(index, flow)| ClientSeries {
        flow: *index,
        seconds: seconds_of(flow, Plan::of(run, repeat.key.trial, *index)),
        held: held.remove(index).unwrap_or_default(),
    });
    flows.collect()
}

/// What a flow's clients did and held in the hold of one repeat; `None` where it has none.
pub fn client_hold(run: &RunRead, key: RepeatKey, flow: u16) -> Option<ClientHold> {
    let repeat = run.repeats.iter().find(|repeat| repeat.key == key)?;
    let read = repeat.flows.get(&flow)?;
    let slice = read.hold()?;
    let planned = repeat.record.as_ref();
    let planned = planned.and_then(|record| record.flows.get(usize::from(flow)));
    let span = planned.and_then(|planned| planned.stage(Stage::Hold));
    let (start_ns, end_ns) = match span {
        Some(span) => (span.start_ns, span.end_ns),
        None => seen(read)?,
    };
    let wait = TimesRead::of(slice.times(TimeKind::BufferWait));
    let figures = Sum::of(&slice.counts, wait.as_ref());
    let plan = Plan::of(run, key.trial, flow);
    let evidence = run.evidence.iter();
    let evidence: Vec<&Evidence> = evidence.filter(|seen| seen.repeat == Some(key)).collect();
    let held = held_of(&evidence).remove(&flow).unwrap_or_default();
    let mean = |value: fn(&HeldPoint) -> f64| {
        let points = held.iter().map(|point| SpanMean {
            start_ns: point.start_ns,
            end_ns: point.end_ns,
            value: value(point),
        });
        mean_within(points, start_ns, end_ns)
    };
    Some(ClientHold {
        figures: figures.figures(plan, end_ns.saturating_sub(start_ns)),
        buffer_part: mean(|point| point.buffer_part),
        in_flight_part: mean(|point| point.in_flight_part),
        waits: mean(|point| point.waits.any).map(|any| WaitShares {
            any,
            unconnected: mean(|point| point.waits.unconnected).unwrap_or_default(),
            leaderless: mean(|point| point.waits.leaderless).unwrap_or_default(),
            throttled: mean(|point| point.waits.throttled).unwrap_or_default(),
        }),
    })
}

/// Used if no record has the borders.
fn seen(flow: &FlowRead) -> Option<(u64, u64)> {
    let mut seconds = flow.seconds.iter();
    let first = seconds.find(|second| second.stage == Stage::Hold)?;
    let last = seconds.rfind(|second| second.stage == Stage::Hold);
    Some((first.start_ns(), last.unwrap_or(first).end_ns()))
}

/// What adds up.
#[derive(Clone, Copy, Default)]
struct Sum {
    counts: Counts,
    waits: u64,
    waits_ns: f64,
}

impl Sum {
    fn of(counts: &Counts, wait: Option<&TimesRead>) -> Sum {
        Sum {
            counts: *counts,
            waits: wait.map_or(0, |wait| wait.count),
            waits_ns: wait.map_or(0.0, |wait| wait.mean_ns * wait.count as f64),
        }
    }

    fn add(&mut self, other: &Sum) {
        self.counts.add(&other.counts);
        self.waits = self.waits.saturating_add(other.waits);
        self.waits_ns += other.waits_ns;
    }

    fn figures(&self, plan: Plan, length_ns: u64) -> ClientFigures {
        let counts = &self.counts;
        let seconds = length_ns.max(1) as f64 / SECOND_NS as f64;
        let per_s = |count: u64| count as f64 / seconds;
        let ratio = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let batch_bytes = ratio(counts.wire_bytes_sent, counts.request_batches);
        let fill = batch_bytes
            .zip(plan.batch_bytes)
            .map(|(bytes, most)| (bytes / f64::from(most.max(1))).min(1.0));
        let clients_ns = length_ns as f64 * f64::from(plan.members.max(1));
        // One sample a second of each consumer: their mean is one consumer's.
        let lag = ratio(counts.lag_records, counts.lag_samples)
            .map(|lag| lag * f64::from(plan.members.max(1)));
        ClientFigures {
            batch_fill_part: fill,
            records_per_batch: ratio(counts.request_records, counts.request_batches),
            records_per_request: ratio(counts.request_records, counts.requests),
            requests_per_s: per_s(counts.requests),
            buffer_waits_per_s: per_s(self.waits),
            buffer_wait_ns_mean: (self.waits > 0).then(|| self.waits_ns / self.waits as f64),
            throttle_part: counts.throttle_ns as f64 / clients_ns.max(1.0),
            retried_per_s: per_s(counts.records_retried),
            failed_per_s: per_s(
                counts
                    .records_failed
                    .saturating_add(counts.records_indeterminate),
            ),
            fetches_per_s: per_s(counts.fetches),
            records_per_fetch: ratio(counts.records_consumed, counts.fetches),
            lag_records: lag,
        }
    }
}

/// Whole seconds: the parts of one that a stage's border cuts are put together again.
fn seconds_of(flow: &FlowRead, plan: Plan) -> Vec<ClientSecond> {
    let mut sums = BTreeMap::<u64, (u64, Sum)>::new();
    for second in &flow.seconds {
        let wait = second.times.get(&TimeKind::BufferWait);
        let (end_ns, sum) = sums.entry(second.start_ns()).or_default();
        *end_ns = second.end_ns().max(*end_ns);
        sum.add(&Sum::of(&second.counts, wait));
    }
    let second = |(start_ns, (end_ns, sum)): (u64, (u64, Sum))| ClientSecond {
        start_ns,
        end_ns,
        figures: sum.figures(plan, end_ns - start_ns),
    };
    sums.into_iter().map(second).collect()
}

fn held_of(evidence: &[&Evidence]) -> BTreeMap<u16, Vec<HeldPoint>> {
    let mut looks = SamplesByThing::new();
    for seen in evidence {
        if let (Some(at_ns), Subject::Flow { flow }, EvidenceKind::Client(look)) =
            (seen.at_ns, &seen.subject, &seen.kind)
        {
            looks.add(*flow, at_ns, look);
        }
    }
    looks.between(held_between).collect()
}

fn held_between(span: Span, one: &&ClientSample, next: &&ClientSample) -> Option<HeldPoint> {
    let looks = next
        .looks
        .checked_sub(one.looks)
        .filter(|looks| *looks > 0)?;
    let rise = |of: fn(&ClientSample) -> u64| of(next).checked_sub(of(one));
    let part = |of: u64, all: u64| match all {
        0 => 0.0,
        all => (of as f64 / all as f64).min(1.0),
    };
    let in_flight = rise(|look| look.requests_in_flight_sum)?;
    Some(HeldPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        buffer_part: part(
            rise(|look| look.buffer_bytes_sum)?,
            rise(|look| look.buffer_bytes_allowed_sum)?,
        ),
        in_flight_part: part(in_flight, rise(|look| look.requests_allowed_sum)?),
        in_flight_mean: in_flight as f64 / looks as f64,
        waits: WaitShares {
            any: part(rise(|look| look.looks_waiting)?, looks),
            unconnected: part(rise(|look| look.looks_unconnected)?, looks),
            leaderless: part(rise(|look| look.looks_leaderless)?, looks),
            throttled: part(rise(|look| look.looks_throttled)?, looks),
        },
    })
}
