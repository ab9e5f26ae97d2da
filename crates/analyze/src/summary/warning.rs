//! Warnings: a closed list, each with its numbers.

use kgauge_results::run::{ReplicaChanges, RunStatus, TargetNote};
use schemars::JsonSchema;
use serde::Serialize;

use super::blame::LatenessCause;
use super::load::BrokerSkew;
use super::steadiness::SteadinessChange;

/// A warning about figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Warning {
    /// The affected flow, if any.
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
    /// More brokers than processors.
    CoresShared { brokers: u64, processors: u32 },
    /// The run ended early; without `status`, no repeat of the trial was complete.
    NotFinished { status: Option<RunStatus>, why: Option<String> },
    /// An agent was lost: its records are missing from then on.
    AgentLost { repeat: u32, agent: String, at_ns: u64, why: String },
    /// A broker stopped responding without an injected fault.
    BrokerOutage { repeat: u32, broker: i32, address: String, since_ns: u64, length_ns: Option<u64> },
    /// The brokers' record counts differ from the acked records.
    CountsDisagree { repeat: u32, acked: u64, on_broker: u64 },
    /// Acked records are missing from the copy.
    CopyIncomplete { missing: u64, acked: u64 },
    /// The copy contains duplicates.
    CopyDoubled { records: u64 },
    /// Records have a wrong checksum.
    CorruptRecords { records: u64 },
    /// Sends failed permanently.
    SendsFailed { records: u64 },
    /// A flow did no work: it read none of the acked records, or nothing that it sent was acked.
    NoWorkDone,
    /// Connections were lost, or responses were malformed.
    ConnectionsBroken { lost: u64, malformed: u64, timed_out: u64 },
    /// Some records may or may not have been written.
    SendsIndeterminate { records: u64 },
    /// Records have no known outcome.
    RecordsUnresolved { records: u64 },
    /// The generator was the bottleneck.
    GeneratorLimited,
    /// The generator was late.
    GeneratorLate,
    /// One agent was late, and the others were not.
    AgentLate { agent: String, lag_ns_p99: u64, others_ns_p99: u64 },
    /// A limit on CPU time held an agent back.
    AgentThrottled { agent: String, part: f64 },
    /// The network card of an agent's machine was full.
    AgentNetworkFull { agent: String, interface: String, full_time_part: f64 },
    /// At full speed, one agent sent much less than each of the others.
    AgentSlow { agent: String, part: f64 },
    /// Other programs used CPU on this machine.
    OtherPrograms { is_in_latencies: bool },
    /// The hypervisor kept processors from this virtual machine, and records were late.
    HypervisorTookCpu,
    /// Load generator and target together needed more CPUs than the machine has.
    ProcessorsExhausted,
    /// Generator CPU was not measured.
    GeneratorUnknown,
    /// The target was not steady during measurement. If its brokers were warming up: the part of their CPU time that
    /// compiling took.
    NotSteady { changes: Vec<SteadinessChange>, compiling: Option<f64> },
    /// It is unknown whether the target was steady: only a change larger than this would have shown. Null if the hold
    /// was too short for any.
    SteadinessUnknown { detectable: Option<f64> },
    /// Records were skipped. `blame` is the cause; `none` if they were too few to look for one.
    RecordsSkipped { records: u64, blame: LatenessCause },
    /// Partitions were under-replicated without an injected fault.
    UnderReplicated { repeat: u32, partitions: u32, time_part: f64, leaderless: u32 },
    /// Leaders moved without an injected fault.
    LeadersMoved { repeat: u32, changes: ReplicaChanges },
    /// Followers kept falling behind.
    FollowersFallBehind { repeat: u32, records: u64 },
    /// Little's law does not hold: accounting or steadiness is in doubt.
    LittlesLawBroken,
    /// Followers had not caught up.
    FollowersBehind,
    /// Records were sent without waiting for an ack.
    AcksNone,
    /// Timestamps ran backwards.
    ClockAnomalies { records: u64 },
    /// The kernel's clock source is slow or coarse.
    ClockSource { clock: String },
    /// Something was not steady on a virtual machine that returns free memory to its host.
    FreeMemoryReturned,
    /// kgauge was built without optimisation.
    DebugBuild,
    /// One broker led much more than its share.
    BrokerSkew { skew: BrokerSkew },
    /// Brokers throttled clients.
    Throttled { pauses: u64, total_ns: u64 },
    /// A note on how the target was reached or started.
    TargetNote { note: TargetNote },
    /// Load generator and target share a machine.
    SameMachine,
    /// Only one repeat: no interval.
    SingleRepeat,
    /// Planned repeats are missing.
    RepeatsMissing { measured: u32, planned: u32 },
    /// The repeats form two groups.
    TwoModes { records_per_s_min: f64, records_per_s_max: f64 },
    /// The interval is wide.
    WideInterval { reach: f64 },
    /// The hold stage was short.
    ShortHold { seconds: f64 },
    /// A percentile rests on few samples.
    FewSamples { percentile: String },
}
