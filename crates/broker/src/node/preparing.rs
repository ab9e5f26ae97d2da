//! Opening the logs that a newer image asks for, some at a time, before the node works by it.

use std::collections::{BTreeSet, Bound};
use std::io;
use std::sync::Arc;

use super::replication::ReplicaRole;
use super::{BrokerNode, Replica};
use crate::ids::{PartitionId, TopicName};
use crate::image::{ClusterImage, TopicImage};
use crate::log::LogError;
use crate::settings::TopicSettings;
use crate::storage::{Operation, StorageError};
use crate::time::Now;

/// What a folder that must be read or renamed costs, in partitions that have none: some 100 µs.
pub(super) const FOLDER_WORK: usize = 16;

/// An image that is newer than the one that the node works by.
#[derive(Debug)]
pub(crate) struct PendingImage {
    pub(super) image: Arc<ClusterImage>,
    /// The first partition that was not checked yet.
    next: Option<(TopicName, i32)>,
    /// What was opened for it, and for images that it came after.
    opened: BTreeSet<PartitionId>,
}

/// How far it is.
pub(super) enum PreparationState {
    /// Its time is over.
    Partly(PendingImage),
    /// All logs are open, but those that cannot be opened.
    Whole {
        image: Arc<ClusterImage>,
        opened: BTreeSet<PartitionId>,
    },
}

impl PendingImage {
    pub(super) fn new(image: Arc<ClusterImage>) -> Self {
        Self {
            image,
            next: None,
            opened: BTreeSet::new(),
        }
    }

    /// A newer one has come before that was done.
    pub(super) fn replace(&mut self, image: Arc<ClusterImage>) {
        self.image = image;
        self.next = None;
    }
}

impl BrokerNode {
    /// Opens logs, as many as the work allows.
    pub(super) fn prepare(
        &mut self,
        now: Now,
        mut preparing: PendingImage,
        work_max: usize,
    ) -> PreparationState {
        let image = Arc::clone(&preparing.image);
        let held = self.configs_held_by(&image);
        let mut work = 0;
        let next = preparing.next.take();
        let (from, mut first) = match next {
            Some((name, first)) => (Bound::Included(name), first),
            None => (Bound::Unbounded, 0),
        };
        for (name, topic) in image.topics.range((from, Bound::Unbounded)) {
            let first = std::mem::take(&mut first);
            let before = self.image.topics.get(name);
            if before.is_some_and(|before| Arc::ptr_eq(before, topic)) {
                continue;
            }
            let mut settings = None;
            for (index, id) in self.missing(topic, first) {
                if work >= work_max {
                    preparing.next = Some((Arc::clone(name), index));
                    return PreparationState::Partly(preparing);
                }
                work += if self.folders.has(topic, index) {
                    FOLDER_WORK
                } else {
                    1
                };
                let settings = settings
                    .get_or_insert_with(|| TopicSettings::read(&held.layers(), &topic.configs));
                match self.open_replica(now, topic, id, settings) {
                    Ok(replica) => {
                        self.broken.remove(&id);
                        self.replicas.insert(id, replica);
                        preparing.opened.insert(id);
                    }
                    Err(error) => {
                        self.broken.insert(id);
                        self.opening_failed(error);
                    }
                }
            }
        }
        PreparationState::Whole {
            image,
            opened: preparing.opened,
        }
    }

    /// The partitions of a topic from index `first` on that this node must keep and does not have.
    fn missing(&self, topic: &TopicImage, first: i32) -> Vec<(i32, PartitionId)> {
        let own = self.id();
        let assigned = topic.indexed().filter_map(|(index, partition)| {
            let id = PartitionId {
                topic: topic.id,
                index,
            };
            (index >= first && partition.replicas.contains(&own)).then_some((index, id))
        });
        assigned
            .filter(|(_, id)| !self.replicas.contains_key(id))
            .collect()
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
            role: ReplicaRole::Idle,
            leader_epoch: -1,
            partition_epoch: -1,
            is_replicated: false,
            settings: settings.clone(),
            log,
            flush_pending: false,
            flushing: false,
            checkpointing: false,
            read: false,
            end_seen: -1,
        })
    }
}
