//! The load engine: a share in, requests on time out, samples recorded.
//!
//! Goals: latency that starts when a record should have been sent; every one of Kafka's settings that
//! bears on load honoured as Kafka's own clients honour it; a cost per record so small that the
//! generator is not what is measured. Each worker is one thread with its own event loop, connections
//! and buffers. On its way a record meets no lock, no allocation, no queue between threads.
//!
//! Non-goals: this crate does not choose what to run (`scenario`), does not keep results (`results`
//! does, load calls its recorders), and is no client library: it does what load needs.
//!
//! Where to start: [`PreparedLoad::prepare`], then `worker.rs` (the event loop), `produce/intake.rs` (records
//! come in), `produce/drain.rs` (requests go out), `produce/answers.rs` (samples are made).

mod begin;
mod broker_link;
mod ceiling;
mod clock;
mod consume;
mod control;
mod driver;
mod echo;
mod gather;
mod gauges;
mod hand_codec;
mod hold_delta;
mod inbox;
mod incident;
mod link;
mod load_control;
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
mod tally;
mod topic_lookup;
mod topics;
mod worker;
mod worker_context;

pub use ceiling::{Ceiling, CeilingError, CeilingPath, CeilingSetup, ceiling};
pub use clock::Clock;
pub use driver::{DriverError, DriverProgram, DriverUse};
pub use echo::CopyTally;
pub use incident::Incident;
pub use load_control::LoadControl;
pub use outage::{Outage, OutageChange, OutageKind};
pub use payload::PayloadError;
pub use preload::{PreloadError, preload};
pub use prepare::{CopySetup, LoadSetup, PrepareError, PreparedLoad};
pub use produce::TransactionStartError;
pub use refusals::{MissingFeature, refusals};
pub use run::{FlowOutcome, LoadError, LoadOutcome, LoadProgress};
pub use settings::codec;
pub use tally::Totals;
