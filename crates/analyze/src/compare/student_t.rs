//! Student's t distribution.

/// Steps of the search for a quantile: each halves the error, from at most 1e6 to below 1e-9.
const BISECTIONS: usize = 60;
/// The upper bound of the search for a quantile. The 97.5 % quantile of one degree of freedom is 12.7.
const T_MAX: f64 = 1e6;
/// With more degrees of freedom Student's distribution is the normal one to four digits.
pub(super) const FREEDOM_MAX: f64 = 1e4;

/// The chance that Student's t lies further from zero than `t`:
/// `I(v / (v + t^2); v / 2, 1 / 2)` (NIST DLMF 8.17, Abramowitz and Stegun 26.7.1).
pub(super) fn t_two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The `t` beyond which `p` lies, on both sides together.
pub(super) fn t_quantile(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, T_MAX);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if t_two_sided(middle, freedom) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function I(x; a, b).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let scale = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast on this side of the mean only (DLMF 8.17.22).
    if x < (a + 1.0) / (a + b + 2.0) {
        scale.exp() * fraction(x, a, b) / a
    } else {
        1.0 - scale.exp() * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of DLMF 8.17.22, by the modified method of Lentz (DLMF 3.10(iii)).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const STEPS_MAX: u32 = 500;
    let safe = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / safe(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for step in 1..=STEPS_MAX {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / safe(1.0 + even * d);
        c = safe(1.0 + even / c);
        product *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / safe(1.0 + odd * d);
        c = safe(1.0 + odd / c);
        product *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

/// The logarithm of the gamma function above zero: Stirling's series (DLMF 5.11.1), whose error
/// beyond 10 is below 1e-12, reached by `gamma(x) = gamma(x + 1) / x`.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}
