//! What the machine did while a repeat ran, and clients and replicas.

use kgauge_results::metrics::Panel;

/// The machine during one repeat; or clients and replicas.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineTimeline {
    /// What is drawn, panel by panel.
    pub(crate) lines: Vec<MachineLine>,
    /// Seconds per point.
    pub(crate) seconds_per_point: u64,
    /// Which disks hold the target's data, and what could not be seen.
    pub(crate) notes: Vec<String>,
}

/// One figure of the machine over time.
#[derive(Debug, Clone)]
pub(crate) struct MachineLine {
    /// The chart that it belongs to.
    pub(crate) panel: Panel,
    /// Its name there.
    pub(crate) name: String,
    /// (seconds since the start of the repeat, value); without a value there is a gap.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}
