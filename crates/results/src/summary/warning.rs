//! Warnings: a closed list, each with its remedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blame;

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
    /// Brokers share fewer processors than they are.
    CoresShared,
    /// The run ended before its time.
    NotFinished,
    /// A broker stopped answering, although nobody broke the cluster.
    BrokerOutage,
    /// Records that brokers counted are not those that were acked.
    CountsDisagree,
    /// Records that were acked are not in the copy.
    CopyIncomplete,
    /// A replicator brought records more than once.
    CopyDoubled,
    /// Records read were damaged.
    CorruptRecords,
    /// Sends failed permanently.
    SendsFailed,
    /// A flow did none of its work: it read nothing of what was acked, or nothing that it sent was acked.
    NoWorkDone,
    /// Connections broke off, or answers could not be read.
    ConnectionsBroken,
    /// Nobody knows whether some records were written.
    SendsIndeterminate,
    /// Records have no known outcome.
    RecordsUnresolved,
    /// The generator was the limit.
    GeneratorLimited,
    /// The generator was late.
    GeneratorLate,
    /// Other programs used the machine's processors.
    OtherPrograms,
    /// Load and target together needed more processors than the machine has.
    ProcessorsExhausted,
    /// Generator CPU was not measured.
    GeneratorUnknown,
    /// The system was still changing while it was measured.
    NotSteady,
    /// Records were skipped.
    RecordsSkipped,
    /// Partitions had too few replicas in sync, although nobody broke the cluster.
    UnderReplicated,
    /// Leaders moved by themselves.
    LeadersMoved,
    /// Followers fell further and further behind.
    FollowersFallBehind,
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
    /// One broker led much more than its part.
    BrokerSkew,
    /// Brokers asked for pauses.
    Throttled,
    /// Something about how the target was reached or started.
    TargetNote,
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

/// What to do about replicas and leaders that are not as they should be.
const SICK_CLUSTER: &str = "These are the figures of a sick cluster: look in the brokers' logs for which of them was down, \
    behind or being rebalanced, and run it again.";

const USE_MORE_CORES: &str =
    "Use a machine with more processors, fewer brokers, or a cluster on its own machines.";
const FEW_SAMPLES: &str = "Hold the load longer: a percentile needs 100 samples beyond it.";

/// What to do about figures of a system that was changing.
const NOT_STEADY: &str = "Do not use these figures: use a longer warm-up limit (--set stages.warm-up-limit='2 min') and a \
    longer hold.";

/// What to do about a load that was not taken.
const SKIPPED: &str =
    "The target did not take the load that was asked for: lower the rate to find what it takes.";

impl WarningKind {
    /// What can be done about it.
    pub fn remedy(self) -> &'static str {
        match self {
            WarningKind::GeneratorLate => blame::LOOK_AT_GENERATOR,
            WarningKind::OtherPrograms => blame::END_OTHERS,
            WarningKind::ProcessorsExhausted => blame::USE_MACHINES,
            WarningKind::BrokerOutage => blame::LOOK_AT_BROKER,
            WarningKind::Throttled => blame::LIFT_QUOTA,
            WarningKind::CoresShared => USE_MORE_CORES,
            WarningKind::NotFinished => "Run it again to the end before you decide on it.",
            WarningKind::CountsDisagree => {
                "Trust neither figure: look at the brokers' logs, and at who else writes to the \
                 topic."
            }
            WarningKind::CopyIncomplete => "Give the drain stage more time: late is not lost.",
            WarningKind::CopyDoubled => "Let readers of the copy expect it.",
            WarningKind::CorruptRecords => {
                "Look at the brokers' disks and memory; the data on them may be damaged."
            }
            WarningKind::SendsFailed => {
                "Look at the errors by code; a rate with failed sends is not sustained."
            }
            WarningKind::NoWorkDone | WarningKind::ConnectionsBroken => {
                "Look at the broker's log and at what is between it and kgauge; events.jsonl has each lost connection."
            }
            WarningKind::SendsIndeterminate => {
                "Raise delivery.timeout.ms or find out why brokers did not answer."
            }
            WarningKind::RecordsUnresolved => {
                "Give the drain stage more time; if it stays, report it as an error of kgauge."
            }
            WarningKind::GeneratorLimited => {
                "Give the generator more threads, more cores or a second machine."
            }
            WarningKind::GeneratorUnknown => {
                "Run it where the CPU time of threads can be read (/proc on Linux)."
            }
            WarningKind::NotSteady => NOT_STEADY,
            WarningKind::RecordsSkipped => SKIPPED,
            WarningKind::UnderReplicated | WarningKind::LeadersMoved => SICK_CLUSTER,
            WarningKind::LittlesLawBroken => {
                "Hold the load longer, so that it settles; in an open loop, do not use these \
                 latencies."
            }
            WarningKind::FollowersBehind | WarningKind::FollowersFallBehind => {
                "The rate of acks was not a rate of replication: use acks=all, or a lower rate."
            }
            WarningKind::AcksNone => "Use acks=1 or acks=all to learn what brokers really took.",
            WarningKind::ClockAnomalies => "Look at the machine's clock source.",
            WarningKind::ClockSource => "Use a machine, or a kernel setting, with tsc.",
            WarningKind::DebugBuild => "Build with --release.",
            WarningKind::BrokerSkew => {
                "Take the figures for those of one broker, or give the topic more partitions than \
                 the cluster has brokers."
            }
            WarningKind::TargetNote => "Take it into account when you use the figures.",
            WarningKind::SameMachine => {
                "Use a cluster on other machines for figures that decide something."
            }
            WarningKind::SingleRepeat => "Ask for repeats: --repeat 5.",
            WarningKind::RepeatsMissing => {
                "Run it again to the end; see the outcome of each repeat."
            }
            WarningKind::TwoModes => {
                "Look at each repeat by itself; a restart that settles differently each time is a \
                 finding."
            }
            WarningKind::WideInterval => "Ask for more repeats, or hold the load longer.",
            WarningKind::ShortHold => "Hold the load for at least 10 s, better for minutes.",
            WarningKind::FewSamples => FEW_SAMPLES,
        }
    }
}
