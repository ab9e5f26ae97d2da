//! Sizes of values that differ: distributions, and the table that records take their sizes from.

use serde::{Deserialize, Serialize};

use crate::numeric::{exp, ln, normal_quantile};
use crate::random::Random;

/// How the sizes of values differ. All are in bytes; what falls outside of a range is brought to
/// its nearer end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizePlan {
    /// Each size of a range is as likely as the others.
    Uniform {
        /// The smallest.
        from: u32,
        /// The largest.
        to: u32,
    },
    /// The normal distribution.
    Normal {
        /// Before the ends are brought in.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
        /// The smallest.
        from: u32,
        /// The largest.
        to: u32,
    },
    /// The normal distribution of logarithms: many small ones, few large ones.
    Lognormal {
        /// Half are smaller.
        median: f64,
        /// One in a hundred is larger.
        p99: f64,
        /// The smallest.
        from: u32,
        /// The largest.
        to: u32,
    },
    /// Some sizes with weights.
    Weighted {
        /// At least one.
        sizes: Vec<WeightedSize>,
    },
}

/// A size and how often it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// The size.
    pub bytes: u32,
    /// Against the other sizes' weights.
    pub weight: f64,
}

impl SizePlan {
    /// The largest size.
    pub fn bytes_max(&self) -> u32 {
        match self {
            SizePlan::Uniform { to, .. }
            | SizePlan::Normal { to, .. }
            | SizePlan::Lognormal { to, .. } => *to,
            SizePlan::Weighted { sizes } => {
                let taken = sizes.iter().filter(|size| size.weight > 0.0);
                taken.map(|size| size.bytes).max().unwrap_or(0)
            }
        }
    }

    /// The smallest size.
    pub fn bytes_min(&self) -> u32 {
        match self {
            SizePlan::Uniform { from, .. }
            | SizePlan::Normal { from, .. }
            | SizePlan::Lognormal { from, .. } => *from,
            SizePlan::Weighted { sizes } => {
                let taken = sizes.iter().filter(|size| size.weight > 0.0);
                taken.map(|size| size.bytes).min().unwrap_or(0)
            }
        }
    }

    /// The size below which a part of all lies, 0 < `part` < 1.
    fn quantile(&self, part: f64) -> u32 {
        let clipped = |size: f64, from: u32, to: u32| {
            (size.round().clamp(f64::from(from), f64::from(to))) as u32
        };
        match self {
            SizePlan::Uniform { from, to } => {
                // Each whole number has an equal stretch.
                let span = f64::from(*to) - f64::from(*from) + 1.0;
                ((f64::from(*from) + span * part).floor() as u32).min(*to)
            }
            SizePlan::Normal {
                mean,
                deviation,
                from,
                to,
            } => clipped(mean + deviation * normal_quantile(part), *from, *to),
            SizePlan::Lognormal {
                median,
                p99,
                from,
                to,
            } => {
                let sigma = ln(p99 / median) / normal_quantile(0.99);
                clipped(median * exp(sigma * normal_quantile(part)), *from, *to)
            }
            SizePlan::Weighted { sizes } => {
                let all: f64 = sizes.iter().map(|size| size.weight).sum();
                let mut left = part * all;
                for size in sizes {
                    if left < size.weight {
                        return size.bytes;
                    }
                    left -= size.weight;
                }
                self.bytes_max()
            }
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        match self {
            SizePlan::Uniform { from, to } => from <= to,
            SizePlan::Normal {
                mean,
                deviation,
                from,
                to,
            } => mean.is_finite() && positive(*deviation) && from <= to,
            SizePlan::Lognormal {
                median,
                p99,
                from,
                to,
            } => positive(*median) && p99.is_finite() && p99 > median && from <= to,
            SizePlan::Weighted { sizes } => {
                let each = |size: &WeightedSize| size.weight >= 0.0 && size.weight.is_finite();
                sizes.iter().all(each) && sizes.iter().any(|size| size.weight > 0.0)
            }
        }
    }
}

/// The sizes of a flow's records: 8,192 quantiles of their distribution in random order.
///
/// So any 8,192 records in a row have the distribution exactly, and their mean is known before.
#[derive(Clone, Debug)]
pub struct SizeTable(Vec<u32>);

impl SizeTable {
    const SIZES: usize = 1 << 13;

