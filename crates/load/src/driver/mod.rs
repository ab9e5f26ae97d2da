//! Flows that another client sends: a child process with Kafka's Java client or librdkafka in it, fed
//! with the same records at the same times.
//!
//! ```text
//! Schedule, Payload -> feed -> [stdin  child: waits, send(), callback  stdout] -> collect -> Recorder
//!                        \------------- ledger: what was fed -------------------/
//! ```
//!
//! The child only waits, sends and tells times. What a record is, when it is due and what a figure
//! means is decided here, by the same code that serves the engine. Each producer has a child.

mod accounts;
mod child;
mod collect;
mod error;
mod feed;
mod frames;
mod ledger;
mod security;
mod settings;

use std::ffi::OsString;
use std::path::PathBuf;

pub use error::DriverError;

pub(crate) use child::{DriverChild, DriverSetup};
pub(crate) use collect::{DrivenOutcome, DrivenProducer, DrivenRun};

/// How a driver's program is started. It takes settings and records on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverProgram {
    /// The file to execute.
    pub program: PathBuf,
    /// Its arguments; nothing secret is among them.
    pub arguments: Vec<OsString>,
}

/// What a flow's driver was and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverUse {
    /// Position of the flow in the trial.
    pub flow: usize,
    /// The client and its release, as it says itself.
    pub client: String,
    /// How many processes it had, one a producer.
    pub processes: u32,
    /// How long these processes, together, had no record to send although they would have taken one.
    pub starved_ns: u64,
}
