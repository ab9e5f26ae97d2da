//! Uses an existing topic unchanged, if it suits the trial.

use kgauge_client::cluster::Topic;
use kgauge_client::{Cluster, ClusterError};

/// Kafka's error code for an unknown topic (protocol guide, "Error Codes").
const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;

/// Why an existing topic cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The cluster cannot be asked about the topic.
    #[error("topic {topic}: {source}")]
    Cluster {
        /// The topic.
        topic: String,
        /// Why.
        #[source]
        source: Box<ClusterError>,
    },
    /// The topic does not exist.
    #[error("topic {topic} does not exist, or this user may not see it")]
    Missing {
        /// The topic.
        topic: String,
    },
    /// It is one of Kafka's internal topics.
    #[error("topic {topic} is internal to Kafka; kgauge never writes to it")]
    Internal {
        /// The topic.
        topic: String,
    },
    /// The cluster refuses to describe the topic.
    #[error("topic {topic}: the cluster answers {broker_words}")]
    Refused {
        /// The topic.
        topic: String,
        /// The broker's error.
        broker_words: String,
    },
    /// Its layout differs from the trial's.
    #[error(
        "topic {topic} has {found} {what}, but the trial wants {required}; kgauge does not change \
         existing topics"
    )]
    Layout {
        /// The topic.
        topic: String,
        /// What differs: `partitions`, or the replicas of one of them.
        what: String,
        /// The actual number.
        found: usize,
        /// The number that the trial needs.
        required: usize,
    },
}

impl AdoptError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            AdoptError::Cluster { source, .. } => source.fix(),
            AdoptError::Missing { .. } => {
                "create it, or name an existing topic with --allow-existing TOPIC"
            }
            AdoptError::Internal { .. } => "name another topic with --allow-existing TOPIC",
            AdoptError::Refused { .. } => "allow this client to describe and use it",
            AdoptError::Layout { .. } => {
                "change the scenario (--set topic.partitions=N --set topic.replication=N), or name another topic"
            }
        }
    }
}

/// Partitions and replicas that a trial needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of partitions.
    pub partitions: usize,
    /// Number of replicas per partition.
    pub replicas: usize,
}

/// Looks up a topic that the user allowed by name, and checks that it suits.
///
/// Nothing is changed: such a topic is never registered with a [`TopicGuard`](crate::TopicGuard), so that no run
/// deletes it. Its records stay. On brokers before 0.11 with `auto.create.topics.enable`, the request creates a missing
/// topic.
pub fn adopt(cluster: &mut Cluster, name: &str, layout: Layout) -> Result<(), AdoptError> {
    let metadata = cluster
        .refresh(&[name])
        .map_err(|source| AdoptError::Cluster {
            topic: name.to_owned(),
            source: Box::new(source),
        })?;
    match metadata.topic(name) {
        Some(topic) => check(topic, layout),
        None => Err(AdoptError::Missing {
            topic: name.to_owned(),
        }),
    }
}

fn check(found: &Topic, layout: Layout) -> Result<(), AdoptError> {
    let topic = found.name.clone();
    if found.is_internal {
        return Err(AdoptError::Internal { topic });
    }
    if found.error.as_i16() == UNKNOWN_TOPIC_OR_PARTITION {
        return Err(AdoptError::Missing { topic });
    }
    if !found.error.is_none() {
        let broker_words = found.error.to_string();
        return Err(AdoptError::Refused {
            topic,
            broker_words,
        });
    }
    if found.partitions.len() != layout.partitions {
        return Err(AdoptError::Layout {
            topic,
            what: "partitions".to_owned(),
            found: found.partitions.len(),
            required: layout.partitions,
        });
    }
    let other = found
        .partitions
        .iter()
        .find(|partition| partition.replicas.len() != layout.replicas);
    match other {
        Some(partition) => Err(AdoptError::Layout {
            topic,
            what: format!("replicas of partition {}", partition.index),
            found: partition.replicas.len(),
            required: layout.replicas,
        }),
        None => Ok(()),
    }
}
