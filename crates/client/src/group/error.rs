//! Why a member is not, or no longer, in its group.

use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

use crate::cluster::ClusterError;

/// Why an operation of a group member failed.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// The coordinator refuses permanently.
    #[error("group {group}: {api} was rejected with {code}")]
    Refused {
        /// The group's id.
        group: String,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The coordinator rejects the member, with a message.
    #[error("group {group}: the member was rejected with {code}: {why}")]
    RefusedMember {
        /// The group's id.
        group: String,
        /// The broker's code.
        code: ErrorCode,
        /// The broker's message.
        why: String,
    },
    /// One partition's offset was not committed or not returned.
    #[error("group {group}: partition {topic}-{partition}: {api} was rejected with {code}")]
    Partition {
        /// The group's id.
        group: String,
        /// The topic.
        topic: String,
        /// The partition.
        partition: i32,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The member is not part of the group's current generation: it must rejoin.
    #[error("group {group}: this member's generation has ended ({code})")]
    Outdated {
        /// The group's id.
        group: String,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The group did not finish its rebalance.
    #[error("group {group} did not settle within {:.0} s; last: {last}", waited.as_secs_f64())]
    NotSettled {
        /// The group's id.
        group: String,
        /// The time limit.
        waited: Duration,
        /// The last error.
        last: String,
    },
    /// A broker's response does not match the request.
    #[error("group {group}: the coordinator's response is invalid: {what}")]
    Nonsense {
        /// The group's id.
        group: String,
        /// What is wrong with it.
        what: String,
    },
    /// The brokers are older than groups.
    #[error("group {group}: this release of Kafka has no consumer groups; they need 0.9 or newer")]
    NoGroups {
        /// The group's id.
        group: String,
    },
    /// The brokers do not support the protocol of KIP-848.
    #[error(
        "group {group}: this cluster does not support group.protocol=consumer: it does not \
         announce ConsumerGroupHeartbeat, or rejects it"
    )]
    NoConsumerProtocol {
        /// The group's id.
        group: String,
    },
    /// The brokers are older than static members.
    #[error("group {group}: group.instance.id needs Kafka 2.3 or newer")]
    NoStaticMembers {
        /// The group's id.
        group: String,
    },
    /// The cluster could not be asked.
    #[error("group {group}: {error}")]
    Cluster {
        /// The group's id.
        group: String,
        /// The cause.
        #[source]
        error: Box<ClusterError>,
    },
}

impl GroupError {
    /// Whether the wait was cancelled; this says nothing about the group.
    pub fn is_interruption(&self) -> bool {
        matches!(self, GroupError::Cluster { error, .. } if error.is_interruption())
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            GroupError::Refused { code, .. }
            | GroupError::RefusedMember { code, .. }
            | GroupError::Partition { code, .. } => match code {
                ErrorCode::GroupAuthorizationFailed => "allow this client to read the group",
                ErrorCode::TopicAuthorizationFailed => "allow this client to read the topic",
                ErrorCode::InvalidSessionTimeout => {
                    "choose session.timeout.ms between the broker's group.min.session.timeout.ms \
                     and group.max.session.timeout.ms"
                }
                ErrorCode::InconsistentGroupProtocol => {
                    "the members of a group need a common partition.assignment.strategy"
                }
                ErrorCode::UnsupportedAssignor => {
                    "choose a group.remote.assignor among the broker's group.consumer.assignors"
                }
                ErrorCode::FencedInstanceId | ErrorCode::UnreleasedInstanceId => {
                    "another member uses the same group.instance.id; give each member its own"
                }
                ErrorCode::GroupMaxSizeReached => {
                    "use fewer consumers, or raise the broker's group.max.size"
                }
                _ => "check the broker's log",
            },
            GroupError::Outdated { .. } => {
                "raise session.timeout.ms, or find out why heartbeats are late"
            }
            GroupError::NotSettled { .. } => {
                "check the coordinator's log, and check that no other member of the group hangs"
            }
            GroupError::Nonsense { .. } => "please report this with the broker's version",
            GroupError::NoGroups { .. } => "remove `group`: assigned partitions work everywhere",
            GroupError::NoConsumerProtocol { .. } => {
                "write group.protocol: classic; the consumer protocol needs Kafka 4.0 or newer"
            }
            GroupError::NoStaticMembers { .. } => "remove group.instance.id",
            GroupError::Cluster { error, .. } => error.fix(),
        }
    }
}
