//! Distributions: percentiles of merged histograms, with their spread over repeats.

use super::hold::{FlowHold, merged};
use crate::statistics::Spread;
use crate::summary::{Latencies, LatencySummary, MaxAt, Percentile};
use kgauge_results::histogram::{Histogram, Quantile};
use kgauge_results::slice::TimeKind;

/// Fewer samples beyond a percentile make it a guess.
pub(super) const SAMPLES_BEYOND_MIN: u64 = 100;

/// The percentiles that every distribution gets.
const PERCENTILES: [(&str, Quantile); 6] = [
    ("p50", Quantile::P50),
    ("p90", Quantile::P90),
    ("p95", Quantile::P95),
    ("p99", Quantile::P99),
    ("p99.9", Quantile::P99_9),
    ("p99.99", Quantile::P99_99),
];

pub(super) fn latencies(holds: &[FlowHold<'_>]) -> Latencies {
    Latencies {
        response: latency(holds, TimeKind::Response),
        service: latency(holds, TimeKind::Service),
        lag: latency(holds, TimeKind::Lag),
        end_to_end: latency(holds, TimeKind::EndToEnd),
        round_trip: latency(holds, TimeKind::RoundTrip),
        fetch_round_trip: latency(holds, TimeKind::FetchRoundTrip),
        buffer_wait: latency(holds, TimeKind::BufferWait),
        batch_wait: latency(holds, TimeKind::BatchWait),
        ack_wait: latency(holds, TimeKind::AckWait),
        fetch_wait: latency(holds, TimeKind::FetchWait),
        commit_wait: latency(holds, TimeKind::CommitWait),
        commit: latency(holds, TimeKind::Commit),
    }
}

fn latency(holds: &[FlowHold<'_>], kind: TimeKind) -> Option<LatencySummary> {
    let all = merged(holds, kind);
    let (max_ns, mean_ns) = (all.max_ns()?, all.mean_ns()?);
    let means = holds
        .iter()
        .filter_map(|hold| hold.slice.times(kind).mean_ns());
    let percentiles = PERCENTILES
        .iter()
        .filter_map(|(name, quantile)| percentile(name, *quantile, &all, holds, kind));
    Some(LatencySummary {
        count: all.count(),
        min_ns: all.min_ns()?,
        mean_ns,
        mean_over_repeats: Spread::of_time(&means.collect::<Vec<_>>(), mean_ns),
        percentiles: percentiles.collect(),
        max_ns,
        max_at: max_at(holds, kind, max_ns)?,
    })
}

fn percentile(
    name: &str,
    quantile: Quantile,
    all: &Histogram,
    holds: &[FlowHold<'_>],
    kind: TimeKind,
) -> Option<Percentile> {
    let samples_beyond = quantile.samples_beyond(all.count());
    let of_repeats = holds
        .iter()
        .filter_map(|hold| hold.slice.times(kind).value_ns_at(quantile));
    let of_repeats = of_repeats.map(|value_ns| value_ns as f64);
    let value_ns = all.value_ns_at(quantile)?;
    Some(Percentile {
        name: name.to_owned(),
        millionths: quantile.millionths(),
        value_ns,
        samples_beyond,
        few: samples_beyond < SAMPLES_BEYOND_MIN,
        over_repeats: Spread::of_time(&of_repeats.collect::<Vec<_>>(), value_ns as f64),
    })
}

/// The repeat that holds the largest time; the first of equals.
fn max_at(holds: &[FlowHold<'_>], kind: TimeKind, max_ns: u64) -> Option<MaxAt> {
    let times = holds
        .iter()
        .map(|hold| (hold.repeat, hold.slice.times(kind)));
    let mut largest = times.filter(|(_, times)| times.max_ns() == Some(max_ns));
    let (repeat, times) = largest.next()?;
    Some(MaxAt {
        repeat,
        at_ns: times.max_at_ns()?,
    })
}
