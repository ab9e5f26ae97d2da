//! The brokers as suspects, by what they tell of themselves: their threads, their flushes, their followers, and whether
//! one of them has all the work.
//!
//! The names are those of Kafka's own metrics: a request's time is RequestQueueTimeMs + LocalTimeMs + RemoteTimeMs +
//! ResponseQueueTimeMs + ResponseSendTimeMs; handlers should be idle for 0.3 of the time or more
//! (RequestHandlerAvgIdlePercent).

use super::facts::Facts;
use super::machine::held_brokers;
use super::{Findings, Weight};
use crate::series::BrokerPoint;
use crate::summary::{Bottleneck, BrokerThreads, FlowSummary, LimitFact, RequestTimes};
use kgauge_results::metrics::{Means, MetricId, RequestKind};
use kgauge_results::run::Replication;

/// Threads with less to spare than this have nothing to spare.
const IDLE_PART: f64 = 0.10;
/// Kafka's documentation wants more than this.
const IDLE_PART_NEAR: f64 = 0.30;
/// Threads of a broker that has next to nothing to do.
const IDLE_PART_EASY: f64 = 0.60;
/// Flushes that take this share of one thread's time are a bottleneck.
const FLUSHING_PART: f64 = 0.50;
/// From here up they are suspects.
const FLUSHING_PART_NEAR: f64 = 0.20;
/// A part of a request's time that is the most of it.
const MOST: f64 = 0.50;
const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;

/// The requests of one kind at a broker.
#[derive(Clone, Copy)]
struct Requests<'a> {
    kind: RequestKind,
    means: &'a Means,
}

impl<'a> Requests<'a> {
    fn of(broker: &'a BrokerPoint, kind: RequestKind) -> Option<Requests<'a>> {
        let means = broker.requests.get(&kind)?;
        Some(Requests { kind, means })
    }

    fn per_s(self) -> f64 {
        let per_s = self.means.get(&MetricId::RequestCount);
        per_s.copied().unwrap_or_default()
    }

    /// A part of their time, the mean.
    fn ms(self, part: MetricId) -> Option<f64> {
        Some(self.means.get(&part)? / NS_PER_MS)
    }
}

/// Request handlers and network threads of the broker that has least to spare.
pub(super) fn threads(facts: &Facts<'_>, findings: &mut Findings) {
    let kinds = [
        (
            Bottleneck::RequestHandlers,
            BrokerThreads::RequestHandlers,
            MetricId::HandlerIdle,
        ),
        (
            Bottleneck::NetworkThreads,
            BrokerThreads::Network,
            MetricId::NetworkIdle,
        ),
    ];
    for (word, threads, idle) in kinds {
        let brokers = facts.brokers.iter();
        let known = brokers.filter_map(|(id, one)| Some((*id, one, one.get(idle)?)));
        let Some((id, broker, idle)) = known.min_by(|a, b| a.2.total_cmp(&b.2)) else {
            continue;
        };
        let listener = match threads {
            BrokerThreads::Network => broker.busiest_listener().map(str::to_owned),
            BrokerThreads::RequestHandlers | BrokerThreads::Single => None,
        };
        let fact = LimitFact::Threads {
            broker: id,
            threads: match facts.are_embedded {
                true => BrokerThreads::Single,
                false => threads,
            },
            listener,
            idle_part: idle,
            request: times(broker),
        };
        let is_near = idle <= IDLE_PART_NEAR;
        let is_strong = idle <= IDLE_PART || is_near && is_theirs(word, broker);
        findings.note(word, Weight::of(is_strong, is_near), fact);
    }
}

/// Whether most of the time of a broker's busiest requests is spent with these threads, or in waiting for them.
fn is_theirs(word: Bottleneck, broker: &BrokerPoint) -> bool {
    let Some(request) = busiest(broker) else {
        return false;
    };
    let parts = match word {
        Bottleneck::RequestHandlers => [
            request.ms(MetricId::RequestQueueTime),
            request.ms(MetricId::RequestLocal),
        ],
        _ => [
            request.ms(MetricId::ResponseQueueTime),
            request.ms(MetricId::ResponseSend),
        ],
    };
    let sum: f64 = parts.into_iter().flatten().sum();
    let total = request
        .ms(MetricId::RequestTotal)
        .map(|total| total - waits_ms(request));
    total.is_some_and(|total| total > 0.0 && sum / total >= MOST)
}

/// The requests that take most of a broker's time.
fn busiest(broker: &BrokerPoint) -> Option<Requests<'_>> {
    let kinds = [RequestKind::Produce, RequestKind::FetchConsumer];
    let known = kinds.into_iter().filter_map(|kind| {
        let request = Requests::of(broker, kind)?;
        let time_ms = request.ms(MetricId::RequestTotal)? - waits_ms(request);
        Some((request, request.per_s() * time_ms))
    });
    let busiest = known.max_by(|a, b| a.1.total_cmp(&b.1));
    busiest.map(|(request, _)| request)
}

/// What a fetch waits for is records: no fault, and no work.
fn waits_ms(request: Requests<'_>) -> f64 {
    match request.kind {
        RequestKind::FetchConsumer => request.ms(MetricId::RequestRemote).unwrap_or_default(),
        _ => 0.0,
    }
}

/// Where the time of a broker's produce requests went, or of its fetches.
fn times(broker: &BrokerPoint) -> Option<RequestTimes> {
    let request = busiest(broker)?;
    Some(RequestTimes {
        kind: request.kind,
        total_ms: request.ms(MetricId::RequestTotal)?,
        request_queue_ms: request.ms(MetricId::RequestQueueTime),
        local_ms: request.ms(MetricId::RequestLocal),
        remote_ms: request.ms(MetricId::RequestRemote),
        response_queue_ms: request.ms(MetricId::ResponseQueueTime),
        response_send_ms: request.ms(MetricId::ResponseSend),
    })
}

