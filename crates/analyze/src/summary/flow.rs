//! What the summary says of one flow.

use schemars::JsonSchema;
use serde::Serialize;

use super::driver::DriverSummary;
use super::generator::Lateness;
use super::group::GroupSummary;
use super::latency::Latencies;
use super::mirror::MirrorSummary;
use super::steadiness::FlowSteadiness;
use super::transaction::TransactionSummary;
use crate::statistics::Spread;
use kgauge_results::run::{ConnectionRecord, Replication};
use kgauge_results::slice::SendOutcome;
use kgauge_scenario::{Arrivals, Shape};

/// One flow of a trial, over all its repeats. Figures are of the hold stage unless they say
/// otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowSummary {
    /// Position in the trial.
    pub index: u16,
    /// Name in the scenario.
    pub name: String,
    /// What it does.
    pub kind: FlowKind,
    /// Producers or consumers in it; null without a plan.
    pub members: Option<u32>,
    /// Its rate; none for what has none.
    #[serde(skip)]
    pub shape: Option<FlowShape>,
    /// True when the next send waits for an earlier answer: then its latency is that of its own
    /// buffer, and what `little` says must stand beside it.
    pub closed_loop: bool,
    /// Bytes of a record's value; null where that is not given.
    pub record_bytes: Option<u32>,
    /// Records and bytes a second; null when no repeat was measured.
    pub throughput: Option<Throughput>,
    /// Whether its figures are those of a system in its normal state; null where that was not judged.
    #[serde(default)]
    pub steadiness: Option<FlowSteadiness>,
    /// Its distributions of times.
    pub latencies: Latencies,
    /// Records by what became of them, those intended in the hold stage.
    pub records: RecordCounts,
    /// The same over all stages of every repeat that was begun, also of those that failed.
    pub records_all_stages: RecordCounts,
    /// What went wrong in any stage of any repeat, by code.
    pub errors: Vec<ErrorSummary>,
    /// Requests and batches; null when no request was answered.
    pub batching: Option<Batching>,
    /// Pauses that brokers asked for; null when there were none.
    pub throttling: Option<Throttling>,
    /// How late the generator was; null for closed loops and consumers.
    pub lateness: Option<Lateness>,
    /// Little's law; null when nothing was acked.
    pub little: Option<LittlesLaw>,
    /// What an ack meant; null for flows that send nothing.
    pub ack: Option<AckMeaning>,
    /// How its connections fared in all stages of all repeats; absent where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionRecord>,
    /// It did none of its work, although there was some: nothing that it sent was acked, or it read nothing of what
    /// was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub did_no_work: bool,
    /// The other client that sent it; absent for kgauge's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverSummary>,
    /// Its consumer group; absent for flows without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupSummary>,
    /// Its transactions; absent for flows that write in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<TransactionSummary>,
    /// The copies on another cluster that it read; absent for flows that read none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorSummary>,
}

/// The rate of a flow over time.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowShape {
    /// As planned.
    pub shape: Shape,
    /// How its records are spread over that.
    pub arrivals: Arrivals,
}

impl FlowSummary {
    /// Whether answers and comparisons may rest on its figures: the system was not changing while they were measured.
    pub fn is_usable(&self) -> bool {
        let steadiness = self.steadiness.as_ref();
        steadiness.is_none_or(|steadiness| steadiness.verdict.is_usable())
    }
}

/// What a flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// It sends.
    Produce,
    /// It reads.
    Consume,
    /// It sends and reads back.
    Echo,
    /// The plan is missing.
    Unknown,
}

/// Records and bytes a second in the hold stage: acked (produce) or read (consume). MB are 10^6
/// bytes, MiB 2^20.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Throughput {
    /// Records a second, one value a repeat.
    pub records_per_s: Spread,
    /// Bytes of keys, values and headers a second.
    pub logical_bytes_per_s: Spread,
    /// Bytes of requests (produce) or of fetch answers (consume) a second on the wire; null when
    /// they were not counted.
    pub wire_bytes_per_s: Option<Spread>,
    /// Mean of the logical bytes in 10^6 bytes a second.
    pub logical_mb_per_s: f64,
    /// Mean of the logical bytes in 2^20 bytes a second.
    pub logical_mib_per_s: f64,
    /// Mean of the wire bytes in 10^6 bytes a second.
    pub wire_mb_per_s: Option<f64>,
    /// Mean of the wire bytes in 2^20 bytes a second.
    pub wire_mib_per_s: Option<f64>,
    /// Length of the hold stages together.
    pub hold_s: f64,
}

