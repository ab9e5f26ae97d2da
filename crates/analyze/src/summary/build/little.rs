//! Little's law over the hold stage.

use super::hold::{FlowHold, merged};
use crate::summary::LittlesLaw;
use kgauge_results::slice::TimeKind;
use kgauge_results::stage::SECOND_NS;

/// The largest residual of a closed loop: nothing but the hold's two ends can cause one.
const RESIDUAL_CLOSED_MAX: f64 = 0.02;
/// The largest residual of an open loop: beyond it records are missing from the accounts.
const RESIDUAL_OPEN_MAX: f64 = 0.05;

/// L = lambda * W. Records in flight count from when they were handed over, so W is the service
/// time; in a closed loop that is the response time too.
pub(super) fn littles_law(holds: &[FlowHold<'_>], closed_loop: bool) -> Option<LittlesLaw> {
    let span_ns = holds
        .iter()
        .map(|hold| u128::from(hold.length_ns))
        .sum::<u128>() as f64;
    let service = merged(holds, TimeKind::Service);
    let service_mean_ns = service.mean_ns()?;
    let acked = holds
        .iter()
        .map(|hold| u128::from(hold.slice.counts.records_acked))
        .sum::<u128>();
    let records_per_ns = acked as f64 / span_ns;
    let in_flight = holds
        .iter()
        .map(|hold| u128::from(hold.slice.counts.in_flight_record_ns));
    let in_flight_mean = in_flight.sum::<u128>() as f64 / span_ns;
    let measured = in_flight_mean > 0.0;
    let predicted = records_per_ns * service_mean_ns;
    let residual = measured.then(|| (predicted - in_flight_mean) / in_flight_mean);
    let residual_max = if closed_loop {
        RESIDUAL_CLOSED_MAX
    } else {
        RESIDUAL_OPEN_MAX
    };
    Some(LittlesLaw {
        in_flight_mean: measured.then_some(in_flight_mean),
        records_per_s: records_per_ns * SECOND_NS as f64,
        service_mean_ns,
        residual,
        holds: residual.map(|residual| residual.abs() <= residual_max),
    })
}
