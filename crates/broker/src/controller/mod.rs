//! The controller: owns topics, partitions, leaders, configurations and producer ids of a cluster.
//!
//! It is a state machine without thread, clock or socket: [`Controller::handle`] takes one message
//! of a node and pushes what is to be sent into [`Controller::outputs`]. Every change is flushed to
//! its journal before anybody hears of it, those of one request together. An answer is held back until all nodes that
//! are up work by its effects, so that a client that gets "created" can produce to any node at once.

mod configs;
mod isr;
mod journal;
mod liveness;
mod messages;
mod partitions;
mod reassign;
mod records;
mod scram;
mod topics;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;

use crate::ids::NodeId;
use crate::image::ClusterImage;
use crate::random::SmallRandom;
use crate::settings::{ConfigMap, Layers, NodeSettings};
use crate::storage::{Storage, StorageError};
use crate::time::Now;
use journal::Journal;
pub use journal::JournalError;
use liveness::RegisteredNode;
pub use messages::{
    ChangeScope, ConfigChange, ConfigOperation, ConfigResource, ControllerReply, ControllerRequest,
    CreatedTopic, ElectionKind, FromController, IsrChange, Mode, NewTopic, PartitionIncrease,
    PartitionKey, ProducerIdBlock, QuotaChange, Reassignment, Refusal, ScramChange, ScramNew,
    ToController,
};
use records::{ClusterMetadata, MetadataRecord};

/// Producer ids that a node gets at a time, as in Kafka.
const PRODUCER_ID_BLOCK: i64 = 1000;

/// How long an answer waits for nodes that do not follow.
const APPLY_WAIT_MS: i64 = 10_000;

/// The metadata's owner.
#[derive(Debug)]
pub struct Controller {
    settings: NodeSettings,
    random: SmallRandom,
    journal: Journal,
    metadata: ClusterMetadata,
    /// What the request at hand has changed and is not written yet.
    together: Option<Vec<MetadataRecord>>,
    /// Configuration given at the start.
    fixed: Arc<ConfigMap>,
    /// The nodes that have registered.
    live: BTreeMap<NodeId, RegisteredNode>,
    /// Nodes that have replicas and have not registered yet, and since when they are waited for.
    awaited: BTreeSet<NodeId>,
    began_ns: Option<u64>,
    /// When leaders are given back to the first replicas.
    rebalance_ns: Option<u64>,
    waiting: VecDeque<WaitingAnswer>,
    outputs: Vec<ControllerOutput>,
}

/// How the cluster id of every embedded cluster begins, so that clients recognise one. The id is still one of Kafka's
/// form, 22 characters of base64url; of Apache Kafka's random ones, one in 64^6 begins like that.
pub const CLUSTER_ID_PREFIX: &str = "kgauge";

/// What a controller wants done.
#[derive(Debug)]
pub enum ControllerOutput {
    /// Send a message to a node.
    Send(NodeId, FromController),
    /// The journal can no longer be trusted: stop the cluster. Flushing is never tried again.
    Fatal(StorageError),
}

/// An answer that waits until all nodes work by a version.
#[derive(Debug)]
struct WaitingAnswer {
    version: u64,
    until_ns: u64,
    node: NodeId,
    id: u64,
    answer: ControllerReply,
}

