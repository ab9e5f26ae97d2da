//! Where the typical capacity lies, from all windows of a search together.
//!
//! The bounds of a search are loads, not a confidence interval. Near the capacity of a noisy target, some windows at
//! one rate keep the goals and others break them. The band is the 95 % credible interval of the rate at which half of
//! the windows break them, under a logistic curve over the logarithm of the rate:
//! `P(broken) = 1 / (1 + exp(-(ln rate - ln capacity) / spread))`, with flat priors of `ln capacity` over the measured
//! rates and of `ln spread`.

use super::loads::{Load, Loads};
use crate::statistics::Interval;

/// The spreads that the curve may have: from a sharp edge to a target that varies by a third.
const SPREAD_MIN: f64 = 0.001;
const SPREAD_MAX: f64 = 0.2;
const SPREADS: usize = 24;
const RATES: usize = 400;
/// What lies outside of the band on either side.
const TAIL: f64 = 0.025;

/// The 95 % credible interval of the typical capacity; `None` unless windows of both kinds exist.
pub fn typical_band(loads: &Loads) -> Option<Interval> {
    let windows = || loads.iter().flat_map(|load| &load.windows);
    if !(windows().any(|window| window.kept) && windows().any(|window| !window.kept)) {
        return None;
    }
    let (first, last) = (loads.iter().next()?, loads.iter().last()?);
    let (low, high) = (first.rate.ln(), last.rate.ln());
    let rate_ln = |index: usize| low + (high - low) * (index as f64 + 0.5) / RATES as f64;
    let mut likelihoods = Vec::with_capacity(RATES * SPREADS);
    for index in 0..RATES {
        for spread in 0..SPREADS {
            let part = spread as f64 / (SPREADS - 1) as f64;
            let spread = SPREAD_MIN * (SPREAD_MAX / SPREAD_MIN).powf(part);
            likelihoods.push(log_likelihood(loads, rate_ln(index), spread));
        }
    }
    let most = likelihoods.iter().copied().fold(f64::MIN, f64::max);
    let weights = likelihoods.chunks(SPREADS).map(|of_rate| {
        let weight = |likelihood: &f64| (likelihood - most).exp();
        of_rate.iter().map(weight).sum::<f64>()
    });
    let weights: Vec<f64> = weights.collect();
    let whole: f64 = weights.iter().sum();
    let mut below = 0.0;
    let cumulated = weights.iter().map(|weight| {
        below += weight / whole;
        below
    });
    let cumulated: Vec<f64> = cumulated.collect();
    let quantile = |part: f64| cumulated.iter().position(|below| *below >= part);
    Some(Interval {
        low: rate_ln(quantile(TAIL)?).exp(),
        high: rate_ln(quantile(1.0 - TAIL)?).exp(),
    })
}

fn log_likelihood(loads: &Loads, capacity_ln: f64, spread: f64) -> f64 {
    let of_load = |load: &Load| {
        let distance = (load.rate.ln() - capacity_ln) / spread;
        let broken = load.windows.iter().filter(|window| !window.kept).count() as f64;
        let kept = load.windows.len() as f64 - broken;
        broken * log_logistic(distance) + kept * log_logistic(-distance)
    };
    loads.iter().map(of_load).sum()
}

/// `ln(1 / (1 + exp(-x)))` without overflow.
fn log_logistic(x: f64) -> f64 {
    if x > 0.0 {
        -(-x).exp().ln_1p()
    } else {
        x - x.exp().ln_1p()
    }
}
