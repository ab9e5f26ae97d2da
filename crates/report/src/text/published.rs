//! Texts about a published figure and its comparison with the measured one.

use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{MetricUnit, PublishedComparison, PublishedStatus};

use crate::format;

/// What it is a figure of: `throughput`, `latency.p99`.
pub(crate) fn metric(published: &PublishedComparison) -> &str {
    let metric = published.figure.split_once('.');
    metric.map_or("", |(_, metric)| metric)
}

/// The figure with its unit, all of its digits kept.
pub(crate) fn value(published: &PublishedComparison) -> String {
    let value = published.published;
    match published.unit {
        MetricUnit::RecordsPerSecond => format!("{} records/s", format::all_digits(value)),
        MetricUnit::BytesPerSecond => format!("{} MB/s", format::all_digits(value / 1e6)),
        MetricUnit::Nanoseconds => format::without_zeros(&format::nanoseconds(value)),
        MetricUnit::Records => format!("{} records", format::all_digits(value)),
    }
}

/// Interval of measured ÷ published, from the spread of the repeats.
pub(crate) fn ratio_interval(published: &PublishedComparison) -> Option<Interval> {
    let measured = published.interval?;
    Some(Interval {
        low: measured.low / published.published,
        high: measured.high / published.published,
    })
}

/// How the two compare.
pub(crate) fn status(published: &PublishedComparison) -> &'static str {
    match published.word {
        PublishedStatus::Agrees => "agrees",
        PublishedStatus::Undecided => "inconclusive",
        PublishedStatus::Higher => "higher",
        PublishedStatus::Lower => "lower",
        PublishedStatus::NotComparable => "not comparable",
        PublishedStatus::NotMeasured => "not measured",
    }
}
