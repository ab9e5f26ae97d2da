//! The summary of an A/B test.

use kgauge_results::run::{AbBlock, AbEnd};
use kgauge_scenario::{AbKind, AbSide};
use schemars::JsonSchema;
use serde::Serialize;

use super::verdict::MetricUnit;
use crate::statistics::{FigureRatio, Interval, Spread};

/// An A/B test. Ratios are B / A; intervals hold 95 % however often the test was checked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AbSummary {
    /// What the sides are.
    pub kind: AbKind,
    /// Side A.
    pub a: AbSideSummary,
    /// Side B.
    pub b: AbSideSummary,
    /// The figure that they are compared by, such as `writers.throughput`.
    pub metric: String,
    /// The unit of its values; CPU time is in nanoseconds per record.
    pub unit: MetricUnit,
    /// Whether a higher value is better.
    pub more_is_better: bool,
    /// A smaller difference counts as none: a share.
    pub width: f64,
    /// Both sides of a block were measured at the same time.
    pub duet: bool,
    /// The answer.
    pub verdict: AbVerdict,
    /// The geometric mean of the pairs' ratios; absent without a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Where the ratio lies; absent with too few pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Pairs that count.
    pub pairs: u32,
    /// Those in which B was above A.
    pub above: u32,
    /// Those in which B was below A.
    pub below: u32,
    /// The evidence of these signs against equal sides; 1 says nothing.
    pub evidence: f64,
    /// The evidence that a difference needs.
    pub evidence_needed: f64,
    /// Standard deviation of the logarithm of a pair's ratio, about that of the ratio as a share; absent with fewer
    /// than two pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// The second measurement of a block divided by the first: the effect of the order, which does not favour a side.
    /// Absent if both were measured at the same time, and with too few pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_effect: Option<FigureRatio>,
    /// The blocks, in order.
    pub blocks: Vec<AbStep>,
    /// What tests of this machine's noise do; only if both sides are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_alarms: Option<AbFalseAlarms>,
    /// How it ended; absent if it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<AbEnd>,
    /// Seconds that it took, including topics and waits.
    pub took_s: f64,
}

impl AbSummary {
    /// Blocks that do not count.
    pub fn void(&self) -> usize {
        let blocks = self.blocks.iter();
        blocks.filter(|step| step.block.void.is_some()).count()
    }

    /// A side's summary.
    pub fn side(&self, side: AbSide) -> &AbSideSummary {
        match side {
            AbSide::A => &self.a,
            AbSide::B => &self.b,
        }
    }

    /// The better side, if they differ.
    pub fn better(&self) -> Option<AbSide> {
        let ratio = self
            .ratio
            .filter(|_| self.verdict == AbVerdict::Different)?;
        Some(match (ratio > 1.0) == self.more_is_better {
            true => AbSide::B,
            false => AbSide::A,
        })
    }
}

/// A side of an A/B test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AbSideSummary {
    /// Its name: `linger.ms=5`, a scenario or a target.
    pub name: String,
    /// Index of its trial in this run; absent if another run measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// The name of the folder of its run, if each side has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The figure in the pairs that count; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Spread>,
}

/// The answer of an A/B test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbVerdict {
    /// The sides differ.
    Different,
    /// If they differ, then by less than the width.
    NoDifference,
    /// Neither is clear so far.
    Inconclusive,
}

/// A block, and what was known after it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AbStep {
    /// The block.
    #[serde(flatten)]
    pub block: AbBlock,
    /// The geometric mean of all ratios so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Where the ratio lay after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The evidence after it.
    pub evidence: f64,
}

/// What tests of equal sides do on this machine: the measured pairs, drawn again with sides assigned by coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AbFalseAlarms {
    /// Number of drawn tests.
    pub tests: u32,
    /// Pairs after which a drawn test ended at the latest.
    pub pairs_max: u32,
    /// Those that called equal sides different.
    pub different: u32,
    /// Those that found no difference above the width.
    pub no_difference: u32,
    /// Pairs after which half of the tests of equal sides had an answer; absent if fewer than half had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_of_equal: Option<u32>,
    /// Of as many tests of sides that differ by the width, those that called them different.
    pub width_found: u32,
    /// Pairs after which half of those had an answer; absent if fewer than half had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_of_width: Option<u32>,
}
