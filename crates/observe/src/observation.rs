//! Readings as they are taken, with their times.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};

/// The time of a sample: all its readings have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleTime {
    /// On the run's clock.
    pub(crate) at_ns: u64,
    /// On the wall clock.
    pub(crate) at_unix_ms: u64,
}

/// One reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) at: SampleTime,
    pub(crate) subject: Subject,
    pub(crate) kind: EvidenceKind,
}

impl Observation {
    /// As a line of the run folder.
    pub(crate) fn evidence(self, repeat: Option<RepeatKey>) -> Evidence {
        Evidence {
            at_unix_ms: self.at.at_unix_ms,
            repeat,
            at_ns: Some(self.at.at_ns),
            subject: self.subject,
            kind: self.kind,
        }
    }
}

pub(crate) fn of_host(at: SampleTime, kind: EvidenceKind) -> Observation {
    Observation {
        at,
        subject: Subject::Host,
        kind,
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
