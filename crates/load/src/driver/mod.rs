//! Flows that another client sends: a child process with Kafka's Java client or librdkafka gets the same records at the
//! same times.
//!
//! ```text
//! Schedule, Payload -> feed -> [stdin  child: waits, send(), callback  stdout] -> collect -> Recorder
//!                        \------------- ledger: what was fed -------------------/
//! ```
//!
//! The child only waits, sends and reports times. This crate decides the contents and times of records and the meaning
//! of figures, with the code of the engine. Each producer has a child. In verified flows, the child also reports where
//! each record is, for the producer's ledger on disk (`proof.rs`); `ledger.rs` only has the records in flight.

mod accounts;
mod child;
mod collect;
mod error;
mod feed;
mod frames;
mod identity;
mod ledger;
mod proof;
mod properties;
mod security;
mod settings;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use error::DriverError;

pub(crate) use child::{DriverChild, DriverSetup};
pub(crate) use collect::{DrivenOutcome, DrivenProducer, DrivenRun};
pub(crate) use proof::DrivenProof;

/// How to start a driver's program. It reads settings and records from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverProgram {
    /// The file to execute.
    pub program: PathBuf,
    /// Its arguments, without secrets.
    pub arguments: Vec<OsString>,
}

/// The results of a flow's driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverUse {
    /// Index of the flow in the trial.
    pub flow: usize,
    /// The client and its release, as it reports them.
    pub client: String,
    /// Number of processes, one per producer.
    pub processes: u32,
    /// How long these processes, in total, had no record to send although they would have taken one.
    pub starved_ns: u64,
}
