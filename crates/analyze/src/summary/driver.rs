//! What the summary says of clients beside kgauge's engine.

use schemars::JsonSchema;
use serde::Serialize;

use super::trial::Factor;
use crate::statistics::Spread;

/// The other client that sent a flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverSummary {
    /// Client and release, as it says itself.
    pub client: String,
    /// CPU of its processes per record acked, in nanoseconds, over the hold stage; null when nobody
    /// could look.
    pub ns_per_record: Option<Spread>,
    /// For which part of the time it would have taken a record and was fed none; 0 with a schedule.
    pub starved_part: f64,
}

/// Trials that differ only in the client that sent a flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverComparison {
    /// The scenario.
    pub scenario: String,
    /// The flow.
    pub flow: String,
    /// Other factors, which the trials have in common.
    pub factors: Vec<Factor>,
    /// True when the next send waits for an earlier answer: then times are those of the clients' own
    /// buffers.
    pub closed_loop: bool,
    /// The clients, in the order of the plan.
    pub rows: Vec<DriverRow>,
}

/// One client.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverRow {
    /// As the plan says: `kgauge`, `java 4.3.1`, `librdkafka`.
    pub driver: String,
    /// Client and release, as it says itself; null for kgauge's engine.
    pub client: Option<String>,
    /// Position of its trial in the plan.
    pub trial: u32,
    /// Records acked a second.
    pub records_per_s: Option<f64>,
    /// 99 % of the response times, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// CPU of the whole sending process per record, in nanoseconds; null where other flows of the
    /// trial shared it.
    pub cpu_ns_per_record: Option<f64>,
    /// Its records a second by those of kgauge's engine.
    pub rate_factor: Option<f64>,
    /// Its p99 by that of kgauge's engine.
    pub p99_factor: Option<f64>,
    /// Its CPU per record by that of kgauge's engine.
    pub cpu_factor: Option<f64>,
}
