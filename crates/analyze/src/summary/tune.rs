//! What a search for better settings found.

use kgauge_results::run::{LeftOutSetting, TuneEnd};
use kgauge_scenario::{SettingScope, TuneGoal, TunePreset};
use schemars::JsonSchema;
use serde::Serialize;

use super::ab::AbSummary;
use super::limit::Bottleneck;
use super::verdict::{GoalStatus, MetricUnit};
use crate::statistics::FigureRatio;
use crate::tuning::table::{SettingCost, SettingRisk};

/// A search for better settings. Ratios are the goal's figure with new settings, divided by that with the settings in
/// force.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TuneSummary {
    /// What was to become better.
    pub goal: TuneGoal,
    /// The bundle that was measured in place of a search; absent for searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<TunePreset>,
    /// The figure that shows it, such as `writers.throughput`.
    pub metric: String,
    /// The unit of its values; CPU time is in nanoseconds per record.
    pub unit: MetricUnit,
    /// Whether a higher value is better.
    pub more_is_better: bool,
    /// A smaller gain counts as none: a share.
    pub width: f64,
    /// The time that it might take.
    pub budget_ns: u64,
    /// The answer.
    pub verdict: TuneVerdict,
    /// The bottleneck with the settings in force; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// The settings that were tried, those with the largest gain first.
    pub settings: Vec<TriedSetting>,
    /// The combinations that raced, the leader first; empty without a race.
    pub race: Vec<RacedCandidate>,
    /// The winner; absent if none came as far as the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<TuneWinner>,
    /// Settings of the table that were not tried.
    pub left_out: Vec<LeftOutSetting>,
    /// Repeats of each phase and their time.
    pub phases: Vec<PhaseCost>,
    /// How it ended; absent if it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TuneEnd>,
    /// The condition that the settings in force missed, if that ended the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<ConditionRecord>,
    /// Seconds that it took, including topics, clusters and waits.
    pub took_s: f64,
}

impl TuneSummary {
    /// Settings that neither raced nor won, and may still help by more than the width.
    pub fn open_settings(&self) -> impl Iterator<Item = &TriedSetting> {
        let judged = |one: &TriedSetting| {
            let raced = self.race.iter().flat_map(|candidate| &candidate.changes);
            let mut changes = raced.chain(self.winner.iter().flat_map(|winner| &winner.changes));
            changes.any(|change| change.names.contains(&one.name))
        };
        let settings = self.settings.iter();
        settings.filter(move |one| !judged(one) && self.may_help(one.ratio))
    }

    /// Candidates that the race did not judge, and that may still help by more than the width.
    pub fn open_candidates(&self) -> impl Iterator<Item = &RacedCandidate> {
        self.race.iter().filter(|one| {
            matches!(one.place, RacePlace::Finisher | RacePlace::NoGain) && self.may_help(one.ratio)
        })
    }

    /// Whether the search measured what a promise costs.
    pub fn is_of_price(&self) -> bool {
        self.preset.is_some_and(TunePreset::is_of_price)
    }

    /// Whether the winner's settings are part of the answer: they are recommended, or it shows what they cost.
    pub fn has_lines(&self) -> bool {
        match self.verdict {
            TuneVerdict::Better => true,
            TuneVerdict::Worse | TuneVerdict::NothingHelps => self.is_of_price(),
            TuneVerdict::ConditionBroken
            | TuneVerdict::ConditionOpen
            | TuneVerdict::FalseAlarm
            | TuneVerdict::Inconclusive
            | TuneVerdict::Refused => false,
        }
    }

    /// Whether something that was tried may help by more than the width, although nothing shows it.
    pub fn is_open(&self) -> bool {
        self.open_settings().next().is_some() || self.open_candidates().next().is_some()
    }

    /// Whether an interval reaches beyond the width on the better side; an unknown one does.
    fn may_help(&self, ratio: Option<FigureRatio>) -> bool {
        ratio.is_none_or(|ratio| match self.more_is_better {
            true => ratio.interval.high > 1.0 + self.width,
            false => ratio.interval.low < 1.0 / (1.0 + self.width),
        })
    }
}

