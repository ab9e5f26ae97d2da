//! Brokers' own metrics over time, and their means over any span.

use serde::Serialize;

use super::samples_by_thing::{SamplesByThing, Span};
use kgauge_results::run::{
    BrokerSample, Evidence, EvidenceKind, JvmSample, MetricsSource, RequestKind, RequestSample,
    Subject,
};

mod mean;

pub(crate) use mean::network_over;

/// One broker during one repeat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrokerSeries {
    /// Its id; `None` where that could not be found out.
    pub broker: Option<i32>,
    /// Who told.
    pub source: MetricsSource,
    /// What it did between two looks, ascending. Over a restart there is no point.
    pub points: Vec<BrokerPoint>,
}

/// A broker between two looks: rates and means of the span, gauges of its end. `None` is what the broker does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BrokerPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Requests of each kind that the broker tells of.
    pub requests: Vec<RequestPoint>,
    /// The part of the time in which request handlers had nothing to do, 0 to 1.
    pub handler_idle: Option<f64>,
    /// The part of the time in which network threads had nothing to do, 0 to 1: those of the listener that had least of
    /// it.
    pub network_idle: Option<f64>,
    /// The same of each listener, where the broker tells them apart.
    pub listeners: Vec<ListenerPoint>,
    /// Requests that wait for a handler.
    pub request_queue: Option<f64>,
    /// Responses that wait for a network thread.
    pub response_queue: Option<f64>,
    /// Produce requests that wait for followers.
    pub produce_purgatory: Option<f64>,
    /// Fetches that wait for records.
    pub fetch_purgatory: Option<f64>,
    /// Bytes that producers brought.
    pub bytes_in_per_s: Option<f64>,
    /// Bytes that consumers were given.
    pub bytes_out_per_s: Option<f64>,
    /// Bytes that it fetched as a follower.
    pub replication_bytes_in_per_s: Option<f64>,
    /// Bytes that followers were given.
    pub replication_bytes_out_per_s: Option<f64>,
    /// Records that producers brought.
    pub messages_in_per_s: Option<f64>,
    /// Produce requests that failed, each partition by itself.
    pub failed_produce_per_s: Option<f64>,
    /// Fetches that failed, each partition by itself.
    pub failed_fetch_per_s: Option<f64>,
    /// Batches that were converted to another message format, written and fetched ones together.
    pub conversions_per_s: Option<f64>,
    /// Partitions that it leads.
    pub leaders: Option<f64>,
    /// Partitions of which it has a replica.
    pub partitions: Option<f64>,
    /// Of those that it leads, how many have fewer replicas in sync than they should.
    pub under_replicated: Option<f64>,
    /// Of those that it leads, how many have fewer in sync than min.insync.replicas.
    pub under_min_isr: Option<f64>,
    /// Partitions of the cluster without a leader, from the controller.
    pub offline_partitions: Option<f64>,
    /// Replicas that fell out of sync.
    pub isr_shrinks_per_s: Option<f64>,
    /// Replicas that came back.
    pub isr_expands_per_s: Option<f64>,
    /// Leaders elected although they were not in sync, from the controller.
    pub unclean_elections_per_s: Option<f64>,
    /// The most records by which one of its followers is behind.
    pub max_lag: Option<f64>,
    /// Flushes (fsync).
    pub flushes_per_s: Option<f64>,
    /// Their mean time; `None` too where there was none.
    pub flush_mean_ms: Option<f64>,
    /// Heap in use.
    pub heap_bytes: Option<f64>,
    /// Collections.
    pub collections_per_s: Option<f64>,
    /// The part of the time in which a collector worked.
    pub collection_share: Option<f64>,
}

/// The network threads of a listener.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListenerPoint {
    /// Its name.
    pub listener: String,
    /// The part of the time in which they had nothing to do, 0 to 1.
    pub idle: f64,
}

/// Requests of one kind that were answered in a span. Means are `None` where there were none, or where the source has
/// no sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RequestPoint {
    /// Which kind.
    pub kind: RequestKind,
    /// How many a second.
    pub per_s: f64,
    /// Mean time, from the request's last byte to the response's.
    pub total_ms: Option<f64>,
    /// Of it, waiting for a request handler.
    pub request_queue_ms: Option<f64>,
    /// In the hands of a request handler.
    pub local_ms: Option<f64>,
    /// Waiting for followers, or for new records.
    pub remote_ms: Option<f64>,
    /// Held back by a quota.
    pub throttle_ms: Option<f64>,
    /// Waiting for a network thread.
    pub response_queue_ms: Option<f64>,
    /// Being sent.
    pub response_send_ms: Option<f64>,
    /// Memory taken to convert or decompress records.
    pub temporary_memory_bytes_per_s: Option<f64>,
}

