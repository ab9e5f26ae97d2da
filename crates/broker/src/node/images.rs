//! Following the controller: which logs this node keeps, which it leads, and with what settings.

use std::io;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;

use super::replication::{Leading, Role};
use super::{Node, Output, Replica};
use crate::controller::ToController;
use crate::ids::PartitionId;
use crate::image::{ClusterImage, PartitionImage, TopicImage};
use crate::log::{
    LogError, PartitionLog, parse_partition_dir_name, partition_dir_name, read_topic_id,
    write_topic_id,
};
use crate::settings::{ConfigMap, Layers, TopicSettings};
use crate::storage::{EntryKind, Operation, StorageError};
use crate::time::Now;

/// The maps that decide this node's configuration, held while they are looked at.
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

impl Node {
    /// The maps that decide this node's configuration.
    pub(crate) fn held_configs(&self) -> HeldConfigs {
        HeldConfigs {
            node: self.image.configs_of(Some(self.id())),
            all: self.image.configs_of(None),
            fixed: Arc::clone(&self.config.settings),
        }
    }

    /// Takes over a newer image.
    pub(super) fn apply_image(&mut self, now: Now, image: Arc<ClusterImage>) {
        if image.version <= self.image.version {
            return;
        }
        let own = image.nodes.get(&self.id());
        if self.image.version == 0 && own.is_none_or(|own| own.life != self.config.life) {
            // It is from before this life: what it says that this node leads, an earlier one led,
            // whose log may have been longer.
            return;
        }
        let old = std::mem::replace(&mut self.image, Arc::clone(&image));
        if old.version == 0 {
            self.set_strays_aside();
        }
        let same_configs = old.node_configs == image.node_configs;
        for (id, name) in &old.names {
            if !image.names.contains_key(id)
                && let Some(topic) = old.topic(name)
            {
                self.drop_topic(topic);
                if image.topic(name).is_none() {
                    crate::groups::forget_topic(self, now, name);
                }
            }
        }
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
        self.look_at_early_positions(now);
        self.fetch_all(now);
        self.count_replicas();
        self.outputs
            .push(Output::ToController(ToController::Applied(image.version)));
    }

