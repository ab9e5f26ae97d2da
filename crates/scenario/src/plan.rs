//! The plan: a scenario with nothing left open, saved as `plan.json` and readable again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cluster_needs::ClusterNeeds;
use crate::driver::Driver;
use crate::faults::FaultPlan;
use crate::figure::{Goal, PublishedValue};
use crate::partition_formula::PartitionFormula;
use crate::record::RecordPlan;
use crate::schedule::Pacing;
use crate::settings::{Acks, ConsumerSettings, GroupPlan, ProducerSettings};
use crate::shape::{Arrivals, Shape};

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
    /// The trials, in the order of the scenarios. [`Plan::order`] says in which order they run.
    pub trials: Vec<Trial>,
}

impl Plan {
    /// The version of `plan.json` that this build writes and reads.
    pub const FORMAT: u32 = 1;
}

/// How big a run is: the scenario's `sizes` say what changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// A first look: seconds a trial.
    Quick,
    /// As the scenario says: each trial bounded in time.
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
    /// Whether the disk under the target is measured by itself first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disk_baseline: bool,
    /// From which of its figures the partitions that rates need are worked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_formula: Option<PartitionFormula>,
    /// What cannot be repeated on one machine, and why.
    pub differs: Vec<String>,
}

/// The document that a study answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudySource {
    /// The document's title.
    pub title: String,
    /// When it was published.
    pub year: u32,
    /// Where it can be read.
    pub address: Option<String>,
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

/// What kind of cluster is under test. Embedded figures never pass for Apache Kafka's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// kgauge's own broker, started for this run.
    Embedded,
    /// Apache Kafka, started by kgauge for this run.
    Kafka,
    /// A cluster that was there before, given by its addresses.
    Existing,
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
    /// `""` when nothing varies, else like `writers.record.size=10 B`.
    pub name: String,
    /// What varies and which of it this is: paths and their values as written, `one-at-a-time` with the one change
    /// or `baseline`, `listed` with a name.
    pub factors: Vec<(String, String)>,
    /// What a name of `listed` stands for: paths and values, as written.
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
    /// How often the trial runs.
    pub repeats: u32,
    /// What is demanded of the figures.
    pub goals: Vec<Goal>,
    /// What others published for this very combination.
    pub published: Vec<PublishedValue>,
}

/// The topic of a trial. Its name is made from the run id by whoever creates it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicPlan {
    /// At least 1.
    pub partitions: u32,
    /// Copies of each partition, the leader's among them; at least 1.
    pub replication: u16,
    /// Kafka's topic settings, as text, passed on unchanged.
    pub config: BTreeMap<String, String>,
    /// Records written before the first stage, spread evenly over the partitions.
    pub preload: Option<Preload>,
}

impl TopicPlan {
    /// An empty topic with one replica and no settings.
    pub fn of_partitions(partitions: u32) -> TopicPlan {
        TopicPlan {
            partitions,
            replication: 1,
            config: BTreeMap::new(),
            preload: None,
        }
    }
}

/// Records that stand in the topic before a trial starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preload {
    /// How many, over all partitions; at least 1.
    pub records: u64,
    /// What each looks like.
    pub record: RecordPlan,
}

/// One kind of traffic.
#[allow(clippy::large_enum_variant, reason = "a plan holds a handful of flows")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowPlan {
    /// Producers with equal settings.
    Produce(ProduceFlow),
    /// Consumers with equal settings.
    Consume(ConsumeFlow),
    /// Producers, and consumers that read back what these write.
    Echo(EchoFlow),
}

impl FlowPlan {
    /// The flow's name, unique in its scenario.
    pub fn name(&self) -> &str {
        match self {
            FlowPlan::Produce(flow) => &flow.name,
            FlowPlan::Consume(flow) => &flow.name,
            FlowPlan::Echo(flow) => &flow.produce.name,
        }
    }