impl BrokerPoint {
    /// Requests of one kind.
    pub fn requests_of(&self, kind: RequestKind) -> Option<&RequestPoint> {
        self.requests.iter().find(|one| one.kind == kind)
    }

    /// The listener whose network threads had least to spare; `None` where the broker has one only, or does not tell.
    pub fn busiest_listener(&self) -> Option<&str> {
        let busiest = least_idle(&self.listeners)?;
        (self.listeners.len() > 1).then_some(busiest.listener.as_str())
    }
}

/// Whoever is busy on one listener is not helped by threads that rest at another.
fn least_idle(listeners: &[ListenerPoint]) -> Option<&ListenerPoint> {
    listeners.iter().min_by(|a, b| a.idle.total_cmp(&b.idle))
}

/// The brokers during a repeat, from that repeat's evidence, by id.
pub(super) fn series_of(evidence: &[&Evidence]) -> Vec<BrokerSeries> {
    let mut looks = SamplesByThing::new();
    for seen in evidence {
        if let (EvidenceKind::Broker(look), Subject::Target { broker }, Some(at_ns)) =
            (&seen.kind, &seen.subject, seen.at_ns)
        {
            looks.add((*broker, look.source), at_ns, look.as_ref());
        }
    }
    let series = looks.between(between);
    let series = series.map(|((broker, source), points)| BrokerSeries {
        broker,
        source,
        points,
    });
    series.collect()
}

/// The process was started again in between, so its counters began anew.
fn is_restart(one: &BrokerSample, next: &BrokerSample) -> bool {
    let began = one.started_unix_ms.zip(next.started_unix_ms);
    // A clock that is set moves what a process says of its start; a restart takes longer than that.
    let is_another = began.is_some_and(|(one, next)| one.abs_diff(next) > 1_000);
    let went_back = next.requests.iter().any(|next| {
        let before = one.requests.iter().find(|one| one.kind == next.kind);
        before.is_some_and(|one| next.count < one.count)
    });
    is_another || went_back
}

fn between(span: Span, one: &&BrokerSample, next: &&BrokerSample) -> Option<BrokerPoint> {
    if is_restart(one, next) {
        return None;
    }
    let per_s = |one: Option<u64>, next: Option<u64>| span.per_s(one?, next?);
    let threads = &next.threads;
    let (traffic, went) = (&next.traffic, &one.traffic);
    let (replicas, stood) = (&next.replicas, &one.replicas);
    let requests = next.requests.iter().filter_map(|next| {
        let before = one.requests.iter().find(|one| one.kind == next.kind)?;
        requests_between(span, before, next)
    });
    let conversions = [
        per_s(went.produce_conversions, traffic.produce_conversions),
        per_s(went.fetch_conversions, traffic.fetch_conversions),
    ];
    let (were_jvm, jvm) = (one.jvm.unwrap_or_default(), next.jvm.unwrap_or_default());
    let listeners = listeners(span, one, next);
    Some(BrokerPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        requests: requests.collect(),
        handler_idle: handler_idle(span, one, next),
        network_idle: least_idle(&listeners)
            .map(|listener| listener.idle)
            .or_else(|| network_idle(span, one, next)),
        listeners,
        request_queue: gauge(threads.request_queue),
        response_queue: gauge(threads.response_queue),
        produce_purgatory: gauge(threads.produce_purgatory),
        fetch_purgatory: gauge(threads.fetch_purgatory),
        bytes_in_per_s: per_s(went.bytes_in, traffic.bytes_in),
        bytes_out_per_s: per_s(went.bytes_out, traffic.bytes_out),
        replication_bytes_in_per_s: per_s(went.replication_bytes_in, traffic.replication_bytes_in),
        replication_bytes_out_per_s: per_s(
            went.replication_bytes_out,
            traffic.replication_bytes_out,
        ),
        messages_in_per_s: per_s(went.messages_in, traffic.messages_in),
        failed_produce_per_s: per_s(went.failed_produce, traffic.failed_produce),
        failed_fetch_per_s: per_s(went.failed_fetch, traffic.failed_fetch),
        conversions_per_s: conversions
            .into_iter()
            .flatten()
            .reduce(|one, next| one + next),
        leaders: gauge(replicas.leaders),
        partitions: gauge(replicas.partitions),
        under_replicated: gauge(replicas.under_replicated),
        under_min_isr: gauge(replicas.under_min_isr),
        offline_partitions: gauge(replicas.offline_partitions),
        isr_shrinks_per_s: per_s(stood.isr_shrinks, replicas.isr_shrinks),
        isr_expands_per_s: per_s(stood.isr_expands, replicas.isr_expands),
        unclean_elections_per_s: per_s(stood.unclean_elections, replicas.unclean_elections),
        max_lag: gauge(replicas.max_lag),
        flushes_per_s: per_s(one.log.flushes, next.log.flushes),
        flush_mean_ms: flush_mean_ms(one, next),
        heap_bytes: gauge(jvm.heap_bytes),
        collections_per_s: per_s(were_jvm.collections, jvm.collections),
        collection_share: collection_share(span, were_jvm, jvm),
    })
}