    /// Nodes came, went or came back: what they said in an earlier life counts no more.
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
            let Role::Leading(leading) = &mut replica.role else {
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
                self.follow_partition(now, topic, id, partition, &settings);
            } else if self.replicas.contains_key(&id) {
                // A reassignment took it from this node.
                self.drop_partition(now, id);
            }
        }
    }

    fn follow_partition(
        &mut self,
        now: Now,
        topic: &TopicImage,
        id: PartitionId,
        partition: &PartitionImage,
        settings: &TopicSettings,
    ) {
        if !self.replicas.contains_key(&id) {
            match self.open_replica(now, topic, id, settings) {
                Ok(replica) => {
                    self.broken.remove(&id);
                    self.replicas.insert(id, replica);
                }
                Err(error) => {
                    self.broken.insert(id);
                    self.opening_failed(error);
                    return;
                }
            }
        }
        let own = self.id();
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        replica.is_replicated = partition.replicas.len() > 1;
        if replica.settings != *settings {
            replica.settings = settings.clone();
            replica.log.set_config(settings.log.clone());
        }
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
        } else if let Role::Leading(leading) = &mut replica.role {
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

    /// A log that cannot be opened. What is damaged there is beyond recovery: the node stops and
    /// says so, as Kafka does, rather than go on without the partition.
    fn opening_failed(&mut self, error: LogError) {
        match error {
            LogError::Corrupt(damage) => {
                let words = io::Error::new(io::ErrorKind::InvalidData, damage.reason);
                self.fatal(StorageError::new(Operation::Read, &damage.file, words));
            }
            error => self.log_failed(error),
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
                replica.log.assign_leader_epoch(partition.leader_epoch);
                let end = replica.log.log_end_offset();
                let insync_min = replica.settings.min_insync_replicas;
                let leading = Leading::new(own, partition, &nodes.nodes, end, insync_min);
                replica.role = Role::Leading(Box::new(leading));
                self.follow_nobody(id);
            }
            Some(leader) => {
                if self.config.deviations.truncate_to_high_watermark {
                    let high_watermark = replica.log.high_watermark();
                    // A deviation has nobody to tell that it failed.
                    let _ = replica.log.truncate_to(high_watermark, now.wall_ms);
                }
                replica.role = Role::Following(leader);
                self.follow_leader(id, leader);
            }
            None => {
                replica.role = Role::Idle;
                self.follow_nobody(id);
            }
        }
    }

    fn open_replica(
        &mut self,
        now: Now,
        topic: &TopicImage,
        id: PartitionId,
        settings: &TopicSettings,
    ) -> Result<Replica, LogError> {
        let mut log = self.open_log(now, topic, id, settings)?;
        if let Some(count) = self.config.deviations.batches_kept {
            log.keep_batches_of_producers(count);
        }
        if let Some(known) = self.watermarks.get(&topic.name, id.index) {
            log.set_high_watermark(known);
        }
        Ok(Replica {
            id,
            topic: Arc::clone(&topic.name),
            role: Role::Idle,
            leader_epoch: -1,
            is_replicated: false,
            settings: settings.clone(),
            log,
            flush_pending: false,
            flushing: false,
            read: false,
            end_seen: -1,
        })
    }

    fn open_log(
        &mut self,
        now: Now,
        topic: &TopicImage,
        id: PartitionId,
        settings: &TopicSettings,
    ) -> Result<PartitionLog, LogError> {
        let mut config = settings.log.clone();
        let jitter = u64::try_from(settings.segment_jitter_ms).unwrap_or(0);
        let less = i64::try_from(self.random.below(jitter.saturating_add(1))).unwrap_or(0);
        config.segment_ms = config.segment_ms.saturating_sub(less).max(1);
        let dir = self
            .config
            .dir
            .join(partition_dir_name(&topic.name, id.index));
        let storage = Arc::clone(&self.config.storage);
        let log = PartitionLog::open(Arc::clone(&storage), &dir, config, now.wall_ms)?;
        if read_topic_id(&*storage, &dir)? != Some(topic.id) {
            write_topic_id(&*storage, &dir, topic.id)?;
        }
        Ok(log)
    }

    /// Removes a deleted topic's logs. Bytes on their way to clients stay readable until sent.
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
            if let Err(error) = replica.log.delete() {
                self.log_failed(error);
            }
        }
    }

    /// Renames folders of partitions that the cluster does not know, as Kafka does: they may be
    /// what a lost journal forgot, so they are kept, out of the way.
    fn set_strays_aside(&mut self) {
        let storage = Arc::clone(&self.config.storage);
        let dir = self.config.dir.clone();
        let entries = match storage
            .create_dir_all(&dir)
            .and_then(|()| storage.list(&dir))
        {
            Ok(entries) => entries,
            Err(error) => return self.fatal(error),
        };
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Dir) {
            let Some((topic, index)) = parse_partition_dir_name(&entry.name) else {
                continue;
            };
            let path = dir.join(&entry.name);
            let id = read_topic_id(&*storage, &path).ok().flatten();
            if self.keeps(topic, index, id) {
                continue;
            }
            let id = id.unwrap_or(Uuid(self.random.uuid_bytes()));
            let aside = dir.join(format!("{}.{id}-stray", entry.name));
            if let Err(error) = storage.rename(&path, &aside) {
                return self.fatal(error);
            }
        }
    }

    /// Whether a partition's folder belongs to what the cluster knows. A folder without an id is
    /// one whose creation a crash cut short.
    fn keeps(&self, topic: &str, index: i32, id: Option<Uuid>) -> bool {
        let Some(topic) = self.image.topic(topic) else {
            return false;
        };
        let ours = topic
            .partition(index)
            .is_some_and(|p| p.replicas.contains(&self.id()));
        ours && id.is_none_or(|id| id == topic.id)
    }
}
