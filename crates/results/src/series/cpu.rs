//! CPU over time, from cumulative counters.

use std::collections::BTreeMap;

use serde::Serialize;

use super::CpuSeries;
use crate::run::{Evidence, EvidenceKind, Subject};

/// How much CPU was used between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Cores in use, user mode.
    pub user_cores: f64,
    /// Cores in use, kernel.
    pub system_cores: f64,
}

#[derive(Clone, Copy)]
struct Look {
    at_ns: u64,
    user_ns: u64,
    system_ns: u64,
}

/// The CPU of each subject during a repeat, from that repeat's evidence, by subject.
pub(super) fn series_of(evidence: &[&Evidence]) -> Vec<CpuSeries> {
    let mut looks = BTreeMap::<&Subject, Vec<Look>>::new();
    for seen in evidence {
        if let (EvidenceKind::Cpu { user_ns, system_ns }, Some(at_ns)) = (&seen.kind, seen.at_ns) {
            looks.entry(&seen.subject).or_default().push(Look {
                at_ns,
                user_ns: *user_ns,
                system_ns: *system_ns,
            });
        }
    }
    let series = looks.into_iter().map(|(subject, mut looks)| {
        looks.sort_by_key(|look| look.at_ns);
        let points = looks
            .windows(2)
            .filter_map(|pair| between(pair[0], pair[1]));
        CpuSeries {
            subject: subject.clone(),
            points: points.collect(),
        }
    });
    series.collect()
}

/// `None` when no time passed or a counter went back (a process was started anew).
fn between(one: Look, next: Look) -> Option<CpuPoint> {
    let length_ns = next.at_ns.checked_sub(one.at_ns).filter(|ns| *ns > 0)? as f64;
    let user_ns = next.user_ns.checked_sub(one.user_ns)? as f64;
    let system_ns = next.system_ns.checked_sub(one.system_ns)? as f64;
    Some(CpuPoint {
        start_ns: one.at_ns,
        end_ns: next.at_ns,
        user_cores: user_ns / length_ns,
        system_cores: system_ns / length_ns,
    })
}