fn gauge(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

/// A share of the time. What was counted when a wait ended may have begun before the span, so it may seem longer than
/// that.
fn share(span: Span, one: Option<u64>, next: Option<u64>) -> Option<f64> {
    Some(span.share(one?, next?)?.clamp(0.0, 1.0))
}

fn handler_idle(span: Span, one: &BrokerSample, next: &BrokerSample) -> Option<f64> {
    let (one, next) = (&one.threads, &next.threads);
    let all = span.share(one.handler_idle_ns?, next.handler_idle_ns?)?;
    // The handlers of a controller have nearly nothing to do: what is left is at most too small by what they did.
    let others = next.handler_pools.unwrap_or(1).saturating_sub(1);
    Some((all - f64::from(others)).clamp(0.0, 1.0))
}

/// Each listener that is in both looks with as many threads: with more or fewer the mean is one of others.
fn listeners(span: Span, one: &BrokerSample, next: &BrokerSample) -> Vec<ListenerPoint> {
    let each = next.listeners.iter().filter_map(|next| {
        let mut before = one.listeners.iter();
        let one =
            before.find(|one| (&one.listener, one.threads) == (&next.listener, next.threads))?;
        Some(ListenerPoint {
            listener: next.listener.clone(),
            idle: share(span, Some(one.idle_ns), Some(next.idle_ns))?,
        })
    });
    each.collect()
}

fn network_idle(span: Span, one: &BrokerSample, next: &BrokerSample) -> Option<f64> {
    let (one, next) = (&one.threads, &next.threads);
    let told = || Some(f64::from(next.network_idle_ppm?) / 1e6);
    share(span, one.network_idle_ns, next.network_idle_ns).or_else(told)
}

fn collection_share(span: Span, one: JvmSample, next: JvmSample) -> Option<f64> {
    share(span, one.collection_ns, next.collection_ns)
}

fn flush_mean_ms(one: &BrokerSample, next: &BrokerSample) -> Option<f64> {
    let flushes = next.log.flushes?.checked_sub(one.log.flushes?)?;
    mean_ms(flushes, one.log.flush_ns, next.log.flush_ns)
}

/// The mean of what was added, in milliseconds. Count and sum are not read in the same instant, so a sum may seem to go
/// back a little: then nothing was added.
fn mean_ms(count: u64, one: Option<u64>, next: Option<u64>) -> Option<f64> {
    let added = next?.saturating_sub(one?);
    (count > 0).then(|| added as f64 / count as f64 / 1e6)
}

fn requests_between(span: Span, one: &RequestSample, next: &RequestSample) -> Option<RequestPoint> {
    let count = next.count.checked_sub(one.count)?;
    let mean = |one: Option<u64>, next: Option<u64>| mean_ms(count, one, next);
    let memory = one.temporary_memory_bytes.zip(next.temporary_memory_bytes);
    Some(RequestPoint {
        kind: next.kind,
        per_s: span.per_s(one.count, next.count)?,
        total_ms: mean(one.total_ns, next.total_ns),
        request_queue_ms: mean(one.request_queue_ns, next.request_queue_ns),
        local_ms: mean(one.local_ns, next.local_ns),
        remote_ms: mean(one.remote_ns, next.remote_ns),
        throttle_ms: mean(one.throttle_ns, next.throttle_ns),
        response_queue_ms: mean(one.response_queue_ns, next.response_queue_ns),
        response_send_ms: mean(one.response_send_ns, next.response_send_ns),
        temporary_memory_bytes_per_s: memory.and_then(|(one, next)| span.per_s(one, next)),
    })
}

#[cfg(test)]
mod tests;
