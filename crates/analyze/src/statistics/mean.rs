//! Means and medians.

/// The mean of pairs of weight and value; `None` without any weight.
pub fn weighted_mean(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let pairs = pairs.into_iter();
    let (weights, sum) = pairs.fold((0.0, 0.0), |(weights, sum), (weight, value)| {
        (weights + weight, sum + weight * value)
    });
    (weights > 0.0).then(|| sum / weights)
}

/// The mean; `None` of nothing.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    weighted_mean(values.into_iter().map(|value| (1.0, value)))
}

/// The upper median; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_by_its_weight() {
        assert_eq!(
            weighted_mean([(1.0, 2.0), (3.0, 6.0), (0.0, 99.0)]),
            Some(5.0)
        );
        assert_eq!(weighted_mean([(0.0, 1.0)]), None);
        assert_eq!(weighted_mean([]), None);
    }
}
