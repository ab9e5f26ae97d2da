//! What nodes and the controller say to each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;

use crate::ids::{NodeId, PartitionId, TopicName};
use crate::image::{ClusterImage, NodeImage};
use crate::quota::{ByteRate, QuotaEntity};
use crate::settings::ConfigMap;

/// From a node to the controller.
#[derive(Debug)]
pub enum ToController {
    /// The node is up.
    Register {
        /// Where clients reach it.
        reachable: NodeImage,
        /// Whether it stopped in order before. Else it may have lost what it had not flushed.
        stopped_in_order: bool,
    },
    /// The node is alive.
    Heartbeat,
    /// The node works by this version of the image.
    Applied(u64),
    /// Something is asked; the answer carries the same number.
    Request {
        /// Chosen by the node.
        id: u64,
        /// What is asked.
        request: ControllerRequest,
    },
    /// The node is gone.
    Stopped,
}

/// From the controller to a node.
#[derive(Debug, Clone)]
pub enum FromController {
    /// The cluster has changed.
    Image(Arc<ClusterImage>),
    /// The answer to a request. All nodes that are up work by its effects already.
    Answer {
        /// The request's number.
        id: u64,
        /// The answer.
        answer: ControllerReply,
    },
}

/// A request of a node to the controller.
#[derive(Debug)]
pub enum ControllerRequest {
    /// Create topics; one result each, in order.
    CreateTopics {
        /// The topics.
        topics: Vec<NewTopic>,
        /// Check only.
        mode: Mode,
    },
    /// Delete topics by id; one result each, in order.
    DeleteTopics(Vec<Uuid>),
    /// Give topics more partitions; one result each, in order.
    CreatePartitions {
        /// The topics.
        topics: Vec<PartitionIncrease>,
        /// Check only.
        mode: Mode,
    },
    /// Change configurations; one result each, in order.
    AlterConfigs {
        /// The changes.
        changes: Vec<ConfigChange>,
        /// Check only.
        mode: Mode,
    },
    /// Reserve a block of producer ids.
    ProducerIds,
    /// Change ISRs; one result each, in order.
    AlterIsr(Vec<IsrChange>),
    /// Give partitions other leaders; one result each, in order.
    ElectLeaders {
        /// How they are chosen.
        kind: ElectionKind,
        /// Of which partitions.
        partitions: Vec<PartitionKey>,
    },
    /// Move partitions to other nodes; one result each, in order.
    Reassign(Vec<Reassignment>),
    /// Change client quotas; one result each, in order.
    AlterClientQuotas {
        /// The changes.
        changes: Vec<QuotaChange>,
        /// Check only.
        mode: Mode,
    },
    /// Change what is kept of users' passwords; one result for each user.
    AlterScramUsers(Vec<ScramChange>),
}

/// An ISR that a leader proposes.
#[derive(Debug, Clone)]
pub struct IsrChange {
    /// The partition.
    pub partition: PartitionId,
    /// The epoch in which the proposer leads.
    pub leader_epoch: i32,
    /// The state of the partition that it goes by.
    pub partition_epoch: i32,
    /// The members, each with the life in which the leader has heard of it.
    pub isr: Vec<(NodeId, u64)>,
}

/// How a leader is chosen when somebody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElectionKind {
    /// The first replica, if it is in sync.
    Preferred,
    /// Any replica, if there is no leader.
    Unclean,
}

/// A partition by its topic's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionKey {
    /// The topic.
    pub topic: String,
    /// The partition's index.
    pub index: i32,
}

/// Other quotas for an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaChange {
    /// Whose.
    pub entity: QuotaEntity,
    /// Keys with new values; `None` takes one back. What is not named stays.
    pub values: BTreeMap<String, Option<ByteRate>>,
}

/// Where a partition is to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reassignment {
    /// The partition.
    pub key: PartitionKey,
    /// Its new replicas; `None` calls a move off.
    pub replicas: Option<Vec<NodeId>>,
}

/// Whether a request is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Do it.
    Apply,
    /// Only say whether it could be done.
    Validate,
}

impl Mode {
    /// From the protocol's `validateOnly`.
    #[must_use]
    pub fn of(validate_only: bool) -> Self {
        if validate_only {
            Self::Validate
        } else {
            Self::Apply
        }
    }
}

