//! Following the controller: which logs this node keeps, which it leads, and with what settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::preparing::{FOLDER_WORK, PendingImage, PreparationState};
use super::replication::{LeaderState, ReplicaRole};
use super::{BrokerNode, Timer};
use crate::ids::PartitionId;
use crate::image::{ClusterImage, PartitionImage, TopicImage};
use crate::settings::{ConfigMap, Layers, TopicSettings};
use crate::time::Now;

/// Names of deleted topics that a node remembers.
const DELETED_TOPICS_MAX: usize = 10_000;

/// The maps that decide this node's configuration, held while they are read.
#[derive(Debug, Clone)]
pub(crate) struct HeldConfigs {
    node: Arc<ConfigMap>,
    all: Arc<ConfigMap>,
    fixed: Arc<ConfigMap>,
}

impl HeldConfigs {
    pub(crate) fn layers(&self) -> Layers<'_> {
        Layers {
            dynamic_node: &self.node,
            dynamic_default: &self.all,
            fixed: &self.fixed,
        }
    }
}

impl BrokerNode {
    /// The maps that decide this node's configuration.
    pub(crate) fn held_configs(&self) -> HeldConfigs {
        self.configs_held_by(&self.image)
    }

    /// The same, as they are in an image.
    pub(super) fn configs_held_by(&self, image: &ClusterImage) -> HeldConfigs {
        HeldConfigs {
            node: image.configs_of(Some(self.id())),
            all: image.configs_of(None),
            fixed: Arc::clone(&self.config.settings),
        }
    }

    /// Hears of a newer image: opens the logs that it asks for, then works by it.
    pub(super) fn apply_image(&mut self, now: Now, image: Arc<ClusterImage>) {
        let newest = self.preparing.as_ref().map_or(&self.image, |p| &p.image);
        if image.version <= newest.version {
            return;
        }
        let own = image.nodes.get(&self.id());
        if self.image.version == 0 && own.is_none_or(|own| own.life != self.config.life) {
            // It is from before this life: the partitions that it lets this node lead were led by an
            // earlier life, whose log may have been longer.
            return;
        }
        match &mut self.preparing {
            Some(preparing) => preparing.replace(image),
            None => {
                if self.image.version == 0
                    && let Err(error) = self.find_folders(&image)
                {
                    return self.log_failed(error);
                }
                self.preparing = Some(PendingImage::new(image));
                self.go_on_following(now);
            }
        }
    }

    /// Does a share of what images ask for. The rest is left for another turn, so that requests and
    /// heartbeats need not wait for ten thousand partitions.
    pub(super) fn go_on_following(&mut self, now: Now) {
        let work = self.config.turn_work_max;
        if self.folders.are_leaving() {
            self.set_logs_aside((work / FOLDER_WORK).max(1));
            if !self.folders.are_leaving() {
                self.report_applied();
            }
        } else if let Some(preparing) = self.preparing.take() {
            match self.prepare(now, preparing, work) {
                PreparationState::Partly(preparing) => self.preparing = Some(preparing),
                PreparationState::Whole { image, opened } => self.take_over(now, image, &opened),
            }
        }
        let unfinished = self.folders.are_leaving() || self.preparing.is_some();
        if unfinished && !std::mem::replace(&mut self.following_set, true) {
            self.timers.set(now.mono_ns + 1, Timer::Following);
        }
    }

    pub(super) fn following_due(&mut self, now: Now) {
        self.following_set = false;
        self.go_on_following(now);
    }

    /// Works by a newer image from now on. The logs that it asks for are open.
    fn take_over(&mut self, now: Now, image: Arc<ClusterImage>, opened: &BTreeSet<PartitionId>) {
        let old = std::mem::replace(&mut self.image, Arc::clone(&image));
        let same_configs = old.node_configs == image.node_configs;
        for (id, name) in &old.names {
            if !image.names.contains_key(id)
                && let Some(topic) = old.topic(name)
            {
                self.drop_topic(topic);
                if image.topic(name).is_none() {
                    crate::groups::forget_topic(self, now, name);
                    if self.deleted_topics.len() < DELETED_TOPICS_MAX {
                        self.deleted_topics.insert(Arc::clone(name));
                    }
                }
            }
        }
        for id in opened {
            // An image in between had the topic; this one does not.
            if image.topic_by_id(id.topic).is_none() {
                self.drop_replica(*id);
            }
        }
        self.deleted_topics
            .retain(|name| image.topic(name).is_none());
        for (name, topic) in &image.topics {
            let before = old.topics.get(name);
            let same = before.is_some_and(|before| Arc::ptr_eq(before, topic));
            if !(same && same_configs) {
                self.follow_topic(now, topic);
            }
        }
        if old.nodes != image.nodes {
            self.follow_nodes(now, &old);
        }
        self.check_early_positions(now);
        self.fetch_all(now);
        self.count_replicas();
        if !self.folders.are_leaving() {
            self.report_applied();
        }
    }

