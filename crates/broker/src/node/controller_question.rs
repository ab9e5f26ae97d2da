//! Questions to the controller that wait for its answer, and who waits behind them.

use super::{BrokerNode, NodeOutput, Reply};
use crate::controller::{ControllerReply, ControllerRequest, Refusal, ToController};
use crate::handlers;
use crate::time::Now;

/// What to do with an answer of the controller.
#[derive(Debug)]
pub(crate) enum ControllerQuestion {
    CreateTopics(Reply, handlers::create_topics::PendingTopicCreation),
    DeleteTopics(Reply, handlers::delete_topics::PendingTopicDeletion),
    CreatePartitions(Reply, handlers::create_partitions::PendingPartitionCreation),
    AlterConfigs(Reply, handlers::alter_configs::PendingConfigChange),
    AlterScramUsers(
        Reply,
        handlers::alter_user_scram_credentials::PendingScramChange,
    ),
    /// Topics that a metadata request mentioned first.
    AutoCreate(Reply, handlers::metadata::MetadataQuery),
    /// The topic of the groups' offsets, which a search for a coordinator needs.
    OffsetsTopic(Reply, handlers::find_coordinator::CoordinatorQuery),
    ProducerIds,
    /// Other ISRs.
    AlterIsr,
    ElectLeaders(Reply, handlers::elect_leaders::PendingElection),
    AlterClientQuotas(Reply, handlers::alter_client_quotas::PendingQuotaChange),
    Reassign(
        Reply,
        handlers::alter_partition_reassignments::PendingReassignment,
    ),
}

impl BrokerNode {
    /// Asks the controller; `asked` decides what happens with the answer.
    pub(crate) fn ask(&mut self, now: Now, request: ControllerRequest, asked: ControllerQuestion) {
        if let Some(code) = self.faults.forced {
            let refusal = Refusal::new(code, "Injected fault.");
            return asked.finish(self, now, ControllerReply::Failed(refusal));
        }
        self.ask_always(request, asked);
    }

    /// Gives up waiting for an answer.
    pub(super) fn forget_question(&mut self, id: u64) {
        self.asked.remove(&id);
    }

    /// The same for what no client has asked for: faults do not concern it.
    pub(crate) fn ask_always(
        &mut self,
        request: ControllerRequest,
        asked: ControllerQuestion,
    ) -> u64 {
        let id = self.asked_count;
        self.asked_count += 1;
        self.asked.insert(id, asked);
        self.outputs
            .push(NodeOutput::ToController(ToController::Request {
                id,
                request,
            }));
        id
    }
}

impl ControllerQuestion {
    pub(super) fn finish(self, node: &mut BrokerNode, now: Now, answer: ControllerReply) {
        match self {
            Self::CreateTopics(reply, pending) => pending.finish(node, reply, answer),
            Self::DeleteTopics(reply, pending) => pending.finish(node, reply, answer),
            Self::CreatePartitions(reply, pending) => pending.finish(node, reply, answer),
            Self::AlterConfigs(reply, pending) => pending.finish(node, reply, answer),
            Self::AlterScramUsers(reply, pending) => pending.finish(node, reply, answer),
            Self::AutoCreate(reply, query) => {
                handlers::metadata::finish(node, reply, &query, answer);
            }
            Self::OffsetsTopic(reply, query) => {
                handlers::find_coordinator::finish(node, reply, &query);
            }
            Self::ProducerIds => node.producer_ids_arrived(now, answer),
            Self::AlterIsr => node.isrs_decided(&answer),
            Self::ElectLeaders(reply, pending) => pending.finish(node, reply, answer),
            Self::AlterClientQuotas(reply, pending) => pending.finish(node, reply, answer),
            Self::Reassign(reply, pending) => pending.finish(node, reply, answer),
        }
    }
}
