//! Why a member is not, or no longer, in its group.

use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

use crate::cluster::ClusterError;
use crate::connection::CallError;

/// Why something that a group member wanted did not work out.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// The coordinator refuses, and will go on refusing.
    #[error("group {group}: {api} was refused with {code}")]
    Refused {
        /// The group's id.
        group: String,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The coordinator does not take the member, and says why.
    #[error("group {group}: the member was refused with {code}: {why}")]
    RefusedMember {
        /// The group's id.
        group: String,
        /// The broker's code.
        code: ErrorCode,
        /// The broker's words.
        why: String,
    },
    /// One partition's offset was not committed or not told.
    #[error("group {group}: partition {topic}-{partition}: {api} was refused with {code}")]
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
    /// The member is not part of the group's present generation: it has to join again.
    #[error("group {group}: this member's generation is over ({code})")]
    Outdated {
        /// The group's id.
        group: String,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The group never came to an end with its rebalance.
    #[error("group {group} did not settle within {:.0} s; last: {last}", waited.as_secs_f64())]
    NotSettled {
        /// The group's id.
        group: String,
        /// How long was waited.
        waited: Duration,
        /// What happened last.
        last: String,
    },
    /// The broker answers what nobody asked for.
    #[error("group {group}: the coordinator's answer makes no sense: {what}")]
    Nonsense {
        /// The group's id.
        group: String,
        /// What is wrong with it.
        what: String,
    },
    /// The brokers are older than groups.
    #[error("group {group}: this release of Kafka has no consumer groups; they came with 0.9")]
    NoGroups {
        /// The group's id.
        group: String,
    },
    /// The brokers do not know the protocol of KIP-848.
    #[error(
        "group {group}: this cluster does not speak group.protocol=consumer: it announces no \
         ConsumerGroupHeartbeat, or refuses it"
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
        /// What went wrong.
        #[source]
        error: Box<ClusterError>,
    },
}

impl GroupError {
    /// Whether somebody raised the member's interrupt.
    pub fn is_interrupt(&self) -> bool {
        let GroupError::Cluster { error, .. } = self else {
            return false;
        };
        matches!(
            **error,
            ClusterError::Interrupted | ClusterError::Call(CallError::Interrupted { .. })
        )
    }

    /// What the user can do about it.
    pub fn fix(&self) -> &'static str {
        match self {
            GroupError::Refused { code, .. }
            | GroupError::RefusedMember { code, .. }
            | GroupError::Partition { code, .. } => match code {
                ErrorCode::GroupAuthorizationFailed => {
                    "give this client the right to use the group"
                }
                ErrorCode::TopicAuthorizationFailed => {
                    "give this client the right to read the topic"
                }
                ErrorCode::InvalidSessionTimeout => {
                    "choose session.timeout.ms between the broker's group.min.session.timeout.ms \
                     and group.max.session.timeout.ms"
                }
                ErrorCode::InconsistentGroupProtocol => {
                    "the members of a group need a partition.assignment.strategy in common"
                }
                ErrorCode::UnsupportedAssignor => {
                    "choose a group.remote.assignor among the broker's group.consumer.assignors"
                }
                ErrorCode::FencedInstanceId | ErrorCode::UnreleasedInstanceId => {
                    "another member uses the same group.instance.id: give each its own"
                }
                ErrorCode::GroupMaxSizeReached => {
                    "use fewer consumers, or raise the broker's group.max.size"
                }
                _ => "look at the broker's log",
            },
            GroupError::Outdated { .. } => {
                "raise session.timeout.ms, or look why heartbeats are late"
            }
            GroupError::NotSettled { .. } => {
                "look at the coordinator's log, and whether other members of the group hang"
            }
            GroupError::Nonsense { .. } => "please report this with the broker's version",
            GroupError::NoGroups { .. } => "leave out `group`: assigned partitions work everywhere",
            GroupError::NoConsumerProtocol { .. } => {
                "write group.protocol: classic; the other one came with Kafka 4.0"
            }
            GroupError::NoStaticMembers { .. } => "leave out group.instance.id",
            GroupError::Cluster { error, .. } => error.fix(),
        }
    }
}
