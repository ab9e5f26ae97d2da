//! Limits on CPU time over time, from cumulative counts of periods.

use super::mean::{SpanMean, mean_within};
use super::samples_by_thing::{SamplesByThing, Span};
use kgauge_results::run::{CpuLimitSample, Evidence, EvidenceKind, Subject};

/// A limit on the CPU time of a process during one repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuLimitSeries {
    /// Whose.
    pub subject: Subject,
    /// Cores that it allows.
    pub cores: f64,
    /// Its effect between two samples.
    pub points: Vec<CpuLimitPoint>,
}

/// The effect of a limit between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuLimitPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// The part of the periods with anything to do in which the process was held back, 0 to 1; 0 where there were none.
    pub held_share: f64,
}

impl CpuLimitSeries {
    /// The share of its periods in which the process was throttled, between two moments; `None` without samples.
    pub(crate) fn held_part(&self, start_ns: u64, end_ns: u64) -> Option<f64> {
        let known = self.points.iter().map(|point| SpanMean {
            start_ns: point.start_ns,
            end_ns: point.end_ns,
            value: point.held_share,
        });
        mean_within(known, start_ns, end_ns)
    }
}

/// The limits of each process, from that repeat's evidence, by process and level.
pub(super) fn series_of(evidence: &[&Evidence]) -> Vec<CpuLimitSeries> {
    let mut looks = SamplesByThing::new();
    for seen in evidence {
        if let (EvidenceKind::CpuLimit(look), Some(at_ns)) = (&seen.kind, seen.at_ns) {
            looks.add((&seen.subject, look.level, look.milli_cores), at_ns, *look);
        }
    }
    let series = looks.between(between);
    let series = series.map(|((subject, _, milli_cores), points)| CpuLimitSeries {
        subject: subject.clone(),
        cores: milli_cores as f64 / 1e3,
        points,
    });
    series.collect()
}

fn between(span: Span, one: &CpuLimitSample, next: &CpuLimitSample) -> Option<CpuLimitPoint> {
    let periods = next.periods.checked_sub(one.periods)?;
    let held = next.held_periods.checked_sub(one.held_periods)?;
    Some(CpuLimitPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        held_share: match periods {
            0 => 0.0,
            _ => (held as f64 / periods as f64).min(1.0),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_s: u64, periods: u64, held_periods: u64) -> Evidence {
        Evidence {
            at_unix_ms: 0,
            repeat: None,
            at_ns: Some(at_s * 1_000_000_000),
            subject: Subject::Target { broker: Some(2) },
            kind: EvidenceKind::CpuLimit(CpuLimitSample {
                level: 0,
                milli_cores: 250,
                periods,
                held_periods,
            }),
        }
    }

    #[test]
    fn a_limit_that_was_met_in_four_of_five_periods_held_back_for_so_much() {
        let evidence = [seen(0, 100, 10), seen(1, 110, 18), seen(2, 110, 18)];
        let series = series_of(&evidence.iter().collect::<Vec<_>>());
        assert_eq!(series.len(), 1);
        assert_eq!(series[0].subject, Subject::Target { broker: Some(2) });
        assert_eq!(series[0].cores, 0.25);
        let shares: Vec<f64> = series[0].points.iter().map(|one| one.held_share).collect();
        assert_eq!(shares, [0.8, 0.0]);
    }
}
