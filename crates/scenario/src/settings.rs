//! The values of Kafka's client settings that are words: acks, codecs, partitioners, group protocols.

use serde::{Deserialize, Serialize};

/// How members and coordinator agree on the assignment: `group.protocol`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupProtocol {
    /// A member assigns the partitions, and all join again whenever something changes.
    #[default]
    Classic,
    /// The brokers assign the partitions, and each member adapts separately (KIP-848).
    Consumer,
}

impl GroupProtocol {
    pub(crate) fn is_classic(&self) -> bool {
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
    /// The same; members continue to read while they rebalance (`CooperativeStickyAssignor`).
    CooperativeSticky,
}

/// The words for [`Acks`].
pub(crate) const ACKS: [(&str, Acks); 4] = [
    ("all", Acks::All),
    ("-1", Acks::All),
    ("1", Acks::Leader),
    ("0", Acks::None),
];

/// What a broker must have done before it answers a produce request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// Nothing: it does not respond (`0`).
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
    /// All of them, with Kafka's names in `compression.type`.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("none", Self::None),
        ("gzip", Self::Gzip),
        ("snappy", Self::Snappy),
        ("lz4", Self::Lz4),
        ("zstd", Self::Zstd),
    ];

    /// Kafka's name in `compression.type`.
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(_, codec)| *codec == self);
        named.map_or("", |(name, _)| name)
    }
}

/// The words for [`Partitioner`].
pub(crate) const PARTITIONERS: [(&str, Partitioner); 2] = [
    ("sticky", Partitioner::Sticky),
    ("round-robin", Partitioner::RoundRobin),
];

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
