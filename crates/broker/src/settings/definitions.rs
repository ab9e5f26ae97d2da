//! The table of every configuration that the cluster honours, under Kafka's names and with Kafka's
//! defaults. A name that is not here is refused, so that nobody measures a setting that did
//! nothing.

use super::check::{Check, ConfigType};

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
    pub check: Check,
    /// Whether it can be changed while the cluster runs.
    pub change: Change,
}

/// When a node's configuration can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
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
    pub check: Check,
    /// The node configurations that decide when the topic does not, the strongest first, each with
    /// the factor that turns its unit into the topic's (hours to milliseconds).
    pub synonyms: &'static [(&'static str, i64)],
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

const fn topic(
    name: &'static str,
    kind: ConfigType,
    check: Check,
    synonyms: &'static [(&'static str, i64)],
) -> TopicDefinition {
    TopicDefinition {
        name,
        kind,
        check,
        synonyms,
    }
}

use Check::{Any, AtLeast, Between, OneOf, OnlyYet};
use ConfigType::{Boolean, Int, List, Long, String};

/// A compacted log may keep every record: Kafka does not promise when its cleaner comes by.
const CLEANUP: Check = OnlyYet(&["delete", COMPACT], "the two together are not done yet");
/// The `cleanup.policy` of topics that forget nothing by age or size.
pub(super) const COMPACT: &str = "compact";
const COMPRESSION: Check = OnlyYet(&["producer"], "batches are kept as the producer wrote them");
const SELECTOR: Check = OneOf(&[
    "org.apache.kafka.common.replica.LeaderSelector",
    RACK_AWARE_SELECTOR,
]);
/// The `replica.selector.class` that sends a reader to the replica in its own rack (KIP-392).
pub(super) const RACK_AWARE_SELECTOR: &str =
    "org.apache.kafka.common.replica.RackAwareReplicaSelector";
const TIMESTAMP_TYPE: Check = OneOf(&["CreateTime", "LogAppendTime"]);

/// Topic configurations, in alphabetical order.
pub const TOPIC_DEFINITIONS: &[TopicDefinition] = &[
    topic(
        "cleanup.policy",
        List,
        CLEANUP,
        &[("log.cleanup.policy", 1)],
    ),
    topic(
        "compression.type",
        String,
        COMPRESSION,
        &[("compression.type", 1)],
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
    topic(
        "index.interval.bytes",
        Int,
        AtLeast(0),
        &[("log.index.interval.bytes", 1)],
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
        "min.insync.replicas",
        Int,
        AtLeast(1),
        &[("min.insync.replicas", 1)],
    ),
    topic("preallocate", Boolean, Any, &[("log.preallocate", 1)]),
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

/// Topic configurations that Kafka has and this cluster does not honour yet.
pub(super) const TOPIC_NOT_DONE: &[&str] = &[
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "delete.retention.ms",
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
];

const fn node(
    name: &'static str,
    kind: ConfigType,
    default: Option<&'static str>,
    check: Check,
    change: Change,
) -> NodeDefinition {
    NodeDefinition {
        name,
        kind,
        default,
        check,
        change,
    }
}

use Change::{AtStart, Live};

const FOREVER: &str = "9223372036854775807";

/// Node configurations, in alphabetical order.
#[rustfmt::skip]
pub const NODE_DEFINITIONS: &[NodeDefinition] = &[
    node("auto.create.topics.enable", Boolean, Some("true"), Any, AtStart),
    node("auto.leader.rebalance.enable", Boolean, Some("true"), Any, AtStart),
    node("broker.heartbeat.interval.ms", Int, Some("2000"), AtLeast(1), AtStart),
    node("broker.rack", String, None, Any, AtStart),
    node("broker.session.timeout.ms", Int, Some("9000"), AtLeast(1), AtStart),
    node("compression.type", String, Some("producer"), COMPRESSION, Live),
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
    node("log.cleanup.policy", List, Some("delete"), CLEANUP, Live),
    node("log.flush.interval.messages", Long, Some(FOREVER), AtLeast(1), Live),
    node("log.flush.interval.ms", Long, Some(FOREVER), AtLeast(0), Live),
    node("log.index.interval.bytes", Int, Some("4096"), AtLeast(0), Live),
    node("log.index.size.max.bytes", Int, Some("10485760"), AtLeast(4), Live),
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
