//! Means of a broker's points over a span, such as the hold.

use super::{BrokerPoint, BrokerSeries, ListenerPoint, RequestPoint, least_idle};
use kgauge_results::run::RequestKind;

impl BrokerSeries {
    /// The mean of all points that lie wholly in a span; `None` where there is none. Rates, shares and gauges weigh by
    /// their lengths of time, times of requests and flushes by how many there were.
    pub fn mean_over(&self, start_ns: u64, end_ns: u64) -> Option<BrokerPoint> {
        let inside = |point: &&BrokerPoint| point.start_ns >= start_ns && point.end_ns <= end_ns;
        let points: Vec<&BrokerPoint> = self.points.iter().filter(inside).collect();
        let (first, last) = (points.first()?, points.last()?);
        let of = |value: fn(&BrokerPoint) -> Option<f64>| by_time(&points, value);
        let (listeners, network_idle) = network_over(&points);
        Some(BrokerPoint {
            start_ns: first.start_ns,
            end_ns: last.end_ns,
            requests: requests(&points),
            handler_idle: of(|point| point.handler_idle),
            network_idle,
            listeners,
            request_queue: of(|point| point.request_queue),
            response_queue: of(|point| point.response_queue),
            produce_purgatory: of(|point| point.produce_purgatory),
            fetch_purgatory: of(|point| point.fetch_purgatory),
            bytes_in_per_s: of(|point| point.bytes_in_per_s),
            bytes_out_per_s: of(|point| point.bytes_out_per_s),
            replication_bytes_in_per_s: of(|point| point.replication_bytes_in_per_s),
            replication_bytes_out_per_s: of(|point| point.replication_bytes_out_per_s),
            messages_in_per_s: of(|point| point.messages_in_per_s),
            failed_produce_per_s: of(|point| point.failed_produce_per_s),
            failed_fetch_per_s: of(|point| point.failed_fetch_per_s),
            conversions_per_s: of(|point| point.conversions_per_s),
            leaders: of(|point| point.leaders),
            partitions: of(|point| point.partitions),
            under_replicated: of(|point| point.under_replicated),
            under_min_isr: of(|point| point.under_min_isr),
            offline_partitions: of(|point| point.offline_partitions),
            isr_shrinks_per_s: of(|point| point.isr_shrinks_per_s),
            isr_expands_per_s: of(|point| point.isr_expands_per_s),
            unclean_elections_per_s: of(|point| point.unclean_elections_per_s),
            max_lag: of(|point| point.max_lag),
            flushes_per_s: of(|point| point.flushes_per_s),
            flush_mean_ms: flush_mean_ms(&points),
            heap_bytes: of(|point| point.heap_bytes),
            collections_per_s: of(|point| point.collections_per_s),
            collection_share: of(|point| point.collection_share),
        })
    }
}

fn seconds(point: &BrokerPoint) -> f64 {
    point.end_ns.saturating_sub(point.start_ns) as f64 / 1e9
}

/// The mean of pairs of weight and value; `None` without any weight.
fn weighed(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (weights, sum) = pairs.fold((0.0, 0.0), |(weights, sum), (weight, value)| {
        (weights + weight, sum + weight * value)
    });
    (weights > 0.0).then(|| sum / weights)
}

/// Each listener's mean, and the least of them: the mean of leasts would be less where listeners take turns.
pub(crate) fn network_over(points: &[&BrokerPoint]) -> (Vec<ListenerPoint>, Option<f64>) {
    let listeners = listeners(points);
    let least = least_idle(&listeners).map(|listener| listener.idle);
    let network_idle = least.or_else(|| by_time(points, |point| point.network_idle));
    (listeners, network_idle)
}

fn listeners(points: &[&BrokerPoint]) -> Vec<ListenerPoint> {
    let mut names: Vec<&String> = points
        .iter()
        .flat_map(|point| point.listeners.iter().map(|one| &one.listener))
        .collect();
    names.sort_unstable();
    names.dedup();
    let mean = |name: &String| {
        let pairs = points.iter().filter_map(|point| {
            let mut listeners = point.listeners.iter();
            let listener = listeners.find(|one| one.listener == *name)?;
            Some((seconds(point), listener.idle))
        });
        Some(ListenerPoint {
            listener: name.clone(),
            idle: weighed(pairs)?,
        })
    };
    names.into_iter().filter_map(mean).collect()
}

fn by_time(points: &[&BrokerPoint], value: fn(&BrokerPoint) -> Option<f64>) -> Option<f64> {
    let pairs = points.iter();
    weighed(pairs.filter_map(|point| Some((seconds(point), value(point)?))))
}

fn flush_mean_ms(points: &[&BrokerPoint]) -> Option<f64> {
    let pairs = points.iter();
    weighed(pairs.filter_map(|point| {
        let flushes = point.flushes_per_s? * seconds(point);
        Some((flushes, point.flush_mean_ms?))
    }))
}

fn requests(points: &[&BrokerPoint]) -> Vec<RequestPoint> {
    let all = points.iter().flat_map(|point| &point.requests);
    let mut kinds: Vec<RequestKind> = all.map(|one| one.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mean = |kind: RequestKind| {
        let each = points.iter();
        let of_kind: Vec<(f64, &RequestPoint)> = each
            .filter_map(|point| Some((seconds(point), point.requests_of(kind)?)))
            .collect();
        let by_count = |value: fn(&RequestPoint) -> Option<f64>| {
            let pairs = of_kind.iter();
            weighed(pairs.filter_map(|(seconds, one)| Some((one.per_s * seconds, value(one)?))))
        };
        let by_time = |value: fn(&RequestPoint) -> Option<f64>| {
            let pairs = of_kind.iter();
            weighed(pairs.filter_map(|(seconds, one)| Some((*seconds, value(one)?))))
        };
        RequestPoint {
            kind,
            per_s: by_time(|one| Some(one.per_s)).unwrap_or_default(),
            total_ms: by_count(|one| one.total_ms),
            request_queue_ms: by_count(|one| one.request_queue_ms),
            local_ms: by_count(|one| one.local_ms),
            remote_ms: by_count(|one| one.remote_ms),
            throttle_ms: by_count(|one| one.throttle_ms),
            response_queue_ms: by_count(|one| one.response_queue_ms),
            response_send_ms: by_count(|one| one.response_send_ms),
            temporary_memory_bytes_per_s: by_time(|one| one.temporary_memory_bytes_per_s),
        }
    };
    kinds.into_iter().map(mean).collect()
}
