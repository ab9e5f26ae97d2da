//! Little's law: records in flight = rate x time in flight. The engine integrates the records in flight over time; rate
//! and times come from other counters.
//!
//! It is checked over the whole run, from the first record to the last answer. Nothing is in flight at either end, so
//! the law holds exactly, on any machine. Over the hold alone it holds except for the records in flight at its ends,
//! which are many if the machine pauses at that moment.

use kgauge_results::TimeKind;

use crate::row::{ExpectedValue, TruthRow, TruthUnit};
use crate::runs::Runs;
use crate::scenarios::{CAPACITY, STALL, TWO_STALLS, TruthScenario};

/// How far the two may be apart.
const PART: f64 = 0.02;

/// Open loops around stalls, and closed ones before a capacity.
pub(crate) fn rows(runs: &Runs) -> Vec<TruthRow> {
    let flows = [
        (STALL, "even"),
        (STALL, "poisson"),
        (STALL, "tiny-buffer"),
        (TWO_STALLS, "even"),
        (CAPACITY, "records"),
        (CAPACITY, "bytes"),
    ];
    let row = |(scenario, name): (TruthScenario, &str)| {
        let ran = runs.get(scenario)?;
        let service = ran.times_of_all(name, TimeKind::Service)?;
        let (span_ns, in_flight_record_ns) = ran.in_flight_of_all(name)?;
        let per_ns = service.count() as f64 / span_ns;
        let truth = ExpectedValue::within(TruthUnit::Records, per_ns * service.mean_ns()?, PART);
        let figure = format!("{}, {name}", scenario.name);
        Some(truth.row("little", figure, Some(in_flight_record_ns / span_ns)))
    };
    flows.into_iter().filter_map(row).collect()
}