/// Records by what became of them, over all repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordCounts {
    /// What the schedule wanted; of a closed loop what was handed over.
    pub scheduled: u64,
    /// Never sent, because too late.
    pub skipped: u64,
    /// Acked.
    pub acked: u64,
    /// Failed for good.
    pub failed: u64,
    /// Nobody knows.
    pub indeterminate: u64,
    /// scheduled - skipped - acked - failed - indeterminate: not heard of before the end. Must
    /// be 0 in a run that was not stopped.
    pub unresolved: i64,
    /// Sendings after a retriable error.
    pub retried: u64,
    /// Read.
    pub consumed: u64,
    /// Echo flows: read back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echoed: u64,
    /// Those of them that were read before their ack had been, or the answer to their transaction's
    /// commit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echoed_early: u64,
    /// Transactions that were committed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transactions: u64,
    /// Transactions that were aborted: their records were acked, and nobody who reads only what was
    /// committed sees them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transactions_aborted: u64,
    /// Records that had been acked in those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aborted: u64,
    /// Markers that their ends left in the partitions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transaction_markers: u64,
    /// Those that may have been written a second time, since a broker was lost meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub markers_doubted: u64,
    /// Read, but not what their checksum says.
    pub corrupt: u64,
    /// Records whose times ran backwards.
    pub clock_anomalies: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Records hit by one error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorSummary {
    /// What became of them.
    pub outcome: SendOutcome,
    /// Kafka's error code; below -100 it is kgauge's own.
    pub code: i16,
    /// The code's name.
    pub name: String,
    /// How many.
    pub records: u64,
}

/// How records went into batches and requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Batching {
    /// Requests answered a second, one value a repeat.
    pub requests_per_s: Spread,
    /// Records in a request.
    pub records_per_request: f64,
    /// Records in a batch; null for consumers.
    pub records_per_batch: Option<f64>,
    /// Batches in a request; null for consumers.
    pub batches_per_request: Option<f64>,
    /// Bytes of a request (produce) or of an answer (consume) on the wire.
    pub wire_bytes_per_request: f64,
    /// Part of the fetches that brought no record; null for producers.
    pub empty_part: Option<f64>,
    /// Bytes of the record batches before compression by those after it; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression_ratio: Option<f64>,
    /// How far the consumers were behind; absent for producers, and where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<ConsumerLag>,
}

/// How far a flow's consumers were behind the ends of their partitions, sampled each second: over
/// all partitions, and over all groups that read them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerLag {
    /// Records, the mean of all samples.
    pub records_mean: f64,
    /// Records, in the worst second.
    pub records_max: f64,
}

/// Pauses that brokers asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Throttling {
    /// How many.
    pub count: u64,
    /// How long together.
    pub total_ns: u64,
}

/// Little's law over the hold stage: records in flight = rate × mean time from handing over to ack.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LittlesLaw {
    /// L, measured: mean number of records handed over and not yet answered; null when the load
    /// engine did not count it.
    pub in_flight_mean: Option<f64>,
    /// λ: records acked a second.
    pub records_per_s: f64,
    /// W: mean service time (acked - sent), in nanoseconds.
    pub service_mean_ns: f64,
    /// (λ × W - L) / L; null without L.
    pub residual: Option<f64>,
    /// True when the residual is at most 2 % (closed loop) or 5 % (open); null without L.
    pub holds: Option<bool>,
}

/// What it meant that a record was acked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AckMeaning {
    /// Kafka's `acks`: `0`, `1` or `all`.
    pub acks: String,
    /// Copies of each partition; null when not known.
    pub replication_factor: Option<u16>,
    /// `min.insync.replicas` in force; null when not known.
    pub min_insync_replicas: Option<u32>,
    /// When the brokers flush to disk.
    #[serde(rename = "flush_policy")]
    pub flush: FlushPolicy,
    /// How the followers stood at the end of each repeat; null where nobody looked.
    pub followers: Vec<Option<Replication>>,
}

/// When brokers flush a topic's records to disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlushPolicy {
    /// The topic's settings are not known.
    Unknown,
    /// Before the ack.
    EachRecord,
    /// When the operating system does.
    OperatingSystem,
    /// After a number of records or of milliseconds.
    Every {
        /// `flush.messages`, where it is limited.
        records: Option<String>,
        /// `flush.ms`, where it is limited.
        ms: Option<String>,
    },
}
