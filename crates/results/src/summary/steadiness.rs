//! Whether a flow's figures are those of a system in its normal state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::{Steadiness, SteadinessCheck};

/// The verdict on one flow, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSteadiness {
    /// The worst of what was found in any repeat and over the repeats.
    pub verdict: Steadiness,
    /// Each repeat, in order.
    pub repeats: Vec<RepeatSteadiness>,
    /// What the throughput did from repeat to repeat, where it changed in one direction.
    pub throughput_over_repeats: Option<f64>,
    /// What the latency did, likewise; missing for closed loops.
    pub latency_over_repeats: Option<f64>,
}

/// One repeat of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatSteadiness {
    /// How long the warm-up took, nanoseconds.
    pub warm_up_ns: u64,
    /// The warm-up ended at its limit, before the load was steady.
    pub limit_reached: bool,
    /// Records per second over the hold.
    pub throughput: SteadinessCheck,
    /// The mean response over the hold; missing for closed loops and consumers.
    pub latency: Option<SteadinessCheck>,
}

impl RepeatSteadiness {
    /// The worse of the two.
    pub fn verdict(&self) -> Steadiness {
        let latency = self.latency.map(|check| check.steadiness);
        let throughput = self.throughput.steadiness;
        latency.map_or(throughput, |latency| latency.max(throughput))
    }
}
