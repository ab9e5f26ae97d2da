//! Questions to the controller that wait for its answer, and who waits behind them.

use super::{Node, Output, Reply};
use crate::controller::{Answer, Refusal, Request, ToController};
use crate::handlers;
use crate::time::Now;

/// What to do with an answer of the controller.
#[derive(Debug)]
pub(crate) enum Asked {
    CreateTopics(Reply, handlers::create_topics::Begun),
    DeleteTopics(Reply, handlers::delete_topics::Begun),
    CreatePartitions(Reply, handlers::create_partitions::Begun),
    AlterConfigs(Reply, handlers::alter_configs::Begun),
    AlterScramUsers(Reply, handlers::alter_user_scram_credentials::Begun),
    /// Topics that a metadata request mentioned first.
    AutoCreate(Reply, handlers::metadata::Wanted),
    /// The topic of the groups' offsets, which a search for a coordinator needs.
    OffsetsTopic(Reply, handlers::find_coordinator::Wanted),
    ProducerIds,
    /// Other ISRs.
    AlterIsr,
    ElectLeaders(Reply, handlers::elect_leaders::Begun),
    AlterClientQuotas(Reply, handlers::alter_client_quotas::Begun),
    Reassign(Reply, handlers::alter_partition_reassignments::Begun),
}

impl Node {
    /// Asks the controller; `asked` says what happens with the answer.
    pub(crate) fn ask(&mut self, now: Now, request: Request, asked: Asked) {
        if let Some(code) = self.faults.forced {
            let refusal = Refusal::new(code, "A fault that was set.");
            return asked.finish(self, now, Answer::Failed(refusal));
        }
        self.ask_always(request, asked);
    }

    /// Gives up waiting for an answer.
    pub(super) fn forget_question(&mut self, id: u64) {
        self.asked.remove(&id);
    }

    /// The same for what no client has asked for: faults do not concern it.
    pub(crate) fn ask_always(&mut self, request: Request, asked: Asked) -> u64 {
        let id = self.asked_count;
        self.asked_count += 1;
        self.asked.insert(id, asked);
        self.outputs
            .push(Output::ToController(ToController::Request { id, request }));
        id
    }
}

impl Asked {
    pub(super) fn finish(self, node: &mut Node, now: Now, answer: Answer) {
        match self {
            Self::CreateTopics(reply, begun) => begun.finish(node, reply, answer),
            Self::DeleteTopics(reply, begun) => begun.finish(node, reply, answer),
            Self::CreatePartitions(reply, begun) => begun.finish(node, reply, answer),
            Self::AlterConfigs(reply, begun) => begun.finish(node, reply, answer),
            Self::AlterScramUsers(reply, begun) => begun.finish(node, reply, answer),
            Self::AutoCreate(reply, wanted) => {
                handlers::metadata::finish(node, reply, &wanted, answer);
            }
            Self::OffsetsTopic(reply, wanted) => {
                handlers::find_coordinator::finish(node, reply, &wanted);
            }
            Self::ProducerIds => node.producer_ids_arrived(now, answer),
            Self::AlterIsr => node.isrs_decided(&answer),
            Self::ElectLeaders(reply, begun) => begun.finish(node, reply, answer),
            Self::AlterClientQuotas(reply, begun) => begun.finish(node, reply, answer),
            Self::Reassign(reply, begun) => begun.finish(node, reply, answer),
        }
    }
}
