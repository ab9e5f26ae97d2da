//! Clients side by side: kgauge's engine and those that applications use.

use kgauge_analyze::summary::{DriverComparison, DriverRow, Summary};

use crate::format::{self, NOTHING};
use crate::view::DriverTable;

/// A table for each flow that several clients sent.
pub(super) fn tables(summary: &Summary) -> Vec<DriverTable> {
    summary.drivers.iter().map(table).collect()
}

fn table(compared: &DriverComparison) -> DriverTable {
    let mut title = format!("Clients of {}, {}", compared.scenario, compared.flow);
    for factor in &compared.factors {
        title.push_str(&format!(", {} = {}", factor.path, factor.value));
    }
    let mut sentences = crate::text::driver::sentences(compared);
    if compared.closed_loop {
        sentences
            .push("Each ran at full speed: its latency is time in its own full buffer.".to_owned());
    }
    DriverTable {
        title,
        rows: compared.rows.iter().map(row).collect(),
        sentences,
    }
}

fn row(row: &DriverRow) -> [String; 5] {
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    [
        row.client.clone().unwrap_or_else(|| row.driver.clone()),
        or_nothing(row.records_per_s.map(format::figure)),
        or_nothing(row.p99_ns.map(|ns| format::nanoseconds(ns as f64))),
        or_nothing(row.cpu_ns_per_record.map(format::nanoseconds)),
        row.cpu_factor
            .map(|factor| format!("{} x", format::short(factor)))
            .unwrap_or_default(),
    ]
}
