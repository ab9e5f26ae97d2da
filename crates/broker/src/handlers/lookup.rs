//! From what a client names to the partition that this node leads.

use std::collections::HashSet;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;

use crate::ids::PartitionId;
use crate::image::TopicImage;
use crate::node::replication::ReplicaRole;
use crate::node::{BrokerNode, Replica};

/// How a request names a topic: by name in old versions, by id in new ones.
#[derive(Debug, Clone, Copy)]
pub(super) enum TopicKey<'a> {
    Name(&'a str),
    Id(Uuid),
}

impl<'a> TopicKey<'a> {
    /// The id where the version carries one.
    pub(super) fn of(name: &'a str, id: Uuid, by_id: bool) -> Self {
        if by_id {
            Self::Id(id)
        } else {
            Self::Name(name)
        }
    }
}

/// The partitions that a request asks for; a request without a list asks for all. A set, since a request of the largest
/// size names more partitions than a node could compare with each of its own.
#[derive(Debug)]
pub(super) struct RequestedPartitions<'a>(Option<HashSet<(&'a str, i32)>>);

impl<'a> RequestedPartitions<'a> {
    /// From the request's topics, each with its partitions.
    pub(super) fn of<T, P>(topics: Option<T>) -> Self
    where
        T: IntoIterator<Item = (&'a str, P)>,
        P: IntoIterator<Item = &'a i32>,
    {
        let pairs =
            |(name, indexes): (&'a str, P)| indexes.into_iter().map(move |&index| (name, index));
        Self(topics.map(|topics| topics.into_iter().flat_map(pairs).collect()))
    }

    /// Whether the request asks for this partition.
    pub(super) fn contains(&self, topic: &str, index: i32) -> bool {
        self.0
            .as_ref()
            .is_none_or(|pairs| pairs.contains(&(topic, index)))
    }
}

/// The topic that a request names.
pub(super) fn topic(node: &BrokerNode, key: TopicKey<'_>) -> Result<Arc<TopicImage>, ErrorCode> {
    if let Some(code) = node.faults.forced {
        return Err(code);
    }
    match key {
        TopicKey::Name(name) => node
            .image
            .topic(name)
            .cloned()
            .ok_or(ErrorCode::UnknownTopicOrPartition),
        TopicKey::Id(id) => node
            .image
            .topic_by_id(id)
            .cloned()
            .ok_or(ErrorCode::UnknownTopicId),
    }
}

/// The replica of a topic's partition, if this node leads it in the epoch that the client believes
/// in.
pub(super) fn led<'n>(
    node: &'n mut BrokerNode,
    topic: &TopicImage,
    index: i32,
    client_epoch: i32,
) -> Result<&'n mut Replica, ErrorCode> {
    if topic.partition(index).is_none() {
        return Err(ErrorCode::UnknownTopicOrPartition);
    }
    let id = PartitionId {
        topic: topic.id,
        index,
    };
    let broken = node.broken.contains(&id);
    match node.replicas.get_mut(&id) {
        Some(replica) => {
            replica.check_led(client_epoch)?;
            Ok(replica)
        }
        None if broken => Err(ErrorCode::KafkaStorageError),
        None => Err(ErrorCode::NotLeaderOrFollower),
    }
}

/// The replica of a topic's partition on this node, whether it leads or follows.
pub(super) fn kept<'n>(
    node: &'n mut BrokerNode,
    topic: &TopicImage,
    index: i32,
    client_epoch: i32,
) -> Result<&'n mut Replica, ErrorCode> {
    let id = PartitionId {
        topic: topic.id,
        index,
    };
    let known = node.replicas.get(&id);
    if known.is_none_or(|replica| matches!(replica.role, ReplicaRole::Idle)) {
        return led(node, topic, index, client_epoch);
    }
    let replica = node
        .replicas
        .get_mut(&id)
        .ok_or(ErrorCode::NotLeaderOrFollower)?;
    replica.check_epoch(client_epoch)?;
    Ok(replica)
}

/// Like [`led`], from a topic's name.
pub(super) fn led_by_name<'n>(
    node: &'n mut BrokerNode,
    name: &str,
    index: i32,
    client_epoch: i32,
) -> Result<&'n mut Replica, ErrorCode> {
    let topic = topic(node, TopicKey::Name(name))?;
    led(node, &topic, index, client_epoch)
}
