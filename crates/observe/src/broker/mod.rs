//! Brokers' own metrics: sources, and a thread per source that polls it once per second.

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

/// One sample of each broker, with its id if known.
pub type BrokerSamples = Vec<(Option<i32>, BrokerSample)>;

/// A source of brokers' metrics.
pub trait BrokerSource: Send {
    /// Takes a sample. Must return within [`LOOK_MAX`]; the error is a message without credentials.
    ///
    /// # Errors
    /// Why there is no sample this time.
    fn sample(&mut self) -> Result<BrokerSamples, String>;

    /// The name of the broker in messages: `broker 2`.
    fn label(&self) -> String;

    /// For sources of several brokers: those that were missing in samples of others, and why.
    fn missing(&self) -> Vec<MissedBroker> {
        Vec::new()
    }
}

/// A broker that was missing in samples of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedBroker {
    /// The name of the broker in messages: `broker 2`.
    pub whose: String,
    /// Number of samples without it.
    pub lost: u64,
    /// Number of samples.
    pub looks: u64,
    /// The reason for the first of them.
    pub why: String,
}

/// Why samples are missing, as text.
pub(crate) fn lost(lost: u64, looks: u64, why: &str) -> String {
    if lost == looks {
        why.to_owned()
    } else {
        format!("{lost} of {looks} scrapes failed: {why}")
    }
}

/// A slower sample is dropped: it would not belong to any particular time.
pub const LOOK_MAX: std::time::Duration = std::time::Duration::from_millis(500);

/// Reported if brokers' metrics are unavailable.
pub fn metrics_not_seen(whose: &str, why: impl Into<String>) -> MissingEvidence {
    MissingEvidence {
        what: format!("{} of {whose}", MissingEvidence::METRICS),
        why: why.into(),
    }
}
