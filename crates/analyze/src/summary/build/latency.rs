//! Distributions: percentiles of merged histograms, with their spread over repeats.

use super::hold::{FlowHold, merged};
use crate::series::curve_ns;
use crate::statistics::Spread;
use crate::summary::{Latencies, LatencySummary, MaxAt, Percentile};
use kgauge_results::{Histogram, Quantile, TimeKind};

/// Fewer samples beyond a percentile make it a guess.
const SAMPLES_BEYOND_MIN: u64 = 100;

/// The distributions of a flow over the repeats that count.
pub(super) fn latencies(holds: &[FlowHold<'_>]) -> Latencies {
    let kinds = TimeKind::summarised();
    let latency = |kind| Some((kind, LatencySummary::of(&times_of(holds, kind))?));
    kinds.filter_map(latency).collect()
}

/// A percentile that need not be one of [`Quantile::SUMMARISED`].
pub(super) fn percentile(
    holds: &[FlowHold<'_>],
    kind: TimeKind,
    quantile: Quantile,
) -> Option<Percentile> {
    let repeats = times_of(holds, kind);
    Percentile::of(quantile, &merged(holds, kind), &repeats)
}

/// One distribution, repeat by repeat.
fn times_of<'a>(holds: &[FlowHold<'a>], kind: TimeKind) -> Vec<(u32, &'a Histogram)> {
    let times = |hold: &FlowHold<'a>| (hold.repeat, hold.slice.times(kind));
    holds.iter().map(times).collect()
}

impl LatencySummary {
    /// The summary of a distribution in each repeat; `None` if nothing was counted.
    pub fn of(repeats: &[(u32, &Histogram)]) -> Option<LatencySummary> {
        let mut all = Histogram::new();
        repeats.iter().for_each(|(_, times)| all.add(times));
        let (max_ns, mean_ns) = (all.max_ns()?, all.mean_ns()?);
        let means = repeats.iter().filter_map(|(_, times)| times.mean_ns());
        let percentiles = Quantile::SUMMARISED.into_iter();
        Some(LatencySummary {
            count: all.count(),
            min_ns: all.min_ns()?,
            mean_ns,
            mean_over_repeats: Spread::of_time(&means.collect::<Vec<_>>(), mean_ns),
            percentiles: percentiles
                .filter_map(|quantile| Percentile::of(quantile, &all, repeats))
                .collect(),
            max_ns,
            max_at: max_at(repeats, max_ns)?,
            curve_ns: curve_ns(&all),
        })
    }
}

impl Percentile {
    fn of(
        quantile: Quantile,
        all: &Histogram,
        repeats: &[(u32, &Histogram)],
    ) -> Option<Percentile> {
        let samples_beyond = quantile.samples_beyond(all.count());
        let of_repeats = repeats
            .iter()
            .filter_map(|(_, times)| times.value_ns_at(quantile));
        let of_repeats: Vec<f64> = of_repeats.map(|value_ns| value_ns as f64).collect();
        let value_ns = all.value_ns_at(quantile)?;
        Some(Percentile {
            name: quantile.name(),
            millionths: quantile.millionths(),
            value_ns,
            samples_beyond,
            few: samples_beyond < SAMPLES_BEYOND_MIN,
            over_repeats: Spread::of_time(&of_repeats, value_ns as f64),
        })
    }
}

/// The repeat that holds the largest time; the first of equals.
fn max_at(repeats: &[(u32, &Histogram)], max_ns: u64) -> Option<MaxAt> {
    let mut repeats = repeats.iter();
    let (repeat, times) = repeats.find(|(_, times)| times.max_ns() == Some(max_ns))?;
    Some(MaxAt {
        repeat: *repeat,
        at_ns: times.max_at_ns()?,
    })
}
