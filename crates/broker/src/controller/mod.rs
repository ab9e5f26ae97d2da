//! The controller: owns topics, partitions, leaders, configurations and producer ids of a cluster.
//!
//! It is a state machine without thread, clock or socket: [`Controller::handle`] takes one message
//! of a node and pushes what is to be sent into [`Controller::outputs`]. Every change is flushed to
//! its journal before anybody hears of it. An answer is held back until all nodes that are up work
//! by its effects, so that a client which was told "created" can produce to any node at once.

mod configs;
mod journal;
mod messages;
mod records;
mod scram;
mod topics;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;

use crate::ids::NodeId;
use crate::image::{ClusterImage, NodeImage, PartitionImage};
use crate::random::Random;
use crate::settings::NodeSettings;
use crate::storage::{Storage, StorageError};
use crate::time::Now;
use journal::Journal;
pub use journal::JournalError;
pub use messages::{
    Answer, ChangeScope, ConfigChange, ConfigResource, CreatedTopic, FromController, Mode,
    MorePartitions, NewTopic, ProducerIdBlock, Refusal, Request, ScramChange, ScramNew,
    ToController,
};
use records::{Metadata, MetadataRecord};

/// Producer ids that a node gets at a time, as in Kafka.
const PRODUCER_ID_BLOCK: i64 = 1000;

/// How long an answer waits for nodes that do not follow.
const APPLY_WAIT_MS: i64 = 10_000;

/// The metadata's owner.
#[derive(Debug)]
pub struct Controller {
    settings: NodeSettings,
    random: Random,
    journal: Journal,
    metadata: Metadata,
    /// The nodes that are up, and the version that each works by.
    live: BTreeMap<NodeId, u64>,
    waiting: VecDeque<Waiting>,
    outputs: Vec<Output>,
}

/// What a controller wants done.
#[derive(Debug)]
pub enum Output {
    /// Send a message to a node.
    Send(NodeId, FromController),
    /// The journal cannot be trusted any more: stop the cluster. Flushing is never tried again.
    Fatal(StorageError),
}

/// An answer that waits until all nodes work by a version.
#[derive(Debug)]
struct Waiting {
    version: u64,
    until_ns: u64,
    node: NodeId,
    id: u64,
    answer: Answer,
}

impl Controller {
    /// Reads the metadata in `dir`, or begins a new cluster there.
    pub fn open(
        storage: &dyn Storage,
        dir: &Path,
        settings: NodeSettings,
        seed: u64,
    ) -> Result<Self, JournalError> {
        let mut random = Random::new(seed);
        let (journal, metadata) = Journal::open(storage, dir, || MetadataRecord::Cluster {
            cluster_id: Uuid(random.uuid_bytes()).to_string(),
            version: 0,
        })?;
        Ok(Self {
            settings,
            random,
            journal,
            metadata,
            live: BTreeMap::new(),
            waiting: VecDeque::new(),
            outputs: Vec::new(),
        })
    }

    /// The cluster as it is now.
    #[must_use]
    pub fn image(&self) -> &Arc<ClusterImage> {
        &self.metadata.image
    }

    /// Whether so many nodes are up and work by the newest version.
    #[must_use]
    pub fn is_followed_by(&self, nodes: usize) -> bool {
        let version = self.metadata.image.version;
        self.live.len() >= nodes && self.live.values().all(|applied| *applied >= version)
    }

