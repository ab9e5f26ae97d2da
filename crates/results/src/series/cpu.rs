//! CPU over time, from cumulative counters.

use serde::Serialize;

use super::CpuSeries;
use super::looks::{Looks, Span};
use crate::run::{Evidence, EvidenceKind};

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
    user_ns: u64,
    system_ns: u64,
}

/// The CPU of each subject during a repeat, from that repeat's evidence, by subject.
pub(super) fn series_of(evidence: &[&Evidence]) -> Vec<CpuSeries> {
    let mut looks = Looks::new();
    for seen in evidence {
        if let (&EvidenceKind::Cpu { user_ns, system_ns }, Some(at_ns)) = (&seen.kind, seen.at_ns) {
            looks.add(&seen.subject, at_ns, Look { user_ns, system_ns });
        }
    }
    let series = looks.between(between).map(|(subject, points)| CpuSeries {
        subject: subject.clone(),
        points,
    });
    series.collect()
}

/// `None` when a counter went back (a process was started anew).
fn between(span: Span, one: &Look, next: &Look) -> Option<CpuPoint> {
    Some(CpuPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        user_cores: span.share(one.user_ns, next.user_ns)?,
        system_cores: span.share(one.system_ns, next.system_ns)?,
    })
}
