//! CPU over time, from cumulative counters.

use super::CpuSeries;
use super::mean::{SpanMean, mean_within};
use super::samples_by_thing::{SamplesByThing, Span};
use kgauge_results::folder::RunRead;
use kgauge_results::run::{Evidence, EvidenceKind, OtherProgramsSample, RepeatKey, Subject};

/// CPU time used between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
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
struct CpuReading {
    user_ns: u64,
    system_ns: u64,
}

/// The CPU of each subject during a repeat, from that repeat's evidence, by subject.
pub(super) fn series_of(evidence: &[&Evidence]) -> Vec<CpuSeries> {
    let mut looks = SamplesByThing::new();
    for seen in evidence {
        if let (&EvidenceKind::Cpu { user_ns, system_ns }, Some(at_ns)) = (&seen.kind, seen.at_ns) {
            looks.add(&seen.subject, at_ns, CpuReading { user_ns, system_ns });
        }
    }
    let series = looks.between(between).map(|(subject, points)| CpuSeries {
        subject: subject.clone(),
        points,
    });
    series.collect()
}

/// `None` if a counter went back because a process was restarted.
fn between(span: Span, one: &CpuReading, next: &CpuReading) -> Option<CpuPoint> {
    Some(CpuPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        user_cores: span.share(next.user_ns.checked_sub(one.user_ns)?),
        system_cores: span.share(next.system_ns.checked_sub(one.system_ns)?),
    })
}

impl CpuSeries {
    /// Mean number of cores in use between two moments; `None` without samples.
    pub(crate) fn mean_cores(&self, start_ns: u64, end_ns: u64) -> Option<f64> {
        let known = self.points.iter().map(|point| SpanMean {
            start_ns: point.start_ns,
            end_ns: point.end_ns,
            value: point.user_cores + point.system_cores,
        });
        mean_within(known, start_ns, end_ns)
    }
}

/// CPU usage of the machine in a hold: mean numbers of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CpuHold {
    /// In use; `None` without samples.
    pub(crate) busy_cores: Option<f64>,
    /// Used by processes other than brokers and generator, such as ZooKeeper or a replicator.
    pub(crate) beside_cores: f64,
    /// For which part of the time the load thread that waited most had no processor.
    pub(crate) queued_part: Option<f64>,
    /// The same of the brokers' threads.
    pub(crate) target_queued_part: Option<f64>,
}

impl CpuHold {
    pub(super) fn of(evidence: &[&Evidence], start_ns: u64, end_ns: u64) -> CpuHold {
        let cores = |series: &CpuSeries| series.mean_cores(start_ns, end_ns);
        let mut hold = CpuHold::default();
        for series in series_of(evidence) {
            match series.subject {
                Subject::Host => hold.busy_cores = cores(&series),
                Subject::Process { .. } => {
                    hold.beside_cores += cores(&series).unwrap_or(0.0);
                }
                Subject::Generator
                | Subject::GeneratorThread { .. }
                | Subject::Target { .. }
                | Subject::Cluster { .. }
                | Subject::Flow { .. } => {}
            }
        }
        let mut waits = SamplesByThing::new();
        for seen in evidence {
            if let (&EvidenceKind::RunQueue { waited_ns }, Some(at_ns)) = (&seen.kind, seen.at_ns) {
                waits.add(&seen.subject, at_ns, waited_ns);
            }
        }
        let waits = waits.between(|span, one, next| {
            Some(SpanMean {
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                value: span.share(next.checked_sub(*one)?),
            })
        });
        for (subject, known) in waits {
            let part = mean_within(known.into_iter(), start_ns, end_ns);
            let most = match subject {
                Subject::Target { .. } => &mut hold.target_queued_part,
                _ => &mut hold.queued_part,
            };
            *most = [*most, part].into_iter().flatten().max_by(f64::total_cmp);
        }
        hold
    }
}

/// Who else used the processors during a repeat.
pub(crate) fn programs_of(run: &RunRead, key: RepeatKey) -> Option<&OtherProgramsSample> {
    run.evidence.iter().find_map(|seen| match &seen.kind {
        EvidenceKind::Programs(look) if seen.repeat == Some(key) => Some(look),
        _ => None,
    })
}
