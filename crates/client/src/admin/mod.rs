//! What an administrator asks of a cluster: one file for each operation.

mod create_topics;
mod delete_topics;
mod offsets;
mod producer_id;
mod topic_wait;

pub use create_topics::{CreateTopicError, NewTopic};
pub use delete_topics::DeleteTopicError;
pub use offsets::{OffsetAt, OffsetsError};
pub use producer_id::{ProducerId, ProducerIdError};
