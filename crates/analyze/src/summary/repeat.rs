//! The figures of single repeats: what the spread of a trial is made of.

use super::flow::{RecordCounts, Throughput};
use super::generator::CpuSummary;
use super::latency::Latencies;
use super::{Summary, build};
use kgauge_results::folder::RunRead;

/// One flow in one of the repeats that count. Figures are of its hold stage.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRepeat {
    /// Position of the trial in the plan.
    pub trial: u32,
    /// Position of the flow in the trial.
    pub flow: u16,
    /// From 0.
    pub repeat: u32,
    /// What it sent or read a second; every spread in it is of one value.
    pub throughput: Option<Throughput>,
    /// Its times.
    pub latencies: Latencies,
    /// Its records by what became of them.
    pub records: RecordCounts,
    /// What a record cost in CPU, all flows of the repeat together.
    pub cpu: CpuSummary,
}

impl Summary {
    /// The figures of each repeat of each flow, in the order of trials, flows and repeats. Made by the
    /// rules of the summary itself.
    pub fn flow_repeats(&self, run: &RunRead) -> Vec<FlowRepeat> {
        build::flow_repeats(run, self)
    }
}
