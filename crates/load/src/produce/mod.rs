//! Producers: put records into batches, send batches in requests, turn responses into samples.
//!
//! A [`Producer`] does what one Kafka producer in one application does, with its own `buffer.memory`, connections and
//! sequence numbers. It is a state machine on its worker's thread: `intake` accepts due records, `drain` sends ready
//! batches, `answers` handles responses, and `recovery` handles lost connections, retries and expiry. Nothing in it
//! blocks.
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

/// Size limit of a Produce response: some hundred bytes per partition.
pub(crate) const RESPONSE_BYTES_MAX: usize = 16 << 20;