/// A topic to create.
#[derive(Debug, Clone, Default)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// Number of partitions; `None` for the cluster's default or what `assignments` say.
    pub partitions: Option<i32>,
    /// Replicas of each partition; `None` likewise.
    pub replication_factor: Option<i16>,
    /// Replicas chosen by the client, by partition index.
    pub assignments: Vec<(i32, Vec<NodeId>)>,
    /// Configurations of the topic.
    pub configs: ConfigMap,
}

/// A topic that gets more partitions.
#[derive(Debug, Clone)]
pub struct PartitionIncrease {
    /// The topic's name.
    pub name: String,
    /// The new total.
    pub count: i32,
    /// Replicas of each new partition, when the client chooses them.
    pub assignments: Option<Vec<Vec<NodeId>>>,
}

/// What a configuration belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigResource {
    /// A topic.
    Topic(String),
    /// One node, or all.
    Node(Option<NodeId>),
}

/// Changes of one resource's configurations.
#[derive(Debug, Clone)]
pub struct ConfigChange {
    /// Whose.
    pub resource: ConfigResource,
    /// Whether what is not named stays.
    pub scope: ChangeScope,
    /// What becomes of the configurations that it names.
    pub values: Vec<(String, ConfigOperation)>,
}

/// What becomes of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigOperation {
    /// It gets this value.
    Set(String),
    /// It goes back to its default.
    Reset,
    /// Its list gets these entries, without those that are in it.
    Append(String),
    /// Its list loses these entries.
    Subtract(String),
}

/// What a change does to configurations that it does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeScope {
    /// They stay (`IncrementalAlterConfigs`).
    Named,
    /// They go back to the default (`AlterConfigs`).
    All,
}

/// A change of one credential of one user.
#[derive(Debug, Clone)]
pub struct ScramChange {
    /// The user.
    pub user: String,
    /// The mechanism's number in the protocol.
    pub mechanism: i8,
    /// The new credential; `None` takes the old one away.
    pub new: Option<ScramNew>,
}

/// What a client made of a password.
#[derive(Debug, Clone)]
pub struct ScramNew {
    /// How many rounds it went through.
    pub iterations: i32,
    /// What was mixed in.
    pub salt: Vec<u8>,
    /// What came out.
    pub salted_password: kgauge_wire::Secret<Vec<u8>>,
}

/// What the controller answers.
#[derive(Debug, Clone)]
pub enum ControllerReply {
    /// To `CreateTopics`.
    CreateTopics(Vec<Result<CreatedTopic, Refusal>>),
    /// To `DeleteTopics`, with the names.
    DeleteTopics(Vec<Result<TopicName, Refusal>>),
    /// To `CreatePartitions`.
    CreatePartitions(Vec<Result<(), Refusal>>),
    /// To `AlterConfigs`.
    AlterConfigs(Vec<Result<(), Refusal>>),
    /// To `ProducerIds`.
    ProducerIds(ProducerIdBlock),
    /// To `AlterIsr`.
    AlterIsr(Vec<Result<(), Refusal>>),
    /// To `ElectLeaders`.
    ElectLeaders(Vec<Result<(), Refusal>>),
    /// To `Reassign`.
    Reassign(Vec<Result<(), Refusal>>),
    /// To `AlterClientQuotas`.
    AlterClientQuotas(Vec<Result<(), Refusal>>),
    /// To `AlterScramUsers`: each user once, in the order of the changes.
    AlterScramUsers(Vec<(String, Result<(), Refusal>)>),
    /// The controller could not write its state; nothing was done.
    Failed(Refusal),
}

/// A topic that was created, or could be.
#[derive(Debug, Clone)]
pub struct CreatedTopic {
    /// Its id; zero when it was only checked.
    pub id: Uuid,
    /// Number of partitions.
    pub partitions: i32,
    /// Replicas of each.
    pub replication_factor: i16,
    /// Configurations that were set on it.
    pub configs: ConfigMap,
}

/// Producer ids that one node may give out: `first` and the 999 after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerIdBlock {
    /// The first.
    pub first: i64,
    /// How many.
    pub count: i64,
}

/// Why something was not done: Kafka's error code and words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code:?}: {message}")]
pub struct Refusal {
    /// Kafka's code.
    pub code: ErrorCode,
    /// The message for the user.
    pub message: String,
}

impl Refusal {
    /// A refusal with its words.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
