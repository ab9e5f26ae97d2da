//! The evidence of a running repeat: all samples at first, fewer of them in a long repeat.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kgauge_results::run::{Evidence, EvidenceKind, Subject};
use kgauge_results::stage::SECOND_NS;

/// The largest number of lines that are kept. Beyond it, half of the samples are kept, also of earlier ones: counters
/// are cumulative, so that costs resolution only.
const LINES_MAX: usize = 20_000;
/// The largest number of lines that occur once per repeat.
const ONCE_MAX: usize = 200;
/// The longest interval between samples.
const EVERY_SECONDS_MAX: u64 = 1 << 20;

/// All samples of the last seconds are kept, up to a number of lines.
const RECENT_NS: u64 = 10 * SECOND_NS;
const RECENT_MAX: usize = 10_000;
/// A counter's increase is taken from the sample before.
const BEFORE_NS: u64 = 3 * SECOND_NS / 2;

/// A source that samples everything at the same moment: its lines belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SampleSource {
    Machine,
    Broker(Option<i32>),
    Wire,
    Clients,
}

#[derive(Debug)]
pub(super) struct LiveEvidence {
    kept: Vec<Arc<Evidence>>,
    once: usize,
    /// One sample is kept per span of this many seconds.
    every_seconds: u64,
    /// By source: the last span, and the time of the sample that is kept of it.
    last: BTreeMap<SampleSource, (u64, u64)>,
    /// All samples of the last seconds, however long the repeat.
    recent: VecDeque<Arc<Evidence>>,
    /// Lines that occur once per repeat.
    facts: Vec<Arc<Evidence>>,
}

impl Default for LiveEvidence {
    fn default() -> LiveEvidence {
        LiveEvidence {
            kept: Vec::new(),
            once: 0,
            every_seconds: 1,
            last: BTreeMap::new(),
            recent: VecDeque::new(),
            facts: Vec::new(),
        }
    }
}

impl LiveEvidence {
    pub(super) fn see(&mut self, seen: &Evidence) {
        let shared = Arc::new(seen.clone());
        match (sampler(seen), seen.at_ns) {
            (Some(_), Some(at_ns)) => self.note_recent(at_ns, Arc::clone(&shared)),
            _ if self.facts.len() < ONCE_MAX => self.facts.push(Arc::clone(&shared)),
            _ => {}
        }
        if self.admit(seen) {
            self.kept.push(shared);
        }
        while self.kept.len() > LINES_MAX && self.every_seconds < EVERY_SECONDS_MAX {
            self.every_seconds *= 2;
            self.thin();
        }
    }

    fn note_recent(&mut self, at_ns: u64, seen: Arc<Evidence>) {
        self.recent.push_back(seen);
        let old_ns = at_ns.saturating_sub(RECENT_NS);
        let is_old = |seen: &Arc<Evidence>| seen.at_ns.is_none_or(|at_ns| at_ns < old_ns);
        while self.recent.len() > RECENT_MAX || self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
    }

    /// The samples since shortly before a moment of the last seconds, and the lines that occur once per repeat.
    pub(super) fn recent(&self, start_ns: u64) -> impl Iterator<Item = &Evidence> {
        let from_ns = start_ns.saturating_sub(BEFORE_NS);
        let recent = self.recent.iter();
        let recent = recent.filter(move |seen| seen.at_ns.is_some_and(|at_ns| at_ns >= from_ns));
        self.facts.iter().chain(recent).map(|seen| &**seen)
    }

    pub(super) fn kept(&self) -> &[Arc<Evidence>] {
        &self.kept
    }

    fn thin(&mut self) {
        self.last.clear();
        self.once = 0;
        let all = std::mem::take(&mut self.kept);
        for seen in all {
            if self.admit(&seen) {
                self.kept.push(seen);
            }
        }
    }

    /// Whether a line occurs once per repeat or belongs to the first sample of its span; remembers that sample.
    fn admit(&mut self, seen: &Evidence) -> bool {
        let (Some(source), Some(at_ns)) = (sampler(seen), seen.at_ns) else {
            self.once += 1;
            return self.once <= ONCE_MAX;
        };
        if self.every_seconds == 1 {
            return true;
        }
        let span = at_ns / SECOND_NS / self.every_seconds;
        let last = self.last.entry(source).or_insert((span, at_ns));
        if span > last.0 {
            *last = (span, at_ns);
        }
        *last == (span, at_ns)
    }
}

/// The source of a line; `None` of lines that occur once per repeat.
fn sampler(seen: &Evidence) -> Option<SampleSource> {
    match (&seen.kind, &seen.subject) {
        (
            EvidenceKind::DataDir(_) | EvidenceKind::NetworkSpeed(_) | EvidenceKind::NotSeen(_),
            _,
        ) => None,
        (EvidenceKind::Broker(_), Subject::Target { broker }) => {
            Some(SampleSource::Broker(*broker))
        }
        (_, Subject::Cluster { .. }) => Some(SampleSource::Wire),
        (_, Subject::Flow { .. }) => Some(SampleSource::Clients),
        _ => Some(SampleSource::Machine),
    }
}
