//! Whether a flow's figures are those of a system in its normal state.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::{Steadiness, SteadinessCheck};

/// A warm-up goes on while the brokers' Java compilers use a larger part of their CPU time than this. In three brokers
/// at full speed the part was 0.5 for half a minute, and below 0.06 from then on.
pub const COMPILING_MAX: f64 = 0.10;

/// A hold in which they use a larger part is one of brokers that are warming up: what compiles serves no records, and
/// the code that is replaced is slower.
const WARMING_FROM: f64 = 0.15;

/// Less than this part of one processor is no compiler at work, however little the brokers do besides.
const COMPILING_CORES_MIN: f64 = 0.05;

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
    /// Throughput of all repeats together, each moment of the hold the mean of the repeats. Only where the repeats
    /// alone were too short or too noisy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_together: Option<SteadinessCheck>,
    /// Latency, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_together: Option<SteadinessCheck>,
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
    /// CPU time of the brokers' Java compilers over the hold; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiling: Option<Compiling>,
}

/// CPU time that brokers spent on compiling Java code.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compiling {
    /// Its part of all of the brokers' CPU time.
    pub part: f64,
    /// The same in processors: CPU time over the length of the hold.
    pub cores: f64,
}

impl Compiling {
    /// Whether the brokers were still warming up.
    pub fn is_warming(&self) -> bool {
        self.part > WARMING_FROM && self.cores > COMPILING_CORES_MIN
    }
}

impl FlowSteadiness {
    /// If the brokers were warming up: the largest part of their CPU time that compiling took in a repeat.
    pub fn compiling(&self) -> Option<f64> {
        let found = self.repeats.iter().filter_map(|repeat| repeat.compiling);
        let warming = found.filter(Compiling::is_warming);
        warming.map(|compiling| compiling.part).reduce(f64::max)
    }

    /// Where it is undecided: the smallest change of throughput or latency that would have shown; `None` if the hold
    /// was too short for any.
    pub fn undecided(&self) -> Option<f64> {
        let of = |together: &Option<SteadinessCheck>, alone: &[SteadinessCheck]| {
            let checks = together.as_ref().map_or(alone, std::slice::from_ref).iter();
            let undecided = checks.filter(|check| check.steadiness == Steadiness::Undecided);
            undecided.map(|check| check.detectable).reduce(f64::max)
        };
        let repeats = self.repeats.iter();
        let throughput: Vec<_> = repeats.clone().map(|repeat| repeat.throughput).collect();
        let latency: Vec<_> = repeats.filter_map(|repeat| repeat.latency).collect();
        let each = [
            of(&self.throughput_together, &throughput),
            of(&self.latency_together, &latency),
        ];
        let each = each.into_iter().flatten();
        each.filter(|_| self.verdict == Steadiness::Undecided)
            .reduce(f64::max)
            .filter(|change| *change < f64::MAX)
    }

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
        let together = [self.throughput_together, self.latency_together];
        let together = together.into_iter().flatten().map(|check| check.change);
        within
            .chain(over.into_iter().flatten())
            .chain(together)
            .map(|change| (1.0 + change).max(1.0 / (1.0 + change).max(0.0)))
            .fold(1.0, f64::max)
    }
}

impl RepeatSteadiness {
    /// The worst of them.
    pub fn verdict(&self) -> Steadiness {
        let latency = self.latency.map(|check| check.steadiness);
        let compiling = self.compiling.filter(Compiling::is_warming);
        let others = [latency, compiling.map(|_| Steadiness::Warming)];
        let others = others.into_iter().flatten();
        others.fold(self.throughput.steadiness, Steadiness::max)
    }
}
