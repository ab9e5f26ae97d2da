//! What the summary says of one trial.

use schemars::JsonSchema;
use serde::Serialize;

use super::flow::FlowSummary;
use super::generator::{CpuSummary, GeneratorVerdict, Headroom};
use super::limit::LimitVerdict;
use super::load::BrokerShares;
use super::verdict::{GoalVerdict, PublishedComparison};
use super::warning::Warning;
use kgauge_results::run::RepeatOutcome;

/// One trial: a combination of the factors, with its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialSummary {
    /// Position in the plan.
    pub index: u32,
    /// The scenario.
    pub scenario: String,
    /// The question that the scenario answers.
    pub question: String,
    /// Empty when nothing varies, else like `writers.record.size=10 B`.
    pub name: String,
    /// The varied settings.
    pub factors: Vec<Factor>,
    /// What the name of a listed combination stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Factor>,
    /// The topic; null without a plan.
    pub topic: Option<TopicSummary>,
    /// Repeats that were planned; 0 of a trial that was left out.
    pub repeats_planned: u32,
    /// Repeats whose hold stage was measured: those that the figures are of.
    pub repeats_measured: u32,
    /// All repeats that began.
    pub repeats: Vec<RepeatSummary>,
    /// Why it was left out or given up, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// Whether the generator was the limit. Stands before any figure.
    pub generator: GeneratorVerdict,
    /// How much of what this machine can generate was used; absent when that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// The scenario did something to the target meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_faults: bool,
    /// What limited it; absent where nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitVerdict>,
    /// What a reader of this trial's figures must know.
    pub warnings: Vec<Warning>,
    /// The flows.
    pub flows: Vec<FlowSummary>,
    /// What a record cost in CPU.
    pub cpu: CpuSummary,
    /// Which brokers led what was written, a measured repeat each; empty where nothing was, or nodes were taken down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broker_shares: Vec<BrokerShares>,
    /// Records that brokers counted beside those acked; one entry a repeat.
    pub counted: Vec<CountedOnBroker>,
    /// Figures that others published, beside ours.
    pub published: Vec<PublishedComparison>,
    /// Goals and whether they were held.
    pub goals: Vec<GoalVerdict>,
}

/// A varied setting and its value in this trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Factor {
    /// Its path in the scenario.
    pub path: String,
    /// As written.
    pub value: String,
}

/// The topic of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopicSummary {
    /// Partitions.
    pub partitions: u32,
    /// Copies of each.
    pub replication_factor: u16,
}

/// How one repeat went.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RepeatSummary {
    /// From 0.
    pub repeat: u32,
    /// Milliseconds since 1970-01-01 UTC; null when the run was cut short in it.
    pub started_unix_ms: Option<u64>,
    /// How it ended; null when the run was cut short in it.
    pub outcome: Option<RepeatOutcome>,
    /// True when its figures count.
    pub measured: bool,
}

/// Acked records beside those that the brokers counted (growth of the end offsets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CountedOnBroker {
    /// The repeat.
    pub repeat: u32,
    /// Records acked in all stages, all flows.
    pub acked: u64,
    /// Records of which nobody knows whether the broker has them.
    pub indeterminate: u64,
    /// Records that the brokers counted; null when their offsets are not known.
    pub on_broker: Option<u64>,
    /// True when the brokers hold at least what was acked and at most that and the
    /// indeterminate; null when not known or when records were sent without ack.
    pub agrees: Option<bool>,
}
