//! Clients beside kgauge's engine.

use kgauge_analyze::summary::{DriverComparison, DriverRow};
use kgauge_scenario::Driver;

use crate::format;

/// A sentence for each client beside kgauge's engine; none without a trial of the latter.
pub fn sentences(compared: &DriverComparison) -> Vec<String> {
    let own = Driver::Kgauge.to_string();
    let (kgauge, others): (Vec<&DriverRow>, Vec<&DriverRow>) =
        compared.rows.iter().partition(|row| row.driver == own);
    let Some(kgauge) = kgauge.first() else {
        return Vec::new();
    };
    let others = others.into_iter();
    others
        .filter_map(|row| sentence(row, kgauge, compared.closed_loop))
        .collect()
}

fn sentence(row: &DriverRow, kgauge: &DriverRow, closed_loop: bool) -> Option<String> {
    let who = row.client.as_ref().unwrap_or(&row.driver);
    let mut clauses = Vec::new();
    if let (Some(factor), Some(own), Some(theirs)) = (
        row.cpu_factor,
        row.cpu_ns_per_record,
        kgauge.cpu_ns_per_record,
    ) {
        clauses.push(format!(
            "uses {} times kgauge's CPU per record ({}; kgauge {})",
            format::short(factor),
            format::nanoseconds(own),
            format::nanoseconds(theirs)
        ));
    }
    if let (Some(factor), true) = (row.rate_factor, closed_loop) {
        clauses.push(format!(
            "writes {} times kgauge's records/s",
            format::short(factor)
        ));
    }
    if let (Some(factor), Some(own), Some(theirs), false) =
        (row.p99_factor, row.p99_ns, kgauge.p99_ns, closed_loop)
    {
        clauses.push(format!(
            "has {} times kgauge's p99 ({}; kgauge {})",
            format::short(factor),
            format::nanoseconds(own as f64),
            format::nanoseconds(theirs as f64)
        ));
    }
    (!clauses.is_empty()).then(|| format!("{who} {}.", clauses.join(", ")))
}
