//! Elementary functions from IEEE additions, multiplications, divisions and roots alone.
//!
//! The platform's own (`ln`, `exp`, `sin`) differ in their last bits from one C library to the
//! next. Agents on different machines must agree on every time, size and key.

/// Natural logarithm of a normal number above 0.
///
/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1).
/// |s| <= 0.1716, so the first term left out, 2 s^23 / 23, is below 3e-19.
pub(crate) fn ln(x: f64) -> f64 {
    const MANTISSA_MASK: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & MANTISSA_MASK) | ONE);
    if mantissa >= std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut series = 0.0;
    for odd in (1..=21).rev().step_by(2) {
        series = series * square + 1.0 / f64::from(odd);
    }
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * s * series
}

/// e^x for |x| <= 700.
///
/// x = k ln 2 + r with |r| <= 0.35; the series' first term left out, r^17 / 17!, is below 5e-23.
pub(crate) fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let k = (x / std::f64::consts::LN_2).round();
    let r = x - k * std::f64::consts::LN_2;
    let mut series = 1.0;
    for n in (1..=16).rev() {
        series = 1.0 + series * r / f64::from(n);
    }
    // k is within -1010 and 1010: a normal power of two.
    series * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// x^y for x above 0.
pub(crate) fn pow(x: f64, y: f64) -> f64 {
    exp(y * ln(x))
}

/// sin(pi x) for x in 0 to 1.
///
/// With z = pi x up to pi / 2 the first term left out, z^23 / 23!, is below 2e-18.
pub(crate) fn sin_pi(x: f64) -> f64 {
    let x = if x > 0.5 { 1.0 - x } else { x };
    let z = std::f64::consts::PI * x;
    let square = z * z;
    let mut series = 1.0;
    for n in (1..=10).rev() {
        let n = f64::from(n);
        series = 1.0 - series * square / ((2.0 * n) * (2.0 * n + 1.0));
    }
    z * series
}

/// Where the standard normal distribution has the probability `p` below it, p in (0, 1).
///
/// Inverts the cumulative distribution by Newton's steps from a start that is good to 4.5e-4
/// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    let t = (-2.0 * ln(p)).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    let mut z = above / below - t;
    for _ in 0..3 {
        let density = exp(-z * z / 2.0) / (2.0 * std::f64::consts::PI).sqrt();
        z -= (normal_below(z) - p) / density;
    }
    z
}

/// The probability below z, z <= 0.
fn normal_below(z: f64) -> f64 {
    let density = exp(-z * z / 2.0) / (2.0 * std::f64::consts::PI).sqrt();
    let x = -z;
    if x < 3.0 {
        // Marsaglia's series: 1/2 - density * (x + x^3/3 + x^5/(3*5) + ...).
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term > 1e-18 {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // Laplace's continued fraction: density / (x + 1/(x + 2/(x + 3/(x + ...)))).
    let mut fraction = x;
    for n in (1..=60).rev() {
        fraction = x + f64::from(n) / fraction;
    }
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn uniform(index: u64) -> f64 {
        (Random::new(7).bits(index) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
    }

    #[test]
    fn the_logarithm_is_right_to_the_last_bits() {
        for index in 0..20_000 {
            let x = uniform(index);
            let (ours, expected) = (-ln(x), -x.ln());
            let error = (ours - expected).abs();
            assert!(
                error <= 4e-15 * expected.max(1e-3),
                "x = {x}: off by {error}"
            );
        }
        assert!((ln(0.5) + std::f64::consts::LN_2).abs() < 1e-16);
        assert!((ln(1e9) - 20.723_265_836_946_41).abs() < 1e-14);
    }

    #[test]
    fn powers_and_sines_agree_with_the_platforms() {
        for index in 0..20_000 {
            let x = uniform(index);
            let y = x * 40.0 - 20.0;
            assert!((exp(y) / y.exp() - 1.0).abs() < 1e-14, "e^{y}");
            let sine = (std::f64::consts::PI * x).sin();
            assert!((sin_pi(x) - sine).abs() < 4e-16, "sin(pi {x})");
        }
        assert!((pow(3.0, 5.0) - 243.0).abs() < 1e-11);
        assert_eq!((sin_pi(0.0), sin_pi(1.0)), (0.0, 0.0));
    }

    #[test]
    fn quantiles_of_the_normal_distribution_are_those_of_the_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959963984540054),
            (0.99, 2.326347874040841),
            (0.001, -3.090232306167813),
            (1e-6, -4.753424308822899),
        ] {
            let found = normal_quantile(p);
            assert!((found - z).abs() < 1e-9, "{p}: {found}");
        }
    }
}
