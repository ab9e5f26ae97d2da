//! What a broker tells of itself, once a second: the shape of the lines `broker` in `evidence.jsonl`.
//!
//! Counters count since the broker's start, gauges are of now. `None` is what this release or this source does not
//! have; it is never 0. Times are sums over all requests: the mean of any span is the difference of two sums by the
//! difference of two counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A broker's own metrics at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerSample {
    /// Who was asked.
    pub source: MetricsSource,
    /// When the broker's process began, milliseconds since 1970-01-01 UTC: with another one all counters are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    /// Requests by kind; a kind that the source does not tell is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestSample>,
    /// Its threads and queues.
    #[serde(default)]
    pub threads: ThreadPoolSample,
    /// Network threads, listener by listener; nothing where the source does not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerSample>,
    /// What went through it.
    #[serde(default)]
    pub traffic: TrafficSample,
    /// Its replicas.
    #[serde(default)]
    pub replicas: ReplicaSample,
    /// Its log.
    #[serde(default)]
    pub log: LogSample,
    /// Its Java.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<JvmSample>,
}

/// Who tells a broker's metrics.
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
    /// Something that a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A kind of request, as Kafka's request metrics name it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// Records that clients write.
    Produce,
    /// Fetches of consumers.
    FetchConsumer,
    /// Fetches of followers.
    FetchFollower,
    /// Something that a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// All requests of one kind since the broker's start: how many, and the sums of their times.
///
/// Kafka adds whole milliseconds: up to 0.11 differences of a clock of milliseconds, later each time rounded by itself,
/// so that a part which takes less than half a millisecond adds nothing. The embedded cluster adds nanoseconds; its
/// parts are those of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSample {
    /// Which kind.
    pub kind: RequestKind,
    /// How many were answered.
    pub count: u64,
    /// From the request's last byte to the response's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ns: Option<u64>,
    /// Waiting for a request handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_queue_ns: Option<u64>,
    /// In the hands of a request handler: the log is written and read here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_ns: Option<u64>,
    /// Waiting for others: followers for a produce with acks=all, new records for a fetch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_ns: Option<u64>,
    /// Held back by a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_ns: Option<u64>,
    /// Waiting for a network thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_queue_ns: Option<u64>,
    /// Being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_send_ns: Option<u64>,
    /// Memory that was taken to convert or decompress records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary_memory_bytes: Option<u64>,
}

/// A broker's threads and queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadPoolSample {
    /// Time in which request handlers had nothing to do, the mean of all of them. A thread that waits is counted when
    /// its wait ends, after 0.3 s at the latest. Of the embedded cluster a node's one thread, to the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_idle_ns: Option<u64>,
    /// How many pools of handlers that time is the sum of, where it is more than one: from 3.3 to 4.2 a broker that is
    /// a controller too adds the idle time of the controller's handlers to that of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_pools: Option<u32>,
    /// Time in which network threads waited for something to do, the mean of all of them, whatever their listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_idle_ns: Option<u64>,
    /// The same as a share in millionths, as the broker says it of about the last half minute; only where there is no
    /// sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_idle_ppm: Option<u32>,
    /// Requests that wait for a handler now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_queue: Option<u64>,
    /// Responses that wait for a network thread now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_queue: Option<u64>,
    /// Produce requests that wait for followers now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produce_purgatory: Option<u64>,
    /// Fetches that wait for records now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_purgatory: Option<u64>,
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

/// What went through a broker since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficSample {
    /// Bytes of batches that producers brought, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_in: Option<u64>,
    /// Bytes of batches that consumers were given (before 0.11: followers too).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    /// Bytes that it fetched as a follower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication_bytes_in: Option<u64>,
    /// Bytes that followers were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication_bytes_out: Option<u64>,
    /// Records that producers brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_in: Option<u64>,
    /// Produce requests that failed, each partition by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_produce: Option<u64>,
    /// Fetches that failed, each partition by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_fetch: Option<u64>,
    /// Batches that were converted to another message format when they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produce_conversions: Option<u64>,
    /// The same when they were fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_conversions: Option<u64>,
}

/// A broker's replicas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaSample {
    /// Partitions that it leads now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaders: Option<u64>,
    /// Partitions of which it has a replica now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<u64>,
    /// Of those that it leads, how many have fewer replicas in sync than they should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_replicated: Option<u64>,
    /// Of those that it leads, how many have fewer in sync than min.insync.replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_min_isr: Option<u64>,
    /// Partitions of the cluster without a leader; only the controller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline_partitions: Option<u64>,
    /// How often a replica fell out of sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isr_shrinks: Option<u64>,
    /// How often one came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isr_expands: Option<u64>,
    /// Leaders that were elected although they were not in sync; only the controller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclean_elections: Option<u64>,
    /// The most records by which one of its own followers is behind now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lag: Option<u64>,
}

/// A broker's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSample {
    /// Flushes (fsync) since its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// The sum of their times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_ns: Option<u64>,
}

/// A broker's Java.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JvmSample {
    /// Heap in use now, with what is not collected yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_bytes: Option<u64>,
    /// Collections since its start, of all collectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collections: Option<u64>,
    /// The time that they took; of a collector that works beside the program not all of it is a pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection_ns: Option<u64>,
}

impl BrokerSample {
    /// Whether it tells anything at all of a broker.
    pub fn is_empty(&self) -> bool {
        let nothing = BrokerSample {
            source: self.source,
            started_unix_ms: self.started_unix_ms,
            jvm: self.jvm,
            ..BrokerSample::default()
        };
        *self == nothing
    }
}
