//! Random choices for intervals: the same trials always give the same answer.

use kgauge_scenario::{Random, derive_seed};

/// The draws begin here.
const SEED: u64 = 0x51_2e;

/// Random numbers of one draw, for one purpose.
pub(super) struct SizingDraws {
    random: Random,
    at: u64,
}

impl SizingDraws {
    /// Different purposes and draws give unrelated numbers.
    pub(super) fn new(purpose: &str, draw: usize) -> SizingDraws {
        SizingDraws {
            random: Random::new(derive_seed(SEED.wrapping_add(draw as u64), purpose)),
            at: 0,
        }
    }

    /// An index below `count`; 0 if that is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.at += 1;
        let below = self.random.bits(self.at) % (count as u64).max(1);
        usize::try_from(below).unwrap_or_default()
    }

    /// One of several; `None` of none.
    pub(super) fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = self.below(from.len());
        from.get(index)
    }

    /// Equally likely from 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.at += 1;
        (-self.random.exponential(self.at)).exp()
    }

    /// Normally distributed with variance 1. Box and Muller: an exponential number is half a squared radius.
    pub(super) fn normal(&mut self) -> f64 {
        self.at += 1;
        let radius = (2.0 * self.random.exponential(self.at)).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The value that this part of the others does not exceed; `None` without values.
pub(super) fn quantile(values: impl Iterator<Item = f64>, part: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values.get((part * last as f64).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_and_differ() {
        let first = |draw| SizingDraws::new("costs", draw).below(1_000_000);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
        let mut draws = SizingDraws::new("costs", 0);
        let picked = (0..1_000).map(|_| draws.below(3));
        assert_eq!(picked.collect::<std::collections::BTreeSet<_>>().len(), 3);
        assert_eq!((draws.below(0), draws.choose::<u8>(&[])), (0, None));
    }

    #[test]
    fn a_normal_number_is_within_1_645_in_nine_of_ten() {
        let mut draws = SizingDraws::new("normal", 0);
        let within = (0..10_000).filter(|_| draws.normal().abs() < 1.645).count();
        assert!((8_900..9_100).contains(&within), "{within}");
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = || [3.0, 1.0, f64::NAN, 2.0].into_iter();
        assert_eq!(quantile(values(), 0.5), Some(2.0));
        assert_eq!(quantile(values(), 1.0), Some(3.0));
        assert_eq!(quantile(std::iter::empty(), 0.5), None);
    }
}
