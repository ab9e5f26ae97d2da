//! One node of the cluster as a state machine: requests, the controller's messages and the time go
//! in; answers, closed connections and messages for the controller come out.
//!
//! Nothing here has a socket, a thread or a clock. [`BrokerNode`] is driven by the server in real
//! operation and directly by tests and simulation. What cannot be answered at once is kept as state
//! with a timer.

mod authentication;
pub mod clean_shutdown;
mod client_software;
mod connections;
mod controller_question;
mod counting;
pub(crate) mod deviations;
mod disk;
mod faults;
mod fetches;
mod folders;
mod images;
mod notice;
mod preparing;
mod producer_ids;
mod quotas;
mod replica;
pub mod replication;
mod reply;
mod response;
#[cfg(test)]
mod tests;
mod upkeep;
mod waits;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use authentication::Proof;
pub(crate) use client_software::ClientSoftware;
pub(crate) use connections::{AnswerCounts, ConnectionStage, Ticket};
pub(crate) use controller_question::ControllerQuestion;
pub use deviations::{AppendDeviation, Deviations};
pub use disk::{DiskDone, DiskJob};
pub(crate) use faults::DueFault;
pub(crate) use fetches::ParkedId;
pub use notice::Notice;
pub use replica::Replica;
pub(crate) use reply::{PendingRequest, Reply};
pub use response::{Chunk, EncodedResponse};
pub(crate) use waits::{DelayedAnswer, WaitOutcome, WaitTarget, Watermark};

use crate::controller::{FromController, ToController};
use crate::counts::Counters;
use crate::groups::{GroupTimer, Groups};
use crate::handlers;
use crate::ids::{ConnectionId, NodeId, PartitionId, TopicName};
use crate::image::{ClusterImage, NodeImage};
use crate::random::SmallRandom;
use crate::security::NodeSecurity;
use crate::settings::{ConfigMap, Layers, NodeSettings};
use crate::storage::{Storage, StorageError};
use crate::time::{NS_PER_MS, Now};
use crate::timers::Timers;
use connections::Connections;
use faults::NodeFaults;
use fetches::Fetches;
use producer_ids::ProducerIds;
use replication::isr::IsrQuestions;
use replication::message::PeerMessage;
use replication::{Fetchers, Sessions, Watermarks};
use waits::Purgatory;

/// What a node wants done by whoever drives it.
#[derive(Debug)]
pub enum NodeOutput {
    /// Send an answer. Answers of one connection come in the order of its requests.
    Respond {
        /// Where to.
        connection: ConnectionId,
        /// The answer.
        response: EncodedResponse,
    },
    /// Close a connection. The node has forgotten it already.
    Close {
        /// Which.
        connection: ConnectionId,
        /// Why.
        reason: CloseReason,
    },
    /// Serve a connection again whose requests were left lying.
    Resume {
        /// Which.
        connection: ConnectionId,
    },
    /// Give the controller a message.
    ToController(ToController),
    /// Give another node of the cluster a message. It may be lost on the way.
    ToPeer {
        /// Which.
        to: NodeId,
        /// The message.
        message: PeerMessage,
    },
    /// Run this, which may take long, and give [`BrokerNode::disk_done`] the result.
    Disk(DiskJob),
    /// Tell the cluster's owner.
    Notice(Notice),
    /// The disk failed under the node: stop it. Nothing is tried again (a flush that failed once
    /// may "succeed" over lost bytes).
    Fatal(StorageError),
}

