//! Hidden capacity: the measured throughput is the capacity of the node, which clients do not know.

use kgauge_scenario::{CapacityUnit, Fault, RequestFault};

use crate::row::{ExpectedValue, LostBy, TruthRow, TruthUnit};
use crate::runs::{Runs, TruthRun};
use crate::scenarios::{CAPACITY, CAPACITY_FETCH};

/// How far throughput may be off: one request more or less at the hold's ends, and, where bytes are
/// counted, 0.2 % for what a request has around its batches.
const PART: f64 = 0.01;

/// The rows of all capacities.
pub(crate) fn rows(runs: &Runs) -> Vec<TruthRow> {
    let mut rows = Vec::new();
    if let Some(ran) = runs.get(CAPACITY) {
        rows.push(row(ran, "records", 0));
        rows.push(row(ran, "bytes", 1));
    }
    if let Some(ran) = runs.get(CAPACITY_FETCH) {
        rows.push(row(ran, "readers", 0));
    }
    rows
}

/// A flow's throughput and the capacity of its node, an entry of the scenario's faults.
fn row(ran: &TruthRun, flow: &str, entry: usize) -> TruthRow {
    let fault = ran.trial().and_then(|trial| trial.faults.get(entry));
    let capacity = match fault.map(|fault| &fault.kind) {
        Some(Fault::Requests {
            what: RequestFault::Capacity(capacity),
            ..
        }) => *capacity,
        _ => return TruthRow::missing("capacity", flow, "the plan has no capacity"),
    };
    let throughput = ran.flow(flow).and_then(|flow| flow.throughput.as_ref());
    let (unit, words, measured) = match capacity.unit {
        CapacityUnit::Records => (
            TruthUnit::RecordsPerSecond,
            "records per second",
            throughput.map(|throughput| throughput.records_per_s.mean),
        ),
        CapacityUnit::Bytes => (
            TruthUnit::BytesPerSecond,
            "bytes per second",
            throughput.and_then(|throughput| Some(throughput.wire_bytes_per_s.as_ref()?.mean)),
        ),
    };
    let api = if flow == "readers" {
        "fetch"
    } else {
        "produce"
    };
    let truth = ExpectedValue::within(unit, capacity.per_second as f64, PART);
    let truth = truth.with_lost(lost_by(ran, capacity.per_second as f64));
    truth.row("capacity", format!("{api}, {words}"), measured)
}

/// By how much a rate may be off because other programs took the machine. Below: while kgauge does not run, nothing
/// passes. Above: what was due just before the hold is answered in it.
fn lost_by(ran: &TruthRun, per_second: f64) -> LostBy {
    let stages = ran.trial().map(|trial| trial.stages);
    let hold = stages.and_then(|stages| Some((stages.warm_up_ns as f64, stages.hold_ns? as f64)));
    let (Some(lost), Some((start_ns, length_ns))) = (ran.lost(), hold) else {
        return LostBy::default();
    };
    let per_ns = per_second / length_ns;
    LostBy {
        below: per_ns * lost.taken_ns(&(start_ns..start_ns + length_ns)),
        above: per_ns * lost.taken_ns(&(start_ns - 1e9..start_ns)),
    }
}
