//! The numbers behind the names, read once and then used on every request.

use kgauge_wire::compress::Codec;
use kgauge_wire::record_batch::TimestampType;

use super::check::{list, parse_bool};
use super::definitions::{
    COMPACT, DELETE, PRODUCER, UNCOMPRESSED, node_definition, topic_definition,
};
use super::{ConfigMap, Layers};
use crate::log::{LogConfig, StoredCodec};

/// A node's settings, in the form the core works with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each field is the configuration of the same name"
)]
pub struct NodeSettings {
    pub auto_create_topics_enable: bool,
    pub auto_leader_rebalance_enable: bool,
    pub broker_heartbeat_interval_ms: i64,
    pub broker_rack: Option<String>,
    pub broker_session_timeout_ms: i64,
    pub connections_max_idle_ms: i64,
    pub default_replication_factor: i64,
    pub delete_topic_enable: bool,
    pub fetch_max_bytes: i64,
    pub group_initial_rebalance_delay_ms: i64,
    pub group_max_session_timeout_ms: i64,
    pub group_max_size: i64,
    pub group_min_session_timeout_ms: i64,
    pub leader_imbalance_check_interval_seconds: i64,
    pub log_retention_check_interval_ms: i64,
    pub max_connections: i64,
    pub num_partitions: i64,
    pub offset_metadata_max_bytes: i64,
    pub offsets_retention_check_interval_ms: i64,
    pub offsets_retention_minutes: i64,
    pub offsets_topic_num_partitions: i64,
    pub offsets_topic_replication_factor: i64,
    pub producer_id_expiration_ms: i64,
    pub replica_fetch_backoff_ms: i64,
    pub replica_fetch_max_bytes: i64,
    pub replica_fetch_response_max_bytes: i64,
    pub replica_fetch_wait_max_ms: i64,
    pub replica_high_watermark_checkpoint_interval_ms: i64,
    pub replica_lag_time_max_ms: i64,
    /// Whether `replica.selector.class` sends readers to the replica in their own rack.
    pub replica_selector_rack_aware: bool,
    pub socket_request_max_bytes: i64,
}

impl NodeSettings {
    /// Reads the settings that hold for a node.
    #[must_use]
    pub fn read(layers: &Layers<'_>) -> Self {
        let number = |name| node_number(layers, name);
        let flag = |name| node_flag(layers, name);
        let text = |name| Some(node_text(layers, name)).filter(|text| !text.is_empty());
        Self {
            auto_create_topics_enable: flag("auto.create.topics.enable"),
            auto_leader_rebalance_enable: flag("auto.leader.rebalance.enable"),
            broker_heartbeat_interval_ms: number("broker.heartbeat.interval.ms"),
            broker_rack: text("broker.rack"),
            broker_session_timeout_ms: number("broker.session.timeout.ms"),
            connections_max_idle_ms: number("connections.max.idle.ms"),
            default_replication_factor: number("default.replication.factor"),
            delete_topic_enable: flag("delete.topic.enable"),
            fetch_max_bytes: number("fetch.max.bytes"),
            group_initial_rebalance_delay_ms: number("group.initial.rebalance.delay.ms"),
            group_max_session_timeout_ms: number("group.max.session.timeout.ms"),
            group_max_size: number("group.max.size"),
            group_min_session_timeout_ms: number("group.min.session.timeout.ms"),
            leader_imbalance_check_interval_seconds: number(
                "leader.imbalance.check.interval.seconds",
            ),
            log_retention_check_interval_ms: number("log.retention.check.interval.ms"),
            max_connections: number("max.connections"),
            num_partitions: number("num.partitions"),
            offset_metadata_max_bytes: number("offset.metadata.max.bytes"),
            offsets_retention_check_interval_ms: number("offsets.retention.check.interval.ms"),
            offsets_retention_minutes: number("offsets.retention.minutes"),
            offsets_topic_num_partitions: number("offsets.topic.num.partitions"),
            offsets_topic_replication_factor: number("offsets.topic.replication.factor"),
            producer_id_expiration_ms: number("producer.id.expiration.ms"),
            replica_fetch_backoff_ms: number("replica.fetch.backoff.ms"),
            replica_fetch_max_bytes: number("replica.fetch.max.bytes"),
            replica_fetch_response_max_bytes: number("replica.fetch.response.max.bytes"),
            replica_fetch_wait_max_ms: number("replica.fetch.wait.max.ms"),
            replica_high_watermark_checkpoint_interval_ms: number(
                "replica.high.watermark.checkpoint.interval.ms",
            ),
            replica_lag_time_max_ms: number("replica.lag.time.max.ms"),
            replica_selector_rack_aware: text("replica.selector.class").as_deref()
                == Some(super::definitions::RACK_AWARE_SELECTOR),
            socket_request_max_bytes: number("socket.request.max.bytes"),
        }
    }
}

