//! The summary of one flow.

use schemars::JsonSchema;
use serde::Serialize;

use super::driver::DriverSummary;
use super::generator::Lateness;
use super::group::GroupSummary;
use super::latency::Latencies;
use super::mirror::MirrorSummary;
use super::steadiness::{FlowSteadiness, SteadyFigure};
use super::transaction::TransactionSummary;
use crate::statistics::{Spread, Steadiness};
use kgauge_results::run::{ConnectionRecord, Replication};
use kgauge_results::slice::SendOutcome;
use kgauge_scenario::{Arrivals, Shape};

/// One flow of a trial, over all its repeats. Figures cover the hold stage unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowSummary {
    /// Index in the trial.
    pub index: u16,
    /// Name in the scenario.
    pub name: String,
    /// What it does.
    pub kind: FlowKind,
    /// Number of producers or consumers; null without a plan.
    pub members: Option<u32>,
    /// An agent was lost in a measured repeat: what it would have done is missing from every figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agents_lost: bool,
    /// The largest error of its end-to-end times, which compare the clocks of two agents; absent if one clock measured
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns: Option<u64>,
    /// Its rate; none for what has none.
    #[serde(skip)]
    pub shape: Option<FlowShape>,
    /// True for a closed loop: its latency is time in its own buffer, and must be shown together with `little`.
    pub closed_loop: bool,
    /// Bytes of a record's value; null if not fixed.
    pub record_bytes: Option<u32>,
    /// Records and bytes per second; null if no repeat was measured.
    pub throughput: Option<Throughput>,
    /// Whether it was steady; null if not judged.
    #[serde(default)]
    pub steadiness: Option<FlowSteadiness>,
    /// Its distributions of times; null or absent where nothing was measured.
    pub latencies: Latencies,
    /// Records intended in the hold stage, by outcome.
    pub records: RecordCounts,
    /// The same for all stages of all repeats, including failed ones.
    pub records_all_stages: RecordCounts,
    /// Errors in any stage of any repeat, by code.
    pub errors: Vec<ErrorSummary>,
    /// Requests and batches; null if no request was answered.
    pub batching: Option<Batching>,
    /// Throttling by brokers; null if there was none.
    pub throttling: Option<Throttling>,
    /// The generator's lateness; null for closed loops and consumers.
    pub lateness: Option<Lateness>,
    /// Little's law; null if nothing was acked.
    pub little: Option<LittlesLaw>,
    /// What an ack guarantees; null for flows that send nothing.
    pub ack: Option<AckMeaning>,
    /// Connection failures in all stages of all repeats; absent if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionRecord>,
    /// It did no work although there was some: nothing that it sent was acked, or it read none of the acked records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub did_no_work: bool,
    /// The other client that sent it; absent for kgauge's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverSummary>,
    /// Its consumer group; absent for flows without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupSummary>,
    /// Its transactions; absent for flows without transactions.
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
    /// Whether the system was not changing while any of its figures was measured.
    pub fn is_usable(&self) -> bool {
        let steadiness = self.steadiness.as_ref();
        steadiness.is_none_or(|steadiness| steadiness.verdict.is_usable())
    }

    /// Whether the system was changing while a figure was measured. Answers and comparisons rest on one that is usable;
    /// only a steady one, of which a change would have shown, may be called a multiple of another figure.
    pub fn steadiness_of(&self, figure: SteadyFigure) -> Steadiness {
        let steadiness = self.steadiness.as_ref();
        steadiness.map_or(Steadiness::Steady, |steadiness| steadiness.of(figure))
    }

    /// The rate that was planned, in records per second; `None` for what has no single one.
    pub fn planned_per_s(&self) -> Option<f64> {
        match self.shape.as_ref()?.shape {
            Shape::Constant { per_second } | Shape::Poisson { per_second } => Some(per_second),
            Shape::Max
            | Shape::Ramp { .. }
            | Shape::Step { .. }
            | Shape::Wave { .. }
            | Shape::Burst { .. }
            | Shape::Replay { .. } => None,
        }
    }

    /// Whether what was due was acked while it lasted: then the load sets the throughput, and not the target.
    pub fn has_kept_rate(&self) -> bool {
        let Some(throughput) = self.throughput.as_ref().filter(|_| self.shape.is_some()) else {
            return false;
        };
        let required = self.records.scheduled as f64 * KEPT_PART;
        // What piled up in a buffer was acked later.
        let in_hold = throughput.records_per_s.mean * throughput.hold_s;
        !self.closed_loop && self.records.skipped == 0 && in_hold >= required
    }
}

