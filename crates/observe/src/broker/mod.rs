//! Brokers' own metrics: who is asked, how, and a thread for each that asks once a second.

use kgauge_results::run::{BrokerSample, MissingEvidence};

mod bean;
mod endpoint;
mod http;
mod jolokia;
mod jolokia_answer;
mod listeners;
mod prometheus;
mod prometheus_answer;
mod thread;
mod url;

pub use endpoint::MetricsEndpoint;
pub use jolokia::Jolokia;
pub use url::{MetricsUrl, MetricsUrlError};

pub(crate) use thread::{BrokerThread, END_MAX};

/// What one asking brings: each broker with its id, where that is known.
pub type BrokerSamples = Vec<(Option<i32>, BrokerSample)>;

/// Somebody who tells brokers' metrics.
pub trait BrokerSource: Send {
    /// Asks once. It has to come back within [`LOOK_MAX`]; the error is in words, without credentials.
    ///
    /// # Errors
    /// Why there is nothing this time.
    fn sample(&mut self) -> Result<BrokerSamples, String>;

    /// Whose metrics they are, for people: `broker 2`.
    fn label(&self) -> String;

    /// Of those who tell about several brokers: which of them were missing in looks that brought others, and why.
    fn missing(&self) -> Vec<MissedBroker> {
        Vec::new()
    }
}

/// A broker that looks did not bring, though they brought others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedBroker {
    /// Whose metrics they are, for people: `broker 2`.
    pub whose: String,
    /// How many looks brought nothing of it.
    pub lost: u64,
    /// Of so many.
    pub looks: u64,
    /// Why the first of them did not.
    pub why: String,
}

/// In words why looks brought nothing.
pub(crate) fn lost(lost: u64, looks: u64, why: &str) -> String {
    match lost == looks {
        true => why.to_owned(),
        false => format!("{lost} of {looks} scrapes failed: {why}"),
    }
}

/// A look that takes longer is lost: it would be of no moment in particular.
pub const LOOK_MAX: std::time::Duration = std::time::Duration::from_millis(500);

/// What is said where brokers' metrics cannot be had.
pub fn metrics_not_seen(whose: &str, why: impl Into<String>) -> MissingEvidence {
    MissingEvidence {
        what: format!("{} of {whose}", MissingEvidence::METRICS),
        why: why.into(),
    }
}
