//! Names of nodes, partitions and connections.

use std::fmt;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use serde::{Deserialize, Serialize};

/// A node's number in its cluster, Kafka's `node.id`. Counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub i32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One partition of one topic. The topic goes by its id, so that a topic deleted and created again
/// under the same name is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId {
    /// The topic's id.
    pub topic: Uuid,
    /// The partition's index in the topic.
    pub index: i32,
}

/// A client's connection to a node. Never given out twice by one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// A topic's name, shared by all who mention it.
pub type TopicName = Arc<str>;

/// Name of the topic that keeps the groups' committed offsets and members.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// Longest topic name, in bytes. The folder `<topic>-<partition>` must fit a file name.
pub const TOPIC_NAME_BYTES_MAX: usize = 249;

/// Tells what is wrong with a topic's name, in the words of Kafka's `Topic.validate`.
pub fn check_topic_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("the empty string is not allowed".to_owned());
    }
    if name == "." || name == ".." {
        return Err(format!("'{name}' is not allowed"));
    }
    if name.len() > TOPIC_NAME_BYTES_MAX {
        return Err(format!(
            "the length is longer than the max allowed {TOPIC_NAME_BYTES_MAX}"
        ));
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !name.bytes().all(legal) {
        return Err(format!(
            "'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' \
             and '-'"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_topic_name;

    #[test]
    fn topic_names_are_those_that_kafka_allows() {
        for good in ["a", "A.b_c-9", "...", &"x".repeat(249)] {
            assert_eq!(check_topic_name(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "a b", "a/b", "ä", "../x", &"x".repeat(250)] {
            assert!(check_topic_name(bad).is_err(), "{bad}");
        }
    }
}
