//! A second cluster, and what copies the topic to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What stands for the topic's name in that of its copy.
pub(crate) const TOPIC: &str = "{topic}";

/// A second cluster that a replicator copies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorNeeds {
    /// Brokers of the destination, if kgauge starts it.
    pub brokers: u32,
    /// What copies.
    pub replicator: Replicator,
    /// The copy's name, with `{topic}` for that of the topic.
    pub topic: String,
    /// Properties of MirrorMaker 2, as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// What copies a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicator {
    /// Apache Kafka's, started by kgauge.
    #[serde(rename = "mirror-maker-2")]
    MirrorMaker2,
    /// One that the user runs.
    None,
}

impl MirrorNeeds {
    /// The name of a topic's copy.
    pub fn copy_of(&self, topic: &str) -> String {
        self.topic.replace(TOPIC, topic)
    }

    /// What the source is called in the names of copies (`PREFIX.topic`); `None` where copies have the topic's own
    /// name.
    pub fn prefix(&self) -> Option<&str> {
        self.topic.strip_suffix(TOPIC)?.strip_suffix('.')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_called_as_the_replicator_calls_it() {
        let needs = |topic: &str| MirrorNeeds {
            brokers: 1,
            replicator: Replicator::MirrorMaker2,
            topic: topic.to_owned(),
            settings: BTreeMap::new(),
        };
        let east = needs("east.{topic}");
        assert_eq!(east.copy_of("orders"), "east.orders");
        assert_eq!(east.prefix(), Some("east"));
        assert_eq!(needs("{topic}").copy_of("orders"), "orders");
        assert_eq!(needs("{topic}").prefix(), None);
    }
}
