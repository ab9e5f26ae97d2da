//! The summary of other clients than kgauge's engine.

use schemars::JsonSchema;
use serde::Serialize;

use super::factor::Factor;
use crate::statistics::Spread;

/// The other client that sent a flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverSummary {
    /// Client and release, as it reports them.
    pub client: String,
    /// CPU time of its processes per record acked, in nanoseconds, over the hold stage; null if not measured.
    pub ns_per_record: Option<Spread>,
    /// Share of time in which it waited for a record; 0 with a schedule.
    pub starved_part: f64,
}

/// Trials that differ only in the client that sent a flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverComparison {
    /// The scenario.
    pub scenario: String,
    /// The flow.
    pub flow: String,
    /// The trials' common factors.
    pub factors: Vec<Factor>,
    /// True for closed loops, whose latency is time in the clients' own buffers.
    pub closed_loop: bool,
    /// The clients, in the order of the plan.
    pub rows: Vec<DriverRow>,
}

/// One client.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverRow {
    /// As in the plan: `kgauge`, `java 4.3.1`, `librdkafka`.
    pub driver: String,
    /// Client and release, as it reports them; null for kgauge's engine.
    pub client: Option<String>,
    /// Index of its trial in the plan.
    pub trial: u32,
    /// Records acked per second.
    pub records_per_s: Option<f64>,
    /// The p99 of the response times, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// CPU time of the whole sending process per record, in nanoseconds; null if the trial has other flows.
    pub cpu_ns_per_record: Option<f64>,
    /// Its records per second ÷ those of kgauge's engine.
    pub rate_factor: Option<f64>,
    /// Its p99 ÷ that of kgauge's engine.
    pub p99_factor: Option<f64>,
    /// Its CPU per record ÷ that of kgauge's engine.
    pub cpu_factor: Option<f64>,
}
