//! Paired tests that may stop at any time: which side of a comparison is better, as the pairs come in.
//!
//! Values are logarithms of ratios, one per pair. [`SignCount`] bets on their signs, and
//! [`crate::statistics::anytime_interval`] bounds their mean; [`decide`] reads both. All three hold after any number of
//! looks. [`resample`] shows what a test would have done on pairs of equal sides.

mod decision;
mod resampled;
mod signs;

pub(crate) use decision::PAIRS_MIN;
pub use decision::{PairDecision, decide, ratio_interval};
pub use resampled::{PairOfEquals, ResampledTests, resample};
pub(crate) use signs::EVIDENCE_MIN;
pub use signs::SignCount;

/// The share of tests of equal sides that may find a difference.
pub const ALPHA: f64 = 0.05;

#[cfg(test)]
mod tests;