    /// Nodes came, went or came back: what they reported in an earlier life no longer counts.
    fn follow_nodes(&mut self, now: Now, old: &ClusterImage) {
        let image = Arc::clone(&self.image);
        for (id, before) in &old.nodes {
            if image
                .nodes
                .get(id)
                .is_none_or(|node| node.epoch != before.epoch)
            {
                self.end_session(*id);
            }
        }
        let epoch_of = |image: &ClusterImage| image.nodes.get(&self.config.id).map(|own| own.epoch);
        let reborn = epoch_of(old) != epoch_of(&image);
        for (id, node) in &image.nodes {
            if reborn
                || old
                    .nodes
                    .get(id)
                    .is_none_or(|before| before.epoch != node.epoch)
            {
                self.refetch_from(*id);
            }
        }
        let mut led = Vec::new();
        for (id, replica) in &mut self.replicas {
            let ReplicaRole::Leading(leading) = &mut replica.role else {
                continue;
            };
            let topic = image.topic_by_id(id.topic);
            if let Some(partition) = topic.and_then(|topic| topic.partition(id.index)) {
                let before = leading.isr.len();
                leading.follow(
                    partition,
                    &image.nodes,
                    replica.settings.min_insync_replicas,
                );
                if let Some(counters) = &self.config.counters {
                    counters.isr_became(before, leading.isr.len());
                }
                led.push(*id);
            }
        }
        led.sort_unstable();
        for id in led {
            self.advance(now, id);
            self.ask_for_members(id);
            self.log_start_reported(id);
        }
    }

    fn follow_topic(&mut self, now: Now, topic: &TopicImage) {
        let held = self.held_configs();
        let settings = TopicSettings::read(&held.layers(), &topic.configs);
        for (index, partition) in topic.indexed() {
            let id = PartitionId {
                topic: topic.id,
                index,
            };
            if partition.replicas.contains(&self.id()) {
                self.follow_partition(now, id, partition, &settings);
            } else if self.replicas.contains_key(&id) {
                // A reassignment took it from this node.
                self.drop_partition(now, id);
            }
        }
    }

    fn follow_partition(
        &mut self,
        now: Now,
        id: PartitionId,
        partition: &PartitionImage,
        settings: &TopicSettings,
    ) {
        let own = self.id();
        let Some(replica) = self.replicas.get_mut(&id) else {
            // Its log cannot be opened.
            return;
        };
        if replica.settings != *settings {
            replica.settings = settings.clone();
            replica.log.set_config(settings.log.clone());
        } else if replica.partition_epoch == partition.partition_epoch {
            return;
        }
        replica.partition_epoch = partition.partition_epoch;
        replica.is_replicated = partition.replicas.len() > 1;
        let led_before = replica.leads();
        if replica.leader_epoch != partition.leader_epoch {
            self.change_role(now, id, partition);
            let leads = partition.leader == Some(own);
            if led_before {
                self.waits_lost(id);
            }
            self.partition_changed(id);
            self.advance(now, id);
            crate::groups::partition_changed(self, now, id, leads);
        } else if let ReplicaRole::Leading(leading) = &mut replica.role {
            let image = Arc::clone(&self.image);
            let before = leading.isr.len();
            leading.follow(partition, &image.nodes, settings.min_insync_replicas);
            if let Some(counters) = &self.config.counters {
                counters.isr_became(before, leading.isr.len());
            }
            self.advance(now, id);
            self.ask_for_members(id);
        }
    }

    /// Takes up what a new leader epoch makes of this node.
    fn change_role(&mut self, now: Now, id: PartitionId, partition: &PartitionImage) {
        let own = self.id();
        let nodes = Arc::clone(&self.image);
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        replica.leader_epoch = partition.leader_epoch;
        match partition.leader {
            Some(leader) if leader == own => {
                if self.config.deviations.truncate_when_elected {
                    replica.truncate_to_high_watermark(now);
                }
                replica.log.assign_leader_epoch(partition.leader_epoch);
                let end = replica.log.log_end_offset();
                let insync_min = replica.settings.min_insync_replicas;
                let leading = LeaderState::new(own, partition, &nodes.nodes, end, insync_min);
                replica.role = ReplicaRole::Leading(Box::new(leading));
                self.follow_nobody(id);
            }
            Some(leader) => {
                if self.config.deviations.truncate_to_high_watermark {
                    replica.truncate_to_high_watermark(now);
                }
                replica.role = ReplicaRole::Following(leader);
                self.follow_leader(id, leader);
            }
            None => {
                replica.role = ReplicaRole::Idle;
                self.follow_nobody(id);
            }
        }
    }

    /// Removes a deleted topic's logs.
    fn drop_topic(&mut self, topic: &TopicImage) {
        for (index, _) in topic.indexed() {
            let id = PartitionId {
                topic: topic.id,
                index,
            };
            self.drop_replica(id);
        }
    }

    /// Removes one partition's log, and what hangs on it.
    fn drop_partition(&mut self, now: Now, id: PartitionId) {
        crate::groups::partition_changed(self, now, id, false);
        self.drop_replica(id);
    }

    fn drop_replica(&mut self, id: PartitionId) {
        self.broken.remove(&id);
        self.follow_nobody(id);
        self.waits_lost(id);
        if let Some(replica) = self.replicas.remove(&id) {
            self.partition_changed(id);
            self.leave_log(&replica.topic, replica.log);
        }
    }
}
