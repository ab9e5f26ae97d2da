//! The plan: a scenario with nothing left open, saved as `plan.json` and readable again.

use serde::{Deserialize, Serialize};

use crate::ab::AbPlan;
use crate::answer::{AnswerKind, Comparand};
use crate::cluster_needs::ClusterNeeds;
use crate::faults::FaultPlan;
use crate::figure::{Goal, PublishedValue};
use crate::keys::flow::FlowPlan;
use crate::keys::stages::Stages;
use crate::keys::study::{PartitionFormula, StudySource};
use crate::keys::topic::TopicPlan;
use crate::search::SearchPlan;
use crate::target_kind::TargetKind;
use crate::tune::TunePlan;

/// Everything that one run will do. Running a saved plan repeats the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this file format, [`Plan::FORMAT`].
    pub format: u32,
    /// Names the run; part of the name of every topic that it creates.
    pub run_id: String,
    /// All randomness of the run comes from here.
    pub seed: u64,
    /// Which of the scenario's sizes was asked for.
    pub size: Size,
    /// The study that the trials belong to, if they came from one.
    pub study: Option<StudyRef>,
    /// The cluster that the plan was made for.
    pub cluster: ClusterFacts,
    /// The trials, in the order of the scenarios. [`Plan::order`] is the order in which they run.
    pub trials: Vec<Trial>,
    /// The A/B test that the trials belong to; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ab: Option<AbPlan>,
    /// The search for better settings that the trials belong to; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TunePlan>,
}

impl Plan {
    /// The version of `plan.json` that this build writes and reads.
    pub const FORMAT: u32 = 1;
}

/// The size of a run: `sizes` of the scenario has the changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// A first impression: seconds per trial.
    Quick,
    /// As in the scenario: each trial has a time limit.
    #[default]
    Default,
    /// As published: the record counts that the authors used.
    Full,
}

/// What a plan keeps of the study that it belongs to, so that a report needs nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyRef {
    /// The folder's name, as given to `kgauge run`.
    pub name: String,
    /// What a report prints above it.
    pub title: String,
    /// What the study asks.
    pub question: String,
    /// The document that it answers.
    pub source: StudySource,
    /// What the authors used.
    pub setup: String,
    /// What the authors asked and found, and what it is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Whether the target's disk is measured separately first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disk_baseline: bool,
    /// From which of its figures the partitions that rates need are worked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_formula: Option<PartitionFormula>,
    /// What cannot be repeated on one machine, and why.
    pub differs: Vec<String>,
}

/// What was known of the cluster when the plan was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterFacts {
    /// Kafka's cluster id.
    pub cluster_id: String,
    /// How many brokers answered.
    pub brokers: u32,
    /// What kind of target it is.
    pub kind: TargetKind,
    /// The release, where it is known.
    pub version: Option<String>,
}

/// One combination of the factors that a scenario varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Position in the plan, from 0.
    pub index: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// The question that the scenario answers.
    pub question: String,
    /// The kind of answer that it asks for; none if that depends on the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<AnswerKind>,
    /// What it is compared with, if the scenario says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Comparand>,
    /// `""` when nothing varies, else like `writers.record.size=10 B`.
    pub name: String,
    /// What varies and which of it this is: paths and their values as written, `one-at-a-time` with the one change
    /// or `baseline`, `listed` with a name.
    pub factors: Vec<(String, String)>,
    /// The meaning of a name of `listed`: paths and values, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<(String, String)>,
    /// The cluster that it must have.
    #[serde(default)]
    pub cluster: ClusterNeeds,
    /// The topic that the trial creates.
    pub topic: TopicPlan,
    /// The traffic. At least one flow; names are unique.
    pub flows: Vec<FlowPlan>,
    /// How long each span lasts.
    pub stages: Stages,
    /// What is done to the cluster meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultPlan>,
    /// Whether every record is read back after the load and compared with its ack.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// The classes of anomalies of which the check is known to find at least one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finds: Vec<String>,
    /// How often the trial runs.
    pub repeats: u32,
    /// What is demanded of the figures.
    pub goals: Vec<Goal>,
    /// What others published for this very combination.
    pub published: Vec<PublishedValue>,
    /// The search that this trial at full speed starts; absent for other trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchPlan>,
    /// The load at which a search measures, in records per second of all searched flows; absent for other trials. Such
    /// trials follow those of the scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

impl Plan {
    /// Whether trials or repeats are added while it runs, so that it does not show how many there will be.
    pub fn is_open_ended(&self) -> bool {
        self.has_search() || self.ab.is_some() || self.tune.is_some()
    }

    /// Whether it has a search, so that trials are added while it runs.
    fn has_search(&self) -> bool {
        self.trials.iter().any(|trial| trial.search.is_some())
    }
}
