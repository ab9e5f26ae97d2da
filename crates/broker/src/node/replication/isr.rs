//! Asking the controller for another ISR, many partitions at a time.

use kgauge_wire::error_code::ErrorCode;

use super::super::{BrokerNode, ControllerQuestion, Timer};
use super::ReplicaRole;
use crate::controller::{ControllerReply, ControllerRequest, IsrChange, Refusal};
use crate::ids::{NodeId, PartitionId};
use crate::time::Now;

/// What is to be asked, and whether a question is on its way.
#[derive(Debug, Default)]
pub(crate) struct IsrQuestions {
    next: Vec<IsrChange>,
    asked: Option<Question>,
}

/// A question that is on its way.
#[derive(Debug)]
struct Question {
    id: u64,
    partitions: Vec<PartitionId>,
    /// It was there at the last check already.
    old: bool,
}

impl BrokerNode {
    pub(in crate::node) fn start_isr_checks(&mut self, now: Now) {
        // Kafka checks twice in the time that a follower may lag.
        let every_ms = (self.settings.replica_lag_time_max_ms / 2).max(1);
        self.timers.set(now.after_ms(every_ms), Timer::IsrCheck);
    }

    /// Proposes to go on without the followers that fell behind, and sets the next time.
    pub(in crate::node) fn check_isrs(&mut self, now: Now) {
        self.give_up_old_question();
        let lag_ms = self.settings.replica_lag_time_max_ms;
        let mut changes = Vec::new();
        let mut waiting = Vec::new();
        for (id, replica) in &mut self.replicas {
            let log_end = replica.log.log_end_offset();
            let ReplicaRole::Leading(leading) = &mut replica.role else {
                continue;
            };
            if let Some(isr) = leading.shrink(now, log_end, lag_ms) {
                changes.push((*id, isr));
            }
            let all_in = leading.isr.len() > leading.followers.len();
            if replica.log.high_watermark() < log_end || !all_in {
                waiting.push(*id);
            }
        }
        changes.sort_unstable();
        waiting.sort_unstable();
        for (id, isr) in changes {
            self.propose(id, &isr);
        }
        // A follower outside of the ISR that no longer keeps up holds nothing back.
        for id in waiting {
            self.advance(now, id);
            self.ask_for_members(id);
        }
        self.ask_for_isrs();
        self.start_isr_checks(now);
    }

    /// Proposes the followers for the ISR that have caught up, one after the other: the next when the
    /// one before is decided.
    pub(in crate::node) fn ask_for_members(&mut self, id: PartitionId) {
        let Some(replica) = self.replicas.get(&id) else {
            return;
        };
        let ReplicaRole::Leading(leading) = &replica.role else {
            return;
        };
        let outside = |node: &&NodeId| !leading.isr.contains(node);
        let outside: Vec<NodeId> = leading.followers.keys().filter(outside).copied().collect();
        for follower in outside {
            self.ask_for_member(id, follower);
        }
    }

    /// Proposes a follower for the ISR, if it has caught up.
    pub(super) fn ask_for_member(&mut self, id: PartitionId, follower: NodeId) {
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        let high_watermark = replica.log.high_watermark();
        if let ReplicaRole::Leading(leading) = &mut replica.role
            && let Some(isr) = leading.grow(follower, high_watermark)
        {
            self.propose(id, &isr);
            self.ask_for_isrs();
        }
    }

    fn propose(&mut self, id: PartitionId, isr: &[NodeId]) {
        let own = self.id();
        let own_epoch = self.image.nodes.get(&own).map_or(0, |node| node.epoch);
        let Some(replica) = self.replicas.get(&id) else {
            return;
        };
        let ReplicaRole::Leading(leading) = &replica.role else {
            return;
        };
        let life = |node: &NodeId| {
            if *node == own {
                (own, own_epoch)
            } else {
                (*node, leading.epoch_of(*node).unwrap_or(0))
            }
        };
        self.isr_questions.next.push(IsrChange {
            partition: id,
            leader_epoch: replica.leader_epoch,
            partition_epoch: leading.partition_epoch,
            isr: isr.iter().map(life).collect(),
        });
    }

    /// Asks what is to be asked, unless a question is on its way.
    fn ask_for_isrs(&mut self) {
        let questions = &mut self.isr_questions;
        if questions.asked.is_some() || questions.next.is_empty() {
            return;
        }
        let changes = std::mem::take(&mut questions.next);
        let partitions = changes.iter().map(|change| change.partition).collect();
        let id = self.ask_always(
            ControllerRequest::AlterIsr(changes),
            ControllerQuestion::AlterIsr,
        );
        self.isr_questions.asked = Some(Question {
            id,
            partitions,
            old: false,
        });
    }

    /// A question or its answer may have been lost: after two checks it is asked again.
    fn give_up_old_question(&mut self) {
        let Some(question) = &mut self.isr_questions.asked else {
            return;
        };
        if std::mem::replace(&mut question.old, true) {
            let id = question.id;
            self.forget_question(id);
            let lost = Refusal::new(ErrorCode::RequestTimedOut, "The response was lost.");
            self.isrs_decided(&ControllerReply::Failed(lost));
        }
    }

    /// The controller has decided. What it granted came with an image before.
    pub(in crate::node) fn isrs_decided(&mut self, answer: &ControllerReply) {
        let Some(question) = self.isr_questions.asked.take() else {
            return;
        };
        let granted = |index: usize| match answer {
            ControllerReply::AlterIsr(results) => results.get(index).is_some_and(Result::is_ok),
            _ => false,
        };
        for (index, id) in question.partitions.iter().enumerate() {
            if !granted(index)
                && let Some(replica) = self.replicas.get_mut(id)
                && let ReplicaRole::Leading(leading) = &mut replica.role
            {
                leading.refused();
            }
        }
        self.ask_for_isrs();
    }
}