/// Why a node closes a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The frame is no request.
    #[error("malformed request: {0}")]
    Malformed(String),
    /// The API is not served.
    #[error("request with unsupported API key {key}")]
    UnknownApi {
        /// The key as received.
        key: i16,
    },
    /// The API is served, but not in this version.
    #[error("{name} request with unsupported version {version}")]
    UnsupportedVersion {
        /// The API.
        name: &'static str,
        /// The version as received.
        version: i16,
    },
    /// The listener wants to know first who the client is.
    #[error("request before authentication")]
    NotAuthenticated,
    /// The client did not prove who it is. The answer about that goes first.
    #[error("authentication failed")]
    AuthenticationFailed,
    /// The client took too long to prove who it is.
    #[error("authentication took too long")]
    AuthenticationTimeout,
    /// A produce request with acks=0 failed: there is no other way to say so.
    #[error("a produce request without acknowledgement failed: {0}")]
    UnacknowledgedFailure(String),
    /// There are as many connections as `max.connections` allows.
    #[error("more connections than max.connections allows")]
    TooMany,
    /// An instrument asked for it.
    #[error("closed by an injected fault")]
    Fault,
}

/// A moment at which the node must act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A fetch has waited as long as it may.
    Fetch(ParkedId),
    /// Something of a group.
    Group(GroupTimer),
    /// Logs may want to be flushed because a segment was closed.
    FlushCheck,
    /// Logs write down how far they are.
    Checkpoint,
    /// `log.retention.check.interval.ms`
    Retention,
    /// `flush.ms` of a log.
    Flush(PartitionId),
    /// A request was held back long enough.
    Held(u64),
    /// Expiry of committed offsets.
    OffsetExpiry,
    /// An answer has waited for a watermark as long as it may.
    Waited(u64),
    /// A follower's fetch has waited as long as it may.
    FollowerWaits(NodeId),
    /// A leader has not answered a fetch.
    LeaderLate(NodeId),
    /// Partitions whose replication failed are tried again.
    FetchAgain(NodeId),
    /// Followers may have fallen behind.
    IsrCheck,
    /// High watermarks are written down.
    Watermarks,
    /// A throttled client may go on.
    Unmute(ConnectionId),
    /// The node reports to the controller that it is alive.
    Heartbeat,
    /// More of what an image asks for is done.
    Following,
    /// A client must have been let in by now.
    LetIn(ConnectionId),
}

/// The partitions of a node. The hash is the same in every run, so that everything happens in the same
/// order; the keys are ids that the controller draws, so nobody can choose ones that meet.
pub(crate) type Replicas = HashMap<PartitionId, Replica, BuildHasherDefault<DefaultHasher>>;

/// [`NodeConfig::turn_work_max`] in operation: some two milliseconds.
pub const TURN_WORK_MAX: usize = 512;

/// What a node is made of.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// Its number.
    pub id: NodeId,
    /// Where clients reach it.
    pub reachable: NodeImage,
    /// The folder of its logs.
    pub dir: PathBuf,
    /// The disk.
    pub storage: Arc<dyn Storage>,
    /// Configuration given at the start.
    pub settings: Arc<ConfigMap>,
    /// Start of all randomness.
    pub seed: u64,
    /// Whether the node stopped in order before, so that nothing of its logs can be lost.
    pub stopped_in_order: bool,
    /// Folders of logs that have lost segments since an orderly stop.
    pub damaged_logs: BTreeSet<String>,
    /// Who may come in, and how.
    pub security: Arc<NodeSecurity>,
    /// Counts the lives of the cluster's nodes: no two lives have the same number.
    pub life: u64,
    /// Rules that it breaks on purpose.
    pub deviations: Deviations,
    /// How many partitions it may open, close or write down before the next request has its turn.
    pub turn_work_max: usize,
    /// Where it counts what it does; without it nothing is counted.
    pub counters: Option<Arc<Counters>>,
}

