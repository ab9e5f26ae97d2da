//! Requests that brokers may refuse for good.

use kgauge_client::ClusterError;
use kgauge_results::run::MissingEvidence;

/// A request that is no longer sent once a broker has refused it for good.
#[derive(Debug, Default)]
pub(super) struct RequestStatus {
    /// There was an answer.
    pub(super) is_answered: bool,
    /// Why there was none, if so.
    pub(super) why: Option<String>,
    pub(super) is_given_up: bool,
}

impl RequestStatus {
    /// Records an error; true if another attempt makes sense.
    pub(super) fn failed(&mut self, error: &ClusterError) -> bool {
        if error.is_interruption() {
            return true;
        }
        // Only a broker's own error is final: a failed connection says nothing about other brokers.
        let is_word = matches!(error, ClusterError::Call(_) | ClusterError::Refused { .. });
        self.is_given_up |= is_word && !error.may_pass();
        self.why.get_or_insert_with(|| error.to_string());
        !self.is_given_up
    }

    /// What no broker has answered, and why.
    pub(super) fn not_seen(&self, what: &str) -> Option<MissingEvidence> {
        let why = self.why.clone().filter(|_| !self.is_answered)?;
        let what = what.to_owned();
        Some(MissingEvidence { what, why })
    }
}
