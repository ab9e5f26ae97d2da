//! From readings of metrics to what they did between two samples, and to means over any time: the table has the rules.

use std::collections::BTreeSet;

use kgauge_results::metrics::{Means, MetricGroup, MetricId, MetricKind, Readings};

use super::samples_by_thing::Span;
use crate::statistics::weighted_mean;

/// Metrics of one thing between two samples. What is not known is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// What they come to.
    pub means: Means,
}

impl MetricPoint {
    /// One metric.
    pub fn get(&self, metric: MetricId) -> Option<f64> {
        self.means.get(&metric).copied()
    }
}

/// A thing between two samples; `None` where a counter went back, since the thing is then another one.
pub(super) fn point(span: Span, one: &&Readings, next: &&Readings) -> Option<MetricPoint> {
    let counters = next
        .iter()
        .filter(|(metric, _)| metric.row().kind == MetricKind::Counter);
    let mut counters = counters.filter_map(|(metric, next)| Some((one.get(metric)?, next)));
    counters
        .all(|(one, next)| one <= next)
        .then(|| MetricPoint {
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            means: between(span, one, next),
        })
}

/// What two readings make of the time between them. A counter that went back has no value.
pub(super) fn between(span: Span, one: &Readings, next: &Readings) -> Means {
    let means = next.iter().filter_map(|(metric, value)| {
        let mean = metric_between(*metric, span, one, next, *value)?;
        Some((*metric, mean))
    });
    means.collect()
}

fn metric_between(
    metric: MetricId,
    span: Span,
    one: &Readings,
    next: &Readings,
    value: u64,
) -> Option<f64> {
    let row = metric.row();
    let rise = || {
        let before = *one.get(&metric)?;
        match row.group == MetricGroup::Disk {
            true => disk_rise(span, before, value),
            false => value.checked_sub(before),
        }
    };
    match row.kind {
        MetricKind::Gauge => Some(value as f64),
        MetricKind::Millionths => Some(value as f64 / 1e6),
        MetricKind::Counter => Some(span.share(rise()?) * 1e9),
        // A wait is counted when it ends. It may have started before the span, and then seems longer than it.
        MetricKind::BusyTime => Some(span.share(rise()?).clamp(0.0, 1.0)),
        MetricKind::Cores => Some(span.share(rise()?)),
        MetricKind::TimeSum(_) => {
            let events = metric.events()?;
            let count = next.get(&events)?.checked_sub(*one.get(&events)?)?;
            // Brokers' counts and sums are not read in the same instant, so a sum may seem to go back a little: then
            // nothing was added.
            let added_ns = match row.group == MetricGroup::Disk {
                true => rise()?,
                false => value.saturating_sub(*one.get(&metric)?),
            };
            (count > 0).then(|| added_ns as f64 / count as f64)
        }
    }
}

/// Where the kernel's counters of milliseconds begin again: `/proc/diskstats` shows 32 bits of them. What a queue's
/// times add up to gets there in two days with a mean of 25 in flight.
const WRAP_NS: u64 = (1 << 32) * 1_000_000;
/// One disk never has more requests in flight than this: a larger rise is a counter that was reset.
const QUEUE_MAX: u64 = 100_000;

/// How much a counter of a disk's times rose, even if it began again meanwhile.
fn disk_rise(span: Span, one: u64, next: u64) -> Option<u64> {
    let wrapped = || {
        let rise_ns = WRAP_NS.checked_sub(one)?.checked_add(next)?;
        (rise_ns <= span.length_ns().saturating_mul(QUEUE_MAX)).then_some(rise_ns)
    };
    next.checked_sub(one).or_else(wrapped)
}

/// The mean of spans, each with its length: mean times weigh by what took them, everything else by time.
pub(super) fn mean(spans: &[(f64, &Means)]) -> Means {
    let metrics: BTreeSet<MetricId> = spans
        .iter()
        .flat_map(|(_, means)| means.keys().copied())
        .collect();
    let mean = |metric: MetricId| {
        let events = metric.events();
        weighted_mean(spans.iter().filter_map(|(seconds, means)| {
            let per_s = match events {
                Some(events) => *means.get(&events)?,
                None => 1.0,
            };
            Some((seconds * per_s, *means.get(&metric)?))
        }))
    };
    let means = metrics.into_iter();
    means
        .filter_map(|metric| Some((metric, mean(metric)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn sample(seconds: u64, writes: u64) -> Readings {
        Readings::from([
            (MetricId::DiskWrites, writes),
            (MetricId::DiskWriteTime, seconds * SECOND_NS % WRAP_NS),
            (MetricId::DiskBusy, seconds * SECOND_NS % WRAP_NS),
            (MetricId::DiskQueued, 3 * seconds * SECOND_NS % WRAP_NS),
        ])
    }

    fn between(one: &Readings, next: &Readings) -> MetricPoint {
        let (start_ns, end_ns) = (0, 4 * SECOND_NS);
        point(Span { start_ns, end_ns }, &one, &next).unwrap()
    }

    #[test]
    fn counters_of_the_kernel_that_begin_again_drop_no_point() {
        // 2^32 ms are 4,294,967 s and some.
        for first in [4_294_966, 1_431_654, 1_431_655] {
            let point = between(&sample(first, 5), &sample(first + 2, 105));
            assert_eq!(point.get(MetricId::DiskBusy), Some(0.5));
            assert_eq!(point.get(MetricId::DiskQueued), Some(1.5));
            assert_eq!(point.get(MetricId::DiskWriteTime), Some(20_000_000.0));
        }
    }

    #[test]
    fn times_of_a_disk_that_were_set_back_are_not_known() {
        let point = between(&sample(9, 5), &sample(0, 5));
        assert_eq!(point.get(MetricId::DiskBusy), None);
        let beyond = Readings::from([(MetricId::DiskBusy, u64::MAX)]);
        let point = between(&beyond, &Readings::from([(MetricId::DiskBusy, 0)]));
        assert_eq!(point.get(MetricId::DiskBusy), None);
    }

    #[test]
    fn a_counter_that_was_set_back_makes_no_point() {
        let (start_ns, end_ns) = (0, SECOND_NS);
        let none = point(Span { start_ns, end_ns }, &&sample(0, 5), &&sample(0, 4));
        assert_eq!(none, None);
    }
}
