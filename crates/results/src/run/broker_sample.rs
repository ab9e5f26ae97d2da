//! One sample of a broker's own metrics: the type of the lines `broker` in `evidence.jsonl`.
//!
//! A missing metric is not available in this release or from this source; it is never 0. Times are sums over all
//! requests: the mean over a span is the difference of two sums divided by the difference of two counts.
//!
//! Kafka's sums of request times have whole milliseconds: up to 0.11 differences of a millisecond clock, later
//! individually rounded times, so a part below half a millisecond adds nothing. The embedded cluster adds nanoseconds;
//! its parts are those of a single thread.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::stored_metrics::{StoredGroup, readings};
use crate::metrics::{MetricGroup, MetricId, Readings, RequestKind};

/// A broker's own metrics in one sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "StoredSample")]
pub struct BrokerSample {
    /// The source.
    pub source: MetricsSource,
    /// Start time of the broker's process, in milliseconds since 1970-01-01 UTC. After a restart all counters start
    /// again.
    pub started_unix_ms: Option<u64>,
    /// Requests by kind; kinds that the source lacks are missing.
    pub requests: BTreeMap<RequestKind, Readings>,
    /// Network threads by listener; empty if the source does not distinguish them.
    pub listeners: Vec<ListenerSample>,
    /// All other metrics.
    pub values: Readings,
}

/// Sources of a broker's metrics.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum MetricsSource {
    /// A Jolokia agent, which serves Kafka's MBeans.
    Jolokia,
    /// An endpoint in Prometheus's text format, such as jmx_exporter.
    Prometheus,
    /// kgauge's own cluster.
    Embedded,
    /// A value of a newer kgauge.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The network threads of one listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListenerSample {
    /// Its name.
    pub listener: String,
    /// Number of threads.
    pub threads: u32,
    /// Their mean waiting time.
    pub idle_ns: u64,
}

impl BrokerSample {
    /// A metric that does not belong to requests.
    pub fn get(&self, metric: MetricId) -> Option<u64> {
        self.values.get(&metric).copied()
    }

    /// A metric of one kind of request.
    pub fn of_requests(&self, kind: RequestKind, metric: MetricId) -> Option<u64> {
        self.requests.get(&kind)?.get(&metric).copied()
    }

    /// Whether it has no metric of a broker: JVM metrics alone may come from any process.
    pub fn is_empty(&self) -> bool {
        let mut metrics = self.values.keys();
        let is_javas = metrics.all(|metric| metric.row().group == MetricGroup::Jvm);
        is_javas && self.requests.is_empty() && self.listeners.is_empty()
    }
}

impl Serialize for BrokerSample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("source", &self.source)?;
        if let Some(started_unix_ms) = self.started_unix_ms {
            line.serialize_entry("started_unix_ms", &started_unix_ms)?;
        }
        if !self.requests.is_empty() {
            let requests = self.requests.iter();
            let requests = requests.map(|(kind, values)| StoredRequests {
                kind: *kind,
                values: StoredGroup(MetricGroup::Requests, values),
            });
            let requests: Vec<StoredRequests<'_>> = requests.collect();
            line.serialize_entry(MetricGroup::Requests.key(), &requests)?;
        }
        if !self.listeners.is_empty() {
            line.serialize_entry("listeners", &self.listeners)?;
        }
        for group in MetricGroup::OF_BROKERS {
            let values = StoredGroup(group, &self.values);
            if values.of_group().next().is_some() {
                line.serialize_entry(group.key(), &values)?;
            }
        }
        line.end()
    }
}

/// One kind of request in a line.
#[derive(Serialize)]
struct StoredRequests<'a> {
    kind: RequestKind,
    #[serde(flatten)]
    values: StoredGroup<'a>,
}

/// A line while it is read. Additional fields of a newer kgauge are ignored.
#[derive(Deserialize)]
struct StoredSample {
    source: MetricsSource,
    #[serde(default)]
    started_unix_ms: Option<u64>,
    #[serde(default)]
    listeners: Vec<ListenerSample>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

impl From<StoredSample> for BrokerSample {
    fn from(stored: StoredSample) -> BrokerSample {
        let rest = &stored.rest;
        let requests = rest.get(MetricGroup::Requests.key());
        let requests = requests.and_then(Value::as_array).into_iter().flatten();
        let requests = requests.map(|one| {
            let kind = one.get("kind").cloned().unwrap_or_default();
            let kind = serde_json::from_value(kind).unwrap_or_default();
            (kind, readings(MetricGroup::Requests, one))
        });
        let groups = MetricGroup::OF_BROKERS.into_iter();
        let values = groups.filter_map(|group| Some(readings(group, rest.get(group.key())?)));
        BrokerSample {
            source: stored.source,
            started_unix_ms: stored.started_unix_ms,
            requests: requests.collect(),
            listeners: stored.listeners,
            values: values.flatten().collect(),
        }
    }
}
