//! A/B tests, as planned: two sides, the figure that they are compared by, and when the test ends.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figure::{FigureName, Metric, ValueUnit};

/// A side of an A/B test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbSide {
    /// The one that the other is compared with.
    A,
    /// The other one.
    B,
}

impl AbSide {
    /// Both.
    pub const BOTH: [AbSide; 2] = [AbSide::A, AbSide::B];

    /// Its position in a pair.
    pub fn index(self) -> usize {
        match self {
            AbSide::A => 0,
            AbSide::B => 1,
        }
    }

    /// The opposite side.
    pub fn other(self) -> AbSide {
        match self {
            AbSide::A => AbSide::B,
            AbSide::B => AbSide::A,
        }
    }
}

impl fmt::Display for AbSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AbSide::A => "A",
            AbSide::B => "B",
        })
    }
}

/// What the sides of an A/B test are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbKind {
    /// One scenario with different settings.
    Settings,
    /// Two scenarios.
    Scenarios,
    /// One scenario on two targets.
    Targets,
    /// One scenario twice, to measure false alarms.
    Same,
}

/// An A/B test. It adds a repeat to each of its trials per block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbPlan {
    /// What the sides are.
    pub kind: AbKind,
    /// Side A and side B.
    pub sides: [AbSidePlan; 2],
    /// The figure that they are compared by.
    pub metric: AbMetric,
    /// A smaller difference counts as none: a share, 0.03 for 3 %.
    pub width: f64,
    /// The time of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// The number of blocks after which it ends.
    pub blocks_max: u32,
    /// Both sides of a block are measured at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_duet: bool,
}

/// A side, as planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbSidePlan {
    /// Its name: `linger.ms=5`, a scenario or a target.
    pub name: String,
    /// Its trial in this plan; absent if another run measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// The name of the folder of its run, if each side has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// The figure that sides are compared by; of the hold stage of a repeat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AbMetric {
    /// `writers.throughput`, `writers.latency.p99`: a figure of one flow.
    OfFlow(FigureName),
    /// `target-cpu`: CPU time of the target's processes per record.
    TargetCpu,
    /// `generator-cpu`: CPU time of the load threads per record.
    GeneratorCpu,
}

pub(crate) const TARGET_CPU: &str = "target-cpu";
pub(crate) const GENERATOR_CPU: &str = "generator-cpu";

impl AbMetric {
    /// Whether a higher value is better.
    pub fn more_is_better(&self) -> bool {
        match self {
            AbMetric::OfFlow(figure) => {
                matches!(figure.metric, Metric::Throughput | Metric::ThroughputBytes)
            }
            AbMetric::TargetCpu | AbMetric::GeneratorCpu => false,
        }
    }

    /// The unit of its values. CPU time is in nanoseconds per record.
    pub fn unit(&self) -> ValueUnit {
        match self {
            AbMetric::OfFlow(figure) => figure.metric.unit(),
            AbMetric::TargetCpu | AbMetric::GeneratorCpu => ValueUnit::Nanoseconds,
        }
    }
}

impl fmt::Display for AbMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AbMetric::OfFlow(figure) => figure.fmt(f),
            AbMetric::TargetCpu => f.write_str(TARGET_CPU),
            AbMetric::GeneratorCpu => f.write_str(GENERATOR_CPU),
        }
    }
}

impl Serialize for AbMetric {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AbMetric {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<AbMetric, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            TARGET_CPU => Ok(AbMetric::TargetCpu),
            GENERATOR_CPU => Ok(AbMetric::GeneratorCpu),
            figure => FigureName::parse(figure)
                .map(AbMetric::OfFlow)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// A smaller width takes days; a larger one is no measurement.
pub(crate) const WIDTHS: std::ops::RangeInclusive<f64> = 0.001..=1.0;

impl AbPlan {
    /// The sides that this plan measures, with their trials.
    pub fn own_sides(&self) -> Vec<(AbSide, u32)> {
        let sides = AbSide::BOTH.into_iter().zip(&self.sides);
        sides
            .filter_map(|(side, plan)| Some((side, plan.trial?)))
            .collect()
    }

    /// Why the test cannot run with this number of trials.
    pub(crate) fn sound(&self, trials: usize) -> Result<(), String> {
        let own = self.own_sides();
        let exist = own.iter().all(|(_, trial)| (*trial as usize) < trials);
        if own.is_empty() || !exist {
            return Err("an A/B test without trials".to_owned());
        }
        let is_sound = WIDTHS.contains(&self.width) && self.blocks_max >= 1;
        match is_sound {
            true => Ok(()),
            false => Err("an A/B test without blocks or width".to_owned()),
        }
    }
}
