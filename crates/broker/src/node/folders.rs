//! The folders of a node's partitions: opened at the start, made with the first record, set aside and
//! removed.
//!
//! A partition that nobody has written to has no folder, and nothing asks the disk for one: the node
//! lists the folders once, when the first image comes.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;

use super::disk::DiskJob;
use super::{BrokerNode, NodeOutput, Notice};
use crate::controller::ToController;
use crate::ids::PartitionId;
use crate::image::{ClusterImage, TopicImage};
use crate::log::{
    LogError, PartitionLog, RemoveJob, is_half_made, parse_partition_dir_name, partition_dir_name,
    read_topic_id, write_topic_id,
};
use crate::settings::TopicSettings;
use crate::storage::{EntryKind, StorageResult};
use crate::time::Now;

/// Ends the name of a folder that is to be removed, as in Kafka.
const DELETED: &str = "delete";
/// Ends the name of a folder that the cluster does not know.
const STRAY: &str = "stray";

/// What most file systems allow.
const NAME_BYTES_MAX: usize = 255;

/// What a node knows of its partitions' folders, beside the logs that are open.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    /// Names of those that were found at the start and not opened yet.
    found: HashSet<String>,
    /// Logs of partitions that are gone, whose folders still have their names.
    leaving: BTreeMap<PathBuf, PartitionLog>,
}

impl Folders {
    /// Whether folders still have the names of partitions that are gone.
    pub(super) fn are_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Whether a partition's log must be read from the disk.
    pub(super) fn has(&self, topic: &TopicImage, index: i32) -> bool {
        !self.found.is_empty() && self.found.contains(&partition_dir_name(&topic.name, index))
    }
}

impl BrokerNode {
    /// Opens a partition's log: from the folder that was found at the start, or without any.
    pub(super) fn open_log(
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
        let name = partition_dir_name(&topic.name, id.index);
        let dir = self.config.dir.join(&name);
        let storage = Arc::clone(&self.config.storage);
        if let Some(before) = self.folders.leaving.remove(&dir) {
            self.set_log_aside(before)?;
        }
        let mut found = self.folders.found.contains(&name);
        if found && read_topic_id(&*storage, &dir)?.is_some_and(|id| id != topic.id) {
            // Of a topic that was deleted while this node was starting.
            self.set_folder_aside(&name)?;
            found = false;
        }
        if found && self.config.damaged_logs.contains(&name) {
            found = self.keep_damaged(topic, id.index, &name)?;
        }
        if !found {
            return Ok(PartitionLog::unwritten(
                storage,
                &dir,
                config,
                topic.id,
                now.wall_ms,
            ));
        }
        let log = PartitionLog::open(Arc::clone(&storage), &dir, config, now.wall_ms)?;
        if read_topic_id(&*storage, &dir)?.is_none() {
            write_topic_id(&*storage, &dir, topic.id)?;
        }
        self.folders.found.remove(&name);
        Ok(log)
    }

    /// What becomes of a log that has lost segments since an orderly stop: it is kept only where no other
    /// replica has what it held. Gives whether it is.
    fn keep_damaged(
        &mut self,
        topic: &TopicImage,
        index: i32,
        name: &str,
    ) -> Result<bool, LogError> {
        let own = self.id();
        let kept = topic.partition(index).is_none_or(|partition| {
            let others = partition.isr.iter().any(|node| *node != own);
            partition.leader == Some(own) || !others
        });
        let topic = Arc::clone(&topic.name);
        if kept {
            let notice = Notice::Damaged { topic, index };
            self.outputs.push(NodeOutput::Notice(notice));
        } else {
            let notice = Notice::SetAside { topic, index };
            self.outputs.push(NodeOutput::Notice(notice));
            self.set_folder_aside(name)?;
        }
        Ok(kept)
    }

    /// Has the log of a partition that is gone removed. Its folder's name is free at once where a topic
    /// of that name exists, and soon elsewhere.
    pub(super) fn leave_log(&mut self, topic: &str, log: PartitionLog) {
        if log.is_unwritten() {
            return;
        }
        if self.image.topic(topic).is_none() {
            let dir = log.dir().to_path_buf();
            self.folders.leaving.insert(dir, log);
        } else if let Err(error) = self.set_log_aside(log) {
            self.log_failed(error);
        }
    }

    /// Takes the names from folders of partitions that are gone, some at a time. Bytes on their way to
    /// clients stay readable until sent.
    pub(super) fn set_logs_aside(&mut self, count: usize) {
        for _ in 0..count {
            let Some((_, log)) = self.folders.leaving.pop_first() else {
                return;
            };
            if let Err(error) = self.set_log_aside(log) {
                self.log_failed(error);
            }
        }
    }

