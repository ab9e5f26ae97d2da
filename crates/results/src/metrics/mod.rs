//! The table of metrics: what kgauge samples of brokers and hosts, where each source has it, how two samples make a
//! mean, and where the report shows it. To add a metric, add a row.

mod panel;
mod request;
mod row;
mod table;

use std::collections::BTreeMap;

pub use panel::{Panel, PanelRow, PanelSection, PanelUnit};
pub use request::RequestKind;
pub use row::{JavaSource, MetricDisplay, MetricGroup, MetricKind, MetricOrigin, MetricRow};
pub use table::MetricId;

/// What was read of one thing at one moment, counters and gauges as the source has them. A metric that the source does
/// not have is missing; it is never 0.
pub type Readings = BTreeMap<MetricId, u64>;

/// What two readings make of the time between them, by [`MetricKind`].
pub type Means = BTreeMap<MetricId, f64>;

#[cfg(test)]
mod tests;
