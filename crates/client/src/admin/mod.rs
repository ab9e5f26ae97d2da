//! Admin operations: one file each.

mod client_quotas;
mod committed;
mod configs;
mod coordinator;
mod create_topics;
mod delete_groups;
mod delete_topics;
mod fenced_brokers;
mod log_dirs;
mod offsets;
mod producer_id;
mod replica_ends;
mod round_trip;
mod scram_users;
mod topic_wait;

pub use client_quotas::{ClientQuota, QuotaHolder, QuotaName};
pub use configs::{AdminConfigResource, ConfigEdit, ConfigEntry, ConfigSource, ConfigsError};
pub(crate) use coordinator::CoordinatorOf;
pub use create_topics::{CreateTopicError, TopicSpec};
pub use delete_groups::DeleteGroupError;
pub use delete_topics::DeleteTopicError;
pub use log_dirs::{LogDir, LogDirPartition, LogDirsError};
pub use offsets::{EndOf, OffsetAt, OffsetsError};
pub use producer_id::{ProducerId, ProducerIdError};
pub use replica_ends::ReplicaEnd;
