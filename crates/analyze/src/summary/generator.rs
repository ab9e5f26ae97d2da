//! The generator accuses itself: its lateness, its CPU, and whether it limited the run.

use schemars::JsonSchema;
use serde::Serialize;

use super::blame::LatenessCause;
use crate::statistics::Spread;

pub use kgauge_results::slice::LATE_AFTER_NS;

/// How late an open loop's generator was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Lateness {
    /// Median of sent - intended.
    pub lag_ns_p50: u64,
    /// 99 % of it.
    pub lag_ns_p99: u64,
    /// Largest of it.
    pub lag_ns_max: u64,
    /// Records that were sent later than `late_after_ns`.
    pub late: u64,
    /// The limit beyond which a record counts as late.
    pub late_after_ns: u64,
    /// Late records as part of those sent.
    pub late_part: f64,
    /// Skipped records as part of those scheduled.
    pub skipped_part: f64,
    /// Of `late_part`, what was due while the client waited for room in its buffer, or was catching up after that: the
    /// target's doing. Absent where nobody counted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_waiting_part: Option<f64>,
    /// The same of `skipped_part`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_waiting_part: Option<f64>,
    /// For which part of the time the client waited for room in its buffer, the mean over the flow's clients.
    #[serde(default)]
    pub waiting_time_part: f64,
    /// Whose doing it was.
    #[serde(default)]
    pub blame: LatenessCause,
}

/// CPU cost per record, over the hold stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CpuSummary {
    /// Processors that kgauge may use; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// CPU time of the load threads per record acked or read, in nanoseconds, without spinning.
    pub generator_threads_ns_per_record: Option<Spread>,
    /// CPU time per record of the whole generator process, without spinning.
    pub generator_process_ns_per_record: Option<Spread>,
    /// CPU time per record of kgauge's threads that feed other clients; absent without other clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding_ns_per_record: Option<Spread>,
    /// CPU time of the target's processes per record; null if they run elsewhere.
    pub target_ns_per_record: Option<Spread>,
    /// Utilisation of the busiest load thread, at most 1, without spinning.
    pub generator_thread_use_max: Option<f64>,
    /// Cores used by the generator's process, including spinning.
    pub generator_cores: Option<f64>,
    /// The part that load threads spent spinning before scheduled sends; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_spun_cores: Option<f64>,
    /// Cores used by kgauge's threads that feed records to other clients; absent without other clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding_cores: Option<f64>,
    /// Cores that the target used.
    pub target_cores: Option<f64>,
    /// Cores used by all other programs; absent if the target's share is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cores: Option<f64>,
    /// Idle cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cores: Option<f64>,
    /// Cores taken by the hypervisor; absent below 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_cores: Option<f64>,
    /// Share of time in which the load thread that waited most was runnable without a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_queued_part: Option<f64>,
    /// Share of periods in which a control group throttled the generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_held_part: Option<f64>,
    /// Share of time in which the broker thread that waited most was runnable without a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_queued_part: Option<f64>,
    /// The other programs with the most CPU time, in descending order, over whole repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_programs: Vec<ProgramCores>,
}

/// A program that is no part of the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProgramCores {
    /// The name that the kernel has, at most 15 bytes.
    pub name: String,
    /// Cores that all of its processes used.
    pub cores: f64,
}

/// How much of what this machine can generate was used: the flows' throughput beside what they do at full
/// speed writing to a null sink.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Headroom {
    /// The part of the load threads that the flows' throughput takes at the cost of full speed; or that
    /// of the flow that is nearest to its own limit, if that is more. 1 is all.
    pub used_part: f64,
    /// Each flow.
    pub flows: Vec<FlowHeadroom>,
    /// Load threads of the run.
    pub threads: u32,
}

impl Headroom {
    /// From here on little is left: a ceiling is measured within a second, in which caches and clocks of processors are
    /// not as in the run.
    const NEAR: f64 = 0.80;

    /// Whether little of what the machine can generate was left.
    pub fn is_little(&self) -> bool {
        self.used_part >= Headroom::NEAR
    }
}

/// One flow and its ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowHeadroom {
    /// Its name.
    pub flow: String,
    /// Records acked or read per second, mean of the repeats.
    pub records_per_s: f64,
    /// The rate that its load threads could generate with one core each.
    pub ceiling_records_per_s: f64,
    /// Number of load threads.
    pub threads: u32,
}

/// Whether the figures measure the generator or the target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GeneratorVerdict {
    /// The verdict.
    pub word: GeneratorState,
    /// The cause of late records, for the flow with the most.
    #[serde(default)]
    pub blame: LatenessCause,
}

/// The state of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorState {
    /// It kept its schedule and had CPU headroom.
    Fine,
    /// It was late: latencies include its own delay.
    Late,
    /// It was late because other programs or the target used the CPUs. Latencies include that delay.
    Crowded,
    /// It was the bottleneck: the throughput is its own limit.
    Limited,
    /// Its CPU was not measured.
    Unknown,
}

/// A load thread that used more of its core than this in the hold had nothing to spare: the
/// kernel's accounts are exact to a few percent.
pub const THREAD_USE_LIMIT: f64 = 0.95;
/// From here on there was little to spare: reported, but no verdict.
pub const THREAD_USE_NEAR: f64 = 0.80;
/// More late records than this reach the p99.
pub(crate) const LATE_PART_MAX: f64 = 0.01;
/// Another client that was fed nothing for a larger part of the time than this was limited by
/// its feeding.
pub const STARVED_PART_MAX: f64 = 0.05;
/// More skipped records than this are a load other than the planned one.
pub(crate) const SKIPPED_PART_MAX: f64 = 0.000_1;
/// Where late records were not counted by what they waited for (other clients, runs of earlier versions): a buffer that
/// is full for a part of the time delays the records of that time and those that are caught up after it, at most about
/// as many again.
pub(crate) const BLOCKED_FACTOR: f64 = 2.0;
/// Other programs that used this part of the machine's processors are named.
pub const OTHERS_PART: f64 = 0.20;
