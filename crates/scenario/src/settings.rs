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
    /// kgauge's `partitioner`, or Kafka's `partitioner.class`.
    pub partitioner: Partitioner,
    /// `partitioner.ignore.keys`
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partitioner_ignores_keys: bool,
    /// `partitioner.adaptive.partitioning.enable`; a plan from before it was known has it off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partitioner_adaptive: bool,
    /// `partitioner.availability.timeout.ms`; 0 is never.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partitioner_availability_ns: u64,
    /// `transactional.id`; `None` where nobody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactional_id: Option<String>,
    /// `transaction.timeout.ms`
    #[serde(default = "transaction_timeout", skip_serializing_if = "is_timeout")]
    pub transaction_timeout_ns: u64,
    /// `send.buffer.bytes`; `None` leaves it to the operating system (Kafka's -1).
    pub send_buffer_bytes: Option<u32>,
    /// `receive.buffer.bytes`; `None` leaves it to the operating system (Kafka's -1).
    pub receive_buffer_bytes: Option<u32>,
    /// `client.id`
    pub client_id: String,
    /// `metadata.max.age.ms`
    pub metadata_age_ns_max: u64,
}

/// Kafka's default of `transaction.timeout.ms`.
fn transaction_timeout() -> u64 {
    60_000 * MS
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_timeout(ns: &u64) -> bool {
    *ns == transaction_timeout()
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

const MS: u64 = 1_000_000;

/// Kafka 4.3's defaults, but for the sockets' buffers, which are the operating system's.
impl Default for ProducerSettings {
    fn default() -> Self {
        ProducerSettings {
            acks: Acks::All,
            batch_bytes: 16_384,
            linger_ns: 5 * MS,
            buffer_bytes: 32 << 20,
            block_ns_max: 60_000 * MS,
            in_flight_max: 5,
            request_bytes_max: 1 << 20,
            compression: Compression {
                codec: CompressionCodec::None,
                level: None,
            },
            idempotence: true,
            idempotence_asked: false,
            retries: i32::MAX as u32,
            retry_backoff_ns: 100 * MS,
            retry_backoff_ns_max: 1_000 * MS,
            delivery_timeout_ns: 120_000 * MS,
            request_timeout_ns: 30_000 * MS,
            partitioner: Partitioner::Sticky,
            partitioner_ignores_keys: false,
            partitioner_adaptive: true,
            partitioner_availability_ns: 0,
            transactional_id: None,
            transaction_timeout_ns: transaction_timeout(),
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            client_id: "kgauge".to_owned(),
            metadata_age_ns_max: 300_000 * MS,
        }
    }
}

/// Kafka 4.3's defaults, but for the sockets' buffers, which are the operating system's.
impl Default for ConsumerSettings {
    fn default() -> Self {
        ConsumerSettings {
            fetch_bytes_min: 1,
            fetch_wait_ns_max: 500 * MS,
            fetch_bytes_max: 50 << 20,
            partition_fetch_bytes_max: 1 << 20,
            check_crcs: true,
            read_committed: false,
            request_timeout_ns: 30_000 * MS,
            receive_buffer_bytes: None,
            send_buffer_bytes: None,
            client_id: "kgauge".to_owned(),
        }
    }
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
    /// `isolation.level`
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_committed: bool,
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
    /// `group.protocol`
    #[serde(default, skip_serializing_if = "GroupProtocol::is_classic")]
    pub protocol: GroupProtocol,
    /// `group.remote.assignor`, of the new protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_assignor: Option<String>,
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

/// How members and coordinator agree on who reads what: `group.protocol`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupProtocol {
    /// A member deals out, and all join again whenever something changes.
    #[default]
    Classic,
    /// The brokers deal out, and each member changes what it has by itself (KIP-848).
    Consumer,
}

impl GroupProtocol {
    fn is_classic(&self) -> bool {
        *self == GroupProtocol::Classic
    }
}

/// A `partition.assignment.strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentStrategy {
    /// Neighbours to each member (`RangeAssignor`).
    Range,
    /// In turn (`RoundRobinAssignor`).
    #[serde(rename = "roundrobin")]
    RoundRobin,
    /// Balanced, with few moves (`StickyAssignor`).
    Sticky,
    /// The same, and members read on while they rebalance (`CooperativeStickyAssignor`).
    CooperativeSticky,
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

impl CompressionCodec {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// Kafka's name in `compression.type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

/// How a producer chooses the partition of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partitioner {
    /// Kafka's built-in one. With a key: the key's murmur2. Without: stay with one partition for
    /// about `batch.size` bytes, then change (since 2.4, KIP-480, KIP-794).
    Sticky,
    /// The next record goes to the next partition, as Kafka's default did before 2.4.
    RoundRobin,
    /// Every record goes to this one.
    Partition(u32),
    /// Sticky over the partitions that the broker of this id leads when the run starts.
    Broker(i32),
}