    /// The table of a flow's seed.
    pub fn new(plan: &SizePlan, seed: u64) -> SizeTable {
        let mut sizes: Vec<u32> = quantiles(plan).collect();
        let random = Random::new(seed);
        // Fisher and Yates; the high half of a 32 x 32 bit product draws below `left`.
        for left in (2..=sizes.len()).rev() {
            let draw = ((random.bits(left as u64) >> 32) * left as u64) >> 32;
            sizes.swap(left - 1, draw as usize);
        }
        SizeTable(sizes)
    }

    /// The size of the flow's record `number`.
    #[inline]
    pub fn bytes_of(&self, number: u64) -> u32 {
        self.0[number as usize & (Self::SIZES - 1)]
    }

    /// The mean of all sizes.
    pub(crate) fn mean_of(plan: &SizePlan) -> f64 {
        quantiles(plan).map(f64::from).sum::<f64>() / Self::SIZES as f64
    }
}

fn quantiles(plan: &SizePlan) -> impl Iterator<Item = u32> {
    let count = SizeTable::SIZES;
    (0..count).map(move |index| plan.quantile((index as f64 + 0.5) / count as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(plan: &SizePlan) -> Vec<u32> {
        let mut sizes = SizeTable::new(plan, 7).0;
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn a_uniform_range_has_every_size_equally_often() {
        let sizes = sorted(&SizePlan::Uniform { from: 1, to: 4 });
        for size in 1..=4 {
            assert_eq!(sizes.iter().filter(|one| **one == size).count(), 2_048);
        }
        let plan = SizePlan::Uniform { from: 100, to: 900 };
        assert!((SizeTable::mean_of(&plan) - 500.0).abs() < 0.01);
    }

    #[test]
    fn a_normal_distribution_has_its_quantiles_and_its_ends() {
        let sizes = sorted(&SizePlan::Normal {
            mean: 1_000.0,
            deviation: 100.0,
            from: 800,
            to: 1_250,
        });
        // 84.13 % lie below mean + 1 deviation, 2.275 % below mean - 2: those are clipped.
        let part = |bytes: u32| sizes.iter().filter(|one| **one < bytes).count() as f64 / 8_192.0;
        assert!((part(1_100) - 0.8413).abs() < 0.003);
        let clipped = sizes.iter().filter(|one| **one == 800).count() as f64 / 8_192.0;
        assert!((clipped - 0.0229).abs() < 0.001, "{clipped}");
        assert_eq!(sizes.last(), Some(&1_250));
    }

    #[test]
    fn a_lognormal_distribution_has_its_median_and_its_p99() {
        let plan = SizePlan::Lognormal {
            median: 300.0,
            p99: 10_000.0,
            from: 1,
            to: 1_000_000,
        };
        let sizes = sorted(&plan);
        assert_eq!(sizes[4_095], 300);
        assert!(sizes[8_110].abs_diff(10_000) < 60, "{}", sizes[8_110]);
        // median * exp(sigma^2 / 2), sigma = ln(100/3) / 2.3263: 300 * 3.1150
        let mean = SizeTable::mean_of(&plan);
        assert!((mean / 934.5 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn weights_are_parts() {
        let sizes = vec![
            WeightedSize {
                bytes: 100,
                weight: 3.0,
            },
            WeightedSize {
                bytes: 1_000,
                weight: 1.0,
            },
        ];
        let plan = SizePlan::Weighted { sizes };
        let table = SizeTable::new(&plan, 1);
        let large = (0..8_192)
            .filter(|number| table.bytes_of(*number) == 1_000)
            .count();
        assert_eq!(large, 2_048);
        assert_eq!(SizeTable::mean_of(&plan), 325.0);
        assert_eq!(plan.bytes_max(), 1_000);
    }

    #[test]
    fn one_seed_gives_the_same_sizes_and_another_seed_another_order() {
        let plan = SizePlan::Uniform {
            from: 1,
            to: 60_000,
        };
        let (one, same, other) = (
            SizeTable::new(&plan, 1),
            SizeTable::new(&plan, 1),
            SizeTable::new(&plan, 2),
        );
        assert_eq!(one.0, same.0);
        assert_ne!(one.0, other.0);
    }
}