/// One node.
#[derive(Debug)]
pub struct BrokerNode {
    pub(crate) config: NodeConfig,
    pub(crate) settings: NodeSettings,
    pub(crate) image: Arc<ClusterImage>,
    pub(crate) random: SmallRandom,
    pub(crate) replicas: Replicas,
    /// Partitions whose logs could not be opened.
    pub(crate) broken: BTreeSet<PartitionId>,
    folders: folders::Folders,
    /// An image that the node does not work by yet.
    preparing: Option<preparing::PendingImage>,
    /// [`Timer::Following`] is set.
    following_set: bool,
    sweeps: upkeep::Sweeps,
    pub(crate) connections: Connections,
    pub(crate) timers: Timers<Timer>,
    pub(crate) fetches: Fetches,
    pub(crate) groups: Groups,
    pub(crate) faults: NodeFaults,
    pub(crate) waits: Purgatory,
    /// Topics that were deleted in this life of the node and not created again.
    pub(crate) deleted_topics: BTreeSet<TopicName>,
    meters: quotas::Meters,
    sessions: Sessions,
    fetchers: Fetchers,
    isr_questions: IsrQuestions,
    /// High watermarks as they are written down.
    watermarks: Watermarks,
    asked: BTreeMap<u64, ControllerQuestion>,
    asked_count: u64,
    producer_ids: ProducerIds,
    turn: counting::Turn,
    outputs: Vec<NodeOutput>,
}

