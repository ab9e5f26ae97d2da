//! The percentile curve of a distribution.

use kgauge_results::{Histogram, Quantile};

/// One point of a percentile curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The part of the samples.
    pub quantile: Quantile,
    /// The time that this part does not exceed.
    pub value_ns: u64,
    /// How many samples lie beyond.
    pub samples_beyond: u64,
}

/// The points of a curve of `count` samples, which show the tail as well as the middle: steps of 1 % up to 90 %, then
/// each decade beyond (9, 99, 999 parts ...) in eighteen steps, up to 99.999 %. They end where no sample lies beyond.
pub(crate) fn curve_quantiles(count: u64) -> Vec<Quantile> {
    let quantiles = steps().map(Quantile::new);
    quantiles
        .take_while(|quantile| quantile.samples_beyond(count) > 0)
        .collect()
}

/// The times at these points.
pub(crate) fn curve_ns(times: &Histogram) -> Vec<u64> {
    let quantiles = curve_quantiles(times.count());
    let ranks = quantiles
        .iter()
        .map(|quantile| quantile.rank(times.count()));
    times.values_ns_at_ranks(&ranks.collect::<Vec<_>>())
}

/// Millionths, ascending: 0, 1 %, ... 90 %, 90.5 %, ... 99 %, 99.05 %, ... 99.999 %.
fn steps() -> impl Iterator<Item = u32> {
    let body = (0..90).map(|percent| percent * 10_000);
    // Beyond 1 - 10^-d the rest of 10^(6-d) millionths is left in steps of a twentieth; the last
    // tenth is the next decade's.
    let tail = [100_000_u32, 10_000, 1_000, 100]
        .into_iter()
        .flat_map(|rest| (0..18).map(move |step| 1_000_000 - rest + step * (rest / 20)));
    body.chain(tail).chain([999_990])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_ascend_and_hold_the_percentiles_that_people_ask_for() {
        let steps = steps().collect::<Vec<_>>();
        assert!(steps.is_sorted_by(|one, next| one < next), "{steps:?}");
        for quantile in Quantile::SUMMARISED {
            assert!(steps.contains(&quantile.millionths()), "{quantile:?}");
        }
    }

    #[test]
    fn a_curve_never_falls_and_ends_where_no_sample_lies_beyond() {
        let mut times = Histogram::new();
        (1..=1_000).for_each(|value| times.record(value * 1_001, 1, 0));
        let (quantiles, curve) = (curve_quantiles(1_000), curve_ns(&times));
        assert_eq!(quantiles.len(), curve.len());
        assert!(curve.is_sorted());
        let p99 = quantiles.iter().position(|one| *one == Quantile::P99);
        assert_eq!(
            curve[p99.unwrap()],
            times.value_ns_at(Quantile::P99).unwrap()
        );
        assert_eq!(quantiles.last().unwrap().samples_beyond(1_000), 1);
        assert!(curve_ns(&Histogram::new()).is_empty());
    }
}
