//! Warnings: a closed list, each with its remedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Which.
    pub kind: WarningKind,
    /// The flow that it is about, if it is about one.
    pub flow: Option<String>,
    /// What is the matter, with its numbers.
    pub text: String,
    /// What can be done about it.
    pub remedy: String,
}

/// All warnings that there are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The run ended before its time.
    NotFinished,
    /// Records that brokers counted are not those that were acked.
    CountsDisagree,
    /// Records read were damaged.
    CorruptRecords,
    /// Sends failed for good.
    SendsFailed,
    /// Nobody knows whether some records were written.
    SendsIndeterminate,
    /// Records were never heard of again.
    RecordsUnresolved,
    /// The generator was the limit.
    GeneratorLimited,
    /// The generator was late.
    GeneratorLate,
    /// The generator's CPU was not measured.
    GeneratorUnknown,
    /// Records were skipped.
    RecordsSkipped,
    /// Little's law does not hold: accounting or steadiness is in doubt.
    LittlesLawBroken,
    /// Followers had not caught up.
    FollowersBehind,
    /// Records were sent without waiting for an ack.
    AcksNone,
    /// Times ran backwards.
    ClockAnomalies,
    /// The kernel reads time slowly or coarsely.
    ClockSource,
    /// kgauge was built without optimisation.
    DebugBuild,
    /// Brokers asked for pauses.
    Throttled,
    /// Load and target share a machine.
    SameMachine,
    /// One repeat only: no interval.
    SingleRepeat,
    /// Repeats were planned that were not measured.
    RepeatsMissing,
    /// Repeats fall into two groups.
    TwoModes,
    /// The interval is wide.
    WideInterval,
    /// The hold stage was short.
    ShortHold,
    /// A percentile rests on few samples.
    FewSamples,
}
