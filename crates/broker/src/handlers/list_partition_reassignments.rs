//! `ListPartitionReassignments` (key 46), version 0: the partitions that are being moved.
//!
//! * No topic named means all. Partitions that are not moved, or not there, are left out.

use kgauge_wire::codec::Str;
use kgauge_wire::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment, OngoingTopicReassignment,
};

use super::RequestBody;
use super::lookup::RequestedPartitions;
use crate::ids::NodeId;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: ListPartitionReassignmentsRequest<'_> = body.decode(call.version())?;
    let requested = RequestedPartitions::of(request.topics.as_ref().map(|topics| {
        topics
            .iter()
            .map(|topic| (&*topic.name, &topic.partition_indexes))
    }));
    let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect();
    let image = std::sync::Arc::clone(&node.image);
    let mut topics = Vec::new();
    for topic in image.topics.values() {
        let moved = topic.indexed().filter(|(index, partition)| {
            partition.is_reassigning() && requested.contains(&topic.name, *index)
        });
        let partitions: Vec<_> = moved
            .map(|(index, partition)| OngoingPartitionReassignment {
                partition_index: index,
                replicas: numbers(&partition.replicas),
                adding_replicas: numbers(&partition.adding),
                removing_replicas: numbers(&partition.removing),
            })
            .collect();
        if !partitions.is_empty() {
            topics.push(OngoingTopicReassignment {
                name: Str::Borrowed(&topic.name),
                partitions,
            });
        }
    }
    let response = ListPartitionReassignmentsResponse {
        topics,
        ..ListPartitionReassignmentsResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}
