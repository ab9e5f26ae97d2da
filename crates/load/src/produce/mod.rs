//! Producers: records into batches, batches into requests, answers into samples.
//!
//! One [`Producer`] does what one Kafka producer in one application does: its own `buffer.memory`, its
//! own connections, its own sequence numbers. It is a state machine on its worker's thread: `intake`
//! takes records when they are due, `drain` sends batches that are ready, `answers` reads what brokers
//! say, `recovery` handles lost connections, retries and expiry. Nothing in it blocks.

mod answers;
mod batch;
mod coordinator;
mod discard;
mod drain;
mod due;
mod encoder;
mod full_record;
mod intake;
mod keyed;
mod murmur;
mod partition;
mod producer;
mod recovery;
mod request;
mod response;
mod sticky;
mod transaction;
mod waiting;

pub use coordinator::TransactionStartError;
pub(crate) use coordinator::{TransactionSetup, TransactionThread};
pub(crate) use encoder::RecordsFormat;
pub use murmur::partition_for_key;
pub(crate) use producer::{Producer, ProducerIdentity, ProducerSetup};
pub(crate) use request::{VERSIONS, versions_of};
pub(crate) use transaction::Transaction;

/// The largest answer to a Produce request that is accepted: some hundred bytes a partition.
pub(crate) const RESPONSE_BYTES_MAX: usize = 16 << 20;
