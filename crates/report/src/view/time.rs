//! What is shown over time, and against a factor.

use kgauge_results::TimeKind;
use kgauge_results::metrics::PanelSection;
use kgauge_results::run::StageSpan;

use super::{Flow, MachineTimeline};
use crate::chart::AxisUnit;

/// One repeat over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    /// 1 for the first repeat.
    pub(crate) repeat: u64,
    /// Stages, in order.
    pub(crate) stages: Vec<StageSpan>,
    /// Seconds that one point covers: 1, or more where a run was too long to draw each second.
    pub(crate) seconds_per_point: u64,
    /// One per flow.
    pub(crate) flows: Vec<FlowTimeline>,
    /// CPU cores in use over time, by process.
    pub(crate) processes: Vec<ProcessTimeline>,
    /// The machine beside CPU.
    pub(crate) machine: MachineTimeline,
    /// Clients and replicas.
    pub(crate) traffic: MachineTimeline,
    /// The brokers' metrics.
    pub(crate) brokers: MachineTimeline,
    /// What was done to the target, in order.
    pub(crate) faults: Vec<FaultAt>,
    /// Leaders and in-sync replicas that changed, in order.
    pub(crate) changes: Vec<ChangeAt>,
}

impl Timeline {
    /// What is drawn in a section.
    pub(crate) fn of(&self, section: PanelSection) -> &MachineTimeline {
        match section {
            PanelSection::Traffic => &self.traffic,
            PanelSection::Brokers => &self.brokers,
            PanelSection::Machine => &self.machine,
        }
    }
}

/// Leaders or in-sync replicas changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChangeAt {
    /// Seconds since the start of the repeat, when it was seen.
    pub(crate) at_s: f64,
    /// The change as text.
    pub(crate) words: String,
}

/// A fault that begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FaultAt {
    /// Seconds since the start of the repeat.
    pub(crate) at_s: f64,
    /// The fault as text.
    pub(crate) words: String,
    /// False when it ends.
    pub(crate) begins: bool,
}

/// The faults of one repeat.
#[derive(Debug, Clone)]
pub(crate) struct FaultList {
    /// `trial 1, repeat 2`.
    pub(crate) repeat: String,
    /// In order.
    pub(crate) faults: Vec<FaultAt>,
}

/// One flow over time.
#[derive(Debug, Clone)]
pub(crate) struct FlowTimeline {
    /// Its name.
    pub(crate) name: String,
    /// Which time [`FlowTimeline::times`] are of.
    pub(crate) kind: TimeKind,
    /// (seconds since the start of the repeat, records per second around then), rising.
    pub(crate) rates: Vec<(f64, f64)>,
    /// Times of the records of each span, rising.
    pub(crate) times: Vec<TimesAt>,
}

/// The times of one short span.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TimesAt {
    /// Middle of the span, seconds since the start of the repeat.
    pub(crate) at_s: f64,
    /// Median, nanoseconds.
    pub(crate) p50_ns: u64,
    /// 99th percentile.
    pub(crate) p99_ns: u64,
    /// Largest.
    pub(crate) max_ns: u64,
}

/// One process over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessTimeline {
    /// `generator`, `target`.
    pub(crate) name: String,
    /// (seconds, cores).
    pub(crate) cores: Vec<(f64, f64)>,
}

/// Figures against one numeric factor.
#[derive(Debug, Clone)]
pub(crate) struct Sweep<'a> {
    /// The factor's path: `writers.record.size`.
    pub(crate) factor: String,
    /// What the factor's values are.
    pub(crate) unit: AxisUnit,
    /// One per flow.
    pub(crate) flows: Vec<SweepFlow<'a>>,
}

impl Sweep<'_> {
    /// What its user calls the factor: `record.size`, `linger.ms`.
    pub(crate) fn name(&self) -> &str {
        let mut flows = self.flows.iter();
        let of_flow = |flow: &SweepFlow| self.factor.strip_prefix(flow.name)?.strip_prefix('.');
        let path = flows.find_map(of_flow).unwrap_or(&self.factor);
        path.strip_prefix("settings.").unwrap_or(path)
    }

    /// The flow whose rate is varied, where that is the factor.
    pub(crate) fn flow_of_rate(&self) -> Option<&str> {
        let shapes = [".shape.constant", ".shape.poisson"];
        shapes
            .iter()
            .find_map(|shape| self.factor.strip_suffix(shape))
    }
}

/// One flow's figures against the factor.
#[derive(Debug, Clone)]
pub(crate) struct SweepFlow<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The factor's value and the flow there, by rising values.
    pub(crate) points: Vec<(f64, Flow<'a>)>,
}