    /// What it writes, if it writes.
    pub fn produces(&self) -> Option<&ProduceFlow> {
        match self {
            FlowPlan::Produce(flow) => Some(flow),
            FlowPlan::Echo(flow) => Some(&flow.produce),
            FlowPlan::Consume(_) => None,
        }
    }

    /// Whether it is to go at one rate throughout: then a change over time is a change of the system.
    pub fn has_level(&self) -> bool {
        self.produces().is_none_or(|flow| match flow.shape {
            Shape::Max | Shape::Constant { .. } | Shape::Poisson { .. } => true,
            Shape::Ramp { .. }
            | Shape::Step { .. }
            | Shape::Wave { .. }
            | Shape::Burst { .. }
            | Shape::Replay { .. } => false,
        })
    }

    /// As [`FlowPlan::produces`], to change it.
    pub fn produces_mut(&mut self) -> Option<&mut ProduceFlow> {
        match self {
            FlowPlan::Produce(flow) => Some(flow),
            FlowPlan::Echo(flow) => Some(&mut flow.produce),
            FlowPlan::Consume(_) => None,
        }
    }
}

/// Producers that write to the trial's topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProduceFlow {
    /// Unique in the scenario.
    pub name: String,
    /// The client that sends.
    #[serde(default, skip_serializing_if = "Driver::is_kgauge")]
    pub driver: Driver,
    /// How many producers, each with its own buffer and connections; at least 1.
    pub producers: u32,
    /// The rate over time of the whole flow.
    pub shape: Shape,
    /// How records come around that rate.
    #[serde(default, skip_serializing_if = "Arrivals::is_even")]
    pub arrivals: Arrivals,
    /// The flow, all producers together, ends its hold stage after this many records.
    pub records_max: Option<u64>,
    /// What each record looks like.
    pub record: RecordPlan,
    /// Kafka's producer settings, every one spelled out.
    pub settings: ProducerSettings,
    /// A record that is later than this when it could be sent is skipped and counted.
    /// Means nothing with [`Shape::Max`].
    pub skip_after_ns: u64,
    /// How long each transaction is; `None` without transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<TransactionLength>,
}

/// When a producer commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransactionLength {
    /// After so many records.
    Records(u64),
    /// After so long.
    Ns(u64),
}

impl ProduceFlow {
    /// What its schedule is made of.
    pub fn pace(&self, stages: &Stages) -> Pacing<'_> {
        Pacing {
            shape: &self.shape,
            arrivals: self.arrivals,
            warm_up_ns: stages.warm_up_ns,
        }
    }
}

/// Producers, and consumers that read their records back: the way from end to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EchoFlow {
    /// What writes; its name is the flow's.
    pub produce: ProduceFlow,
    /// How many consumers the partitions are dealt out to; at least 1.
    pub consumers: u32,
    /// Kafka's consumer settings, every one spelled out.
    pub consumer_settings: ConsumerSettings,
}

impl EchoFlow {
    /// A value must have room for its times, and for what tells records apart.
    pub const VALUE_BYTES_MIN: u32 = 48;

    /// Why its records cannot be read back and told apart, if so.
    pub fn fault(&self) -> Option<&'static str> {
        let (record, settings) = (&self.produce.record, &self.produce.settings);
        if record.value_bytes_min() < EchoFlow::VALUE_BYTES_MIN {
            return Some("values too small for their timestamps");
        }
        if record.file.is_some() || record.null_values > 0.0 {
            return Some("values that kgauge does not generate");
        }
        if settings.acks == Acks::None {
            return Some("an echo flow without acks");
        }
        (self.produce.transaction.is_some() && !self.consumer_settings.read_committed)
            .then_some("an echo flow with transactions that reads uncommitted records")
    }

    /// Its consumers, as a flow of their own.
    pub fn consume(&self) -> ConsumeFlow {
        ConsumeFlow {
            name: self.produce.name.clone(),
            consumers: self.consumers,
            partitions: PartitionShare::Split,
            from: StartOffset::Latest,
            records: ConsumeEnd::StageEnd,
            settings: self.consumer_settings.clone(),
            group: None,
            groups: 1,
        }
    }
}

