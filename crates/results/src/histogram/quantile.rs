//! Quantiles of a histogram.

use super::{Histogram, bucket_top_ns};

/// A quantile in millionths: p99.9 is 999,000. Integers, so that ranks are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile {
    millionths: u32,
}

impl Quantile {
    /// The median.
    pub const P50: Quantile = Quantile::new(500_000);
    /// 90 %.
    pub const P90: Quantile = Quantile::new(900_000);
    /// 95 %.
    pub const P95: Quantile = Quantile::new(950_000);
    /// 99 %.
    pub const P99: Quantile = Quantile::new(990_000);
    /// 99.9 %.
    pub const P99_9: Quantile = Quantile::new(999_000);
    /// 99.99 %.
    pub const P99_99: Quantile = Quantile::new(999_900);

    /// The percentiles that every summary of a distribution has.
    pub const SUMMARISED: [Quantile; 6] = [
        Quantile::P50,
        Quantile::P90,
        Quantile::P95,
        Quantile::P99,
        Quantile::P99_9,
        Quantile::P99_99,
    ];

    /// A quantile of so many millionths; more than a whole is the whole.
    pub const fn new(millionths: u32) -> Quantile {
        Quantile {
            millionths: if millionths > 1_000_000 {
                1_000_000
            } else {
                millionths
            },
        }
    }

    /// As given.
    pub fn millionths(self) -> u32 {
        self.millionths
    }

    /// As a percentile: `p99.9`.
    pub fn name(self) -> String {
        format!("p{}", f64::from(self.millionths) / 1e4)
    }

    /// Between 0 and 1.
    pub fn as_fraction(self) -> f64 {
        f64::from(self.millionths) / 1e6
    }

    /// The rank (from 1) of the sample that a quantile of `count` samples is: the smallest rank
    /// that at least this part of them does not exceed.
    pub fn rank(self, count: u64) -> u64 {
        let exact = u128::from(count) * u128::from(self.millionths);
        let rank = exact.div_ceil(1_000_000).max(1);
        u64::try_from(rank).unwrap_or(u64::MAX).min(count)
    }

    /// How many of `count` samples lie beyond it.
    pub fn samples_beyond(self, count: u64) -> u64 {
        count - self.rank(count)
    }
}

impl Histogram {
    /// The time that a part of all samples does not exceed.
    ///
    /// It is the top of the bucket that holds the sample of that rank (at most 0.1 % above the
    /// sample), but never beyond the exact largest time. `None` when nothing was counted.
    pub fn value_ns_at(&self, quantile: Quantile) -> Option<u64> {
        self.value_ns_at_rank(quantile.rank(self.count))
    }

    /// The time of the sample of a rank (from 1, ascending), to the top of its bucket.
    pub fn value_ns_at_rank(&self, rank: u64) -> Option<u64> {
        if rank <= 1 {
            return self.min_ns();
        }
        let mut seen = 0_u64;
        for index in self.touched()? {
            seen = seen.saturating_add(self.counts[index]);
            if seen >= rank {
                return Some(bucket_top_ns(index).min(self.top_ns()));
            }
        }
        self.max_ns()
    }

    /// The times of several ranks, ascending, in one pass. All are 0 when nothing was counted.
    pub fn values_ns_at_ranks(&self, ranks: &[u64]) -> Vec<u64> {
        let mut values = vec![self.max_ns().unwrap_or(0); ranks.len()];
        let (mut seen, mut next) = (0_u64, 0);
        for index in self.touched().unwrap_or(0..0) {
            seen = seen.saturating_add(self.counts[index]);
            while next < ranks.len() && seen >= ranks[next] {
                values[next] = match ranks[next] {
                    0 | 1 => self.min_ns,
                    _ => bucket_top_ns(index).min(self.top_ns()),
                };
                next += 1;
            }
        }
        values
    }

    /// How many samples lie above `value_ns`, to the precision of a bucket.
    pub fn count_above(&self, value_ns: u64) -> u64 {
        let first = super::bucket_index(value_ns.min(super::VALUE_NS_MAX)) + 1;
        let touched = self.touched().unwrap_or(0..0);
        (touched.start.max(first)..touched.end)
            .fold(0, |sum: u64, index| sum.saturating_add(self.counts[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(last: u64) -> Histogram {
        let mut times = Histogram::new();
        (1..=last).for_each(|value| times.record(value, 1, 0));
        times
    }

    #[test]
    fn quantiles_of_one_to_a_thousand_are_their_own_ranks() {
        let times = one_to(1_000);
        assert_eq!(times.value_ns_at(Quantile::P50), Some(500));
        assert_eq!(times.value_ns_at(Quantile::P99), Some(990));
        assert_eq!(times.value_ns_at(Quantile::P99_9), Some(999));
        assert_eq!(times.value_ns_at(Quantile::new(0)), Some(1));
        assert_eq!(times.value_ns_at(Quantile::new(1_000_000)), Some(1_000));
    }

    #[test]
    fn several_ranks_in_one_pass_are_those_one_by_one() {
        let times = one_to(5_000);
        let ranks = [1, 2, 2_500, 2_500, 4_999, 5_000];
        let one_by_one = ranks.map(|rank| times.value_ns_at_rank(rank).unwrap());
        assert_eq!(times.values_ns_at_ranks(&ranks), one_by_one);
    }

    #[test]
    fn ranks_do_not_suffer_from_rounding() {
        // 0.9999 * 10,000 is not exactly 9,999 in binary floating point.
        assert_eq!(Quantile::P99_99.rank(10_000), 9_999);
        assert_eq!(Quantile::P99_99.samples_beyond(10_000), 1);
        assert_eq!(Quantile::P99.rank(1), 1);
        assert_eq!(Quantile::P50.rank(0), 0);
    }

    #[test]
    fn percentiles_are_named_without_trailing_zeros() {
        let names = Quantile::SUMMARISED.map(Quantile::name);
        assert_eq!(names, ["p50", "p90", "p95", "p99", "p99.9", "p99.99"]);
    }

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        assert_eq!(Histogram::new().value_ns_at(Quantile::P50), None);
    }

    #[test]
    fn samples_above_a_value_are_counted() {
        assert_eq!(one_to(1_000).count_above(900), 100);
        assert_eq!(one_to(1_000).count_above(1_000), 0);
        assert_eq!(one_to(1_000).count_above(0), 1_000);
    }
}
