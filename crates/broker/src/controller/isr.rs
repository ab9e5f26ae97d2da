//! Leaders' proposals for their ISRs, judged by Kafka's rules for `AlterPartition`.

use kgauge_wire::error_code::ErrorCode;

use super::Controller;
use super::liveness::insync_min;
use super::messages::{IsrChange, Refusal};
use super::partitions::{Election, Rules, changed};
use super::reassign::finished;
use super::records::MetadataRecord;
use crate::ids::NodeId;
use crate::image::PartitionImage;

impl Controller {
    /// Judges many proposals of one leader; those that are granted are written down at once.
    pub(super) fn alter_isrs(
        &mut self,
        leader: NodeId,
        changes: Vec<IsrChange>,
    ) -> Vec<Result<(), Refusal>> {
        let mut results = Vec::with_capacity(changes.len());
        let mut records = Vec::new();
        for change in changes {
            let next = self.judge(leader, &change);
            results.push(next.map(|next| {
                records.extend(next.map(|next| MetadataRecord::Partitions {
                    id: change.partition.topic,
                    first: usize::try_from(change.partition.index).unwrap_or(0),
                    partitions: vec![next],
                }));
            }));
        }
        match self.commit(records) {
            Ok(()) => results,
            Err(refusal) => vec![Err(refusal); results.len()],
        }
    }

    fn judge(&self, leader: NodeId, change: &IsrChange) -> Result<Option<PartitionImage>, Refusal> {
        let refuse = |code: ErrorCode| Err(Refusal::new(code, code.explanation()));
        let topic = self.metadata.image.topic_by_id(change.partition.topic);
        let Some(topic) = topic else {
            return refuse(ErrorCode::UnknownTopicId);
        };
        let Some(partition) = topic.partition(change.partition.index) else {
            return refuse(ErrorCode::UnknownTopicOrPartition);
        };
        if change.leader_epoch < partition.leader_epoch || partition.leader != Some(leader) {
            return refuse(ErrorCode::FencedLeaderEpoch);
        }
        if change.partition_epoch < partition.partition_epoch {
            return refuse(ErrorCode::InvalidUpdateVersion);
        }
        let nodes: Vec<NodeId> = change.isr.iter().map(|(node, _)| *node).collect();
        let known = nodes.iter().all(|node| partition.replicas.contains(node));
        if !known || !nodes.contains(&leader) {
            return refuse(ErrorCode::InvalidRequest);
        }
        let image = &self.metadata.image;
        let eligible = |(node, epoch): &(NodeId, u64)| {
            // Who was a member stays one without having fetched in this epoch.
            let same = |life: u64| life == *epoch || (*epoch == 0 && partition.isr.contains(node));
            self.is_up(*node) && image.nodes.get(node).is_some_and(|node| same(node.epoch))
        };
        if !change.isr.iter().all(eligible) {
            return refuse(ErrorCode::IneligibleReplica);
        }
        let settings = self.topic_settings(topic);
        let is_up = |node| self.is_up(node);
        let rules = Rules {
            insync_min: insync_min(&settings, partition),
            election: Election::Keep,
            is_up: &is_up,
            lost: None,
            new_epoch: false,
        };
        // Members in the order of the replicas, as Kafka shows them.
        let mut isr = partition.replicas.clone();
        isr.retain(|node| nodes.contains(node));
        let next = changed(partition, isr, &rules);
        Ok(match next {
            Some(next) => Some(finished(&next, &rules).unwrap_or(next)),
            None => finished(partition, &rules),
        })
    }
}