/// A rate that was acked to this part was kept.
const KEPT_PART: f64 = 0.99;

/// What a flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// It sends.
    Produce,
    /// It reads.
    Consume,
    /// It sends records and reads them back.
    Echo,
    /// The plan is missing.
    Unknown,
}

/// Records and bytes per second in the hold stage: acked (produce) or read (consume). MB are 10^6 bytes, MiB 2^20.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Throughput {
    /// Records per second, one value per repeat.
    pub records_per_s: Spread,
    /// Bytes of keys, values and headers per second.
    pub logical_bytes_per_s: Spread,
    /// Bytes per second of requests (produce) or fetch responses (consume) on the wire; null if not counted.
    pub wire_bytes_per_s: Option<Spread>,
    /// Mean of the logical bytes in 10^6 bytes per second.
    pub logical_mb_per_s: f64,
    /// Mean of the logical bytes in 2^20 bytes per second.
    pub logical_mib_per_s: f64,
    /// Mean of the wire bytes in 10^6 bytes per second.
    pub wire_mb_per_s: Option<f64>,
    /// Mean of the wire bytes in 2^20 bytes per second.
    pub wire_mib_per_s: Option<f64>,
    /// Total length of the hold stages.
    pub hold_s: f64,
}

/// Records by outcome, over all repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordCounts {
    /// Due by the schedule; in a closed loop, accepted by the producer.
    pub scheduled: u64,
    /// Not sent, because too late.
    pub skipped: u64,
    /// Acked.
    pub acked: u64,
    /// Failed permanently.
    pub failed: u64,
    /// Unknown outcome.
    pub indeterminate: u64,
    /// scheduled - skipped - acked - failed - indeterminate: without an outcome at the end. 0 in a run that was not
    /// stopped.
    pub unresolved: i64,
    /// Retries after a retriable error.
    pub retried: u64,
    /// Read.
    pub consumed: u64,
    /// Echo flows: read back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echoed: u64,
    /// The part that was read before its ack, or before the response to its transaction's commit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echoed_early: u64,
    /// Transactions that were committed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transactions: u64,
    /// Aborted transactions: their records were acked, but `read_committed` consumers do not see them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transactions_aborted: u64,
    /// Acked records in those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aborted: u64,
    /// Transaction markers in the partitions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transaction_markers: u64,
    /// Markers that may have been written twice, because a broker was lost meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub markers_doubted: u64,
    /// Read, but with a wrong checksum.
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
    /// Their outcome.
    pub outcome: SendOutcome,
    /// Kafka's error code; below -100 it is kgauge's own.
    pub code: i16,
    /// The code's name.
    pub name: String,
    /// Their number.
    pub records: u64,
}

/// Records per batch and request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Batching {
    /// Requests answered per second, one value per repeat.
    pub requests_per_s: Spread,
    /// Records per request.
    pub records_per_request: f64,
    /// Records per batch; null for consumers.
    pub records_per_batch: Option<f64>,
    /// Batches per request; null for consumers.
    pub batches_per_request: Option<f64>,
    /// Bytes per request (produce) or response (consume) on the wire.
    pub wire_bytes_per_request: f64,
    /// Share of fetches without records; null for producers.
    pub empty_part: Option<f64>,
    /// Bytes of the record batches before compression ÷ after it; absent without compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression_ratio: Option<f64>,
    /// Consumer lag; absent for producers, and if not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<ConsumerLag>,
}

/// Consumer lag of a flow, sampled every second, over all partitions and groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerLag {
    /// Mean of all samples in records.
    pub records_mean: f64,
    /// Maximum in records.
    pub records_max: f64,
}

/// Throttling by brokers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Throttling {
    /// Number of throttles.
    pub count: u64,
    /// Total duration.
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

/// What an ack guarantees.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AckMeaning {
    /// Kafka's `acks`: `0`, `1` or `all`.
    pub acks: String,
    /// Replicas of each partition; null if unknown.
    pub replication_factor: Option<u16>,
    /// `min.insync.replicas` in force; null if unknown.
    pub min_insync_replicas: Option<u32>,
    /// When the brokers flush to disk.
    #[serde(rename = "flush_policy")]
    pub flush: FlushPolicy,
    /// Whether followers had caught up at the end of each repeat; null if not checked.
    pub followers: Vec<Option<Replication>>,
}

/// When brokers flush a topic's records to disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlushPolicy {
    /// The topic's settings are unknown.
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