impl Controller {
    /// Reads the metadata in `dir`, or begins a new cluster there.
    pub fn open(
        storage: &Arc<dyn Storage>,
        dir: &Path,
        fixed: Arc<ConfigMap>,
        seed: u64,
    ) -> Result<Self, JournalError> {
        let none = ConfigMap::new();
        let settings = NodeSettings::read(&Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &fixed,
        });
        let mut random = SmallRandom::new(seed);
        let (journal, metadata) = Journal::open(storage, dir, || {
            let whole = Uuid(random.uuid_bytes()).to_string();
            let rest = whole.chars().skip(CLUSTER_ID_PREFIX.len());
            MetadataRecord::Cluster {
                cluster_id: CLUSTER_ID_PREFIX.chars().chain(rest).collect(),
                version: 0,
            }
        })?;
        let topics = metadata.image.topics.values();
        let partitions = topics.flat_map(|topic| &topic.partitions);
        let awaited = partitions.flat_map(|partition| partition.replicas.iter().copied());
        Ok(Self {
            settings,
            random,
            journal,
            awaited: awaited.collect(),
            metadata,
            together: None,
            fixed,
            began_ns: None,
            rebalance_ns: None,
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

    /// Whether this many nodes are up and work by the newest version.
    #[must_use]
    pub fn is_followed_by(&self, nodes: usize) -> bool {
        let version = self.metadata.image.version;
        self.live.len() >= nodes && self.live.values().all(|member| member.applied >= version)
    }

    /// Takes what is to be done.
    pub fn outputs(&mut self) -> std::vec::Drain<'_, ControllerOutput> {
        self.outputs.drain(..)
    }

    /// When [`Controller::tick`] wants to be called.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        let late = self.waiting.front().map(|waiting| waiting.until_ns);
        let timers = [late, self.next_silence_ns(), self.rebalance_ns];
        timers.into_iter().flatten().min()
    }

    /// Does what is due: gives up waiting for nodes that do not follow, fences those that are
    /// silent, gives leaders back to the first replicas.
    pub fn tick(&mut self, now: Now) {
        self.release(Some(now));
        self.fence_silent(now);
        if self.rebalance_ns.is_some_and(|at_ns| at_ns <= now.mono_ns) {
            self.rebalance_leaders();
            self.set_rebalance(now);
        }
    }

    fn set_rebalance(&mut self, now: Now) {
        let every_ms = self
            .settings
            .leader_imbalance_check_interval_seconds
            .saturating_mul(1000);
        let enabled = self.settings.auto_leader_rebalance_enable;
        self.rebalance_ns = enabled.then(|| now.after_ms(every_ms));
    }

