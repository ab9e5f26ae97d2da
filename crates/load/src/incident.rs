//! Incidents of a run as text; bounded, because a dead broker causes the same one again and again.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::sync::lock;

/// Incidents that are kept with their text; beyond it they are only counted.
const KEPT_MAX: usize = 200;

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// When, on the run's clock.
    pub at_ns: u64,
    /// The client or flow affected.
    pub flow: String,
    /// What happened, as text.
    pub what: String,
    /// It makes the result bad.
    pub is_bad: bool,
}

impl Incident {
    pub(crate) fn new(at_ns: u64, flow: &str, what: String, is_bad: bool) -> Self {
        Self {
            at_ns,
            flow: flow.to_owned(),
            what,
            is_bad,
        }
    }
}

/// Collects incidents from all threads. They are rare, so a lock is harmless.
#[derive(Debug, Default)]
pub(crate) struct Incidents(Mutex<IncidentLog>);

/// The collected incidents.
#[derive(Debug, Default, Clone)]
pub(crate) struct IncidentLog {
    pub(crate) kept: Vec<Incident>,
    pub(crate) dropped: u64,
    pub(crate) any_bad: bool,
}

impl Incidents {
    pub(crate) fn note(&self, incident: Incident) {
        let mut noted = lock(&self.0);
        noted.any_bad |= incident.is_bad;
        if noted.kept.len() < KEPT_MAX {
            noted.kept.push(incident);
        } else {
            noted.dropped += 1;
        }
    }

    /// Takes the incidents since the last call.
    pub(crate) fn take(&self) -> IncidentLog {
        std::mem::take(&mut *lock(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bounded_and_the_rest_is_counted() {
        let incidents = Incidents::default();
        for at_ns in 0..KEPT_MAX as u64 + 5 {
            incidents.note(Incident::new(at_ns, "writers", "lost".into(), at_ns == 204));
        }
        let noted = incidents.take();
        assert_eq!((noted.kept.len(), noted.dropped), (KEPT_MAX, 5));
        assert!(
            noted.any_bad,
            "a bad one counts even when its words are not kept"
        );
        assert!(incidents.take().kept.is_empty());
    }
}
