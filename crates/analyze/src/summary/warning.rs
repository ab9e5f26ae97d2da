//! Warnings: a closed list, each with its numbers.

use kgauge_results::run::{ReplicaChanges, RunStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::load::BrokerSkew;

/// Something that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Warning {
    /// The flow that it is about, if it is about one.
    pub flow: Option<String>,
    /// Which, with its numbers.
    #[serde(flatten)]
    pub finding: WarningFinding,
}

impl Warning {
    /// Which.
    pub fn kind(&self) -> WarningKind {
        self.finding.kind()
    }
}

/// Makes the list of the kinds and that of the kinds with their numbers.
macro_rules! findings {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident: $type:ty),* $(,)? })?,)*) => {
        /// All warnings that there are, the gravest first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum WarningKind {
            $($(#[$doc])* $name,)*
        }

        impl WarningKind {
            /// Each of them, in their order.
            pub const ALL: &'static [WarningKind] = &[$(WarningKind::$name,)*];
        }

        /// A warning with what it rests on, unless that is in the summary of its trial or flow.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        #[allow(missing_docs)] // The fields' names say it.
        pub enum WarningFinding {
            $($(#[$doc])* $name $({ $($field: $type),* })?,)*
        }

        impl WarningFinding {
            /// Which warning it is.
            pub fn kind(&self) -> WarningKind {
                match self {
                    $(WarningFinding::$name { .. } => WarningKind::$name,)*
                }
            }
        }
    };
}

findings! {
    /// Brokers share fewer processors than they are.
    CoresShared { brokers: u64, processors: u32 },
    /// The run ended before its time; without `status` no repeat of the trial was complete.
    NotFinished { status: Option<RunStatus>, why: Option<String> },
    /// A broker stopped answering, although nobody broke the cluster.
    BrokerOutage { repeat: u32, broker: i32, address: String, since_ns: u64, length_ns: Option<u64> },
    /// Records that brokers counted are not those that were acked.
    CountsDisagree { repeat: u32, acked: u64, on_broker: u64 },
    /// Records that were acked are not in the copy.
    CopyIncomplete { missing: u64, acked: u64 },
    /// A replicator brought records more than once.
    CopyDoubled { records: u64 },
    /// Records read were damaged.
    CorruptRecords { records: u64 },
    /// Sends failed permanently.
    SendsFailed { records: u64 },
    /// A flow did none of its work: it read nothing of what was acked, or nothing that it sent was acked.
    NoWorkDone,
    /// Connections broke off, or answers could not be read.
    ConnectionsBroken { lost: u64, malformed: u64, timed_out: u64 },
    /// Nobody knows whether some records were written.
    SendsIndeterminate { records: u64 },
    /// Records have no known outcome.
    RecordsUnresolved { records: u64 },
    /// The generator was the limit.
    GeneratorLimited,
    /// The generator was late.
    GeneratorLate,
    /// Other programs used the machine's processors.
    OtherPrograms { is_in_latencies: bool },
    /// Load and target together needed more processors than the machine has.
    ProcessorsExhausted,
    /// Generator CPU was not measured.
    GeneratorUnknown,
    /// The system was still changing while it was measured.
    NotSteady { changes: Vec<SteadinessChange> },
    /// Records were skipped.
    RecordsSkipped { records: u64 },
    /// Partitions had too few replicas in sync, although nobody broke the cluster.
    UnderReplicated { repeat: u32, partitions: u32, time_part: f64, leaderless: u32 },
    /// Leaders moved by themselves.
    LeadersMoved { repeat: u32, changes: ReplicaChanges },
    /// Followers fell further and further behind.
    FollowersFallBehind { repeat: u32, records: u64 },
    /// Little's law does not hold: accounting or steadiness is in doubt.
    LittlesLawBroken,
    /// Followers had not caught up.
    FollowersBehind,
    /// Records were sent without waiting for an ack.
    AcksNone,
    /// Times ran backwards.
    ClockAnomalies { records: u64 },
    /// The kernel reads time slowly or coarsely.
    ClockSource { clock: String },
    /// kgauge was built without optimisation.
    DebugBuild,
    /// One broker led much more than its part.
    BrokerSkew { skew: BrokerSkew },
    /// Brokers asked for pauses.
    Throttled { pauses: u64, total_ns: u64 },
    /// Something about how the target was reached or started.
    TargetNote { note: String },
    /// Load and target share a machine.
    SameMachine,
    /// One repeat only: no interval.
    SingleRepeat,
    /// Repeats were planned that were not measured.
    RepeatsMissing { measured: u32, planned: u32 },
    /// Repeats fall into two groups.
    TwoModes { records_per_s_min: f64, records_per_s_max: f64 },
    /// The interval is wide.
    WideInterval { reach: f64 },
    /// The hold stage was short.
    ShortHold { seconds: f64 },
    /// A percentile rests on few samples.
    FewSamples { percentile: String },
}

/// A figure that changed while it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SteadinessChange {
    /// Which figure.
    pub figure: SteadyFigure,
    /// The repeat in which it changed; null from the first repeat to the last.
    pub repeat: Option<u32>,
    /// By which part.
    pub change: f64,
}

/// A figure whose steadiness is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum SteadyFigure {
    Throughput,
    Latency,
}