    /// Takes what is to be done.
    pub fn outputs(&mut self) -> std::vec::Drain<'_, Output> {
        self.outputs.drain(..)
    }

    /// When [`Controller::tick`] wants to be called.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        self.waiting.front().map(|waiting| waiting.until_ns)
    }

    /// Gives up waiting for nodes that do not follow.
    pub fn tick(&mut self, now: Now) {
        self.release(Some(now));
    }

    /// Takes one message of a node.
    pub fn handle(&mut self, now: Now, node: NodeId, message: ToController) {
        match message {
            ToController::Register(reachable) => self.register(node, reachable),
            ToController::Stopped => self.stopped(node),
            ToController::Applied(version) => {
                if let Some(applied) = self.live.get_mut(&node) {
                    *applied = version.max(*applied);
                }
                self.release(None);
            }
            ToController::Request { id, request } => {
                let before = self.metadata.image.version;
                let answer = self.request(request);
                self.publish(before);
                let version = self.metadata.image.version;
                let until_ns = now.after_ms(APPLY_WAIT_MS);
                self.waiting.push_back(Waiting {
                    version,
                    until_ns,
                    node,
                    id,
                    answer,
                });
                self.release(None);
            }
        }
    }

    fn request(&mut self, request: Request) -> Answer {
        match request {
            Request::CreateTopics { topics, mode } => Answer::CreateTopics(
                topics
                    .into_iter()
                    .map(|topic| self.create_topic(topic, mode))
                    .collect(),
            ),
            Request::DeleteTopics(ids) => {
                Answer::DeleteTopics(ids.into_iter().map(|id| self.delete_topic(id)).collect())
            }
            Request::CreatePartitions { topics, mode } => Answer::CreatePartitions(
                topics
                    .into_iter()
                    .map(|topic| self.create_partitions(topic, mode))
                    .collect(),
            ),
            Request::AlterConfigs { changes, mode } => Answer::AlterConfigs(
                changes
                    .into_iter()
                    .map(|change| self.alter_configs(change, mode))
                    .collect(),
            ),
            Request::ProducerIds => self.reserve_producer_ids(),
            Request::AlterScramUsers(changes) => self.alter_scram_users(changes),
        }
    }

    fn reserve_producer_ids(&mut self) -> Answer {
        let first = self.metadata.producer_id_next;
        match self.commit(vec![MetadataRecord::ProducerIds {
            next: first + PRODUCER_ID_BLOCK,
        }]) {
            Ok(()) => Answer::ProducerIds(ProducerIdBlock {
                first,
                count: PRODUCER_ID_BLOCK,
            }),
            Err(refusal) => Answer::Failed(refusal),
        }
    }

    /// Writes changes to disk, then carries them out.
    fn commit(&mut self, records: Vec<MetadataRecord>) -> Result<(), Refusal> {
        if let Err(error) = self.journal.append(&records) {
            let refusal = Refusal::new(ErrorCode::KafkaStorageError, error.to_string());
            if !error.is_disk_full() {
                self.outputs.push(Output::Fatal(error));
            }
            return Err(refusal);
        }
        records
            .iter()
            .for_each(|record| self.metadata.apply(record));
        Ok(())
    }

    /// Sends the image to all nodes when it is newer than `before`.
    fn publish(&mut self, before: u64) {
        if self.metadata.image.version == before {
            return;
        }
        for node in self.live.keys() {
            let image = Arc::clone(&self.metadata.image);
            self.outputs
                .push(Output::Send(*node, FromController::Image(image)));
        }
    }

    /// Sends the answers whose effects have reached all nodes, or that have waited too long.
    fn release(&mut self, now: Option<Now>) {
        let applied = self.live.values().min().copied().unwrap_or(u64::MAX);
        while let Some(first) = self.waiting.front() {
            let late = now.is_some_and(|now| first.until_ns <= now.mono_ns);
            if first.version > applied && !late {
                return;
            }
            if let Some(Waiting {
                node, id, answer, ..
            }) = self.waiting.pop_front()
            {
                self.outputs
                    .push(Output::Send(node, FromController::Answer { id, answer }));
            }
        }
    }

    fn register(&mut self, node: NodeId, reachable: NodeImage) {
        let before = self.metadata.image.version;
        self.live.insert(node, 0);
        let image = Arc::make_mut(&mut self.metadata.image);
        image.nodes.insert(node, reachable);
        image.version += 1;
        self.elect(|partition| {
            let led = partition.leader.is_none() || partition.leader == Some(node);
            (led && partition.isr.contains(&node)).then_some(Some(node))
        });
        self.publish(before);
    }

    fn stopped(&mut self, node: NodeId) {
        let before = self.metadata.image.version;
        self.live.remove(&node);
        let image = Arc::make_mut(&mut self.metadata.image);
        image.nodes.remove(&node);
        image.version += 1;
        self.elect(|partition| (partition.leader == Some(node)).then_some(None));
        self.publish(before);
        self.release(None);
    }

    /// Gives each partition for which `choose` names one a new leader (or none), in a new epoch.
    ///
    /// A node that comes back leads in a new epoch, as after Kafka's fencing: what it may have lost
    /// is then visible to clients that ask for the end of the old epoch.
    fn elect(&mut self, choose: impl Fn(&PartitionImage) -> Option<Option<NodeId>>) {
        let mut records = Vec::new();
        for topic in self.metadata.image.topics.values() {
            for (index, partition) in topic.partitions.iter().enumerate() {
                let Some(leader) = choose(partition) else {
                    continue;
                };
                let changed = PartitionImage {
                    leader,
                    leader_epoch: partition.leader_epoch + 1,
                    partition_epoch: partition.partition_epoch + 1,
                    ..partition.clone()
                };
                let (id, partitions) = (topic.id, vec![changed]);
                records.push(MetadataRecord::Partitions {
                    id,
                    first: index,
                    partitions,
                });
            }
        }
        // A refusal here has already been reported as fatal; on a full disk the old leaders stay.
        let _ = self.commit(records);
    }
}

#[cfg(test)]
mod tests;
