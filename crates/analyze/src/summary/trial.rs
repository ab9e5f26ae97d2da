//! The summary of one trial.

use schemars::JsonSchema;
use serde::Serialize;

use super::agents::AgentsSummary;
use super::factor::Factor;
use super::flow::FlowSummary;
use super::generator::{CpuSummary, GeneratorVerdict, Headroom};
use super::limit::LimitVerdict;
use super::load::BrokerShares;
use super::outage::RepeatOutage;
use super::verdict::{GoalVerdict, PublishedComparison};
use super::warning::Warning;
use kgauge_results::run::{Anomaly, CutShortRecord, RepeatOutcome, VerificationRecord};
use kgauge_scenario::{AnswerKind, Comparand};

/// One trial: a combination of the factors, with its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialSummary {
    /// Index in the plan.
    pub index: u32,
    /// The scenario.
    pub scenario: String,
    /// The question that the scenario answers.
    pub question: String,
    /// The kind of answer that it asks for; absent if that depends on the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<AnswerKind>,
    /// What it is compared with; absent if the scenario does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Comparand>,
    /// Empty if nothing varies, otherwise like `writers.record.size=10 B`.
    pub name: String,
    /// The varied settings.
    pub factors: Vec<Factor>,
    /// The settings behind the name of a listed combination.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Factor>,
    /// The topic; null without a plan.
    pub topic: Option<TopicSummary>,
    /// Planned repeats; 0 for a skipped trial.
    pub repeats_planned: u32,
    /// Repeats whose hold stage was measured: the figures cover these.
    pub repeats_measured: u32,
    /// All repeats that started.
    pub repeats: Vec<RepeatSummary>,
    /// Checks of repeats that were cut short and ran again; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_short: Vec<CutShortRecord>,
    /// Why it was skipped or abandoned, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// Whether the generator was the bottleneck. Reports show it before any figure.
    pub generator: GeneratorVerdict,
    /// The used share of this machine's generator capacity; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// The agents that generated its load; absent if one process did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentsSummary>,
    /// The scenario injected faults.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_faults: bool,
    /// The time without acks after a node fault, one entry per measured repeat; absent without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<RepeatOutage>,
    /// The bottleneck; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitVerdict>,
    /// Warnings about this trial's figures.
    pub warnings: Vec<Warning>,
    /// The flows.
    pub flows: Vec<FlowSummary>,
    /// CPU cost per record.
    pub cpu: CpuSummary,
    /// The distribution of written records over leaders, one entry per measured repeat; empty if nothing was written,
    /// or nodes were taken down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broker_shares: Vec<BrokerShares>,
    /// Records that brokers counted compared with acked ones; one entry per repeat.
    pub counted: Vec<CountedOnBroker>,
    /// Published figures, compared with the measured ones.
    pub published: Vec<PublishedComparison>,
    /// Goals and whether they were held.
    pub goals: Vec<GoalVerdict>,
    /// Classes of anomalies of which the check of every record is known to find at least one; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_anomalies: Vec<Anomaly>,
}

impl TrialSummary {
    /// The checks of every record, also those of repeats that were cut short.
    pub fn checks(&self) -> impl Iterator<Item = &VerificationRecord> {
        let repeats = self.repeats.iter();
        let cut_short = self.cut_short.iter();
        repeats
            .filter_map(|one| one.verification.as_ref())
            .chain(cut_short.map(|one| &one.verification))
    }
}

/// The topic of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopicSummary {
    /// Partitions.
    pub partitions: u32,
    /// Replicas of each.
    pub replication_factor: u16,
}

/// The outcome of one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RepeatSummary {
    /// From 0.
    pub repeat: u32,
    /// Milliseconds since 1970-01-01 UTC; null if the run was cut short in it.
    pub started_unix_ms: Option<u64>,
    /// How it ended; null if the run was cut short in it.
    pub outcome: Option<RepeatOutcome>,
    /// True when its figures count.
    pub measured: bool,
    /// The check of every record; absent without `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationRecord>,
}

/// Acked records compared with those that the brokers counted (growth of the end offsets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CountedOnBroker {
    /// The repeat.
    pub repeat: u32,
    /// Records acked in all stages, all flows.
    pub acked: u64,
    /// Records whose outcome is unknown.
    pub indeterminate: u64,
    /// Records that the brokers counted; null if their offsets are unknown.
    pub on_broker: Option<u64>,
    /// True if the brokers have at least the acked records, and at most these and all that may have been written
    /// without an ack or twice; null if unknown, with acks=0, or if an agent was lost and the brokers have enough.
    pub agrees: Option<bool>,
    /// Acked records that could be missing although the counts agree: as many others may have been written without an
    /// ack, or twice, and could have taken their place.
    pub possibly_missing: u64,
}