fn node_text(layers: &Layers<'_>, name: &str) -> String {
    node_definition(name)
        .and_then(|d| layers.node_value(d))
        .map(|v| v.0)
        .unwrap_or_default()
}

fn node_number(layers: &Layers<'_>, name: &str) -> i64 {
    node_text(layers, name).trim().parse().unwrap_or_default()
}

fn node_flag(layers: &Layers<'_>, name: &str) -> bool {
    parse_bool(&node_text(layers, name)).unwrap_or_default()
}

/// A topic's settings on one node, in the form the core works with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSettings {
    /// What concerns a single log. `segment_ms` is without jitter.
    pub log: LogConfig,
    /// `file.delete.delay.ms`
    pub file_delete_delay_ms: i64,
    /// `min.insync.replicas`; of a topic with fewer replicas, their number counts.
    pub min_insync_replicas: i64,
    /// `segment.jitter.ms`: `segment.ms` is shortened by up to this, so that segments of many
    /// partitions do not all roll at once.
    pub segment_jitter_ms: i64,
    /// `unclean.leader.election.enable`
    pub unclean_leader_election_enable: bool,
}

impl TopicSettings {
    /// Reads the settings that hold for a topic on a node.
    #[must_use]
    pub fn read(layers: &Layers<'_>, topic: &ConfigMap) -> Self {
        let text = |name: &str| {
            let value = topic_definition(name).and_then(|d| layers.topic_value(topic, d));
            value.map(|v| v.0).unwrap_or_default()
        };
        let number = |name: &str| text(name).trim().parse::<i64>().unwrap_or_default();
        let small = |name: &str| u32::try_from(number(name)).unwrap_or(u32::MAX);
        let unless_endless = |name: &str| Some(number(name)).filter(|n| *n != i64::MAX);
        let timestamp_type = if text("message.timestamp.type") == "LogAppendTime" {
            TimestampType::LogAppendTime
        } else {
            TimestampType::CreateTime
        };
        let policy = text("cleanup.policy");
        let has_policy = |name: &str| list(&policy).any(|entry| entry == name);
        let deletes = has_policy(DELETE);
        let log = LogConfig {
            segment_bytes: small("segment.bytes"),
            segment_ms: number("segment.ms"),
            segment_index_bytes: small("segment.index.bytes"),
            index_interval_bytes: small("index.interval.bytes"),
            retention_bytes: u64::try_from(number("retention.bytes"))
                .ok()
                .filter(|_| deletes),
            retention_ms: Some(number("retention.ms")).filter(|ms| *ms >= 0 && deletes),
            max_message_bytes: small("max.message.bytes"),
            timestamp_type,
            timestamp_before_max_ms: unless_endless("message.timestamp.before.max.ms"),
            timestamp_after_max_ms: unless_endless("message.timestamp.after.max.ms"),
            flush_messages: unless_endless("flush.messages").and_then(|n| n.try_into().ok()),
            flush_ms: unless_endless("flush.ms"),
            producer_id_expiration_ms: node_number(layers, "producer.id.expiration.ms"),
            stored_codec: stored_codec(&text("compression.type"), number),
            keys_required: has_policy(COMPACT),
            ..LogConfig::default()
        };
        Self {
            log,
            file_delete_delay_ms: number("file.delete.delay.ms"),
            min_insync_replicas: number("min.insync.replicas"),
            segment_jitter_ms: number("segment.jitter.ms"),
            unclean_leader_election_enable: parse_bool(&text("unclean.leader.election.enable"))
                .unwrap_or(false),
        }
    }
}

