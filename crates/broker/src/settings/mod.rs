//! Configuration under Kafka's names: what is known, who decided a value, and the typed form that
//! the core works with.

mod check;
mod definitions;
mod layers;
mod typed;

use std::collections::BTreeMap;

pub use check::{Check, ConfigType};
pub use definitions::{
    Change, NODE_DEFINITIONS, NodeDefinition, TOPIC_DEFINITIONS, TopicDefinition, node_definition,
    topic_definition,
};
pub use layers::{Layers, Source, Synonym};
pub use typed::{NodeSettings, TopicSettings};

/// Configuration values by Kafka's names.
pub type ConfigMap = BTreeMap<String, String>;

/// Why a configuration was refused, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Checks one topic configuration: a known name and a value that fits.
pub fn check_topic_config(name: &str, value: &str) -> Result<(), ConfigError> {
    match topic_definition(name) {
        Some(known) => check::check(name, known.kind, known.check, value).map_err(ConfigError),
        None if definitions::TOPIC_NOT_DONE.contains(&name) => Err(ConfigError(format!(
            "The topic configuration {name} is Kafka's, but the embedded cluster does not do it yet"
        ))),
        None => Err(ConfigError(format!("Unknown topic config name: {name}"))),
    }
}

/// Checks one node configuration: a known name and a value that fits.
pub fn check_node_config(name: &str, value: &str) -> Result<(), ConfigError> {
    match node_definition(name) {
        Some(known) => check::check(name, known.kind, known.check, value).map_err(ConfigError),
        None => Err(ConfigError(format!(
            "The embedded cluster does not know the broker configuration {name}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigError, check_node_config, check_topic_config};

    fn refused(name: &str, value: &str) -> String {
        let ConfigError(words) = check_topic_config(name, value).unwrap_err();
        words
    }

    #[test]
    fn a_misspelt_topic_config_is_refused_by_name() {
        assert_eq!(
            refused("retention.mss", "1"),
            "Unknown topic config name: retention.mss"
        );
    }

    #[test]
    fn a_topic_is_deleted_from_or_compacted_and_not_both() {
        assert_eq!(check_topic_config("cleanup.policy", "compact"), Ok(()));
        assert!(refused("cleanup.policy", "compact,delete").contains("not done yet"));
        assert!(refused("min.cleanable.dirty.ratio", "0.5").contains("does not do it yet"));
        assert_eq!(check_topic_config("cleanup.policy", "delete"), Ok(()));
    }

    #[test]
    fn values_of_the_wrong_type_or_range_are_refused() {
        assert!(refused("retention.ms", "soon").contains("Not a number of type LONG"));
        assert!(refused("retention.ms", "-2").contains("at least -1"));
        assert!(refused("preallocate", "maybe").contains("either true or false"));
        assert!(refused("message.timestamp.type", "now").contains("CreateTime, LogAppendTime"));
        assert_eq!(check_topic_config("retention.ms", "-1"), Ok(()));
        assert_eq!(check_topic_config("segment.bytes", "2147483647"), Ok(()));
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
