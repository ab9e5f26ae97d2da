//! Crate `verify`: whether every record is where its ack said.
//!
//! Goals: the identity in each record, the ledger of outcomes that producers write, and the check of a partition's
//! log against it, in bounded memory and without I/O.
//!
//! Non-goals: reading from brokers, deciding on exit statuses, and sentences.
//!
//! Start with [`Stamp`], then [`LedgerEntry`] and [`PartitionCheck`].

mod check;
mod digest;
mod gaps;
mod ledger;
mod outcomes;
mod polls;
mod promise;
mod stamp;
mod tally;

pub use check::{PartitionCheck, ReadExtent};
pub use digest::{ReplicaDigest, batch_mark};
pub use ledger::{
    BatchEntry, BatchFate, CLOCK_MS, ENTRY_BYTES, HIDDEN_MAX, LedgerEntry, LedgerError,
    LedgerReader, LedgerWriter, PARTITION_MAX, PARTITION_UNKNOWN, ReadSpan, TransactionFate,
};
pub use outcomes::{
    LedgerKind, OutcomeError, PartitionOutcomes, acked_records, producer_number, producer_place,
    torn_transactions,
};
pub use polls::ConsumerPolls;
pub use promise::{PromiseFacts, is_permitted};
pub use stamp::{STAMP_BYTES, Stamp, StampKey, StampReading};
pub use tally::{AnomalyTally, PartitionVerdict, Sighting};
