//! Converts attributes of Kafka's MBeans to a sample: the table of metrics names them.

use std::collections::BTreeMap;

use kgauge_results::metrics::{
    JavaSource, MetricGroup, MetricId, MetricOrigin, Readings, RequestKind,
};
use kgauge_results::run::{BrokerSample, MetricsSource};

use super::listeners::{ListenerWaits, whole};

/// Only the active controller has 1.
pub(super) const ACTIVE_CONTROLLER: &str =
    "kafka.controller:type=KafkaController,name=ActiveControllerCount";
/// The broker's own handlers, without those of a controller in the same process.
const OWN_HANDLERS: &str =
    "kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent";

/// A response with attributes of MBeans.
pub(super) trait BeanReader {
    /// The format of the response.
    const SOURCE: MetricsSource;

    /// A meter's or histogram's count.
    fn count(&self, mbean: &str) -> Option<f64>;

    /// A gauge's value.
    fn value(&self, mbean: &str) -> Option<f64>;

    /// The sum of all values of a histogram: its lifetime mean times its count.
    fn sum(&self, mbean: &str) -> Option<f64>;

    /// A metric of the JVM, in the unit of evidence.
    fn java(&self, source: &JavaSource) -> Option<f64>;

    /// The waiting time of the network threads.
    fn network_waits(&self) -> ListenerWaits;

    /// The same for releases with a meter.
    fn network_meter(&self) -> Option<f64>;

    /// Whether the broker is also a controller (KRaft).
    fn is_controller(&self) -> bool;

    /// The start time of the process.
    fn started_unix_ms(&self) -> Option<f64>;
}

/// The sample in a response.
pub(super) fn sample<R: BeanReader>(answer: &R) -> BrokerSample {
    let leads = answer.value(ACTIVE_CONTROLLER) == Some(1.0);
    let read = |group, kind| -> Readings {
        let metrics = MetricId::of(group).filter(|metric| leads || !metric.row().is_controllers);
        let known = metrics.filter_map(|metric| Some((metric, read(answer, metric, kind)?)));
        known.collect()
    };
    let requests = RequestKind::SAMPLED.into_iter().filter_map(|kind| {
        let values = read(MetricGroup::Requests, Some(kind));
        values
            .contains_key(&MetricId::RequestCount)
            .then_some((kind, values))
    });
    let groups = MetricGroup::OF_BROKERS.into_iter();
    let mut values: Readings = groups.flat_map(|group| read(group, None)).collect();
    let waits = answer.network_waits();
    add_threads(answer, &waits, &mut values);
    BrokerSample {
        source: R::SOURCE,
        started_unix_ms: answer.started_unix_ms().and_then(whole),
        requests: requests.collect(),
        listeners: waits.listeners(),
        values,
    }
}

fn read(answer: &impl BeanReader, metric: MetricId, kind: Option<RequestKind>) -> Option<u64> {
    let first = |mbeans: &[&str], read: &dyn Fn(&str) -> Option<f64>| {
        let mut mbeans = mbeans.iter().filter_map(|mbean| bean_of(mbean, kind));
        mbeans.find_map(|mbean| read(&mbean))
    };
    whole(match metric.row().origin {
        MetricOrigin::Special | MetricOrigin::Line(..) | MetricOrigin::Field(..) => None,
        MetricOrigin::Count(mbeans) => first(mbeans, &|mbean| answer.count(mbean)),
        MetricOrigin::Value(mbeans, factor) => {
            first(mbeans, &|mbean| Some(answer.value(mbean)? * factor))
        }
        MetricOrigin::Sum(mbean, factor) => {
            first(&[mbean], &|mbean| Some(answer.sum(mbean)? * factor))
        }
        MetricOrigin::Java(source) => answer.java(&source),
    }?)
}

/// Idle threads, which different releases measure with different metrics.
fn add_threads(answer: &impl BeanReader, waits: &ListenerWaits, values: &mut Readings) {
    // The sum of two pools.
    if answer.is_controller() && answer.count(OWN_HANDLERS).is_none() {
        values.insert(MetricId::HandlerPools, 2);
    }
    let meter = || answer.network_meter().and_then(whole);
    // The share covers about half a minute: the sum is better.
    if let Some(idle_ns) = waits.mean_ns().or_else(meter) {
        values.remove(&MetricId::NetworkIdleShare);
        values.insert(MetricId::NetworkIdle, idle_ns);
    }
}

/// The MBean of a table row, for one kind of request.
fn bean_of(row: &str, kind: Option<RequestKind>) -> Option<String> {
    let Some(kind) = kind else {
        return Some(row.to_owned());
    };
    let request = request_name(kind);
    // Only consumers' fetches can require conversion.
    let converting = match kind {
        RequestKind::FetchConsumer => "Fetch",
        RequestKind::Produce | RequestKind::FetchFollower | RequestKind::Unknown => request,
    };
    let is_known = kind != RequestKind::FetchFollower || !row.contains("{converting}");
    is_known.then(|| {
        row.replace("{request}", request)
            .replace("{converting}", converting)
    })
}

/// Kafka's name for a kind of request.
fn request_name(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Produce => "Produce",
        RequestKind::FetchConsumer => "FetchConsumer",
        RequestKind::FetchFollower => "FetchFollower",
        RequestKind::Unknown => "",
    }
}

/// The MBeans that a sample reads, each with its attributes.
pub(super) fn attributes_read() -> BTreeMap<String, Vec<&'static str>> {
    let mut beans = BTreeMap::<String, Vec<&'static str>>::new();
    let mut read = |mbean: &str, kind: Option<RequestKind>, names: &[&'static str]| {
        let Some(mbean) = bean_of(mbean, kind) else {
            return;
        };
        let attributes = beans.entry(mbean).or_default();
        let more = names.iter().filter(|name| !attributes.contains(name));
        let more: Vec<&'static str> = more.copied().collect();
        attributes.extend(more);
    };
    let requests = RequestKind::SAMPLED.map(|kind| (MetricGroup::Requests, Some(kind)));
    let groups = MetricGroup::OF_BROKERS.map(|group| (group, None));
    for (group, kind) in requests.into_iter().chain(groups) {
        for metric in MetricId::of(group) {
            match metric.row().origin {
                MetricOrigin::Special | MetricOrigin::Line(..) | MetricOrigin::Field(..) => {}
                MetricOrigin::Count(mbeans) => {
                    mbeans
                        .iter()
                        .for_each(|mbean| read(mbean, kind, &["Count"]));
                }
                MetricOrigin::Value(mbeans, _) => {
                    mbeans
                        .iter()
                        .for_each(|mbean| read(mbean, kind, &["Value"]));
                }
                MetricOrigin::Sum(mbean, _) => read(mbean, kind, &["Mean", "Count"]),
                MetricOrigin::Java(source) => read(source.mbean, kind, &[source.attribute]),
            }
        }
    }
    beans
}
