//! Many comparisons at once: Holm's adjustment, so that one false difference among all of them
//! stays as unlikely as in a single one.

/// The adjusted chances, in the order given: sorted, the k-th smallest of m becomes
/// `(m - k + 1) p`, never less than the one before it and never above 1 (S. Holm, "A simple
/// sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979,
/// pages 65-70). It asks nothing of how the comparisons depend on each other.
pub(super) fn adjusted(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|one, next| chances[*one].total_cmp(&chances[*next]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut largest = 0.0_f64;
    for (position, index) in order.into_iter().enumerate() {
        let weight = (chances.len() - position) as f64;
        largest = largest.max((weight * chances[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_chances_worked_out_on_paper() {
        // 4 x 0.01, 3 x 0.015, 2 x 0.02 (raised to the one before it), 1 x 0.5.
        let found = adjusted(&[0.02, 0.01, 0.5, 0.015]);
        let expected = [0.045, 0.04, 0.5, 0.045];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn one_comparison_is_as_it_was_and_none_is_none() {
        assert_eq!(adjusted(&[0.03]), [0.03]);
        assert_eq!(adjusted(&[]), Vec::<f64>::new());
        assert_eq!(adjusted(&[0.6, 0.7]), [1.0, 1.0]);
    }
}
