//! Random choices for intervals: the same trials always give the same answer.

use kgauge_scenario::derive_seed;

use crate::statistics::RandomDraws;

/// The draws begin here.
const SEED: u64 = 0x51_2e;

/// Random numbers of one draw, for one purpose. Different purposes and draws give unrelated numbers.
pub(super) fn begin_draws(purpose: &str, draw: usize) -> RandomDraws {
    RandomDraws::new(derive_seed(SEED.wrapping_add(draw as u64), purpose))
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
        let first = |draw| begin_draws("costs", draw).below(1_000_000);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = || [3.0, 1.0, f64::NAN, 2.0].into_iter();
        assert_eq!(quantile(values(), 0.5), Some(2.0));
        assert_eq!(quantile(values(), 1.0), Some(3.0));
        assert_eq!(quantile(std::iter::empty(), 0.5), None);
    }
}
