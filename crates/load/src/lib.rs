//! The load engine: executes a share, sends requests on time, and records samples.
//!
//! # Goals
//!
//! * Latency starts when a record should have been sent.
//! * Every Kafka setting that affects load is honoured as in Kafka's own clients.
//! * The cost per record is so small that the generator is not what is measured. Each worker is one thread with its own
//!   event loop, connections and buffers. A record's path has no lock, no allocation and no queue between threads.
//!
//! # Non-goals
//!
//! * Choosing what to run (`scenario`) and storing results (`results`; load calls its recorders).
//! * A general client library: it does what load needs.
//!
//! # Where to start
//!
//! [`PreparedLoad::prepare`], then `worker.rs` (the event loop), `produce/intake.rs` (accepts records),
//! `produce/drain.rs` (sends requests), `produce/answers.rs` (makes samples).

mod begin;
mod broker_link;
mod ceiling;
mod clock;
mod consume;
mod control;
mod counted_clients;
mod driver;
mod echo;
mod gather;
mod gauges;
mod hand_codec;
mod hold_delta;
mod inbox;
mod incident;
mod leaders;
mod ledgers;
mod link;
mod load_control;
mod load_setup;
mod outage;
mod pacing;
mod parts;
mod payload;
mod preload;
mod prepare;
mod produce;
mod refusals;
mod run;
mod settings;
mod sync;
mod tally;
mod timed_ledger;
mod topic_lookup;
mod topics;
mod worker;
mod worker_context;

pub use ceiling::{Ceiling, CeilingError, CeilingPath, CeilingSetup, Ceilings, ceiling};
pub use clock::Clock;
pub use driver::{DriverError, DriverProgram, DriverUse};
pub use echo::{CopyTally, EchoTally};
pub use incident::Incident;
pub use ledgers::{
    LedgerFolder, LedgerName, LedgerOwner, LedgerSink, LedgerStore, VerifySetup, stamp_key,
};
pub use load_control::{HOLD_NOTICE_NS, HoldControl, LoadControl};
pub use load_setup::{CopySetup, LoadSetup, PrepareError};
pub use outage::{Outage, OutageChange, OutageKind};
pub use payload::{FlowContent, PayloadError};
pub use preload::{PreloadError, preload};
pub use prepare::PreparedLoad;
pub use produce::{TransactionStartError, partition_for_key};
pub use refusals::{MissingFeature, refusals};
pub use run::{FlowOutcome, LoadError, LoadOutcome, LoadProgress};
pub use settings::codec;
pub use tally::Totals;
