//! Which nodes are there: registering, heartbeats, fencing, and what that means for leaders.

use std::collections::BTreeSet;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;

use super::partitions::{Election, Rules, changed};
use super::records::MetadataRecord;
use super::{Controller, ControllerOutput, FromController};
use crate::ids::NodeId;
use crate::image::{NodeImage, PartitionImage, TopicImage};
use crate::settings::{Layers, TopicSettings};
use crate::time::Now;

/// A node that has registered.
#[derive(Debug)]
pub(super) struct RegisteredNode {
    /// The version that it works by.
    pub(super) applied: u64,
    heard_ns: u64,
    image: NodeImage,
    pub(super) fenced: bool,
}

impl Controller {
    /// Whether a node is up and not fenced.
    pub(super) fn is_up(&self, node: NodeId) -> bool {
        self.live.get(&node).is_some_and(|member| !member.fenced)
    }

    /// A node is up, perhaps after a crash that nobody has noticed.
    pub(super) fn register(
        &mut self,
        now: Now,
        node: NodeId,
        reachable: NodeImage,
        stopped_in_order: bool,
    ) {
        if let Some(member) = self.live.get(&node)
            && member.image.life == reachable.life
        {
            // It has not heard of its registration yet.
            return self.heartbeat(now, node);
        }
        let before = self.metadata.image.version;
        self.awaited.remove(&node);
        if self.live.contains_key(&node) {
            // Nobody has noticed that it went.
            self.fence(node);
        }
        let image = Arc::make_mut(&mut self.metadata.image);
        image.version += 1;
        let reachable = NodeImage {
            epoch: image.version,
            ..reachable
        };
        image.nodes.insert(node, reachable.clone());
        let member = RegisteredNode {
            applied: 0,
            heard_ns: now.mono_ns,
            image: reachable,
            fenced: false,
        };
        self.live.insert(node, member);
        let lost = (!stopped_in_order).then_some(node);
        self.change_partitions(Election::Keep, lost, |partition| {
            // One that led when the cluster ended leads again, in a new epoch.
            let led = partition.leader.is_none_or(|leader| leader == node);
            let known = partition.replicas.contains(&node);
            (known && (led || lost.is_some())).then(|| (partition.isr.clone(), led))
        });
        self.publish(before);
    }

    /// Takes the heartbeat of a node.
    pub(super) fn heartbeat(&mut self, now: Now, node: NodeId) {
        let Some(member) = self.live.get_mut(&node) else {
            return;
        };
        member.heard_ns = now.mono_ns;
        let behind = member.applied < self.metadata.image.version;
        if !member.fenced {
            if behind {
                // What was sent may have been lost on the way.
                let image = Arc::clone(&self.metadata.image);
                let message = FromController::Image(image);
                self.outputs.push(ControllerOutput::Send(node, message));
            }
            return;
        }
        member.fenced = false;
        let reachable = member.image.clone();
        let before = self.metadata.image.version;
        let image = Arc::make_mut(&mut self.metadata.image);
        image.nodes.insert(node, reachable);
        image.version += 1;
        self.change_partitions(Election::Keep, None, |partition| {
            let open = partition.leader.is_none() && partition.replicas.contains(&node);
            open.then(|| (partition.isr.clone(), false))
        });
        self.publish(before);
    }

    /// A node is gone for good, or until it registers again.
    pub(super) fn stopped(&mut self, node: NodeId) {
        let before = self.metadata.image.version;
        self.fence(node);
        self.live.remove(&node);
        self.publish(before);
        self.release(None);
    }

    /// Takes everything that a node leads, and its places in ISRs, away from it.
    fn fence(&mut self, node: NodeId) {
        if let Some(member) = self.live.get_mut(&node) {
            if member.fenced {
                return;
            }
            member.fenced = true;
        }
        let image = Arc::make_mut(&mut self.metadata.image);
        image.nodes.remove(&node);
        image.version += 1;
        self.change_partitions(Election::Keep, None, |partition| {
            let there = partition.isr.contains(&node) || partition.leader == Some(node);
            let others = partition.isr.iter().copied().filter(|other| *other != node);
            there.then(|| (others.collect(), false))
        });
    }

