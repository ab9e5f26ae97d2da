//! The evidence of a repeat that goes on: all looks at first, fewer of them in a long repeat.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::run::{Evidence, EvidenceKind, Subject};
use crate::stage::SECOND_NS;

/// Lines that are kept at most. Beyond it looks are kept half as often, all that are there too: counters are cumulative, so
/// that costs resolution, not truth.
const LINES_MAX: usize = 20_000;
/// Lines that are said once a repeat, at most.
const ONCE_MAX: usize = 200;
/// Looks are never rarer.
const EVERY_SECONDS_MAX: u64 = 1 << 20;

/// What looks at the same moment: its lines belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Looker {
    Machine,
    Broker(Option<i32>),
    Wire,
    Clients,
}

#[derive(Debug)]
pub(super) struct LiveEvidence {
    kept: Vec<Arc<Evidence>>,
    once: usize,
    /// One look is kept of each span of so many seconds.
    every_seconds: u64,
    /// Of each the span and the time of the look that is kept of it.
    last: BTreeMap<Looker, (u64, u64)>,
}

impl Default for LiveEvidence {
    fn default() -> LiveEvidence {
        LiveEvidence {
            kept: Vec::new(),
            once: 0,
            every_seconds: 1,
            last: BTreeMap::new(),
        }
    }
}

impl LiveEvidence {
    pub(super) fn see(&mut self, seen: &Evidence) {
        if self.is_wanted(seen) {
            self.kept.push(Arc::new(seen.clone()));
        }
        while self.kept.len() > LINES_MAX && self.every_seconds < EVERY_SECONDS_MAX {
            self.every_seconds *= 2;
            self.thin();
        }
    }

    pub(super) fn kept(&self) -> &[Arc<Evidence>] {
        &self.kept
    }

    fn thin(&mut self) {
        self.last.clear();
        self.once = 0;
        let all = std::mem::take(&mut self.kept);
        for seen in all {
            if self.is_wanted(&seen) {
                self.kept.push(seen);
            }
        }
    }

    /// Whether it is said once, or is of the first look of its span.
    fn is_wanted(&mut self, seen: &Evidence) -> bool {
        let (Some(looker), Some(at_ns)) = (looker(seen), seen.at_ns) else {
            self.once += 1;
            return self.once <= ONCE_MAX;
        };
        if self.every_seconds == 1 {
            return true;
        }
        let span = at_ns / SECOND_NS / self.every_seconds;
        let last = self.last.entry(looker).or_insert((span, at_ns));
        if span > last.0 {
            *last = (span, at_ns);
        }
        *last == (span, at_ns)
    }
}

/// `None` of what is said once a repeat.
fn looker(seen: &Evidence) -> Option<Looker> {
    match (&seen.kind, &seen.subject) {
        (
            EvidenceKind::DataDir(_) | EvidenceKind::NetworkSpeed(_) | EvidenceKind::NotSeen(_),
            _,
        ) => None,
        (EvidenceKind::Broker(_), Subject::Target { broker }) => Some(Looker::Broker(*broker)),
        (_, Subject::Cluster { .. }) => Some(Looker::Wire),
        (_, Subject::Flow { .. }) => Some(Looker::Clients),
        _ => Some(Looker::Machine),
    }
}
