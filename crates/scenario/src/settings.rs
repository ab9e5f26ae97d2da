//! Producer and consumer settings as the load engine obeys them: integers of bytes and ns.

use serde::{Deserialize, Serialize};

/// Kafka's producer settings, every one resolved. Names of Kafka's own keys stand beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProducerSettings {
    /// `acks`
    pub acks: Acks,
    /// `batch.size`: a batch is closed when the next record would make it larger. 0: one record
    /// a batch.
    pub batch_bytes: u32,
    /// `linger.ms`: how long an open batch waits for more records.
    pub linger_ns: u64,
    /// `buffer.memory`: bytes of records that wait or are under way, per producer.
    pub buffer_bytes: u64,
    /// `max.block.ms`: how long a send may wait for buffer or metadata before it fails.
    pub block_ns_max: u64,
    /// `max.in.flight.requests.per.connection`; at least 1.
    pub in_flight_max: u32,
    /// `max.request.size`
    pub request_bytes_max: u32,
    /// `compression.type` and its level.
    pub compression: Compression,
    /// `enable.idempotence`
    pub idempotence: bool,
    /// Whether the scenario asks for it by name. If not, a release that has none goes without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotence_asked: bool,
    /// `retries`
    pub retries: u32,
    /// `retry.backoff.ms`: the wait before the first retry; it doubles.
    pub retry_backoff_ns: u64,
    /// `retry.backoff.max.ms`
    pub retry_backoff_ns_max: u64,
    /// `delivery.timeout.ms`: from send to the last word on the record, retries included.
    pub delivery_timeout_ns: u64,
    /// `request.timeout.ms`: how long one request may go unanswered.
    pub request_timeout_ns: u64,
    /// kgauge's `partitioner`.
    pub partitioner: Partitioner,
    /// `send.buffer.bytes`; `None` leaves it to the operating system (Kafka's -1).
    pub send_buffer_bytes: Option<u32>,
    /// `receive.buffer.bytes`; `None` leaves it to the operating system (Kafka's -1).
    pub receive_buffer_bytes: Option<u32>,
    /// `client.id`
    pub client_id: String,
    /// `metadata.max.age.ms`
    pub metadata_age_ns_max: u64,
}

/// Kafka's consumer settings, every one resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsumerSettings {
    /// `fetch.min.bytes`
    pub fetch_bytes_min: u32,
    /// `fetch.max.wait.ms`
    pub fetch_wait_ns_max: u64,
    /// `fetch.max.bytes`
    pub fetch_bytes_max: u32,
    /// `max.partition.fetch.bytes`
    pub partition_fetch_bytes_max: u32,
    /// `check.crcs`
    pub check_crcs: bool,
    /// `request.timeout.ms`
    pub request_timeout_ns: u64,
    /// `receive.buffer.bytes`; `None` leaves it to the operating system (Kafka's -1).
    pub receive_buffer_bytes: Option<u32>,
    /// `send.buffer.bytes`; `None` leaves it to the operating system (Kafka's -1).
    pub send_buffer_bytes: Option<u32>,
    /// `client.id`
    pub client_id: String,
}

/// How the consumers of a flow behave as members of one group. Names of Kafka's own keys stand beside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPlan {
    /// What its `group.id` ends with; the run's id stands before it.
    pub label: String,
    /// `session.timeout.ms`
    pub session_timeout_ns: u64,
    /// `heartbeat.interval.ms`, less than the session's timeout.
    pub heartbeat_ns: u64,
    /// `max.poll.interval.ms`: how long the group waits for a member when it rebalances.
    pub rebalance_timeout_ns: u64,
    /// `partition.assignment.strategy`, the most wanted first; at least one.
    pub strategies: Vec<AssignmentStrategy>,
    /// `group.instance.id`; each consumer adds its number.
    pub instance_id: Option<String>,
    /// `auto.commit.interval.ms`; `None` without `enable.auto.commit`.
    pub commit_ns: Option<u64>,
}

/// A `partition.assignment.strategy` of the eager protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentStrategy {
    /// Neighbours to each member (`RangeAssignor`).
    Range,
    /// In turn (`RoundRobinAssignor`).
    #[serde(rename = "roundrobin")]
    RoundRobin,
}

/// What a broker must have done before it answers a produce request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// Nothing: it does not answer at all (`0`).
    None,
    /// The leader has appended (`1`).
    Leader,
    /// All in-sync replicas have appended (`all`, `-1`).
    All,
}

impl Acks {
    /// The number in a produce request.
    pub fn wire(self) -> i16 {
        match self {
            Acks::None => 0,
            Acks::Leader => 1,
            Acks::All => -1,
        }
    }
}

/// `compression.type` and the level that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compression {
    /// The codec.
    pub codec: CompressionCodec,
    /// The codec's own level; `None` for codecs without levels (none, snappy). gzip: -1 is the
    /// library's default.
    pub level: Option<i32>,
}

/// The codecs of record batch v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names are Kafka's own values of compression.type.
pub enum CompressionCodec {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

/// How a producer chooses the partition of a record without key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partitioner {
    /// Stay with one partition for about `batch.size` bytes, then change, as Kafka's built-in
    /// partitioner has done since 2.4 (KIP-480, KIP-794).
    Sticky,
    /// The next record goes to the next partition, as Kafka's default did before 2.4.
    RoundRobin,
}