    /// Fences the nodes that were silent for too long.
    pub(super) fn fence_silent(&mut self, now: Now) {
        let timeout_ns = self.session_timeout_ns();
        let began_ns = *self.began_ns.get_or_insert(now.mono_ns);
        let late = |since_ns: u64| now.mono_ns.saturating_sub(since_ns) >= timeout_ns;
        let silent = self
            .live
            .iter()
            .filter(|(_, member)| !member.fenced && late(member.heard_ns));
        let mut silent: BTreeSet<NodeId> = silent.map(|(node, _)| *node).collect();
        if late(began_ns) {
            silent.append(&mut self.awaited);
        }
        if silent.is_empty() {
            return;
        }
        let before = self.metadata.image.version;
        silent.into_iter().for_each(|node| self.fence(node));
        self.publish(before);
        self.release(None);
    }

    /// When the next node is late, if it stays silent.
    pub(super) fn next_silence_ns(&self) -> Option<u64> {
        let up = self.live.values().filter(|member| !member.fenced);
        let heard = up.map(|member| member.heard_ns);
        let began = self.began_ns.filter(|_| !self.awaited.is_empty());
        let first = heard.chain(began).min()?;
        Some(first.saturating_add(self.session_timeout_ns()))
    }

    fn session_timeout_ns(&self) -> u64 {
        let ms = u64::try_from(self.settings.broker_session_timeout_ms).unwrap_or(0);
        ms.saturating_mul(crate::time::NS_PER_MS)
    }

    /// Changes the partitions for which `choose` names an ISR; the flag asks for a new leader epoch.
    pub(super) fn change_partitions(
        &mut self,
        election: Election,
        lost: Option<NodeId>,
        choose: impl Fn(&PartitionImage) -> Option<(Vec<NodeId>, bool)>,
    ) {
        let mut records = Vec::new();
        for topic in self.metadata.image.topics.values() {
            let mut settings = None;
            for (first, partition) in topic.partitions.iter().enumerate() {
                let Some((isr, new_epoch)) = choose(partition) else {
                    continue;
                };
                let settings = settings.get_or_insert_with(|| self.topic_settings(topic));
                let rules = Rules {
                    insync_min: insync_min(settings, partition),
                    election: allowed(election, settings),
                    is_up: &|node| self.is_up(node),
                    lost,
                    new_epoch,
                };
                if let Some(next) = changed(partition, isr, &rules) {
                    add_partition(&mut records, topic.id, first, next);
                }
            }
        }
        // A refusal here has already been reported as fatal; on a full disk the old leaders stay.
        let _ = self.commit(records);
    }

    /// The settings that hold for a topic on all nodes.
    pub(super) fn topic_settings(&self, topic: &TopicImage) -> TopicSettings {
        let all = self.metadata.image.configs_of(None);
        let none = crate::settings::ConfigMap::new();
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &all,
            fixed: &self.fixed,
        };
        TopicSettings::read(&layers, &topic.configs)
    }
}

/// Adds a partition's change, to the record before where that ends with the partition before: of ten
/// thousand partitions that lose a node, one line is read and written faster than ten thousand.
fn add_partition(
    records: &mut Vec<MetadataRecord>,
    topic: Uuid,
    index: usize,
    next: PartitionImage,
) {
    if let Some(MetadataRecord::Partitions {
        id,
        first,
        partitions,
    }) = records.last_mut()
        && *id == topic
        && *first + partitions.len() == index
    {
        partitions.push(next);
        return;
    }
    records.push(MetadataRecord::Partitions {
        id: topic,
        first: index,
        partitions: vec![next],
    });
}

/// `min.insync.replicas`, of a partition with fewer replicas their number.
pub(super) fn insync_min(settings: &TopicSettings, partition: &PartitionImage) -> usize {
    let least = usize::try_from(settings.min_insync_replicas).unwrap_or(1);
    least.clamp(1, partition.replicas.len().max(1))
}

/// Any replica may lead where the topic allows it.
pub(super) fn allowed(election: Election, settings: &TopicSettings) -> Election {
    match election {
        Election::Keep if settings.unclean_leader_election_enable => Election::Unclean,
        other => other,
    }
}