    /// Removes the folders of partitions that are gone, here and now.
    pub(super) fn end_leaving(&mut self) -> Result<(), LogError> {
        let leaving = std::mem::take(&mut self.folders.leaving);
        leaving.into_values().try_for_each(PartitionLog::delete)
    }

    /// The folders of partitions that are gone have no more names: the image is followed in full.
    pub(super) fn report_applied(&mut self) {
        let version = self.image.version;
        self.outputs
            .push(NodeOutput::ToController(ToController::Applied(version)));
    }

    fn set_log_aside(&mut self, log: PartitionLog) -> Result<(), LogError> {
        let name = log.dir().file_name().unwrap_or_default();
        let aside = name_aside(&name.to_string_lossy(), self.random_id(), DELETED);
        if let Some(job) = log.set_aside(&self.config.dir.join(aside))? {
            self.outputs.push(NodeOutput::Disk(DiskJob::Remove(job)));
        }
        Ok(())
    }

    fn set_folder_aside(&mut self, name: &str) -> StorageResult<()> {
        let path = self.config.dir.join(name);
        let id = read_topic_id(&*self.config.storage, &path).ok().flatten();
        let aside = name_aside(name, id.unwrap_or_else(|| self.random_id()), STRAY);
        self.folders.found.remove(name);
        let aside = self.config.dir.join(aside);
        self.config.storage.rename(&path, &aside)
    }

    fn random_id(&mut self) -> Uuid {
        Uuid(self.random.uuid_bytes())
    }

    /// Finds out which partitions have folders. Renames those of partitions that the cluster does not
    /// know, as Kafka does: they may be what a lost journal forgot, so they are kept, out of the way.
    pub(super) fn find_folders(&mut self, image: &ClusterImage) -> Result<(), LogError> {
        let storage = Arc::clone(&self.config.storage);
        let dir = self.config.dir.clone();
        storage.create_dir_all(&dir)?;
        for entry in storage.list(&dir)? {
            if entry.kind != EntryKind::Dir {
                continue;
            }
            if is_name_aside(&entry.name, DELETED) {
                let job = RemoveJob::new(Arc::clone(&storage), dir.join(&entry.name));
                self.outputs.push(NodeOutput::Disk(DiskJob::Remove(job)));
                continue;
            }
            let Some((topic, index)) = parse_partition_dir_name(&entry.name) else {
                continue;
            };
            let path = dir.join(&entry.name);
            let id = read_topic_id(&*storage, &path).ok().flatten();
            let half_made = id.is_none() && is_half_made(&*storage, &path)?;
            if self.keeps(image, topic, index, id) && !half_made {
                self.folders.found.insert(entry.name);
            } else {
                self.set_folder_aside(&entry.name)?;
            }
        }
        Ok(())
    }

    /// Whether a partition's folder belongs to what the cluster knows.
    fn keeps(&self, image: &ClusterImage, topic: &str, index: i32, id: Option<Uuid>) -> bool {
        let Some(topic) = image.topic(topic) else {
            return false;
        };
        let ours = topic
            .partition(index)
            .is_some_and(|p| p.replicas.contains(&self.id()));
        ours && id.is_none_or(|id| id == topic.id)
    }
}

/// The name of a folder that is out of the way: what it was, an id, and why. A long name is cut.
fn name_aside(name: &str, id: Uuid, why: &str) -> String {
    let ending = format!(".{id}-{why}");
    let kept = name.floor_char_boundary(NAME_BYTES_MAX - ending.len());
    format!("{}{ending}", &name[..kept])
}

/// Whether a name is one that [`name_aside`] makes.
fn is_name_aside(name: &str, why: &str) -> bool {
    let before = name.strip_suffix(why).and_then(|n| n.strip_suffix('-'));
    let parts = before.and_then(|name| name.rsplit_once('.'));
    parts.is_some_and(|(_, id)| id.parse::<Uuid>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_aside_is_kafkas_and_is_known_again() {
        let id: Uuid = "ZXhhbXBsZS10b3BpYy1pZA".parse().unwrap();
        let name = name_aside("a-b-12", id, DELETED);
        assert_eq!(name, "a-b-12.ZXhhbXBsZS10b3BpYy1pZA-delete");
        assert!(is_name_aside(&name, DELETED) && !is_name_aside(&name, STRAY));
        let long = name_aside(&format!("{}-0", "t".repeat(249)), id, DELETED);
        assert!(long.len() == NAME_BYTES_MAX && is_name_aside(&long, DELETED));
        for foreign in ["a-delete", "a.b-delete", "a-0", "delete", "-delete"] {
            assert!(!is_name_aside(foreign, DELETED), "{foreign}");
        }
    }
}
