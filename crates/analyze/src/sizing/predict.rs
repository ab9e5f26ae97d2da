//! The rate that a given cluster can take, predicted from trials of others. `cargo xtask backtest` compares it with
//! what was measured.

use super::estimate::{Estimate, interval_of};
use super::machine::MachineType;
use super::need::SizingNeed;
use super::range::{Extrapolation, outside};
use super::resources::{PlannedUse, Sizing, SizingResource};
use super::{SizeError, TrialFacts, estimated};
use crate::statistics::Interval;

/// No cluster takes more, in bytes per second.
const RATE_MAX: f64 = 1e13;
/// Halvings of the logarithm of the rate: fewer than one part in 10⁹ is left.
const HALVINGS: u32 = 40;

/// An existing cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenCluster {
    /// The machine of each broker.
    pub machine: MachineType,
    /// Brokers.
    pub brokers: u32,
    /// Partitions of the topic.
    pub partitions: u32,
}

/// The rate that a cluster can take.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedCapacity {
    /// Bytes of keys, values and headers per second.
    pub bytes_per_s: f64,
    /// 90 % interval.
    pub interval: Interval,
    /// The resource that is used up.
    pub binding: SizingResource,
    /// In which respects the cluster's load lies outside of what was measured.
    pub extrapolated: Vec<Extrapolation>,
}

/// The highest rate that a cluster can take when it uses all that it has, and keeps the goal for response times of
/// `need`. The rate, retention and losses in `need` do not matter.
pub fn predict_capacity(
    need: &SizingNeed,
    trials: &[TrialFacts],
    cluster: &GivenCluster,
) -> Result<PredictedCapacity, SizeError> {
    let need = SizingNeed {
        peak: 1.0,
        retention_s: 0.0,
        lose: 0,
        outage_s: 0.0,
        ..need.clone()
    };
    let (_, usable, estimates) = estimated(&need, trials)?;
    let highest = |estimate: &Estimate| highest_rate(&need, estimate, cluster);
    let (bytes_per_s, binding) = highest(&estimates.expected);
    let drawn: Vec<f64> = estimates.draws.iter().map(|draw| highest(draw).0).collect();
    Ok(PredictedCapacity {
        bytes_per_s,
        interval: interval_of(&drawn, bytes_per_s),
        binding,
        extrapolated: outside(&need, &usable),
    })
}

fn highest_rate(
    need: &SizingNeed,
    estimate: &Estimate,
    cluster: &GivenCluster,
) -> (f64, SizingResource) {
    let at = |rate_bytes_per_s: f64| {
        let need = SizingNeed {
            rate_bytes_per_s,
            ..need.clone()
        };
        let sizing = Sizing::new(&need, estimate, PlannedUse::ALL);
        let sizing = sizing.with_partitions(cluster.partitions);
        sizing.holds(&cluster.machine, cluster.brokers)
    };
    let (mut low, mut high) = (1.0_f64, RATE_MAX);
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        match at(middle).0 {
            true => low = middle,
            false => high = middle,
        }
    }
    (low, at(high).1)
}
