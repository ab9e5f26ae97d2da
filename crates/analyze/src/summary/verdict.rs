//! Goals and published figures beside what was measured.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::Interval;
use kgauge_scenario::GoalComparison;

/// A goal and whether it was held.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoalVerdict {
    /// As written in the scenario.
    pub goal: String,
    /// The figure looked at, such as `writers.latency.p99`.
    pub figure: String,
    /// The value demanded, in `unit`.
    pub wanted: f64,
    /// The value measured, in `unit`; null when there is none.
    pub measured: Option<f64>,
    /// 95 % confidence interval of `measured`, over the repeats; absent with fewer than two, and for counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The unit of all of them.
    pub unit: MetricUnit,
    /// How `measured` must stand to `wanted`.
    #[schemars(with = "String")]
    pub comparison: GoalComparison,
    /// The repeats that `measured` is of; absent for counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Where it is undecided, the repeats that would decide; absent where a longer hold helps more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_needed: Option<u32>,
    /// True where it is undecided only because the target was not steady.
    pub not_steady: bool,
    /// In a word.
    pub word: GoalStatus,
}

/// Whether a goal was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalStatus {
    /// It was.
    Held,
    /// It was not.
    NotHeld,
    /// The 95 % interval contains the value demanded, or a single repeat is too near to it.
    Undecided,
    /// There is no such figure in this run: that is no success.
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
    /// The unit of all of them.
    pub unit: MetricUnit,
    /// measured / published.
    pub ratio: Option<f64>,
    /// In a word.
    pub word: PublishedStatus,
    /// Why.
    pub reason: PublishedReason,
    /// In what the published test differs from this one, as the scenario says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// What arithmetic says of the line that the tool printed there, a sentence each; empty when nothing stands out, or
    /// when the line is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<String>,
}

/// How a published figure stands to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedStatus {
    /// It lies in our interval, or within 10 %, and the interval reaches no further than 25 %.
    Agrees,
    /// Our interval reaches too far to agree or to disagree, or there is none and the figures are near each other.
    Undecided,
    /// Ours is higher.
    Higher,
    /// Ours is lower.
    Lower,
    /// Both are there but say different things.
    NotComparable,
    /// We have no such figure.
    NotMeasured,
}

/// Why a published figure stands to ours as it does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum PublishedReason {
    /// We have no such figure.
    NotMeasured,
    /// The scenario says that the two are not of the same thing.
    Different { because: String },
    /// The target was still changing.
    NotSteady,
    /// In a closed loop a latency is time in the producer's own buffer.
    ClosedLoop,
    /// The generator was the bottleneck.
    GeneratorLimited,
    /// A single repeat has no interval.
    OneRepeat,
    /// The interval reaches too far.
    WideInterval { reach: f64 },
    /// It lies in the interval, or within 10 %.
    Agrees { is_inside: bool, reach: f64 },
    /// Ours is higher.
    Higher,
    /// Ours is lower.
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
            PublishedReason::OneRepeat | PublishedReason::WideInterval { .. } => {
                PublishedStatus::Undecided
            }
            PublishedReason::Agrees { .. } => PublishedStatus::Agrees,
            PublishedReason::Higher => PublishedStatus::Higher,
            PublishedReason::Lower => PublishedStatus::Lower,
        }
    }
}
