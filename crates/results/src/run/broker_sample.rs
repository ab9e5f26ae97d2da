//! A sample of a broker's own metrics, once a second: the shape of the lines `broker` in `evidence.jsonl`.
//!
//! What is not there is what this release or this source does not have; it is never 0. Times are sums over all
//! requests: the mean of any span is the difference of two sums by the difference of two counts.
//!
//! Kafka's sums of request times are whole milliseconds: up to 0.11 differences of a clock of milliseconds, later each
//! time rounded on its own, so that a part which takes less than half a millisecond adds nothing. The embedded cluster
//! adds nanoseconds; its parts are those of one thread.

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
    /// Who reported them.
    pub source: MetricsSource,
    /// When the broker's process began, milliseconds since 1970-01-01 UTC: with another one all counters are others.
    pub started_unix_ms: Option<u64>,
    /// Requests by kind; a kind that the source does not have is left out.
    pub requests: BTreeMap<RequestKind, Readings>,
    /// Network threads, listener by listener; nothing where the source does not tell them apart.
    pub listeners: Vec<ListenerSample>,
    /// Everything else.
    pub values: Readings,
}

/// Who reports a broker's metrics.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum MetricsSource {
    /// A Jolokia agent, which reads Kafka's MBeans.
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
    /// How many there are.
    pub threads: u32,
    /// Time in which they waited for something to do, the mean of them.
    pub idle_ns: u64,
}

impl BrokerSample {
    /// One metric that is not of requests.
    pub fn get(&self, metric: MetricId) -> Option<u64> {
        self.values.get(&metric).copied()
    }

    /// One metric of one kind of request.
    pub fn of_requests(&self, kind: RequestKind, metric: MetricId) -> Option<u64> {
        self.requests.get(&kind)?.get(&metric).copied()
    }

    /// Whether it has nothing of a broker: Java alone may be any process.
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

/// A line as it is read. What a newer kgauge wrote beside it is left out.
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
