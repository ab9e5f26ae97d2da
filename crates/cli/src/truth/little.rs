//! Little's law: records in flight = rate x response. The engine integrates the records in flight over time;
//! rate and response come from other counters.

use super::row::{Row, Truth, Unit};
use super::runs::Runs;
use super::scenarios::{CAPACITY, STALL, TWO_STALLS};

/// How far the two may be apart: what was in flight at the hold's ends.
const PART: f64 = 0.02;

/// Open loops around stalls, and closed ones before a capacity.
pub(super) fn rows(runs: &Runs) -> Vec<Row> {
    let flows = [
        (STALL, "even"),
        (STALL, "poisson"),
        (STALL, "tiny-buffer"),
        (TWO_STALLS, "even"),
        (CAPACITY, "records"),
        (CAPACITY, "bytes"),
    ];
    let row = |(scenario, name): (super::scenarios::Shipped, &str)| {
        let little = runs.get(scenario)?.flow(name)?.little.as_ref()?;
        let expected = little.records_per_s * little.service_mean_ns / 1e9;
        let truth = Truth::within(Unit::Records, expected, PART);
        let figure = format!("{}, {name}", scenario.name);
        Some(truth.row("little", figure, little.in_flight_mean))
    };
    flows.into_iter().filter_map(row).collect()
}
