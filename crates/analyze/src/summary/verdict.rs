//! Goals and published figures beside what was measured.

use schemars::JsonSchema;
use serde::Serialize;

use super::blame::LatenessCause;
use crate::statistics::Interval;
use kgauge_scenario::{GoalComparison, PublishedFinding};

/// A goal and whether it was held.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoalVerdict {
    /// As written in the scenario.
    pub goal: String,
    /// The figure, such as `writers.latency.p99`.
    pub figure: String,
    /// The goal's value, in `unit`.
    #[serde(rename = "wanted")]
    pub threshold: f64,
    /// The measured value, in `unit`; null if there is none.
    pub measured: Option<f64>,
    /// 95 % confidence interval of `measured`, over the repeats; absent with fewer than two, and for counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The unit of all values.
    pub unit: MetricUnit,
    /// The required relation of `measured` to the goal's value.
    #[schemars(with = "String")]
    pub comparison: GoalComparison,
    /// The number of repeats behind `measured`; absent for counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// If inconclusive, the number of repeats that would decide; absent if a longer hold helps more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_needed: Option<u32>,
    /// True if it is inconclusive only because the target was not steady.
    pub not_steady: bool,
    /// If a missed goal is inconclusive because records were sent late for other reasons than the target: the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_by: Option<LatenessCause>,
    /// The verdict.
    pub word: GoalStatus,
}

/// Whether a goal was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalStatus {
    /// Held.
    Held,
    /// Missed.
    NotHeld,
    /// Inconclusive: the 95 % interval contains the goal's value, a single repeat is too close to it, or the delay is
    /// not the target's.
    Undecided,
    /// Not measured, which does not count as success.
    NotMeasured,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum MetricUnit {
    RecordsPerSecond,
    BytesPerSecond,
    Nanoseconds,
    Records,
}

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PublishedComparison {
    /// The figure, such as `writers.throughput`.
    pub figure: String,
    /// What was published, in `unit`.
    pub published: f64,
    /// As it was written.
    pub published_text: String,
    /// Where.
    pub source: Option<String>,
    /// What we measured, in `unit`; null when there is none.
    pub measured: Option<f64>,
    /// 95 % interval over our repeats; null with fewer than two.
    pub interval: Option<Interval>,
    /// The unit of all values.
    pub unit: MetricUnit,
    /// measured / published.
    pub ratio: Option<f64>,
    /// The verdict.
    pub word: PublishedStatus,
    /// Why.
    pub reason: PublishedReason,
    /// How the published test differs from this one, as written in the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// The findings of an arithmetic check of the tool's line; empty if there are none, or if the line is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<PublishedFinding>,
}

/// How a published figure compares with kgauge's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedStatus {
    /// It is in kgauge's interval, or within 10 %, and the interval reaches at most 25 %.
    Agrees,
    /// kgauge's interval is too wide, or there is none and the figures are close.
    Undecided,
    /// kgauge's figure is higher.
    Higher,
    /// kgauge's figure is lower.
    Lower,
    /// Both exist but measure different things.
    NotComparable,
    /// kgauge did not measure the figure.
    NotMeasured,
}

/// Why a published figure has its status.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum PublishedReason {
    /// kgauge did not measure the figure.
    NotMeasured,
    /// The scenario marks the two as not comparable.
    Different { because: String },
    /// The target was not steady.
    NotSteady,
    /// It is unknown whether the target was steady.
    SteadinessUnknown,
    /// In a closed loop, latency is time in the producer's own buffer.
    ClosedLoop,
    /// The generator was the bottleneck.
    GeneratorLimited,
    /// A single repeat has no interval.
    OneRepeat,
    /// The interval is too wide.
    WideInterval { reach: f64 },
    /// It is in the interval, or within 10 %.
    Agrees { is_inside: bool, reach: f64 },
    /// kgauge's figure is higher.
    Higher,
    /// kgauge's figure is lower.
    Lower,
}

impl PublishedReason {
    /// The same in a word.
    pub fn status(&self) -> PublishedStatus {
        match self {
            PublishedReason::NotMeasured => PublishedStatus::NotMeasured,
            PublishedReason::Different { .. }
            | PublishedReason::NotSteady
            | PublishedReason::ClosedLoop
            | PublishedReason::GeneratorLimited => PublishedStatus::NotComparable,
            PublishedReason::OneRepeat
            | PublishedReason::SteadinessUnknown
            | PublishedReason::WideInterval { .. } => PublishedStatus::Undecided,
            PublishedReason::Agrees { .. } => PublishedStatus::Agrees,
            PublishedReason::Higher => PublishedStatus::Higher,
            PublishedReason::Lower => PublishedStatus::Lower,
        }
    }
}
