//! `DescribeTopicPartitions` (key 75), version 0: topics and their partitions, page by page.
//!
//! * No topic named means all. Topics come sorted by name; a page ends after
//!   `ResponsePartitionLimit` partitions (2,000 at most) with a cursor to go on from. Nothing is
//!   created.
//! * Eligible leader replicas (KIP-966) are those of the partition; the last known ones are never
//!   null, over which Kafka 4.3.1's admin client falls.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseCursor as NextCursor, DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
};

use super::{RequestBody, authorized};
use crate::image::{ClusterImage, PartitionImage, TopicImage};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

/// Kafka's `max.request.partition.size.limit`.
const PARTITIONS_MAX: usize = 2000;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeTopicPartitionsRequest<'_> = body.decode(call.version())?;
    let image = std::sync::Arc::clone(&node.image);
    let mut names: Vec<&str> = if request.topics.is_empty() {
        image.topics.keys().map(AsRef::as_ref).collect()
    } else {
        request.topics.iter().map(|topic| &*topic.name).collect()
    };
    names.sort_unstable();
    names.dedup();
    let limit = usize::try_from(request.response_partition_limit).unwrap_or(0);
    let mut left = limit.clamp(1, PARTITIONS_MAX);
    let (from, mut skip) = match &request.cursor {
        Some(cursor) => (&*cursor.topic_name, cursor.partition_index),
        None => ("", 0),
    };
    let mut response = DescribeTopicPartitionsResponse::default();
    for name in names.into_iter().filter(|name| *name >= from) {
        let first = if name == from {
            std::mem::take(&mut skip)
        } else {
            0
        };
        let page = Page { first, left };
        if left == 0 {
            let topic_name = Str::Owned(name.to_owned());
            response.next_cursor = Some(NextCursor {
                topic_name,
                partition_index: 0,
            });
            break;
        }
        let Some(topic) = image.topic(name) else {
            response.topics.push(unknown(name));
            continue;
        };
        let (entry, next) = page.of(&image, topic);
        left -= entry.partitions.len();
        response.topics.push(entry);
        if let Some(partition_index) = next {
            let topic_name = Str::Owned(name.to_owned());
            response.next_cursor = Some(NextCursor {
                topic_name,
                partition_index,
            });
            break;
        }
    }
    node.respond(call.reply, &response);
    Ok(())
}

/// Where in a topic a page begins and how much room it has.
struct Page {
    first: i32,
    left: usize,
}

impl Page {
    /// The part of a topic that fits, and the partition to go on from if it does not end there.
    fn of(
        &self,
        image: &ClusterImage,
        topic: &TopicImage,
    ) -> (DescribeTopicPartitionsResponseTopic<'static>, Option<i32>) {
        let mut rest = topic.indexed().filter(|(index, _)| *index >= self.first);
        let partitions = rest.by_ref().take(self.left);
        let partitions = partitions.map(|entry| describe(image, entry)).collect();
        let next = rest.next().map(|(index, _)| index);
        let entry = DescribeTopicPartitionsResponseTopic {
            error_code: 0,
            name: Some(Str::Owned(topic.name.to_string())),
            topic_id: topic.id,
            is_internal: topic.is_internal(),
            partitions,
            topic_authorized_operations: authorized::ON_TOPIC,
        };
        (entry, next)
    }
}

fn describe(
    image: &ClusterImage,
    (index, partition): (i32, &PartitionImage),
) -> DescribeTopicPartitionsResponsePartition {
    DescribeTopicPartitionsResponsePartition {
        error_code: 0,
        partition_index: index,
        leader_id: partition.leader_number(),
        leader_epoch: partition.leader_epoch,
        replica_nodes: partition.replicas.iter().map(|node| node.0).collect(),
        isr_nodes: partition.isr.iter().map(|node| node.0).collect(),
        eligible_leader_replicas: Some(partition.elr.iter().map(|node| node.0).collect()),
        last_known_elr: Some(partition.last_leader.iter().map(|node| node.0).collect()),
        offline_replicas: partition.offline(image).map(|node| node.0).collect(),
    }
}

fn unknown(name: &str) -> DescribeTopicPartitionsResponseTopic<'static> {
    let error = match crate::ids::check_topic_name(name) {
        Ok(()) => ErrorCode::UnknownTopicOrPartition,
        Err(_) => ErrorCode::InvalidTopicException,
    };
    DescribeTopicPartitionsResponseTopic {
        error_code: error.as_i16(),
        name: Some(Str::Owned(name.to_owned())),
        ..DescribeTopicPartitionsResponseTopic::default()
    }
}
