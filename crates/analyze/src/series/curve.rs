//! The percentile curve of a distribution.

use kgauge_results::histogram::{Histogram, Quantile};

/// One point of a percentile curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The quantile in millionths; 1,000,000 is the largest.
    pub millionths: u32,
    /// The time that this part does not exceed.
    pub value_ns: u64,
    /// How many samples lie beyond.
    pub samples_beyond: u64,
}

/// Points that show the tail as well as the middle: steps of 1 % up to 90 %, then each decade
/// beyond (9, 99, 999 parts ...) in eighteen steps, up to 99.999 %; a decade ends where fewer
/// than one sample lies beyond. The largest time comes last.
pub fn curve_of(times: &Histogram) -> Vec<CurvePoint> {
    let Some(max_ns) = times.max_ns() else {
        return Vec::new();
    };
    let mut points = Vec::new();
    for millionths in steps() {
        let quantile = Quantile::new(millionths);
        let samples_beyond = quantile.samples_beyond(times.count());
        if samples_beyond == 0 {
            break;
        }
        // Not empty, so every quantile has a value.
        let value_ns = times.value_ns_at(quantile).unwrap_or(max_ns);
        points.push(CurvePoint {
            millionths,
            value_ns,
            samples_beyond,
        });
    }
    points.push(CurvePoint {
        millionths: 1_000_000,
        value_ns: max_ns,
        samples_beyond: 0,
    });
    points
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
        for asked in [
            500_000, 900_000, 950_000, 990_000, 999_000, 999_900, 999_990,
        ] {
            assert!(steps.contains(&asked), "{asked}");
        }
    }

    #[test]
    fn a_curve_ends_with_the_exact_maximum_and_never_falls() {
        let mut times = Histogram::new();
        (1..=1_000).for_each(|value| times.record(value * 1_001, 1, 0));
        let curve = curve_of(&times);
        let last = curve.last().unwrap();
        assert_eq!((last.value_ns, last.millionths), (1_001_000, 1_000_000));
        assert!(curve.is_sorted_by_key(|point| point.value_ns));
        let p99 = curve
            .iter()
            .find(|point| point.millionths == 990_000)
            .unwrap();
        assert_eq!(p99.samples_beyond, 10);
        assert!(curve_of(&Histogram::new()).is_empty());
    }
}
