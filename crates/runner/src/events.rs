//! Events as the run folder keeps them.

use kgauge_results::run::{Event, EventKind, RepeatKey};

use crate::ids::unix_ms;

/// An event of a repeat, or of the run.
pub(crate) fn event(at: Option<(RepeatKey, u64)>, kind: EventKind) -> Event {
    Event {
        at_unix_ms: unix_ms(),
        repeat: at.map(|(key, _)| key),
        at_ns: at.map(|(_, at_ns)| at_ns),
        kind,
    }
}
