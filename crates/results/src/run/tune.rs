//! `tune.json`: the search for better settings of a run, measurement by measurement.

use kgauge_scenario::{SettingScope, TuneSetting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::VoidCause;

/// The contents of `tune.json`, written again after each measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneRecord {
    /// What was known of the settings in force when the candidates were chosen; absent before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<TuneChoice>,
    /// What was measured, phase by phase.
    pub phases: Vec<TunePhase>,
    /// How it ended; absent while it goes on, and if it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TuneEnd>,
    /// The time that it has taken so far, including topics, clusters and waits.
    pub took_ns: u64,
}

/// The candidates, as chosen after the first look at the settings in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneChoice {
    /// The settings that are tried, the most promising first.
    pub settings: Vec<TuneSetting>,
    /// Those of the table that are not.
    pub left_out: Vec<LeftOutSetting>,
    /// Records per second of the second load, at which latency and CPU of flows at full speed are judged; absent if the
    /// second load is full speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_rate: Option<f64>,
    /// Some conditions are judged at the second load only, because figures of flows at full speed do not show them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conditions_apart: bool,
}

/// A setting that is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutSetting {
    /// Its name.
    pub name: String,
    /// Where it belongs.
    pub scope: SettingScope,
    /// Why not.
    pub cause: LeftOutCause,
}

/// Why a setting is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum LeftOutCause {
    /// It does not act on the bottleneck.
    OtherBottleneck,
    /// No value of it serves the goal.
    OtherGoal,
    /// Nothing in the scenario uses it.
    Unused,
    /// It has the value already, or one beyond it.
    InForce,
    /// Its value in force is not known, so there is no other one to try.
    Unknown,
    /// The release does not have it.
    Release {
        /// The first release that does.
        since: String,
    },
    /// The user left its place out.
    Scope,
    /// kgauge does not change the brokers of this target, or the setting has no effect there.
    Target,
    /// The cluster has too few brokers.
    Brokers {
        /// The number that it takes.
        needed: u32,
    },
    /// It decides what an ack means.
    Durability,
    /// It would change the order of records with keys.
    Keys,
    /// The budget has no time for it.
    Budget,
    /// The scenario refuses the value.
    Refused {
        /// In words.
        why: String,
    },
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunePhaseKind {
    /// The settings in force, to know the bottleneck and the noise.
    Today,
    /// Many settings at once, in a design that tells their effects apart.
    Screening,
    /// Whether candidates keep the conditions at the second load.
    Conditions,
    /// Candidates against the settings in force.
    Race,
    /// The winner against the settings in force, and these against themselves; all measured again.
    Proof,
    /// Winner and settings in force at the second load.
    OtherLoad,
}

/// A phase: arms that are measured in blocks, each arm once per block, in random order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunePhase {
    /// What it is for.
    pub kind: TunePhaseKind,
    /// What is measured.
    pub arms: Vec<TuneArm>,
    /// Of a screening, the number of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// What was measured, in order.
    pub measures: Vec<TuneMeasure>,
}

/// A combination of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TuneArm {
    /// What differs from the settings in force; empty for these.
    pub options: Vec<TuneOption>,
    /// Its trial, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
}

/// A value of a setting: positions in [`TuneChoice::settings`] and in the setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TuneOption {
    /// The setting.
    pub setting: u32,
    /// The value.
    pub value: u32,
}

/// One repeat of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneMeasure {
    /// The arm's position in the phase.
    pub arm: u32,
    /// The block.
    pub block: u32,
    /// The repeat of the arm's trial.
    pub repeat: u32,
    /// The figure of the goal, in its unit; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The figures of the conditions, in the order of the plan; absent ones were not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Option<f64>>,
    /// Why it does not count, if so. Another measurement takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidCause>,
    /// The time that it took, including topic, cluster and waits.
    pub took_ns: u64,
}

/// How a search for better settings ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum TuneEnd {
    /// It has an answer.
    Decided,
    /// Its time was over.
    Budget,
    /// The budget is too short for any answer.
    BudgetTooShort {
        /// A budget that suffices.
        needed_ns: u64,
    },
    /// No setting is left to try.
    NothingToTry,
    /// With the settings in force, the load generator was the limit.
    Generator,
    /// With the settings in force, the target was not steady.
    NotSteady,
    /// With the settings in force, a condition is missed.
    ConditionMissed {
        /// Its position in the plan.
        condition: u32,
    },
    /// Measurements were void several times in a row.
    Void {
        /// Why, the last time.
        cause: VoidCause,
    },
}

impl TunePhase {
    /// The measurements that count, of one arm, with their blocks.
    pub fn of_arm(&self, arm: usize) -> impl Iterator<Item = &TuneMeasure> {
        let counted = self.measures.iter().filter(|one| one.void.is_none());
        counted.filter(move |one| one.arm as usize == arm)
    }

    /// An arm's value in a block.
    pub fn value(&self, arm: usize, block: u32) -> Option<f64> {
        let mut of_arm = self.of_arm(arm).filter(|one| one.block == block);
        let value = of_arm.next()?.value?;
        (value.is_finite() && value > 0.0).then_some(value)
    }

    /// The number of blocks that have begun.
    pub fn blocks_started(&self) -> u32 {
        let blocks = self.measures.iter().map(|one| one.block + 1);
        blocks.max().unwrap_or(0)
    }

    /// Logarithms of the ratio of one arm's value to another's, of the blocks that have both.
    pub fn log_ratios(&self, arm: usize, to: usize) -> Vec<f64> {
        let ratio = |block| Some((self.value(arm, block)? / self.value(to, block)?).ln());
        (0..self.blocks_started()).filter_map(ratio).collect()
    }
}

impl TuneRecord {
    /// The last phase of a kind.
    pub fn phase(&self, kind: TunePhaseKind) -> Option<&TunePhase> {
        self.phases.iter().rev().find(|phase| phase.kind == kind)
    }

    /// All measurements, in order; void ones too.
    pub fn measures(&self) -> impl DoubleEndedIterator<Item = &TuneMeasure> {
        self.phases.iter().flat_map(|phase| &phase.measures)
    }

    /// Whether more time may bring an answer, or a better one.
    pub fn may_continue(&self) -> bool {
        match self.end {
            None
            | Some(TuneEnd::Budget | TuneEnd::BudgetTooShort { .. } | TuneEnd::Void { .. }) => true,
            Some(
                TuneEnd::Decided
                | TuneEnd::NothingToTry
                | TuneEnd::Generator
                | TuneEnd::NotSteady
                | TuneEnd::ConditionMissed { .. },
            ) => false,
        }
    }
}
