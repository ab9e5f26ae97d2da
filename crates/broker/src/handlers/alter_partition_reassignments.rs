//! `AlterPartitionReassignments` (key 45), versions 0 to 1: moves partitions to other nodes, by way
//! of the controller.
//!
//! * The new replicas join the old ones, and when all of them are in sync those who go are removed.
//!   Null calls a move off (NO_REASSIGNMENT_IN_PROGRESS when there is none).
//! * Empty lists, nodes named twice and unknown nodes: INVALID_REPLICA_ASSIGNMENT.
//! * From version 1 a client may forbid that the number of replicas changes
//!   (INVALID_REPLICATION_FACTOR).

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse, ReassignableTopicResponse,
};

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use crate::controller::{ControllerReply, ControllerRequest, PartitionKey, Reassignment, Refusal};
use crate::ids::NodeId;
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

/// The partitions of the request, with refusals that need no controller.
#[derive(Debug)]
pub(crate) struct PendingReassignment(Vec<(PartitionKey, Option<Refusal>)>);

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: AlterPartitionReassignmentsRequest<'_> = body.decode(call.version())?;
    let (mut pending, mut moves) = (Vec::new(), Vec::new());
    for topic in &request.topics {
        for partition in &topic.partitions {
            let key = PartitionKey {
                topic: topic.name.to_string(),
                index: partition.partition_index,
            };
            let replicas = partition.replicas.as_ref();
            let replicas = replicas.map(|nodes| nodes.iter().copied().map(NodeId).collect());
            let move_to = Reassignment {
                key: key.clone(),
                replicas,
            };
            let early = if request.allow_replication_factor_change {
                None
            } else {
                changes_factor(node, &move_to)
            };
            if early.is_none() {
                moves.push(move_to);
            }
            pending.push((key, early));
        }
    }
    let asked = ControllerQuestion::Reassign(call.reply, PendingReassignment(pending));
    node.ask(call.now, ControllerRequest::Reassign(moves), asked);
    Ok(())
}

fn changes_factor(node: &BrokerNode, reassignment: &Reassignment) -> Option<Refusal> {
    let target = reassignment.replicas.as_ref()?;
    let topic = node.image.topic(&reassignment.key.topic)?;
    let partition = topic.partition(reassignment.key.index)?;
    let present = partition.replicas.len() - partition.adding.len();
    (present != target.len()).then(|| {
        let words = format!(
            "The replication factor is changed from {present} to {}",
            target.len()
        );
        Refusal::new(ErrorCode::InvalidReplicationFactor, words)
    })
}

impl PendingReassignment {
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::Reassign(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let mut topics: Vec<ReassignableTopicResponse<'static>> = Vec::new();
        for (key, early) in self.0 {
            let (error_code, error_message) = error_fields(decided.next(early));
            let partition = ReassignablePartitionResponse {
                partition_index: key.index,
                error_code,
                error_message,
            };
            match topics.last_mut().filter(|topic| *topic.name == key.topic) {
                Some(topic) => topic.partitions.push(partition),
                None => topics.push(ReassignableTopicResponse {
                    name: Str::Owned(key.topic),
                    partitions: vec![partition],
                }),
            }
        }
        let response = AlterPartitionReassignmentsResponse {
            responses: topics,
            ..AlterPartitionReassignmentsResponse::default()
        };
        node.respond(reply, &response);
    }
}