/// Consumers that read the trial's topic: assigned partitions, or as members of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsumeFlow {
    /// Unique in the scenario.
    pub name: String,
    /// How many consumers, each with its own connections; at least 1.
    pub consumers: u32,
    /// Who reads which partition.
    pub partitions: PartitionShare,
    /// Where reading starts.
    pub from: StartOffset,
    /// When reading ends.
    pub records: ConsumeEnd,
    /// Kafka's consumer settings, every one spelled out.
    pub settings: ConsumerSettings,
    /// The consumers are members of one group, which shares the partitions out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupPlan>,
    /// How many such groups there are, each with all the consumers; at least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub groups: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_one(count: &u32) -> bool {
    *count == 1
}

impl ConsumeFlow {
    /// All consumers, those of every group.
    pub fn consumers_all(&self) -> u32 {
        self.consumers.saturating_mul(self.groups.max(1))
    }

    /// What the `group.id` of each of its groups ends with.
    pub fn group_labels(&self) -> Vec<String> {
        let Some(group) = &self.group else {
            return Vec::new();
        };
        match self.groups {
            0 | 1 => vec![group.label.clone()],
            count => (1..=count)
                .map(|number| format!("{}-{number}", group.label))
                .collect(),
        }
    }

    /// The partitions that one consumer (0-based) of this flow reads out of `partitions`.
    ///
    /// With [`PartitionShare::Split`] consumer `i` of `k` reads `i`, `i + k`, `i + 2k`, ...
    pub fn partitions_of(&self, consumer: u32, partitions: u32) -> impl Iterator<Item = u32> {
        let (first, step) = match self.partitions {
            PartitionShare::All => (0, 1),
            PartitionShare::Split => (consumer, self.consumers.max(1)),
        };
        (first..partitions).step_by(step as usize)
    }
}

/// Who reads which partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionShare {
    /// Every consumer reads every partition, as consumers in groups of their own do.
    All,
    /// The partitions are dealt out, as to the members of one group.
    Split,
}

/// Where a consumer starts to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartOffset {
    /// The first record that is there.
    Earliest,
    /// The end of each partition when the flow starts.
    Latest,
    /// This offset in every partition.
    Offset(u64),
    /// The first record at or after a time, in milliseconds since 1970.
    TimestampMs(u64),
    /// The first record that is at most so old when the flow starts.
    AgoNs(u64),
}

/// When a consume flow has read enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsumeEnd {
    /// Up to the end offsets that each partition had when the flow started.
    Backlog,
    /// This many records over the whole flow; each consumer reads its equal part.
    Count(u64),
    /// Until the stage ends.
    StageEnd,
}

/// The spans of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// Load without counting, first. May be 0.
    pub warm_up_ns: u64,
    /// The warm-up goes on until the load is steady, but not longer than this; below `warm_up_ns`: it is not prolonged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up_ns_max: u64,
    /// The span that figures come from. `None`: until the flows' record counts are done.
    pub hold_ns: Option<u64>,
    /// How long the answers to what was sent may take after the hold.
    pub drain_ns_max: u64,
}

impl Stages {
    /// The longest that the warm-up may take.
    pub fn warm_up_limit_ns(&self) -> u64 {
        self.warm_up_ns.max(self.warm_up_ns_max)
    }

    /// Whether the warm-up is prolonged until the load is steady.
    pub fn is_adaptive(&self) -> bool {
        self.warm_up_ns_max > self.warm_up_ns
    }

    /// The latest moment, ns since the start, at which the hold ends; `None` where record counts end it.
    pub fn hold_end_limit_ns(&self) -> Option<u64> {
        let hold_ns = self.hold_ns?;
        Some(self.warm_up_limit_ns().saturating_add(hold_ns))
    }
}
