//! Following the controller: which logs this node keeps, which it leads, and with what settings.

use std::sync::Arc;

use kgauge_wire::codec::Uuid;

use super::{Node, Output, Replica};
use crate::controller::ToController;
use crate::ids::PartitionId;
use crate::image::{ClusterImage, PartitionImage, TopicImage};
use crate::log::{
    LogError, PartitionLog, parse_partition_dir_name, partition_dir_name, read_topic_id,
    write_topic_id,
};
use crate::settings::{ConfigMap, Layers, TopicSettings};
use crate::storage::EntryKind;
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
            let same = old
                .topics
                .get(name)
                .is_some_and(|before| Arc::ptr_eq(before, topic));
            if !(same && same_configs) {
                self.follow_topic(now, topic);
            }
        }
        self.outputs
            .push(Output::ToController(ToController::Applied(image.version)));
        self.serve_ready_fetches(now);
    }

    fn follow_topic(&mut self, now: Now, topic: &TopicImage) {
        let held = self.held_configs();
        let settings = TopicSettings::read(&held.layers(), &topic.configs);
        for (index, partition) in topic.indexed() {
            if partition.replicas.contains(&self.id()) {
                let id = PartitionId {
                    topic: topic.id,
                    index,
                };
                self.follow_partition(now, topic, id, partition, &settings);
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
            match self.open_log(now, topic, id, settings) {
                Ok(log) => {
                    let replica = Replica {
                        id,
                        topic: Arc::clone(&topic.name),
                        leader: None,
                        leader_epoch: -1,
                        settings: settings.clone(),
                        log,
                        flush_pending: false,
                        flushing: false,
                        read: false,
                        end_seen: -1,
                    };
                    self.broken.remove(&id);
                    self.replicas.insert(id, replica);
                }
                Err(error) => {
                    self.broken.insert(id);
                    self.log_failed(error);
                    return;
                }
            }
        }
        let own = self.id();
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        if replica.settings != *settings {
            replica.settings = settings.clone();
            replica.log.set_config(settings.log.clone());
        }
        if replica.leader_epoch == partition.leader_epoch && replica.leader == partition.leader {
            return;
        }
        replica.leader = partition.leader;
        replica.leader_epoch = partition.leader_epoch;
        if partition.leader == Some(own) {
            replica.advance_high_watermark();
        }
        let leads = partition.leader == Some(own);
        self.partition_changed(id);
        crate::groups::partition_changed(self, now, id, leads);
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
            self.broken.remove(&id);
            if let Some(replica) = self.replicas.remove(&id) {
                self.partition_changed(id);
                if let Err(error) = replica.log.delete() {
                    self.log_failed(error);
                }
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
