//! `ElectLeaders` (key 43), versions 0 to 2: gives partitions other leaders, by way of the
//! controller.
//!
//! * Preferred (version 0 knows nothing else): the first replica, if it is in sync, else
//!   PREFERRED_LEADER_NOT_AVAILABLE. Unclean: any replica that is up, if there is no leader, else
//!   ELIGIBLE_LEADERS_NOT_AVAILABLE. Where nothing is to be done: ELECTION_NOT_NEEDED.
//! * No partition named means all; then, as in Kafka, only those that changed or failed are
//!   answered.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use crate::controller::{ControllerReply, ControllerRequest, ElectionKind, PartitionKey, Refusal};
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

/// The partitions of the request.
#[derive(Debug)]
pub(crate) struct PendingElection {
    partitions: Vec<PartitionKey>,
    all: bool,
}

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: ElectLeadersRequest<'_> = body.decode(call.version())?;
    let kind = match request.election_type {
        PREFERRED => ElectionKind::Preferred,
        UNCLEAN => ElectionKind::Unclean,
        _ => {
            let response = ElectLeadersResponse {
                error_code: ErrorCode::InvalidRequest.as_i16(),
                ..ElectLeadersResponse::default()
            };
            node.respond(call.reply, &response);
            return Ok(());
        }
    };
    let partitions = match &request.topic_partitions {
        None => all_partitions(node),
        Some(topics) => topics
            .iter()
            .flat_map(|topic| {
                topic.partitions.iter().map(|index| PartitionKey {
                    topic: topic.topic.to_string(),
                    index: *index,
                })
            })
            .collect(),
    };
    let pending = PendingElection {
        partitions: partitions.clone(),
        all: request.topic_partitions.is_none(),
    };
    let request = ControllerRequest::ElectLeaders { kind, partitions };
    node.ask(
        call.now,
        request,
        ControllerQuestion::ElectLeaders(call.reply, pending),
    );
    Ok(())
}

fn all_partitions(node: &BrokerNode) -> Vec<PartitionKey> {
    let topics = node.image.topics.values();
    let keys = topics.flat_map(|topic| {
        topic.indexed().map(|(index, _)| PartitionKey {
            topic: topic.name.to_string(),
            index,
        })
    });
    keys.collect()
}

impl PendingElection {
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::ElectLeaders(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let mut topics: Vec<ReplicaElectionResult<'static>> = Vec::new();
        for key in self.partitions {
            let result = decided.next(None);
            let needless =
                |refusal: &Refusal| refusal.code == ErrorCode::ElectionNotNeeded && self.all;
            if result.as_ref().is_err_and(needless) {
                continue;
            }
            let (error_code, error_message) = error_fields(result);
            let partition = PartitionResult {
                partition_id: key.index,
                error_code,
                error_message,
            };
            match topics.last_mut().filter(|topic| *topic.topic == key.topic) {
                Some(topic) => topic.partition_result.push(partition),
                None => topics.push(ReplicaElectionResult {
                    topic: Str::Owned(key.topic),
                    partition_result: vec![partition],
                }),
            }
        }
        let response = ElectLeadersResponse {
            replica_election_results: topics,
            ..ElectLeadersResponse::default()
        };
        node.respond(reply, &response);
    }
}
