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
const SICK_CLUSTER: &str = "The cluster was degraded during the run; check the broker logs and \
                            rerun.";

const USE_MORE_CORES: &str = "Use more CPUs, fewer brokers, or a cluster on separate machines.";
const FEW_SAMPLES: &str = "Use a longer hold: a percentile needs 100 samples beyond it.";

/// What to do about figures of a system that was changing.
const NOT_STEADY: &str = "Discard these figures; rerun with a longer warm-up limit (--set \
                          stages.warm-up-limit='2 min') and a longer hold.";

/// What to do about a load that was not taken.
const SKIPPED: &str = "The target did not sustain the offered load; lower the rate.";

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
            WarningKind::NotFinished => "Rerun to completion before you rely on it.",
            WarningKind::CountsDisagree => {
                "Trust neither figure; check the broker logs and other writers to the topic."
            }
            WarningKind::CopyIncomplete => "Use a longer drain stage: late records are not lost.",
            WarningKind::CopyDoubled => "Make consumers of the copy idempotent.",
            WarningKind::CorruptRecords => {
                "Check the brokers' disks and memory; stored data may be damaged."
            }
            WarningKind::SendsFailed => {
                "Check the errors by code; a rate with failed sends is not sustained."
            }
            WarningKind::NoWorkDone | WarningKind::ConnectionsBroken => {
                "Check the broker log and the network in between; events.jsonl lists each lost \
                 connection."
            }
            WarningKind::SendsIndeterminate => {
                "Raise delivery.timeout.ms, or find out why brokers did not respond."
            }
            WarningKind::RecordsUnresolved => {
                "Use a longer drain stage; if the warning persists, report a kgauge bug."
            }
            WarningKind::GeneratorLimited => {
                "Give the generator more producers, more cores or a second machine."
            }
            WarningKind::GeneratorUnknown => {
                "Run kgauge where thread CPU time is readable (/proc on Linux)."
            }
            WarningKind::NotSteady => NOT_STEADY,
            WarningKind::RecordsSkipped => SKIPPED,
            WarningKind::UnderReplicated | WarningKind::LeadersMoved => SICK_CLUSTER,
            WarningKind::LittlesLawBroken => {
                "Use a longer hold so that the load settles; in an open loop, discard these \
                 latencies."
            }
            WarningKind::FollowersBehind | WarningKind::FollowersFallBehind => {
                "Replication did not keep up with the acks; use acks=all or a lower rate."
            }
            WarningKind::AcksNone => "Use acks=1 or acks=all to measure what brokers accepted.",
            WarningKind::ClockAnomalies => "Check the machine's clock source.",
            WarningKind::ClockSource => {
                "Switch the kernel clock source to tsc, or use another \
                                         machine."
            }
            WarningKind::DebugBuild => "Build with --release.",
            WarningKind::BrokerSkew => {
                "Use more partitions than brokers; otherwise the figures describe one broker."
            }
            WarningKind::TargetNote => "",
            WarningKind::SameMachine => {
                "For figures to rely on, use a cluster on separate machines."
            }
            WarningKind::SingleRepeat => "Use --repeat 5.",
            WarningKind::RepeatsMissing => "Rerun to completion; check the outcome of each repeat.",
            WarningKind::TwoModes => {
                "Look at each repeat separately; a restart that settles differently each time is \
                 a finding."
            }
            WarningKind::WideInterval => "Use a higher --repeat or a longer hold.",
            WarningKind::ShortHold => "Hold the load for at least 10 s, preferably for minutes.",
            WarningKind::FewSamples => FEW_SAMPLES,
        }
    }
}
