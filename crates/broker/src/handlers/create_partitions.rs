//! `CreatePartitions` (key 37), versions 0 to 3: more partitions for topics, by way of the
//! controller.
//!
//! * A count that is not above the present one is refused (INVALID_PARTITIONS), and so is any
//!   change of the topic of the groups' offsets, whose partitions decide who coordinates a group.

use kgauge_wire::codec::Str;
use kgauge_wire::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use crate::controller::{ControllerReply, ControllerRequest, Mode, PartitionIncrease};
use crate::ids::NodeId;
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

/// The topics' names in the request's order.
#[derive(Debug)]
pub(crate) struct PendingPartitionCreation(Vec<String>);

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: CreatePartitionsRequest<'_> = body.decode(call.version())?;
    let pending = PendingPartitionCreation(
        request
            .topics
            .iter()
            .map(|topic| topic.name.to_string())
            .collect(),
    );
    let topics = request.topics.iter().map(read).collect();
    let mode = Mode::of(request.validate_only);
    let asked = ControllerQuestion::CreatePartitions(call.reply, pending);
    node.ask(
        call.now,
        ControllerRequest::CreatePartitions { topics, mode },
        asked,
    );
    Ok(())
}

fn read(topic: &CreatePartitionsTopic<'_>) -> PartitionIncrease {
    let assignments = topic.assignments.as_ref().map(|list| {
        list.iter()
            .map(|a| a.broker_ids.iter().copied().map(NodeId).collect())
            .collect()
    });
    PartitionIncrease {
        name: topic.name.to_string(),
        count: topic.count,
        assignments,
    }
}

impl PendingPartitionCreation {
    /// Answers with the controller's results.
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::CreatePartitions(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let mut results = Vec::with_capacity(self.0.len());
        for name in self.0 {
            let (error_code, error_message) = error_fields(decided.next(None));
            results.push(CreatePartitionsTopicResult {
                name: Str::Owned(name),
                error_code,
                error_message,
            });
        }
        let response = CreatePartitionsResponse {
            results,
            ..CreatePartitionsResponse::default()
        };
        node.respond(reply, &response);
    }
}