/// Brokers that spend most of their time on flushing.
pub(super) fn flushes(facts: &Facts<'_>, findings: &mut Findings) {
    let flushing = |one: &BrokerPoint| {
        Some(one.get(MetricId::Flushes)? * one.get(MetricId::FlushTime)? / NS_PER_S)
    };
    let brokers = facts.brokers.iter();
    let known = brokers.filter_map(|(id, one)| Some((*id, one, flushing(one)?)));
    let Some((id, broker, part)) = known.max_by(|a, b| a.2.total_cmp(&b.2)) else {
        return;
    };
    if part < FLUSHING_PART_NEAR {
        return;
    }
    let flushes = LimitFact::Flushes {
        broker: id,
        per_s: broker.get(MetricId::Flushes).unwrap_or_default(),
        mean_ms: broker.get(MetricId::FlushTime).unwrap_or_default() / NS_PER_MS,
        time_part: part,
    };
    // Rolled segments are flushed beside the requests: what these wait for is in their own time.
    let is_local = Requests::of(broker, RequestKind::Produce).is_some_and(|one| {
        let in_requests = one.per_s() * one.ms(MetricId::RequestLocal).unwrap_or_default() / 1e3;
        let is_theirs = match facts.are_embedded {
            // Its one thread flushes: before and behind that requests and their answers wait for it.
            true => is_most(one, of_thread_ms(one)),
            false => {
                is_most(one, one.ms(MetricId::RequestLocal))
                    || is_most(one, one.ms(MetricId::RequestQueueTime))
            }
        };
        is_theirs && in_requests >= MOST * part
    });
    let weight = Weight::of(part >= FLUSHING_PART && is_local, true);
    findings.note(Bottleneck::Disk, weight, flushes);
}

/// A request's time in the hands of a node's one thread, and in waiting for it.
fn of_thread_ms(request: Requests<'_>) -> Option<f64> {
    let waits_ms =
        request.ms(MetricId::RequestQueueTime)? + request.ms(MetricId::ResponseQueueTime)?;
    Some(request.ms(MetricId::RequestLocal)? + waits_ms)
}

/// Whether a part of a request's time is the most of it.
fn is_most(request: Requests<'_>, part: Option<f64>) -> bool {
    let share = part.zip(request.ms(MetricId::RequestTotal));
    share.is_some_and(|(part, total)| total > 0.0 && part / total >= MOST)
}

/// Waiting for followers.
pub(super) fn followers(facts: &Facts<'_>, findings: &mut Findings) {
    let trial = facts.trial;
    let replicas = trial.topic.map_or(1, |topic| topic.replication_factor);
    let waits = |flow: &&FlowSummary| flow.ack.as_ref().is_some_and(|ack| ack.acks == "all");
    let behind = facts.measured.repeats.iter().any(|repeat| {
        let record = repeat.record.as_ref();
        matches!(
            record.and_then(|one| one.replication),
            Some(Replication::Behind { .. })
        )
    });
    let grew = facts
        .holds
        .iter()
        .filter_map(|hold| hold.wire.as_ref()?.lag_grows)
        .any(|grows| grows);
    let flow = trial.flows.iter().find(waits).filter(|_| replicas > 1);
    if behind || grew {
        // Nobody waits for them with other acks.
        let weight = Weight::of(false, flow.is_some());
        let behind = LimitFact::FollowersBehind { grew };
        findings.note(Bottleneck::Replication, weight, behind);
    }
    let Some(flow) = flow else { return };
    let produce = facts
        .brokers
        .values()
        .filter_map(|one| Requests::of(one, RequestKind::Produce));
    let times = produce.filter_map(|one| {
        Some((
            one.per_s() * one.ms(MetricId::RequestRemote)?,
            one.per_s() * one.ms(MetricId::RequestTotal)?,
        ))
    });
    let (remote, total) = times.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    let part = (total > 0.0).then(|| remote / total);
    let waits = LimitFact::AckWaits {
        flow: flow.name.clone(),
        replicas,
        time_part: part,
    };
    let is_most = part.is_some_and(|part| part >= MOST);
    let weight = Weight::of(
        is_most && facts.is_at_ease(),
        part.is_none() && flow.closed_loop || is_most,
    );
    findings.note(Bottleneck::Replication, weight, waits);
}

/// How much a broker that leads too much is the limit: where it has nothing to spare, and others have.
pub(super) fn skew(facts: &Facts<'_>, findings: &Findings) -> Weight {
    let spare = |one: &BrokerPoint| {
        let idle = [
            one.get(MetricId::HandlerIdle),
            one.get(MetricId::NetworkIdle),
        ];
        idle.into_iter().flatten().min_by(f64::total_cmp)
    };
    let shares = facts.trial.broker_shares.iter();
    let hot = shares
        .filter_map(|one| one.brokers.first())
        .map(|one| one.broker);
    let mut hot: Vec<i32> = hot.collect();
    hot.dedup();
    let [hot] = hot.as_slice() else {
        return Weight::Weak;
    };
    let held = held_brokers(facts);
    let others_rest = facts.brokers.iter().any(|(id, one)| {
        id != hot && spare(one).is_some_and(|idle| idle >= IDLE_PART_EASY) && !held.contains(id)
    });
    let has_none = facts.brokers.get(hot).and_then(spare);
    let is_hot = held.contains(hot) || has_none.is_some_and(|idle| idle <= IDLE_PART);
    let shared = findings.is_strong(Bottleneck::Processors);
    Weight::of(is_hot && others_rest && !shared, true)
}
