//! Random numbers in order: for intervals that are drawn, and for targets and repeats of which the truth is known.

use kgauge_scenario::Random;

/// The numbers of a seed, one after the other.
#[derive(Clone, Debug)]
pub struct RandomDraws {
    random: Random,
    at: u64,
}

impl RandomDraws {
    /// The first numbers of a seed.
    pub fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        Self { random, at: 0 }
    }

    /// Exponentially distributed with mean 1.
    pub fn exponential(&mut self) -> f64 {
        self.at += 1;
        self.random.exponential(self.at)
    }

    /// Equally likely from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        (-self.exponential()).exp()
    }

    /// Normally distributed with variance 1. Box and Muller: an exponential number is half a squared radius.
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// An index below `count`; 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        self.at += 1;
        let below = self.random.bits(self.at) % (count as u64).max(1);
        usize::try_from(below).unwrap_or_default()
    }

    /// One of several; `None` of none.
    pub fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = self.below(from.len());
        from.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_below_the_count_and_none_is_chosen_of_none() {
        let mut draws = RandomDraws::new(0);
        let picked = (0..1_000).map(|_| draws.below(3));
        assert_eq!(picked.collect::<std::collections::BTreeSet<_>>().len(), 3);
        assert_eq!((draws.below(0), draws.choose::<u8>(&[])), (0, None));
    }

    #[test]
    fn a_normal_number_is_within_1_645_in_nine_of_ten() {
        let mut draws = RandomDraws::new(0);
        let within = (0..10_000).filter(|_| draws.normal().abs() < 1.645).count();
        assert!((8_900..9_100).contains(&within), "{within}");
    }
}
