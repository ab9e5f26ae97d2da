//! The summary of a run folder: figures with their spread. A pure function of the
//! folder, so that it is the same byte for byte each time.

mod ab;
mod agents;
mod blame;
mod build;
mod capacity;
mod driver;
mod factor;
mod flow;
pub mod generator;
mod group;
mod headline;
mod latency;
mod limit;
mod load;
mod mirror;
mod outage;
mod partitions;
mod repeat;
mod steadiness;
mod transaction;
mod trial;
mod tune;
mod verdict;
mod warning;

use schemars::JsonSchema;
use serde::Serialize;

pub use ab::{AbFalseAlarms, AbSideSummary, AbStep, AbSummary, AbVerdict};
pub use agents::{AgentLossSummary, AgentNetworkSummary, AgentSummary, AgentsSummary};
pub use blame::{ClientWait, LatenessCause};
pub use build::{
    WARM_FROM_NS, ab_of_record, followers_behind, is_warm, moved_leaders, recorded_search,
    repeat_figure, void_cause,
};
pub use capacity::{
    BrokenGoal, CapacityLoad, CapacitySearch, CapacitySetup, CapacityStep, CapacitySummary,
    CapacityWindow, LoadVerdict,
};
pub use driver::{DriverComparison, DriverRow, DriverSummary};
pub use factor::Factor;
pub use flow::{
    AckMeaning, Batching, ConsumerLag, ErrorSummary, FlowKind, FlowShape, FlowSummary, FlushPolicy,
    LittlesLaw, RecordCounts, Throttling, Throughput,
};
pub use generator::{
    CpuSummary, FlowHeadroom, GeneratorState, GeneratorVerdict, Headroom, Lateness, ProgramCores,
};
pub use group::{GroupSummary, MemberPause};
pub use headline::RunHeadline;
pub use latency::{Latencies, LatencySummary, MaxAt, Percentile};
pub use limit::{
    Bottleneck, BrokerOutage, BrokerThreads, ConsumerPace, KeptRate, LimitFact, LimitVerdict,
    LimitedProcess, MissedRate, NetworkDirection, OutageFact, RequestTimes,
};
pub use load::{BrokerShare, BrokerShares, BrokerSkew};
pub use mirror::MirrorSummary;
pub use outage::RepeatOutage;
pub use partitions::{PartitionsNeeded, PartitionsOfRate};
pub use repeat::FlowRepeat;
pub use steadiness::{
    COMPILING_MAX, ChangeTime, Compiling, FlowSteadiness, RepeatSteadiness, SteadinessChange,
    SteadyFigure,
};
pub use transaction::TransactionSummary;
pub use trial::{CountedOnBroker, RepeatSummary, TopicSummary, TrialSummary};
pub use tune::{
    ConditionRecord, PhaseCost, RacePlace, RacedCandidate, SettingEffect, SettingLine, SideEffect,
    SideFigure, TriedSetting, TuneSummary, TuneVerdict, TuneWinner,
};
pub use verdict::{
    GoalStatus, GoalVerdict, MetricUnit, PublishedComparison, PublishedReason, PublishedStatus,
};
pub use warning::{Warning, WarningFinding, WarningKind};

use crate::checkup::CheckupSummary;
use kgauge_results::folder::{LoggedTrial, RunRead};
use kgauge_results::run::{BuildRecord, MachineRecord, RunStatus, TargetKind};

/// The result of a run folder: its figures, findings and goals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "kgauge summary")]
pub struct Summary {
    /// Version of this format, 1.
    pub format: u32,
    /// The run.
    pub run: RunSummary,
    /// The cluster under test.
    pub target: TargetSummary,
    /// The load generator's machine.
    pub machine: Option<MachineRecord>,
    /// The overall status.
    pub status: Status,
    /// The exit status of `kgauge run`: 0 success, 1 a goal or a send failed, 2 a goal is inconclusive, 3 the target or
    /// the run failed, 130 interrupted.
    pub exit_status: u8,
    /// Warnings about all figures.
    pub warnings: Vec<Warning>,
    /// The trials, in the order of the plan. Trials that never started have no figures.
    pub trials: Vec<TrialSummary>,
    /// The capacities that searches found; absent without a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacities: Vec<CapacitySummary>,
    /// The A/B test; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ab: Option<AbSummary>,
    /// The search for better settings; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TuneSummary>,
    /// The checkup; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkup: Option<CheckupSummary>,
    /// Trials that differ only in a flow's client; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drivers: Vec<DriverComparison>,
    /// The partitions needed for given rates; absent if the study has no formula, or it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions_needed: Option<PartitionsNeeded>,
    /// Missing or damaged parts of the run folder.
    pub defects: Vec<DefectSummary>,
}

