//! The figures of single repeats.

use super::flow::{counted, throughput};
use super::generator::cpu;
use super::hold::{FlowHold, MeasuredRepeats};
use super::latency::latencies;
use crate::summary::repeat::FlowRepeat;
use crate::summary::{FlowSummary, Summary, TrialSummary};
use kgauge_results::folder::{RepeatRead, RunRead};

/// Every repeat that counts, flow by flow.
pub(in crate::summary) fn flow_repeats(run: &RunRead, summary: &Summary) -> Vec<FlowRepeat> {
    let of_trial = |trial: &TrialSummary| {
        let measured = MeasuredRepeats::of(run.repeats_of(trial.index).collect());
        let of_flow = |flow: &FlowSummary| {
            let repeats = measured.repeats.iter();
            repeats
                .filter_map(|repeat| one(trial, flow, repeat))
                .collect::<Vec<_>>()
        };
        trial.flows.iter().flat_map(of_flow).collect::<Vec<_>>()
    };
    summary.trials.iter().flat_map(of_trial).collect()
}

fn one(trial: &TrialSummary, flow: &FlowSummary, repeat: &RepeatRead) -> Option<FlowRepeat> {
    let holds = [FlowHold::of(repeat, flow.index)?];
    let alone = MeasuredRepeats {
        attempts: vec![repeat],
        repeats: vec![repeat],
        partial: false,
    };
    Some(FlowRepeat {
        trial: trial.index,
        flow: flow.index,
        repeat: repeat.key.repeat,
        throughput: throughput(&holds, flow.kind),
        latencies: latencies(&holds),
        records: counted(holds.iter().map(|hold| hold.slice)),
        cpu: cpu(&trial.flows, &alone),
    })
}
