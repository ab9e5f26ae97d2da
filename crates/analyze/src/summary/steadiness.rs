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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FlowSteadiness {
    /// Of both figures, the worse.
    pub verdict: Steadiness,
    /// Each repeat, in order.
    pub repeats: Vec<RepeatSteadiness>,
    /// The change of throughput from the first repeat to the last, if it changed in one direction.
    pub throughput_over_repeats: Option<f64>,
    /// The change of latency, likewise; absent for closed loops.
    pub latency_over_repeats: Option<f64>,
    /// Throughput of all repeats together, each moment of the hold the mean of the repeats: of three and more repeats,
    /// and of two that are too short or too noisy alone. It then decides, and not the repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_together: Option<SteadinessCheck>,
    /// Latency, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_together: Option<SteadinessCheck>,
}

/// A figure whose steadiness is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyFigure {
    /// Records, bytes and CPU time per second or per record.
    Throughput,
    /// Latencies. Where the throughput is not steady, they are not either.
    Latency,
}

/// A figure that changed while it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SteadinessChange {
    /// The figure.
    pub figure: SteadyFigure,
    /// When it changed.
    pub when: ChangeTime,
    /// The relative change.
    pub change: f64,
}

/// When a figure changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "when", rename_all = "kebab-case")]
pub enum ChangeTime {
    /// During the hold of a repeat.
    Within {
        /// The repeat, from 0.
        repeat: u32,
    },
    /// During the hold, in the mean of all repeats.
    WithinAll,
    /// From the first repeat to the last.
    OverRepeats,
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
    /// The same with the verdict that its evidence gives.
    pub fn judged(self) -> FlowSteadiness {
        let verdict = self.of(SteadyFigure::Latency);
        FlowSteadiness { verdict, ..self }
    }

    /// The verdict on one figure.
    pub fn of(&self, figure: SteadyFigure) -> Steadiness {
        let throughput = self.of_one(SteadyFigure::Throughput);
        let throughput = match self.compiling() {
            Some(_) => throughput.max(Steadiness::Warming),
            None => throughput,
        };
        match figure {
            SteadyFigure::Throughput => throughput,
            SteadyFigure::Latency => throughput.max(self.of_one(figure)),
        }
    }

    fn of_one(&self, figure: SteadyFigure) -> Steadiness {
        let checks = self.deciding(figure).map(|(_, check)| check.steadiness);
        let over = self.over_repeats(figure).map(|change| {
            let improves = match figure {
                SteadyFigure::Throughput => change > 0.0,
                SteadyFigure::Latency => change < 0.0,
            };
            match improves {
                true => Steadiness::Warming,
                false => Steadiness::Slowing,
            }
        });
        checks.chain(over).fold(Steadiness::Steady, Steadiness::max)
    }

    /// The change of a figure from the first repeat to the last.
    fn over_repeats(&self, figure: SteadyFigure) -> Option<f64> {
        match figure {
            SteadyFigure::Throughput => self.throughput_over_repeats,
            SteadyFigure::Latency => self.latency_over_repeats,
        }
    }

    /// The checks of the hold that decide on a figure: that of all repeats together, or each.
    pub fn deciding(
        &self,
        figure: SteadyFigure,
    ) -> impl Iterator<Item = (ChangeTime, SteadinessCheck)> + '_ {
        let together = match figure {
            SteadyFigure::Throughput => self.throughput_together,
            SteadyFigure::Latency => self.latency_together,
        };
        let is_alone = together.is_none();
        let alone = (0..).zip(&self.repeats).filter_map(move |(repeat, found)| {
            let check = match figure {
                SteadyFigure::Throughput => Some(found.throughput),
                SteadyFigure::Latency => found.latency,
            };
            Some((ChangeTime::Within { repeat }, check?))
        });
        let alone = alone.filter(move |_| is_alone);
        let together = together.map(|check| (ChangeTime::WithinAll, check));
        together.into_iter().chain(alone)
    }

    /// Every change that makes a figure one that is not steady: over the repeats, and within the hold.
    pub fn changes(&self) -> Vec<SteadinessChange> {
        let figures = [SteadyFigure::Throughput, SteadyFigure::Latency];
        let over = figures.into_iter().filter_map(|figure| {
            let change = self.over_repeats(figure)?;
            Some(SteadinessChange {
                figure,
                when: ChangeTime::OverRepeats,
                change,
            })
        });
        let within = figures.into_iter().flat_map(|figure| {
            let checks = self.deciding(figure);
            let changing = checks.filter(|(_, check)| !check.steadiness.is_usable());
            changing.map(move |(when, check)| SteadinessChange {
                figure,
                when,
                change: check.change,
            })
        });
        over.chain(within).collect()
    }

    /// If the brokers were warming up: the largest part of their CPU time that compiling took in a repeat.
    pub fn compiling(&self) -> Option<f64> {
        let found = self.repeats.iter().filter_map(|repeat| repeat.compiling);
        let warming = found.filter(Compiling::is_warming);
        warming.map(|compiling| compiling.part).reduce(f64::max)
    }

    /// Where it is undecided: the smallest change of throughput or latency that would have shown; `None` if the hold
    /// was too short for any.
    pub fn undecided(&self) -> Option<f64> {
        let figures = [SteadyFigure::Throughput, SteadyFigure::Latency];
        let checks = figures.into_iter().flat_map(|figure| self.deciding(figure));
        let undecided = checks.filter(|(_, check)| check.steadiness == Steadiness::Undecided);
        undecided
            .map(|(_, check)| check.detectable)
            .filter(|_| self.verdict == Steadiness::Undecided)
            .reduce(f64::max)
            .filter(|change| *change < f64::MAX)
    }

    /// By which factor a figure could be another one before or after: the largest change that was found within the hold
    /// or over the repeats, in either direction; 1 where nothing changed.
    pub fn factor(&self, figure: SteadyFigure) -> f64 {
        let figures: &[SteadyFigure] = match figure {
            SteadyFigure::Throughput => &[figure],
            SteadyFigure::Latency => &[SteadyFigure::Throughput, figure],
        };
        let within = figures.iter().flat_map(|figure| self.deciding(*figure));
        let over = figures
            .iter()
            .filter_map(|figure| self.over_repeats(*figure));
        within
            .map(|(_, check)| check.change)
            .chain(over)
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