impl Summary {
    /// The version of `summary.json` that this build writes.
    pub const FORMAT: u32 = 1;

    /// The result of a run folder.
    pub fn of(run: &RunRead) -> Summary {
        build::summary(run)
    }

    /// The repeats and flows whose times the figures are made from.
    pub fn logged_trials(&self) -> Vec<LoggedTrial> {
        let trial = |trial: &TrialSummary| {
            let measured = trial.repeats.iter().filter(|repeat| repeat.measured);
            let flows = trial.flows.iter();
            LoggedTrial {
                index: trial.index,
                repeats: measured.map(|repeat| repeat.repeat).collect(),
                flows: flows.map(|flow| (flow.index, flow.name.clone())).collect(),
            }
        };
        self.trials.iter().map(trial).collect()
    }

    /// The trials of each scenario, in the order in which the plan first names the scenarios.
    pub fn scenarios(&self) -> Vec<Vec<&TrialSummary>> {
        let mut scenarios: Vec<Vec<&TrialSummary>> = Vec::new();
        for trial in &self.trials {
            let is_of = |known: &&mut Vec<&TrialSummary>| {
                let first = known.first();
                first.is_some_and(|first| first.scenario == trial.scenario)
            };
            match scenarios.iter_mut().find(is_of) {
                Some(known) => known.push(trial),
                None => scenarios.push(vec![trial]),
            }
        }
        scenarios
    }
}

/// The run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Its id.
    pub run_id: String,
    /// The name that the user gave it; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kgauge that ran it.
    pub kgauge: BuildRecord,
    /// The command line.
    pub command: Vec<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Milliseconds since 1970-01-01 UTC; null if it was cut short.
    pub ended_unix_ms: Option<u64>,
    /// How it ended.
    pub status: RunStatus,
    /// Why it failed or was interrupted, as text.
    pub why: Option<String>,
    /// The random seed; null without a plan.
    pub seed: Option<u64>,
    /// `quick`, `default` or `full`; null without a plan.
    pub size: Option<String>,
    /// The study; null for a single scenario.
    pub study: Option<StudySummary>,
    /// Cost of the target per hour, in the user's currency; absent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
}

/// The study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StudySummary {
    /// Its name, as given to `kgauge run`.
    pub name: String,
    /// The title.
    pub title: String,
}

/// The cluster under test, as in every report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TargetSummary {
    /// Its kind; null if the run was cut short before it was known.
    pub kind: Option<TargetKind>,
    /// The address of an existing cluster as the user gave it; null for clusters that kgauge started.
    pub address: Option<String>,
    /// Its release.
    pub version: Option<String>,
    /// Kafka's cluster id.
    pub cluster_id: Option<String>,
    /// Number of brokers.
    pub brokers: Option<u32>,
    /// True if it runs on the load generator's machine.
    pub same_machine: Option<bool>,
}

/// The overall status of a run: the worst that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Everything was measured; every goal was held, every send acked.
    Good,
    /// A goal is inconclusive, and none was missed.
    GoalUndecided,
    /// A goal was not held.
    GoalMissed,
    /// Sends failed, or their outcome is unknown.
    SendsFailed,
    /// The check of every record found what the settings forbid.
    AnomalyFound,
    /// The run had to stop.
    Failed,
    /// The user stopped it.
    Interrupted,
    /// Its process died.
    CutShort,
    /// It is in progress.
    Running,
}

/// A missing or damaged part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DefectSummary {
    /// The file, relative to the run folder.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub what: String,
}