    /// Takes one message of a node.
    pub fn handle(&mut self, now: Now, node: NodeId, message: ToController) {
        self.began_ns.get_or_insert(now.mono_ns);
        if self.rebalance_ns.is_none() {
            self.set_rebalance(now);
        }
        match message {
            ToController::Register {
                reachable,
                stopped_in_order,
            } => self.register(now, node, reachable, stopped_in_order),
            ToController::Heartbeat => self.heartbeat(now, node),
            ToController::Stopped => self.stopped(node),
            ToController::Applied(version) => {
                if let Some(member) = self.live.get_mut(&node) {
                    member.applied = version.max(member.applied);
                }
                self.release(None);
            }
            ToController::Request { id, request } => {
                let before = self.metadata.image.version;
                let answer = self.request_together(node, request);
                self.publish(before);
                if let ControllerReply::AlterIsr(_) = answer {
                    // Replication does not wait for slow nodes.
                    let answer = FromController::Answer { id, answer };
                    self.outputs.push(ControllerOutput::Send(node, answer));
                    return;
                }
                let version = self.metadata.image.version;
                let until_ns = now.after_ms(APPLY_WAIT_MS);
                self.waiting.push_back(WaitingAnswer {
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

    /// Carries out a request, and writes all that it changes at once: a thousand topics cost one flush.
    /// What cannot be written is taken back, the whole request.
    fn request_together(&mut self, node: NodeId, request: ControllerRequest) -> ControllerReply {
        let before = self.metadata.clone();
        self.together = Some(Vec::new());
        let answer = self.request(node, request);
        let records = self.together.take().unwrap_or_default();
        match self.write(&records) {
            Ok(()) => {
                self.compact();
                answer
            }
            Err(refusal) => {
                self.metadata = before;
                ControllerReply::Failed(refusal)
            }
        }
    }

    fn request(&mut self, node: NodeId, request: ControllerRequest) -> ControllerReply {
        match request {
            ControllerRequest::CreateTopics { topics, mode } => {
                ControllerReply::CreateTopics(self.create_topics(topics, mode))
            }
            ControllerRequest::DeleteTopics(ids) => ControllerReply::DeleteTopics(
                ids.into_iter().map(|id| self.delete_topic(id)).collect(),
            ),
            ControllerRequest::CreatePartitions { topics, mode } => {
                ControllerReply::CreatePartitions(self.grow_topics(topics, mode))
            }
            ControllerRequest::AlterConfigs { changes, mode } => ControllerReply::AlterConfigs(
                changes
                    .into_iter()
                    .map(|change| self.alter_configs(change, mode))
                    .collect(),
            ),
            ControllerRequest::ProducerIds => self.reserve_producer_ids(),
            ControllerRequest::AlterIsr(changes) => {
                ControllerReply::AlterIsr(self.alter_isrs(node, changes))
            }
            ControllerRequest::ElectLeaders { kind, partitions } => ControllerReply::ElectLeaders(
                partitions
                    .iter()
                    .map(|key| self.elect_leader(kind, key))
                    .collect(),
            ),
            ControllerRequest::AlterClientQuotas { changes, mode } => {
                ControllerReply::AlterClientQuotas(
                    changes
                        .into_iter()
                        .map(|change| self.alter_quotas(change, mode))
                        .collect(),
                )
            }
            ControllerRequest::Reassign(moves) => ControllerReply::Reassign(
                moves.iter().map(|change| self.reassign(change)).collect(),
            ),
            ControllerRequest::AlterScramUsers(changes) => self.alter_scram_users(changes),
        }
    }

    fn reserve_producer_ids(&mut self) -> ControllerReply {
        let first = self.metadata.producer_id_next;
        match self.commit(vec![MetadataRecord::ProducerIds {
            next: first + PRODUCER_ID_BLOCK,
        }]) {
            Ok(()) => ControllerReply::ProducerIds(ProducerIdBlock {
                first,
                count: PRODUCER_ID_BLOCK,
            }),
            Err(refusal) => ControllerReply::Failed(refusal),
        }
    }

    /// Writes changes to disk, then carries them out. Those of one request are carried out first: nobody
    /// hears of them before they are written.
    fn commit(&mut self, records: Vec<MetadataRecord>) -> Result<(), Refusal> {
        if self.together.is_none() {
            self.write(&records)?;
        }
        records
            .iter()
            .for_each(|record| self.metadata.apply(record));
        match &mut self.together {
            Some(together) => together.extend(records),
            None => self.compact(),
        }
        Ok(())
    }

    /// Writes changes to disk.
    fn write(&mut self, records: &[MetadataRecord]) -> Result<(), Refusal> {
        self.journal.append(records).map_err(|error| {
            let refusal = Refusal::new(ErrorCode::KafkaStorageError, error.to_string());
            if !error.is_disk_full() {
                self.outputs.push(ControllerOutput::Fatal(error));
            }
            refusal
        })
    }

    /// Rewrites the journal if it has grown enough. What was asked for is on disk, whatever becomes
    /// of this.
    fn compact(&mut self) {
        if let Err(error) = self.journal.compact_if_due(&self.metadata) {
            self.outputs.push(ControllerOutput::Fatal(error));
        }
    }

    /// Sends the image to all nodes when it is newer than `before`.
    fn publish(&mut self, before: u64) {
        if self.metadata.image.version == before {
            return;
        }
        for node in self.live.keys() {
            let image = Arc::clone(&self.metadata.image);
            self.outputs
                .push(ControllerOutput::Send(*node, FromController::Image(image)));
        }
    }

    /// Sends the answers whose effects have reached all nodes, or that have waited too long.
    fn release(&mut self, now: Option<Now>) {
        let up = self.live.values().filter(|member| !member.fenced);
        let applied = up.map(|member| member.applied).min().unwrap_or(u64::MAX);
        while let Some(first) = self.waiting.front() {
            let late = now.is_some_and(|now| first.until_ns <= now.mono_ns);
            if first.version > applied && !late {
                return;
            }
            if let Some(WaitingAnswer {
                node, id, answer, ..
            }) = self.waiting.pop_front()
            {
                self.outputs.push(ControllerOutput::Send(
                    node,
                    FromController::Answer { id, answer },
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
