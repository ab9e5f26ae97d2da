//! From readings of metrics to what they did between two samples, and to means over any time: the table has the rules.

use std::collections::BTreeSet;

use kgauge_results::metrics::{Means, MetricId, MetricKind, Readings};

use super::samples_by_thing::Span;
use crate::statistics::weighted_mean;

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
    let before = || one.get(&metric).copied();
    match metric.row().kind {
        MetricKind::Gauge => Some(value as f64),
        MetricKind::Millionths => Some(value as f64 / 1e6),
        MetricKind::Counter => span.per_s(before()?, value),
        // A wait that is counted when it ends may have begun before the span, and so seem longer than that.
        MetricKind::BusyTime => Some(span.share(before()?, value)?.clamp(0.0, 1.0)),
        MetricKind::TimeSum(_) => {
            let events = metric.events()?;
            let count = next.get(&events)?.checked_sub(*one.get(&events)?)?;
            // Count and sum are not read in the same instant, so a sum may seem to go back a little: then nothing was
            // added.
            let added_ns = value.saturating_sub(before()?);
            (count > 0).then(|| added_ns as f64 / count as f64)
        }
    }
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
