//! The generator accuses itself: its lateness, its CPU, and whether it limited the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::Spread;

/// How late an open loop's generator was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// What a record cost, over the hold stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuSummary {
    /// CPU of the load threads per record acked or read, in nanoseconds.
    pub generator_threads_ns_per_record: Option<Spread>,
    /// CPU of the whole generating process per record.
    pub generator_process_ns_per_record: Option<Spread>,
    /// CPU of the target's processes per record; null where they run elsewhere.
    pub target_ns_per_record: Option<Spread>,
    /// How busy the busiest load thread was, 1 being always.
    pub generator_thread_use_max: Option<f64>,
    /// Cores that the generating process used.
    pub generator_cores: Option<f64>,
    /// Cores that the target used.
    pub target_cores: Option<f64>,
}

/// Whether the generator or the target is what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorVerdict {
    /// In a word.
    pub word: GeneratorWord,
    /// The numbers that it rests on, a sentence each.
    pub evidence: Vec<String>,
}

/// The verdict on the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorWord {
    /// It kept its schedule and had CPU to spare.
    Fine,
    /// It was late: latencies contain its own delay.
    Late,
    /// It could not go faster: throughput is its own.
    Limited,
    /// Its CPU was not measured.
    Unknown,
}
