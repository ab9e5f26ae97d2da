//! Whether a flow's figures are those of a system in its normal state.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::{Steadiness, SteadinessCheck};

/// The steadiness of one flow, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowSteadiness {
    /// The worst result within and over the repeats.
    pub verdict: Steadiness,
    /// Each repeat, in order.
    pub repeats: Vec<RepeatSteadiness>,
    /// The change of throughput from the first repeat to the last, if it changed in one direction.
    pub throughput_over_repeats: Option<f64>,
    /// The change of latency, likewise; absent for closed loops.
    pub latency_over_repeats: Option<f64>,
}

/// One repeat of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RepeatSteadiness {
    /// Duration of the warm-up in nanoseconds.
    pub warm_up_ns: u64,
    /// The warm-up ended at its limit, before the load was steady.
    pub limit_reached: bool,
    /// Records per second over the hold.
    pub throughput: SteadinessCheck,
    /// The mean response over the hold; absent for closed loops and consumers.
    pub latency: Option<SteadinessCheck>,
}

impl FlowSteadiness {
    /// By which factor a figure could be another one before or after: the largest change that was found within a repeat
    /// or over the repeats, in either direction; 1 where nothing changed.
    pub fn factor(&self) -> f64 {
        let within = self.repeats.iter().flat_map(|repeat| {
            [Some(repeat.throughput), repeat.latency]
                .into_iter()
                .flatten()
                .map(|check| check.change)
        });
        let over = [self.throughput_over_repeats, self.latency_over_repeats];
        within
            .chain(over.into_iter().flatten())
            .map(|change| (1.0 + change).max(1.0 / (1.0 + change).max(0.0)))
            .fold(1.0, f64::max)
    }
}

impl RepeatSteadiness {
    /// The worse of the two.
    pub fn verdict(&self) -> Steadiness {
        let latency = self.latency.map(|check| check.steadiness);
        let throughput = self.throughput.steadiness;
        latency.map_or(throughput, |latency| latency.max(throughput))
    }
}