/// The codec that `compression.type` asks for, with the level of the configuration for that codec.
fn stored_codec(kind: &str, number: impl Fn(&str) -> i64) -> Option<StoredCodec> {
    let codec = match kind.trim() {
        PRODUCER => return None,
        UNCOMPRESSED => Codec::None,
        name => Codec::from_name(name)?,
    };
    let level = codec.level_default().map(|default| {
        let level = number(&format!("compression.{codec}.level"));
        i32::try_from(level).unwrap_or(default)
    });
    Some(StoredCodec { codec, level })
}

#[cfg(test)]
mod tests {
    use super::{Codec, ConfigMap, Layers, NodeSettings, TopicSettings};
    use crate::settings::{NODE_DEFINITIONS, TOPIC_DEFINITIONS, check_node_config};

    #[test]
    fn every_default_passes_its_own_check() {
        for definition in NODE_DEFINITIONS {
            if let Some(default) = definition.default {
                assert_eq!(check_node_config(definition.name, default), Ok(()));
            }
        }
    }

    #[test]
    fn every_topic_config_has_a_value_without_anybody_saying_so() {
        let none = ConfigMap::new();
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &none,
        };
        for definition in TOPIC_DEFINITIONS {
            assert!(
                layers.topic_value(&none, definition).is_some(),
                "{}",
                definition.name
            );
        }
        let topic = TopicSettings::read(&layers, &none);
        assert_eq!(topic.log, crate::log::LogConfig::default());
        let node = NodeSettings::read(&layers);
        assert_eq!(node.socket_request_max_bytes, 100 << 20);
        assert!(node.auto_create_topics_enable);
    }

    #[test]
    fn a_compacted_topic_forgets_nothing_by_age_or_size() {
        let none = ConfigMap::new();
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &none,
        };
        let configs = [
            ("cleanup.policy", "compact"),
            ("retention.bytes", "1000"),
            ("retention.ms", "5"),
        ];
        let topic: ConfigMap = configs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let read = TopicSettings::read(&layers, &topic).log;
        assert_eq!((read.retention_ms, read.retention_bytes), (None, None));
        assert!(read.keys_required);
        let policy = |value: &str| {
            let mut topic = topic.clone();
            topic.insert("cleanup.policy".to_owned(), value.to_owned());
            TopicSettings::read(&layers, &topic).log
        };
        let both = policy("compact,delete");
        assert_eq!(
            (both.retention_ms, both.retention_bytes),
            (Some(5), Some(1000))
        );
        assert!(both.keys_required);
        let neither = policy("");
        assert_eq!(
            (neither.retention_ms, neither.retention_bytes),
            (None, None)
        );
        assert!(!neither.keys_required);
    }

    #[test]
    fn a_codec_comes_with_the_level_of_its_own_configuration() {
        let none = ConfigMap::new();
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &none,
        };
        let read = |entries: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let topic: ConfigMap = entries.iter().map(pair).collect();
            let codec = TopicSettings::read(&layers, &topic).log.stored_codec;
            codec.map(|of| (of.codec, of.level))
        };
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("compression.type", "producer")]), None);
        let level = ("compression.zstd.level", "7");
        assert_eq!(
            read(&[("compression.type", "zstd"), level]),
            Some((Codec::Zstd, Some(7)))
        );
        assert_eq!(
            read(&[("compression.type", "gzip"), level]),
            Some((Codec::Gzip, Some(-1)))
        );
        assert_eq!(
            read(&[("compression.type", "uncompressed")]),
            Some((Codec::None, None))
        );
    }
}
