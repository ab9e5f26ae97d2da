//! The table of every configuration that the cluster knows, under Kafka's names and with Kafka's
//! defaults. A name or value that would promise what the cluster does not do is refused, so that
//! nobody measures a setting that did nothing.

use kgauge_wire::compress::Codec;

use super::check::{ConfigType, ValueRule};

/// A configuration of a node.
#[derive(Debug, Clone, Copy)]
pub struct NodeDefinition {
    /// Kafka's name.
    pub name: &'static str,
    /// Type of the value.
    pub kind: ConfigType,
    /// What holds when nobody says otherwise; `None` where another unit of the same thing decides.
    pub default: Option<&'static str>,
    /// What a value must fulfil.
    pub check: ValueRule,
    /// Whether it can be changed while the cluster runs.
    pub change: ChangePolicy,
}

/// When a node's configuration can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangePolicy {
    /// Only by [`ClusterConfig::settings`](crate::ClusterConfig::settings), before the start.
    AtStart,
    /// Also by the admin APIs, for one node or for all.
    Live,
}

/// A configuration of a topic.
#[derive(Debug, Clone, Copy)]
pub struct TopicDefinition {
    /// Kafka's name.
    pub name: &'static str,
    /// Type of the value.
    pub kind: ConfigType,
    /// What a value must fulfil.
    pub check: ValueRule,
    /// The node configurations that decide when the topic does not, the strongest first, each with
    /// the factor that turns its unit into the topic's (hours to milliseconds).
    pub synonyms: &'static [(&'static str, i64)],
    /// The value where neither the topic nor a node configuration gives one.
    pub default: Option<&'static str>,
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

const fn topic(
    name: &'static str,
    kind: ConfigType,
    check: ValueRule,
    synonyms: &'static [(&'static str, i64)],
) -> TopicDefinition {
    TopicDefinition {
        name,
        kind,
        check,
        synonyms,
        default: None,
    }
}

/// A configuration of topics alone: no node configuration stands behind it.
const fn of_topics(
    name: &'static str,
    kind: ConfigType,
    check: ValueRule,
    default: &'static str,
) -> TopicDefinition {
    TopicDefinition {
        name,
        kind,
        check,
        synonyms: &[],
        default: Some(default),
    }
}

use ConfigType::{Boolean, Double, Int, List, Long, String};
use ValueRule::{Any, AtLeast, Between, ListOf, MinusOneOr, OneOf, Only, ReplicaList};

/// A compacted log may keep every record: Kafka does not promise when its cleaner comes by.
const CLEANUP: ValueRule = ListOf(&[COMPACT, DELETE]);
/// The entry of `cleanup.policy` that asks for compaction and for a key in every record.
pub(super) const COMPACT: &str = "compact";
/// The entry of `cleanup.policy` that removes records by age and size.
pub(super) const DELETE: &str = "delete";
/// The `compression.type` that keeps batches as the producer wrote them.
pub(super) const PRODUCER: &str = "producer";
/// The `compression.type` that stores batches without compression.
pub(super) const UNCOMPRESSED: &str = "uncompressed";
const COMPRESSION: ValueRule = OneOf(&COMPRESSION_TYPES);
/// The values of `compression.type` in Kafka's order: the newest codec first.
const COMPRESSION_TYPES: [&str; Codec::ALL.len() + 1] = {
    let mut names = [PRODUCER; Codec::ALL.len() + 1];
    names[0] = UNCOMPRESSED;
    let mut id = 1;
    while id < Codec::ALL.len() {
        names[Codec::ALL.len() - id] = Codec::ALL[id].name();
        id += 1;
    }
    names
};
const GZIP_LEVEL: ValueRule = MinusOneOr(1, 9);
const LZ4_LEVEL: ValueRule = Only("9", "the other levels need LZ4's slow compressor");
const ZSTD_LEVEL: ValueRule = Between(-131_072, 22);
const NO_CLEANER: &str = "it does not compact topics";
const CLEANABLE_RATIO: ValueRule = Only("0.5", NO_CLEANER);
const COMPACTION_LAG_MAX: ValueRule = Only(FOREVER, NO_CLEANER);
const NO_TIERED_STORAGE: &str = "it has no tiered storage";
const SELECTOR: ValueRule = OneOf(&[
    "org.apache.kafka.common.replica.LeaderSelector",
    RACK_AWARE_SELECTOR,
]);
/// The `replica.selector.class` that sends a reader to the replica in its own rack (KIP-392).
pub(super) const RACK_AWARE_SELECTOR: &str =
    "org.apache.kafka.common.replica.RackAwareReplicaSelector";