impl BrokerNode {
    /// A node that waits for its first image. Its first output registers it with the controller.
    #[must_use]
    pub fn new(now: Now, config: NodeConfig) -> Self {
        let none = ConfigMap::new();
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &config.settings,
        };
        let settings = NodeSettings::read(&layers);
        let mut node = Self {
            image: Arc::default(),
            random: SmallRandom::new(config.seed),
            replicas: Replicas::default(),
            broken: BTreeSet::new(),
            folders: folders::Folders::default(),
            preparing: None,
            following_set: false,
            sweeps: upkeep::Sweeps::default(),
            connections: Connections::default(),
            timers: Timers::default(),
            fetches: Fetches::default(),
            groups: Groups::default(),
            faults: NodeFaults::default(),
            waits: Purgatory::default(),
            deleted_topics: BTreeSet::new(),
            meters: quotas::Meters::default(),
            sessions: Sessions::default(),
            fetchers: Fetchers::default(),
            isr_questions: IsrQuestions::default(),
            watermarks: Watermarks::default(),
            asked: BTreeMap::new(),
            // Answers to an earlier life are no answers to this one.
            asked_count: config.life << 32,
            producer_ids: ProducerIds::default(),
            turn: counting::Turn::default(),
            outputs: Vec::new(),
            settings,
            config,
        };
        match Watermarks::read(&*node.config.storage, &node.config.dir) {
            Ok(watermarks) => node.watermarks = watermarks,
            Err(error) => node.fatal(error),
        }
        node.register();
        node.start_upkeep(now);
        node
    }

    /// The newest image that it works by.
    #[must_use]
    pub fn image(&self) -> &Arc<ClusterImage> {
        &self.image
    }

    /// Its copy of a partition.
    #[must_use]
    pub fn replica(&self, partition: &PartitionId) -> Option<&Replica> {
        self.replicas.get(partition)
    }

    /// Its copy of a partition, to read its log.
    pub fn replica_mut(&mut self, partition: &PartitionId) -> Option<&mut Replica> {
        self.replicas.get_mut(partition)
    }

    /// Takes what is to be done.
    pub fn outputs(&mut self) -> std::vec::Drain<'_, NodeOutput> {
        self.outputs.drain(..)
    }

    /// When [`BrokerNode::tick`] wants to be called.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        self.timers.next_ns()
    }

    /// The largest request that is taken: `socket.request.max.bytes`.
    #[must_use]
    pub fn request_bytes_max(&self) -> usize {
        usize::try_from(self.settings.socket_request_max_bytes).unwrap_or(0)
    }

    /// How long a connection may be unused: `connections.max.idle.ms`; `None` for ever.
    #[must_use]
    pub fn connection_idle_ns_max(&self) -> Option<u64> {
        let idle_ms = u64::try_from(self.settings.connections_max_idle_ms).ok()?;
        Some(idle_ms.saturating_mul(NS_PER_MS))
    }

    /// A client has connected.
    pub fn opened(&mut self, now: Now, connection: ConnectionId, peer: IpAddr) {
        let limit = usize::try_from(self.settings.max_connections).unwrap_or(usize::MAX);
        let stage = self.first_stage(now, connection);
        self.connections.opened(connection, peer, stage);
        if self.connections.len() > limit {
            self.connections
                .close(connection, CloseReason::TooMany, &mut self.outputs);
        }
    }

    /// A client has gone.
    pub fn closed(&mut self, connection: ConnectionId) {
        self.connections.closed(connection);
        self.forget_waits_of(connection);
    }

    /// Whether the next request of a connection must wait until answers to earlier ones have gone.
    #[must_use]
    pub fn is_full(&self, connection: ConnectionId) -> bool {
        self.connections.is_full(connection)
    }

    /// Whether requests of a connection wait for their answers.
    pub(crate) fn owes_answers(&self, connection: ConnectionId) -> bool {
        self.connections.owes_answers(connection)
    }

    /// Answers that have left so far: a server that hands them on only now and then sees here how many
    /// there are.
    pub(crate) fn answered(&self) -> AnswerCounts {
        self.connections.answered
    }

    /// A request has arrived: header and message, without the length prefix. Record batches are
    /// patched where they lie, so the frame's bytes change.
    pub fn request(&mut self, now: Now, connection: ConnectionId, frame: &mut [u8]) {
        if let Err(reason) = handlers::serve(self, now, connection, frame) {
            self.close(connection, reason);
        }
        self.finish_round(now);
    }

    /// A message of the controller has arrived.
    pub fn controller(&mut self, now: Now, message: FromController) {
        match message {
            FromController::Image(image) => self.apply_image(now, image),
            FromController::Answer { id, answer } => {
                if let Some(asked) = self.asked.remove(&id) {
                    asked.finish(self, now, answer);
                }
            }
        }
        self.finish_round(now);
    }

    /// Time has passed: does what is due.
    pub fn tick(&mut self, now: Now) {
        while let Some(timer) = self.timers.pop_due(now.mono_ns) {
            match timer {
                Timer::Fetch(id) => self.fetch_expired(now, id),
                Timer::Group(timer) => crate::groups::timer(self, now, timer),
                Timer::Held(id) => self.serve_held(now, id),
                Timer::Retention => self.retention_due(now),
                Timer::Flush(id) => self.begin_flush(id),
                Timer::FlushCheck => self.check_flushes(now),
                Timer::Checkpoint => self.checkpoint_due(now),
                Timer::OffsetExpiry => crate::groups::expire_offsets(self, now),
                Timer::Waited(id) => self.wait_over(id),
                Timer::FollowerWaits(follower) => self.follower_waited(follower),
                Timer::LeaderLate(leader) => self.leader_late(now, leader),
                Timer::FetchAgain(leader) => self.fetch_delayed(now, leader),
                Timer::IsrCheck => self.check_isrs(now),
                Timer::Watermarks => self.watermarks_due(now),
                Timer::Heartbeat => self.heartbeat(now),
                Timer::Following => self.following_due(now),
                Timer::Unmute(connection) => self.unmute(connection),
                Timer::LetIn(connection) => self.let_in_due(connection),
            }
        }
        self.finish_round(now);
    }

    /// Closes a connection, and forgets what it waits for.
    pub(crate) fn close(&mut self, connection: ConnectionId, reason: CloseReason) {
        self.connections
            .close(connection, reason, &mut self.outputs);
        self.forget_waits_of(connection);
    }

    fn forget_waits_of(&mut self, connection: ConnectionId) {
        self.forget_fetches_of(connection);
        self.faults.forget(connection);
        self.forget_waits(connection);
    }

    /// Reports a disk that can no longer be trusted.
    pub(crate) fn fatal(&mut self, error: StorageError) {
        self.outputs.push(NodeOutput::Fatal(error));
    }

    pub(crate) fn id(&self) -> NodeId {
        self.config.id
    }

    /// The library of the client that an answer goes to.
    pub(crate) fn client_software(&self, reply: Reply) -> ClientSoftware {
        let connection = self.connections.get(reply.ticket.connection);
        connection.map_or(ClientSoftware::default(), |known| known.software)
    }
}
