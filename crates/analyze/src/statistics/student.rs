//! Student's t: how far a mean of few values may lie from the truth.

use std::f64::consts::FRAC_PI_2;

/// The 97.5 % quantile of Student's t for 1 to 30 degrees of freedom, so that a two-sided
/// interval holds 95 %. From the published tables (NIST/SEMATECH e-Handbook, 1.3.6.7.2), with
/// four decimals.
const T_95: [f64; 30] = [
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010,
    2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687,
    2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
];

/// The 97.5 % quantile of the normal distribution.
const Z_95: f64 = 1.959_964;

/// The factor of the standard error for a two-sided 95 % interval; `None` without a degree of
/// freedom.
///
/// Beyond 30 degrees it is the Cornish-Fisher expansion `z + (z^3+z)/4v + (5z^5+16z^3+3z)/96v^2`,
/// which is right to four decimals there.
pub(crate) fn t_95(degrees_of_freedom: usize) -> Option<f64> {
    let last = degrees_of_freedom.checked_sub(1)?;
    if let Some(tabled) = T_95.get(last) {
        return Some(*tabled);
    }
    let (z, v) = (Z_95, degrees_of_freedom as f64);
    let first = (z.powi(3) + z) / (4.0 * v);
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v);
    Some(z + first + second)
}

/// The factor of the standard error for a two-sided interval that leaves out the truth with the probability `alpha`;
/// `None` without a degree of freedom, or if `alpha` is not between 0 and 1.
///
/// `t = sqrt(v) tan(a)` for the angle `a` within which the probability is `1 - alpha`, found by halving.
pub(crate) fn t_factor(degrees_of_freedom: usize, alpha: f64) -> Option<f64> {
    let is_sound = degrees_of_freedom > 0 && alpha > 0.0 && alpha < 1.0;
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match part_within(degrees_of_freedom, middle) < 1.0 - alpha {
            true => low = middle,
            false => high = middle,
        }
    }
    is_sound.then(|| (degrees_of_freedom as f64).sqrt() * low.tan())
}

/// The probability that Student's t lies between `-sqrt(v) tan(a)` and `sqrt(v) tan(a)`.
///
/// A finite series: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 for odd and
/// 26.7.4 for even degrees of freedom.
fn part_within(degrees_of_freedom: usize, angle: f64) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees_of_freedom % 2 == 1;
    let (mut power, mut term) = if is_odd { (1, cosine) } else { (0, 1.0) };
    let mut sum = 0.0;
    while power + 2 <= degrees_of_freedom {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    match is_odd {
        true => (angle + sine * sum) / FRAC_PI_2,
        false => sine * sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_table_values_come_out() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (4, 2.776),
            (9, 2.262),
            (30, 2.042),
            (40, 2.021),
            (60, 2.000),
            (100, 1.984),
            (1_000, 1.962),
        ];
        for (degrees, published) in table {
            let computed = t_95(degrees).unwrap();
            assert!(
                (computed - published).abs() < 0.000_6,
                "{degrees}: {computed} is not {published}"
            );
        }
        assert_eq!(t_95(0), None);
    }

    #[test]
    fn factors_of_any_confidence_are_those_of_the_tables() {
        // Published percentage points of the distribution.
        let table = [
            (1, 0.05, 12.706),
            (2, 0.05, 4.303),
            (5, 0.01, 4.032),
            (10, 0.01, 3.169),
            (10, 0.005, 3.581),
            (20, 0.01, 2.845),
            (30, 0.001, 3.646),
        ];
        for (degrees, alpha, published) in table {
            let computed = t_factor(degrees, alpha).unwrap();
            assert!(
                (computed - published).abs() < 0.000_6,
                "{degrees}, {alpha}: {computed} is not {published}"
            );
        }
        for degrees in [1, 2, 3, 7, 16, 30, 45] {
            let (tabled, computed) = (t_95(degrees).unwrap(), t_factor(degrees, 0.05).unwrap());
            assert!((tabled - computed).abs() < 1e-4, "{degrees}: {computed}");
        }
        assert_eq!(t_factor(0, 0.05), None);
        assert_eq!(t_factor(5, 0.0), None);
    }
}
