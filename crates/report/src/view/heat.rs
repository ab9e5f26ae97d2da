//! How the times of a flow fell, span by span.

use kgauge_results::TimeKind;

/// Counts of times by when and by how long: of one flow, all stages of all repeats that count together.
#[derive(Debug, Clone)]
pub(crate) struct HeatMap {
    /// The flow's name.
    pub(crate) flow: String,
    /// Which time: the one that its tables show.
    pub(crate) kind: TimeKind,
    /// Repeats that are in it.
    pub(crate) repeats: usize,
    /// Seconds that one column covers.
    pub(crate) seconds_per_column: u64,
    /// Borders of the rows in nanoseconds, even on a log axis; one more than there are rows.
    pub(crate) borders_ns: Vec<f64>,
    /// Column by column from the start of a repeat, row by row from below.
    pub(crate) counts: Vec<Vec<u64>>,
}