const TIMESTAMP_TYPE: ValueRule = OneOf(&["CreateTime", "LogAppendTime"]);

/// Topic configurations, in alphabetical order.
pub const TOPIC_DEFINITIONS: &[TopicDefinition] = &[
    topic(
        "cleanup.policy",
        List,
        CLEANUP,
        &[("log.cleanup.policy", 1)],
    ),
    topic(
        "compression.gzip.level",
        Int,
        GZIP_LEVEL,
        &[("compression.gzip.level", 1)],
    ),
    topic(
        "compression.lz4.level",
        Int,
        LZ4_LEVEL,
        &[("compression.lz4.level", 1)],
    ),
    topic(
        "compression.type",
        String,
        COMPRESSION,
        &[("compression.type", 1)],
    ),
    topic(
        "compression.zstd.level",
        Int,
        ZSTD_LEVEL,
        &[("compression.zstd.level", 1)],
    ),
    topic(
        "delete.retention.ms",
        Long,
        AtLeast(0),
        &[("log.cleaner.delete.retention.ms", 1)],
    ),
    topic(
        "file.delete.delay.ms",
        Long,
        AtLeast(0),
        &[("log.segment.delete.delay.ms", 1)],
    ),
    topic(
        "flush.messages",
        Long,
        AtLeast(1),
        &[("log.flush.interval.messages", 1)],
    ),
    topic(
        "flush.ms",
        Long,
        AtLeast(0),
        &[("log.flush.interval.ms", 1)],
    ),
    of_topics(
        "follower.replication.throttled.replicas",
        List,
        ReplicaList,
        "",
    ),
    topic(
        "index.interval.bytes",
        Int,
        AtLeast(0),
        &[("log.index.interval.bytes", 1)],
    ),
    of_topics(
        "leader.replication.throttled.replicas",
        List,
        ReplicaList,
        "",
    ),
    topic(
        "local.retention.bytes",
        Long,
        AtLeast(-2),
        &[("log.local.retention.bytes", 1)],
    ),
    topic(
        "local.retention.ms",
        Long,
        AtLeast(-2),
        &[("log.local.retention.ms", 1)],
    ),
    topic(
        "max.compaction.lag.ms",
        Long,
        COMPACTION_LAG_MAX,
        &[("log.cleaner.max.compaction.lag.ms", 1)],
    ),
    topic(
        "max.message.bytes",
        Int,
        AtLeast(0),
        &[("message.max.bytes", 1)],
    ),
    topic(
        "message.timestamp.after.max.ms",
        Long,
        AtLeast(0),
        &[("log.message.timestamp.after.max.ms", 1)],
    ),
    topic(
        "message.timestamp.before.max.ms",
        Long,
        AtLeast(0),
        &[("log.message.timestamp.before.max.ms", 1)],
    ),
    topic(
        "message.timestamp.type",
        String,
        TIMESTAMP_TYPE,
        &[("log.message.timestamp.type", 1)],
    ),
    topic(
        "min.cleanable.dirty.ratio",
        Double,
        CLEANABLE_RATIO,
        &[("log.cleaner.min.cleanable.ratio", 1)],
    ),
    topic(
        "min.compaction.lag.ms",
        Long,
        AtLeast(0),
        &[("log.cleaner.min.compaction.lag.ms", 1)],
    ),
    topic(
        "min.insync.replicas",
        Int,
        AtLeast(1),
        &[("min.insync.replicas", 1)],
    ),
    topic("preallocate", Boolean, Any, &[("log.preallocate", 1)]),
    of_topics("remote.log.copy.disable", Boolean, Any, "false"),
    of_topics("remote.log.delete.on.disable", Boolean, Any, "false"),
    of_topics(
        "remote.storage.enable",
        Boolean,
        Only("false", NO_TIERED_STORAGE),
        "false",
    ),
    topic(
        "retention.bytes",
        Long,
        AtLeast(-1),
        &[("log.retention.bytes", 1)],
    ),
    topic(
        "retention.ms",
        Long,
        AtLeast(-1),
        &[
            ("log.retention.ms", 1),
            ("log.retention.minutes", MINUTE_MS),
            ("log.retention.hours", HOUR_MS),
        ],
    ),
    topic(
        "segment.bytes",
        Int,
        AtLeast(SEGMENT_BYTES_MIN),
        &[("log.segment.bytes", 1)],
    ),
    topic(
        "segment.index.bytes",
        Int,
        AtLeast(4),
        &[("log.index.size.max.bytes", 1)],
    ),
    topic(
        "segment.jitter.ms",
        Long,
        AtLeast(0),
        &[
            ("log.roll.jitter.ms", 1),
            ("log.roll.jitter.hours", HOUR_MS),
        ],
    ),
    topic(
        "segment.ms",
        Long,
        AtLeast(1),
        &[("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)],
    ),
    topic(
        "unclean.leader.election.enable",
        Boolean,
        Any,
        &[("unclean.leader.election.enable", 1)],
    ),
];

/// Kafka 4 refuses segments below 1 MiB; tests of rolling want small ones, so the older bound
/// (14 bytes, Kafka 3) holds here.
const SEGMENT_BYTES_MIN: i64 = 14;

const fn node(
    name: &'static str,
    kind: ConfigType,
    default: Option<&'static str>,
    check: ValueRule,
    change: ChangePolicy,
) -> NodeDefinition {
    NodeDefinition {
        name,
        kind,
        default,
        check,
        change,
    }
}

use ChangePolicy::{AtStart, Live};

const FOREVER: &str = "9223372036854775807";

/// Node configurations, in alphabetical order.
#[rustfmt::skip]
pub const NODE_DEFINITIONS: &[NodeDefinition] = &[
    node("auto.create.topics.enable", Boolean, Some("true"), Any, AtStart),
    node("auto.leader.rebalance.enable", Boolean, Some("true"), Any, AtStart),
    node("broker.heartbeat.interval.ms", Int, Some("2000"), AtLeast(1), AtStart),
    node("broker.rack", String, None, Any, AtStart),
    node("broker.session.timeout.ms", Int, Some("9000"), AtLeast(1), AtStart),
    node("compression.gzip.level", Int, Some("-1"), GZIP_LEVEL, Live),
    node("compression.lz4.level", Int, Some("9"), LZ4_LEVEL, Live),
    node("compression.type", String, Some("producer"), COMPRESSION, Live),
    node("compression.zstd.level", Int, Some("3"), ZSTD_LEVEL, Live),
    node("connections.max.idle.ms", Long, Some("600000"), AtLeast(-1), AtStart),
    node("default.replication.factor", Int, Some("1"), AtLeast(1), AtStart),
    node("delete.topic.enable", Boolean, Some("true"), Any, AtStart),
    node("fetch.max.bytes", Int, Some("57671680"), AtLeast(1024), AtStart),
    // Kafka waits 3 s for more members before the first rebalance of an empty group. Here the
    // default is 0, so that a first run and every test start at once; production-like runs set it.
    node("group.initial.rebalance.delay.ms", Int, Some("0"), AtLeast(0), AtStart),
    node("group.max.session.timeout.ms", Int, Some("1800000"), AtLeast(1), AtStart),
    node("group.max.size", Int, Some("2147483647"), AtLeast(1), AtStart),
    node("group.min.session.timeout.ms", Int, Some("6000"), AtLeast(1), AtStart),
    node("leader.imbalance.check.interval.seconds", Long, Some("300"), AtLeast(1), AtStart),
    node("log.cleaner.delete.retention.ms", Long, Some("86400000"), AtLeast(0), Live),
    node("log.cleaner.max.compaction.lag.ms", Long, Some(FOREVER), COMPACTION_LAG_MAX, Live),
    node("log.cleaner.min.cleanable.ratio", Double, Some("0.5"), CLEANABLE_RATIO, Live),
    node("log.cleaner.min.compaction.lag.ms", Long, Some("0"), AtLeast(0), Live),
    node("log.cleanup.policy", List, Some("delete"), CLEANUP, Live),
    node("log.flush.interval.messages", Long, Some(FOREVER), AtLeast(1), Live),
    node("log.flush.interval.ms", Long, Some(FOREVER), AtLeast(0), Live),
    node("log.index.interval.bytes", Int, Some("4096"), AtLeast(0), Live),
    node("log.index.size.max.bytes", Int, Some("10485760"), AtLeast(4), Live),
    node("log.local.retention.bytes", Long, Some("-2"), AtLeast(-2), Live),
    node("log.local.retention.ms", Long, Some("-2"), AtLeast(-2), Live),
    node("log.message.timestamp.after.max.ms", Long, Some("3600000"), AtLeast(0), Live),
    node("log.message.timestamp.before.max.ms", Long, Some(FOREVER), AtLeast(0), Live),
    node("log.message.timestamp.type", String, Some("CreateTime"), TIMESTAMP_TYPE, Live),
    node("log.preallocate", Boolean, Some("false"), Any, Live),
    node("log.retention.bytes", Long, Some("-1"), AtLeast(-1), Live),
    node("log.retention.check.interval.ms", Long, Some("300000"), AtLeast(1), AtStart),
    node("log.retention.hours", Int, Some("168"), AtLeast(-1), AtStart),
    node("log.retention.minutes", Int, None, AtLeast(-1), AtStart),
    node("log.retention.ms", Long, None, AtLeast(-1), Live),
    node("log.roll.hours", Int, Some("168"), AtLeast(1), AtStart),
    node("log.roll.jitter.hours", Int, Some("0"), AtLeast(0), AtStart),
    node("log.roll.jitter.ms", Long, None, AtLeast(0), Live),
    node("log.roll.ms", Long, None, AtLeast(1), Live),
    node("log.segment.bytes", Int, Some("1073741824"), AtLeast(SEGMENT_BYTES_MIN), Live),
    node("log.segment.delete.delay.ms", Long, Some("60000"), AtLeast(0), Live),
    node("max.connections", Int, Some("2147483647"), AtLeast(0), AtStart),
    node("message.max.bytes", Int, Some("1048588"), AtLeast(0), Live),
    node("min.insync.replicas", Int, Some("1"), AtLeast(1), Live),
    node("num.partitions", Int, Some("1"), AtLeast(1), AtStart),
    node("offset.metadata.max.bytes", Int, Some("4096"), AtLeast(0), AtStart),
    node("offsets.retention.check.interval.ms", Long, Some("600000"), AtLeast(1), AtStart),
    node("offsets.retention.minutes", Int, Some("10080"), AtLeast(1), AtStart),
    // Kafka has 50. Eight start faster and spread well over a handful of nodes.
    node("offsets.topic.num.partitions", Int, Some("8"), Between(1, 1000), AtStart),
    // As many nodes as there are, if they are fewer.
    node("offsets.topic.replication.factor", Int, Some("3"), AtLeast(1), AtStart),
    node("producer.id.expiration.ms", Int, Some("86400000"), AtLeast(1), AtStart),
    node("replica.fetch.backoff.ms", Int, Some("1000"), AtLeast(0), AtStart),
    node("replica.fetch.max.bytes", Int, Some("1048576"), AtLeast(0), AtStart),
    node("replica.fetch.response.max.bytes", Int, Some("10485760"), AtLeast(0), AtStart),
    node("replica.fetch.wait.max.ms", Int, Some("500"), AtLeast(1), AtStart),
    node("replica.high.watermark.checkpoint.interval.ms", Long, Some("5000"), AtLeast(1), AtStart),
    node("replica.lag.time.max.ms", Long, Some("30000"), AtLeast(1), AtStart),
    node("replica.selector.class", String, None, SELECTOR, AtStart),
    node("socket.request.max.bytes", Int, Some("104857600"), AtLeast(1), AtStart),
    node("unclean.leader.election.enable", Boolean, Some("false"), Any, Live),
];

/// The definition of a topic configuration.
#[must_use]
pub fn topic_definition(name: &str) -> Option<&'static TopicDefinition> {
    TOPIC_DEFINITIONS
        .iter()
        .find(|definition| definition.name == name)
}

/// The definition of a node configuration.
#[must_use]
pub fn node_definition(name: &str) -> Option<&'static NodeDefinition> {
    NODE_DEFINITIONS
        .iter()
        .find(|definition| definition.name == name)
}
