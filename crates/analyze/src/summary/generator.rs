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

/// What a record cost, over the hold stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CpuSummary {
    /// Processors that kgauge may use; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// CPU of the load threads per record acked or read, in nanoseconds; without what they spun away.
    pub generator_threads_ns_per_record: Option<Spread>,
    /// CPU of the whole generating process per record; without what its load threads spun away.
    pub generator_process_ns_per_record: Option<Spread>,
    /// CPU of kgauge's threads that fed records to other clients, per record; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding_ns_per_record: Option<Spread>,
    /// CPU of the target's processes per record; null where they run elsewhere.
    pub target_ns_per_record: Option<Spread>,
    /// How busy the busiest load thread was, 1 being always; without what it spun away.
    pub generator_thread_use_max: Option<f64>,
    /// Cores that the generating process used, spinning included.
    pub generator_cores: Option<f64>,
    /// Of them, what load threads spun away before scheduled sends, so as to be exact; absent where nobody measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_spun_cores: Option<f64>,
    /// Cores that kgauge's threads used that fed records to other clients; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feeding_cores: Option<f64>,
    /// Cores that the target used.
    pub target_cores: Option<f64>,
    /// Cores that all other programs of the machine used; absent where the target's share is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cores: Option<f64>,
    /// Cores that had nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cores: Option<f64>,
    /// Cores that the hypervisor gave to other virtual machines; absent below a hundredth of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_cores: Option<f64>,
    /// For which part of the time the load thread that waited most was ready to run and had no processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_queued_part: Option<f64>,
    /// In which part of its periods a control group's limit on CPU time stopped the generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_held_part: Option<f64>,
    /// For which part of the time the broker's thread that waited most was ready to run and had no processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_queued_part: Option<f64>,
    /// The other programs that used most, the largest first, over whole repeats.
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

/// One flow beside its ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowHeadroom {
    /// Its name.
    pub flow: String,
    /// Records acked or read a second, the mean of the repeats.
    pub records_per_s: f64,
    /// What as many load threads as it has could do, each with a core for itself.
    pub ceiling_records_per_s: f64,
    /// Those threads.
    pub threads: u32,
}

/// Whether the generator or the target is what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GeneratorVerdict {
    /// In a word.
    pub word: GeneratorState,
    /// Whose doing it is that records were sent late: that of the flow that is most so.
    #[serde(default)]
    pub blame: LatenessCause,
}

/// The verdict on the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorState {
    /// It kept its schedule and had CPU to spare.
    Fine,
    /// It was late: latencies contain its own delay.
    Late,
    /// It was late because it got no processor: other programs or the target had them. Latencies contain that delay.
    Crowded,
    /// It could not go faster: throughput is its own.
    Limited,
    /// Its CPU was not measured.
    Unknown,
}

/// A load thread that used more of its core than this in the hold had nothing to spare: the
/// kernel's accounts are exact to a few percent.
pub const THREAD_USE_LIMIT: f64 = 0.95;
/// From here on there was little to spare; it is said, but it is no verdict.
pub const THREAD_USE_NEAR: f64 = 0.80;
/// More late records than this reach the p99.
pub const LATE_PART_MAX: f64 = 0.01;
/// Another client that was fed nothing for a larger part of the time than this was limited by
/// its feeding.
pub const STARVED_PART_MAX: f64 = 0.05;
/// More skipped records than this are a load other than the planned one.
pub const SKIPPED_PART_MAX: f64 = 0.000_1;
/// Where late records were not counted by what they waited for (other clients, runs of earlier versions): a buffer that
/// is full for a part of the time delays the records of that time and those that are caught up after it, at most about
/// as many again.
pub const BLOCKED_FACTOR: f64 = 2.0;
/// Other programs that used this part of the machine's processors are named.
pub const OTHERS_PART: f64 = 0.20;
