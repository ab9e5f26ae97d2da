//! Brokers' own metrics: who is asked, how, and a thread for each that asks once a second.

use std::collections::BTreeMap;

use kgauge_results::run::{BrokerLook, NotSeen};

mod endpoint;
mod http;
mod jolokia;
mod jolokia_answer;
mod prometheus;
mod prometheus_answer;
mod thread;
mod url;

pub use endpoint::MetricsEndpoint;
pub use jolokia::Jolokia;
pub use url::{MetricsUrl, MetricsUrlError};

pub(crate) use thread::BrokerThread;

/// What one asking brings: each broker with its id, where that is known.
pub type BrokerLooks = Vec<(Option<i32>, BrokerLook)>;

/// Somebody who tells brokers' metrics.
pub trait BrokerSource: Send {
    /// Asks once. It has to come back within [`LOOK_MAX`]; the error is in words, without credentials.
    ///
    /// # Errors
    /// Why there is nothing this time.
    fn look(&mut self) -> Result<BrokerLooks, String>;

    /// Whose metrics they are, for people: `broker 2`.
    fn whose(&self) -> String;
}

/// A look that takes longer is lost: it would be of no moment in particular.
pub const LOOK_MAX: std::time::Duration = std::time::Duration::from_millis(500);

/// What is said where brokers' metrics cannot be had.
pub fn metrics_not_seen(whose: &str, why: impl Into<String>) -> NotSeen {
    NotSeen {
        what: format!("{} of {whose}", NotSeen::METRICS),
        why: why.into(),
    }
}

/// Of each listener and what one of its network threads has waited: the mean of the listener whose threads waited least. Threads serve one
/// listener each, so those of another one, such as that between brokers, are no help to those that have no time. What only grows is
/// least where it grows only, so this is a counter as well.
fn least_wait(waits: impl Iterator<Item = (String, f64)>) -> Option<f64> {
    let mut listeners = BTreeMap::<String, (f64, f64)>::new();
    for (listener, waited) in waits {
        let (sum, count) = listeners.entry(listener).or_default();
        *sum += waited;
        *count += 1.0;
    }
    let means = listeners.values().map(|(sum, count)| sum / count);
    means.min_by(f64::total_cmp)
}
