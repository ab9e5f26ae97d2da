//! A repeat while it goes on: the slices on their way to disk, kept as the run folder will give them back.
//!
//! What is read here is what a report of the same seconds would show, so that one code draws both. The exact figures
//! are the run folder's: late answers to a second that was folded long ago are added to its percentiles by their
//! worse part only.

mod evidence;
mod flow;
mod judge;
mod span;
mod totals;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use evidence::LiveEvidence;
use flow::{FlowSnapshot, LiveFlow};
use kgauge_results::folder::{RepeatRead, TimesRead};
use kgauge_results::run::{Event, EventKind, Evidence, RepeatKey};
use kgauge_results::slice::{Counts, Slice, TimeKind};
use kgauge_results::stage::SECOND_NS;

pub use judge::LiveVerdict;
pub use totals::{BOUNDS_NS, FlowTotals, TimesTotals};

/// Events of one kind that are kept: charts mark fewer.
const EVENTS_MAX: usize = 200;

/// One repeat that goes on. However long it takes, it has some megabytes for each flow and for the evidence.
#[derive(Debug)]
pub struct LiveRepeat {
    /// Which.
    pub key: RepeatKey,
    flows: BTreeMap<u16, LiveFlow>,
    evidence: LiveEvidence,
    /// Those that charts mark.
    faults: Vec<Event>,
    changes: Vec<Event>,
    /// Brokers that stopped answering, and that do again.
    outages: Vec<Event>,
    /// The last samples: when, and each load thread's busy-waiting time so far.
    spun: VecDeque<(u64, Vec<u64>)>,
}

/// A repeat at one moment. It is taken quickly and read at leisure, while the repeat goes on.
#[derive(Debug)]
pub struct LiveSnapshot {
    key: RepeatKey,
    flows: BTreeMap<u16, FlowSnapshot>,
    evidence: Vec<Arc<Evidence>>,
    events: Vec<Event>,
}

/// What one flow did in one second.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSecond {
    /// What was counted.
    pub counts: Counts,
    /// The time that is shown first of such a flow.
    pub times: Option<(TimeKind, TimesRead)>,
    /// The same of the last second of which nearly all records are answered, this one or one of the few before it:
    /// where answers take seconds, those of this second are still to come.
    pub answered: Option<(TimeKind, TimesRead)>,
}

impl LiveRepeat {
    /// A repeat that begins.
    pub fn new(key: RepeatKey) -> LiveRepeat {
        LiveRepeat {
            key,
            flows: BTreeMap::new(),
            evidence: LiveEvidence::default(),
            faults: Vec::new(),
            changes: Vec::new(),
            outages: Vec::new(),
            spun: VecDeque::new(),
        }
    }

    /// Takes a partial slice in.
    pub fn add(&mut self, slice: &Slice) {
        self.flows.entry(slice.key.flow).or_default().add(slice);
    }

    /// Takes evidence in, if it is this repeat's.
    pub fn see(&mut self, seen: &Evidence) {
        if seen.repeat == Some(self.key) {
            self.evidence.see(seen);
        }
    }

    /// Takes an event in, if it is this repeat's, and one that charts mark or that is judged by.
    pub fn happened(&mut self, event: &Event) {
        let marked = match event.kind {
            EventKind::Fault { .. } => &mut self.faults,
            EventKind::ReplicasChanged { .. } => &mut self.changes,
            EventKind::BrokerUnreachable { .. } | EventKind::BrokerBack { .. } => &mut self.outages,
            _ => return,
        };
        if event.repeat == Some(self.key) && marked.len() < EVENTS_MAX {
            marked.push(event.clone());
        }
    }

    /// The last second that is whole: every recorder has shipped what it knew of it by `shipped_ns`, and it has been
    /// over for a second, so that this has arrived. `None` while there is none.
    pub fn whole_second(shipped_ns: u64, elapsed_ns: u64) -> Option<u32> {
        let shipped = (shipped_ns / SECOND_NS).checked_sub(1)?;
        let elapsed = (elapsed_ns / SECOND_NS).checked_sub(2)?;
        u32::try_from(shipped.min(elapsed)).ok()
    }

    /// The repeat as it is now. What is long shares its memory with it, so this takes no time worth mentioning.
    pub fn snapshot(&self) -> LiveSnapshot {
        let flows = self.flows.iter();
        LiveSnapshot {
            key: self.key,
            flows: flows
                .map(|(index, flow)| (*index, flow.snapshot()))
                .collect(),
            evidence: self.evidence.kept().to_vec(),
            events: self.faults.iter().chain(&self.changes).cloned().collect(),
        }
    }

    /// What a flow did in a second of late; `None` when nothing was heard of it.
    pub fn second(&self, flow: u16, second: u32) -> Option<FlowSecond> {
        self.flows.get(&flow)?.second(second)
    }

    /// What each flow did so far.
    pub fn totals(&self) -> BTreeMap<u16, FlowTotals> {
        let flows = self.flows.iter();
        flows.map(|(index, flow)| (*index, flow.totals())).collect()
    }
}

impl LiveSnapshot {
    /// The evidence so far.
    pub fn evidence(&self) -> Vec<Evidence> {
        let evidence = self.evidence.iter();
        evidence.map(|seen| Evidence::clone(seen)).collect()
    }

    /// What charts mark.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The repeat as its folder would be read back, up to and with a second. Of a second whose records are not all
    /// answered there are no times yet; in a long repeat several seconds of long ago are one ([`SecondRead::seconds`]).
    ///
    /// [`SecondRead::seconds`]: kgauge_results::folder::SecondRead::seconds
    pub fn read(self, last_second: u32) -> RepeatRead {
        let flows = self.flows.into_iter();
        RepeatRead {
            key: self.key,
            record: None,
            flows: flows
                .map(|(index, flow)| (index, flow.read(last_second)))
                .collect(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
