//! The faults of a repeat: when each began and ended.

use kgauge_results::RunRead;
use kgauge_results::run::{EventKind, RepeatKey};

use crate::view::{FaultAt, FaultList};

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

/// The faults of every repeat that had any.
pub(super) fn lists(run: &RunRead) -> Vec<FaultList> {
    let mut keys: Vec<RepeatKey> = run.events.iter().filter_map(|event| event.repeat).collect();
    keys.sort_unstable();
    keys.dedup();
    let list = |key: RepeatKey| FaultList {
        repeat: super::words::repeat_name(key),
        faults: of_repeat(run, key),
    };
    let lists = keys.into_iter().map(list);
    lists.filter(|list| !list.faults.is_empty()).collect()
}
