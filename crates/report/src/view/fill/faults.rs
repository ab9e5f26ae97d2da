//! The faults of a repeat: when each began and ended.

use kgauge_results::RunRead;
use kgauge_results::run::{EventKind, RepeatKey};

use crate::view::{ChangeAt, FaultAt, FaultList};

const NS_PER_S: f64 = 1e9;

/// What was done to the target in one repeat, in order.
pub(super) fn of_repeat(run: &RunRead, key: RepeatKey) -> Vec<FaultAt> {
    let of_key = run.events.iter().filter(|event| event.repeat == Some(key));
    let mut faults: Vec<FaultAt> = of_key
        .filter_map(|event| match &event.kind {
            EventKind::Fault { text, active, .. } => Some(FaultAt {
                at_s: event.at_ns? as f64 / NS_PER_S,
                words: text.clone(),
                begins: *active,
            }),
            _ => None,
        })
        .collect();
    faults.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    faults
}

/// When leaders or in-sync replicas were seen to be others than before, in order.
pub(super) fn changes(run: &RunRead, key: RepeatKey) -> Vec<ChangeAt> {
    let of_key = run.events.iter().filter(|event| event.repeat == Some(key));
    let mut changes: Vec<ChangeAt> = of_key
        .filter_map(|event| match &event.kind {
            EventKind::ReplicasChanged { changes, .. } => Some(ChangeAt {
                at_s: event.at_ns? as f64 / NS_PER_S,
                words: crate::text::replicas::changes(changes),
            }),
            _ => None,
        })
        .collect();
    changes.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    changes
}

/// The faults of every repeat that had any.
pub(super) fn lists(run: &RunRead) -> Vec<FaultList> {
    let mut keys: Vec<RepeatKey> = run.events.iter().filter_map(|event| event.repeat).collect();
    keys.sort_unstable();
    keys.dedup();
    let list = |key: RepeatKey| FaultList {
        repeat: crate::text::event::repeat_name(key),
        faults: of_repeat(run, key),
    };
    let lists = keys.into_iter().map(list);
    lists.filter(|list| !list.faults.is_empty()).collect()
}
