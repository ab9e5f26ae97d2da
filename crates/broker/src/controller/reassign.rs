//! Moving partitions to other nodes, and giving the lead to others.

use std::collections::BTreeSet;

use kgauge_wire::error_code::ErrorCode;

use super::Controller;
use super::liveness::{allowed, insync_min};
use super::messages::{ElectionKind, PartitionKey, Reassignment, Refusal};
use super::partitions::{Election, Rules, changed};
use super::records::MetadataRecord;
use crate::ids::NodeId;
use crate::image::{PartitionImage, TopicImage};
use std::sync::Arc;

impl Controller {
    fn find(&self, key: &PartitionKey) -> Result<(Arc<TopicImage>, PartitionImage), Refusal> {
        let topic = self.metadata.image.topic(&key.topic).cloned();
        let found = topic.and_then(|topic| {
            let partition = topic.partition(key.index)?.clone();
            Some((topic, partition))
        });
        found.ok_or_else(|| {
            let words = "This server does not host this topic-partition.";
            Refusal::new(ErrorCode::UnknownTopicOrPartition, words)
        })
    }

    fn store(
        &mut self,
        topic: &TopicImage,
        index: i32,
        next: PartitionImage,
    ) -> Result<(), Refusal> {
        self.commit(vec![MetadataRecord::Partitions {
            id: topic.id,
            first: usize::try_from(index).unwrap_or(0),
            partitions: vec![next],
        }])
    }

    /// Gives a partition another leader, with Kafka's refusals.
    pub(super) fn elect_leader(
        &mut self,
        kind: ElectionKind,
        key: &PartitionKey,
    ) -> Result<(), Refusal> {
        let (topic, partition) = self.find(key)?;
        let refuse = |code: ErrorCode, words: &str| Err(Refusal::new(code, words));
        let election = match kind {
            ElectionKind::Preferred => Election::Preferred,
            ElectionKind::Unclean => Election::Unclean,
        };
        let first = partition.replicas.first().copied();
        if kind == ElectionKind::Preferred && partition.leader == first
            || kind == ElectionKind::Unclean && partition.leader.is_some()
        {
            let words = "Leader election not needed for topic partition.";
            return refuse(ErrorCode::ElectionNotNeeded, words);
        }
        let settings = self.topic_settings(&topic);
        let next = {
            let is_up = |node| self.is_up(node);
            let rules = Rules {
                insync_min: insync_min(&settings, &partition),
                election,
                is_up: &is_up,
                lost: None,
                new_epoch: false,
            };
            changed(&partition, partition.isr.clone(), &rules)
        };
        let chosen = next.as_ref().and_then(|next| next.leader);
        match (kind, next) {
            (ElectionKind::Preferred, Some(next)) if chosen == first => {
                self.store(&topic, key.index, next)
            }
            (ElectionKind::Preferred, _) => {
                let words = "The preferred leader was not available.";
                refuse(ErrorCode::PreferredLeaderNotAvailable, words)
            }
            (ElectionKind::Unclean, Some(next)) if chosen.is_some() => {
                self.store(&topic, key.index, next)
            }
            (ElectionKind::Unclean, _) => {
                let words = "None of the eligible replicas is available.";
                refuse(ErrorCode::EligibleLeadersNotAvailable, words)
            }
        }
    }

    /// Gives the lead back to the first replicas, where they can take it.
    pub(super) fn rebalance_leaders(&mut self) {
        let before = self.metadata.image.version;
        self.change_partitions(Election::Preferred, None, |partition| {
            let first = partition.replicas.first().copied();
            let away = partition.leader.is_some() && partition.leader != first;
            away.then(|| (partition.isr.clone(), false))
        });
        self.publish(before);
    }

    /// Begins to move a partition, or (`None`) calls a move off.
    pub(super) fn reassign(&mut self, reassignment: &Reassignment) -> Result<(), Refusal> {
        let (topic, partition) = self.find(&reassignment.key)?;
        let next = match &reassignment.replicas {
            None => self.called_off(&topic, &partition)?,
            Some(target) => self.started(&topic, &partition, target)?,
        };
        match next {
            Some(next) => self.store(&topic, reassignment.key.index, next),
            None => Ok(()),
        }
    }

    fn started(
        &self,
        topic: &TopicImage,
        partition: &PartitionImage,
        target: &[NodeId],
    ) -> Result<Option<PartitionImage>, Refusal> {
        let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, words));
        if target.is_empty() {
            return refuse("The replica assignment is empty.".to_owned());
        }
        if target.iter().collect::<BTreeSet<_>>().len() != target.len() {
            return refuse("The replica assignment names a broker twice.".to_owned());
        }
        if let Some(unknown) = target.iter().find(|node| !self.live.contains_key(node)) {
            return refuse(format!(
                "The replica assignment names broker {unknown}, but no such broker is registered."
            ));
        }
        // What an earlier move was about to take away is old now.
        let mut old = partition.replicas.clone();
        old.retain(|node| !partition.adding.contains(node));
        let mut next = partition.clone();
        next.replicas = target.to_vec();
        next.replicas
            .extend(old.iter().filter(|node| !target.contains(node)));
        next.adding = target.to_vec();
        next.adding.retain(|node| !old.contains(node));
        next.removing = old;
        next.removing.retain(|node| !target.contains(node));
        Ok(self.settled(topic, partition, next))
    }

    fn called_off(
        &self,
        topic: &TopicImage,
        partition: &PartitionImage,
    ) -> Result<Option<PartitionImage>, Refusal> {
        if !partition.is_reassigning() {
            let code = ErrorCode::NoReassignmentInProgress;
            return Err(Refusal::new(code, code.explanation()));
        }
        let mut next = partition.clone();
        next.replicas
            .retain(|node| !partition.adding.contains(node));
        next.isr.retain(|node| !partition.adding.contains(node));
        next.elr.retain(|node| !partition.adding.contains(node));
        if next.isr.is_empty() {
            let words = "None of the remaining replicas is in sync.";
            return Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, words));
        }
        next.adding.clear();
        next.removing.clear();
        Ok(self.settled(topic, partition, next))
    }

    /// The partition with its epochs right, and the move finished if it is.
    fn settled(
        &self,
        topic: &TopicImage,
        before: &PartitionImage,
        next: PartitionImage,
    ) -> Option<PartitionImage> {
        let settings = self.topic_settings(topic);
        let is_up = |node| self.is_up(node);
        let rules = Rules {
            insync_min: insync_min(&settings, &next),
            election: allowed(Election::Keep, &settings),
            is_up: &is_up,
            lost: None,
            new_epoch: false,
        };
        let mut next = finished(&next, &rules)
            .or_else(|| changed(&next, next.isr.clone(), &rules))
            .unwrap_or(next);
        if next == *before {
            return None;
        }
        next.partition_epoch = before.partition_epoch + 1;
        Some(next)
    }
}

/// The partition after its move, if all who come are in sync.
pub(super) fn finished(partition: &PartitionImage, rules: &Rules<'_>) -> Option<PartitionImage> {
    if !partition.is_reassigning() {
        return None;
    }
    let stays = |node: &NodeId| !partition.removing.contains(node);
    let mut left = partition.clone();
    left.replicas.retain(stays);
    left.isr.retain(stays);
    left.elr.retain(stays);
    let in_sync = |node: &NodeId| left.isr.contains(node);
    if left.isr.is_empty() || !partition.adding.iter().all(in_sync) {
        return None;
    }
    left.adding.clear();
    left.removing.clear();
    let isr = left.isr.clone();
    Some(changed(&left, isr, rules).unwrap_or(left))
}