/// The answer of a search for better settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TuneVerdict {
    /// The winner is better: the proof is clear, its A/A arm is silent, and every condition is kept.
    Better,
    /// The winner is worse; only of presets and single candidates.
    Worse,
    /// Nothing that was tried helps by more than the width.
    NothingHelps,
    /// The winner is better, but breaks a condition.
    ConditionBroken,
    /// The winner is better, but it is not clear that it keeps every condition.
    ConditionOpen,
    /// The A/A arm found a difference between equal settings, so the proof does not count.
    FalseAlarm,
    /// Neither is clear.
    Inconclusive,
    /// The settings in force could not be judged, so nothing was tried.
    Refused,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TriedSetting {
    /// Its name: `batch.size`.
    pub name: String,
    /// Where it belongs.
    pub scope: SettingScope,
    /// The value in force; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<String>,
    /// The value that was screened; without a screening, those that were tried.
    pub value: String,
    /// Values that had no turn in the race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<String>,
    /// Its effect on the figure. Intervals of a screening hold together with 95 %; without one, it is the proof's.
    /// Absent if the setting was not measured alone, or not often enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<FigureRatio>,
    /// What that says.
    pub effect: SettingEffect,
    /// What it costs, as far as the table of settings knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<SettingCost>,
    /// What it risks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<SettingRisk>,
}

/// What is known of a setting's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingEffect {
    /// It helps.
    Helps,
    /// It makes it worse.
    Harms,
    /// It gains less than the width, either way.
    None,
    /// It may help or not.
    Open,
    /// It was only measured together with other settings.
    NotAlone,
}

/// A combination that raced.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RacedCandidate {
    /// Index of its trial; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// What it changes.
    pub changes: Vec<SettingLine>,
    /// Its effect on the figure; the interval holds after any number of blocks. Absent with too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<FigureRatio>,
    /// How it left the race.
    pub place: RacePlace,
}

/// How a candidate left a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RacePlace {
    /// It won and went into the proof.
    Winner,
    /// It was in the race at its end.
    Finisher,
    /// It does not gain more than the width.
    NoGain,
    /// Another candidate is clearly ahead.
    Behind,
    /// It breaks a condition.
    BreaksCondition,
}

/// A changed setting, as a line of a properties file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SettingLine {
    /// Where it belongs.
    pub scope: SettingScope,
    /// The names that get the value: one, or several that change together.
    pub names: Vec<String>,
    /// The values, in the order of the names.
    pub values: Vec<String>,
    /// The value in force; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<String>,
    /// The effect of this setting in the screening; absent if it was not screened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<FigureRatio>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<SettingCost>,
    /// What it risks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<SettingRisk>,
}

/// The winner of the race, measured again.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TuneWinner {
    /// What it changes.
    pub changes: Vec<SettingLine>,
    /// The proof: side A has the settings in force, side B the winner's.
    pub proof: AbSummary,
    /// The A/A arm: the settings in force on both sides, in the same blocks.
    pub aa: AbSummary,
    /// The conditions.
    pub conditions: Vec<ConditionRecord>,
    /// What else changes, at the load of the scenario and at the second load.
    pub elsewhere: Vec<SideEffect>,
    /// Records per second of the second load; absent if it is full speed, or was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_rate: Option<f64>,
    /// With its settings, the load generator was the bottleneck: its gain may be larger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generator_limited: bool,
}

/// In how many repeats a condition was kept.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConditionRecord {
    /// As written.
    pub condition: String,
    /// The required value, in `unit`.
    pub required: f64,
    /// The unit.
    pub unit: MetricUnit,
    /// Whether it is kept, over all repeats.
    pub status: GoalStatus,
    /// Repeats that kept it.
    pub kept: u32,
    /// Repeats in which its figure was measured.
    pub repeats: u32,
    /// The median of the figure; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// The same with the settings in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_today: Option<f64>,
}

/// Another figure of the winner, compared with the settings in force.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SideEffect {
    /// What it is.
    pub figure: SideFigure,
    /// Whether it was measured at the second load.
    pub second_load: bool,
    /// With the settings in force, in the figure's unit.
    pub today: f64,
    /// With the winner's.
    pub winner: f64,
    /// The ratio of the two; absent with too few repeats for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<FigureRatio>,
}

/// Figures that show what a change costs elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SideFigure {
    /// Records per second of all flows that send.
    Throughput,
    /// Median response, in nanoseconds.
    LatencyP50,
    /// 99 % of responses, in nanoseconds.
    LatencyP99,
    /// CPU time of the brokers per record, in nanoseconds.
    BrokerCpu,
    /// CPU time of the load threads per record, in nanoseconds.
    ClientCpu,
    /// Bytes that batches hold in a producer's buffer, the mean of all samples; of several flows, the sum.
    ClientMemory,
    /// Resident memory of the brokers on this machine, in bytes. Only if both sides have their own processes: one that
    /// they share does not give memory back.
    BrokerMemory,
}

/// The repeats of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseCost {
    /// The phase.
    pub phase: kgauge_results::run::TunePhaseKind,
    /// Combinations of settings.
    pub arms: u32,
    /// Repeats that count.
    pub repeats: u32,
    /// Repeats that do not.
    pub void: u32,
    /// Seconds of all of them.
    pub took_s: f64,
}
