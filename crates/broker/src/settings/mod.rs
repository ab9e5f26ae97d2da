//! Configuration under Kafka's names: what is known, who decided a value, and the typed form that
//! the core works with.

mod check;
mod definitions;
mod ignored;
mod layers;
mod typed;

use std::collections::BTreeMap;

pub use check::{ConfigType, ValueRule};
pub use definitions::{
    ChangePolicy, NODE_DEFINITIONS, NodeDefinition, TOPIC_DEFINITIONS, TopicDefinition,
    node_definition, topic_definition,
};
pub use ignored::is_ignored_node_config;
pub use layers::{Layers, SettingSource, Synonym};
pub use typed::{NodeSettings, TopicSettings};

/// Configuration values by Kafka's names.
pub type ConfigMap = BTreeMap<String, String>;

/// Why a configuration was refused, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Checks one topic configuration: a known name and a value that fits. Gives the value as it is kept.
pub fn checked_topic_config(name: &str, value: &str) -> Result<String, ConfigError> {
    let Some(known) = topic_definition(name) else {
        return Err(ConfigError(format!("Unknown topic config name: {name}")));
    };
    check::check(name, known.kind, known.check, value).map_err(ConfigError)?;
    Ok(check::canonical(known.kind, value))
}

/// The default of a topic configuration that is a list; `None` for other types and unknown names.
#[must_use]
pub fn topic_list_default(name: &str) -> Option<&'static str> {
    let known = topic_definition(name).filter(|known| known.kind == ConfigType::List)?;
    let of_node = || node_definition(known.synonyms.first()?.0)?.default;
    known.default.or_else(of_node)
}

/// The default of a node configuration that is a list; `None` for other types and unknown names.
#[must_use]
pub fn node_list_default(name: &str) -> Option<&'static str> {
    let known = node_definition(name).filter(|known| known.kind == ConfigType::List)?;
    known.default
}

/// A list with more entries behind it; what is in it already is not added.
#[must_use]
pub fn list_append(present: &str, entries: &str) -> String {
    let both = match present.trim() {
        "" => entries.to_owned(),
        // Without entries this leaves an empty one, which the check refuses.
        present => format!("{present},{entries}"),
    };
    check::canonical(ConfigType::List, &both)
}

/// A list without some entries.
#[must_use]
pub fn list_subtract(present: &str, entries: &str) -> String {
    let left = check::list(present).filter(|entry| !check::list(entries).any(|out| out == *entry));
    left.collect::<Vec<_>>().join(",")
}

/// Checks one node configuration: a known name and a value that fits.
pub fn check_node_config(name: &str, value: &str) -> Result<(), ConfigError> {
    match node_definition(name) {
        Some(known) => check::check(name, known.kind, known.check, value).map_err(ConfigError),
        None if is_ignored_node_config(name) => Err(ConfigError(format!(
            "The broker configuration {name} has no effect on the embedded cluster"
        ))),
        None => Err(ConfigError(format!(
            "The embedded cluster does not support the broker configuration {name}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigError, check_node_config, checked_topic_config, list_append, list_subtract};

    fn refused(name: &str, value: &str) -> String {
        let ConfigError(words) = checked_topic_config(name, value).unwrap_err();
        words
    }

    fn kept(name: &str, value: &str) -> String {
        checked_topic_config(name, value).unwrap()
    }

    #[test]
    fn a_misspelt_topic_config_is_refused_by_name() {
        assert_eq!(
            refused("retention.mss", "1"),
            "Unknown topic config name: retention.mss"
        );
    }

    #[test]
    fn a_cleanup_policy_is_kept_as_kafka_keeps_it() {
        for value in ["", "compact", "delete", "compact,delete"] {
            assert_eq!(kept("cleanup.policy", value), value);
        }
        assert_eq!(
            kept("cleanup.policy", " delete , compact,delete"),
            "delete,compact"
        );
        assert_eq!(
            refused("cleanup.policy", "compact,keep"),
            "Invalid value compact,keep for configuration cleanup.policy: String must be one of: \
             compact, delete"
        );
        assert!(refused("cleanup.policy", "compact,").contains("must not be empty"));
    }

    #[test]
    fn what_is_not_done_takes_the_value_that_changes_nothing() {
        for (name, value, other) in [
            ("min.cleanable.dirty.ratio", "0.50", "0.01"),
            ("max.compaction.lag.ms", "9223372036854775807", "60000"),
            ("compression.lz4.level", "9", "12"),
            ("remote.storage.enable", "FALSE", "true"),
        ] {
            assert_eq!(kept(name, value), value);
            assert!(refused(name, other).contains("embedded cluster only accepts"));
        }
    }

    #[test]
    fn levels_and_replica_lists_have_kafkas_bounds() {
        assert_eq!(kept("compression.gzip.level", "-1"), "-1");
        assert!(refused("compression.gzip.level", "0").contains("between 1 and 9 or equal to -1"));
        assert!(refused("compression.zstd.level", "23").contains("no more than 22"));
        for value in ["", "*", "0:1,1:2"] {
            assert_eq!(kept("leader.replication.throttled.replicas", value), value);
        }
        assert!(refused("leader.replication.throttled.replicas", "none").contains("literal '*'"));
    }

    #[test]
    fn entries_are_added_to_a_list_once_and_taken_from_it() {
        assert_eq!(list_append("delete", "compact,delete"), "delete,compact");
        assert_eq!(list_append("", "delete"), "delete");
        assert_eq!(list_append("delete", ""), "delete,");
        assert_eq!(list_subtract("delete,compact", "delete, other"), "compact");
        assert_eq!(list_subtract("compact", "compact"), "");
    }

    #[test]
    fn values_of_the_wrong_type_or_range_are_refused() {
        assert!(refused("retention.ms", "soon").contains("Not a number of type LONG"));
        assert!(refused("retention.ms", "-2").contains("at least -1"));
        assert!(refused("preallocate", "maybe").contains("either true or false"));
        assert!(refused("message.timestamp.type", "now").contains("CreateTime, LogAppendTime"));
        assert_eq!(kept("retention.ms", "-1"), "-1");
        assert_eq!(kept("segment.bytes", "2147483647"), "2147483647");
        assert!(refused("segment.bytes", "2147483648").contains("INT"));
    }

    #[test]
    fn a_node_config_beyond_its_upper_bound_is_refused() {
        assert_eq!(
            check_node_config("offsets.topic.num.partitions", "50"),
            Ok(())
        );
        assert!(check_node_config("offsets.topic.num.partitions", "5000").is_err());
        assert!(check_node_config("zookeeper.connect", "localhost").is_err());
    }
}
