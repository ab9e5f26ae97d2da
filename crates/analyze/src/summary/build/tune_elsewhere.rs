//! What a winner changes besides the figure of its goal: throughput, latency, CPU, memory.

use std::collections::BTreeMap;

use kgauge_results::folder::RunRead;
use kgauge_results::run::{ClientSample, EvidenceKind, RepeatKey, Subject, TunePhase};
use kgauge_scenario::{AbMetric, FigureName, FlowPlan, Metric, Shape, Statistic, Trial, TunePlan};

use super::ab::repeat_figure;
use crate::sequential::ratio_interval;
use crate::statistics::{FigureRatio, Interval, Spread, mean};
use crate::summary::tune::{SideEffect, SideFigure};
use crate::tuning::OTHER_BLOCKS;

/// In the order in which reports have them.
const FIGURES: [SideFigure; 7] = [
    SideFigure::Throughput,
    SideFigure::LatencyP50,
    SideFigure::LatencyP99,
    SideFigure::BrokerCpu,
    SideFigure::ClientCpu,
    SideFigure::ClientMemory,
    SideFigure::BrokerMemory,
];

/// The figures of a proof, and those at the second load.
pub(super) fn elsewhere(
    run: &RunRead,
    plan: &TunePlan,
    proof: &TunePhase,
    other: Option<&TunePhase>,
) -> Vec<SideEffect> {
    let mut found = Vec::new();
    for (phase, is_second) in [(Some(proof), false), (other, true)] {
        let Some(phase) = phase else { continue };
        for figure in FIGURES {
            let is_shown = figure != SideFigure::BrokerMemory || has_own_brokers(run, phase);
            found.extend(effect(run, phase, figure, is_second).filter(|_| is_shown));
        }
    }
    // The goal's own figure is the proof's.
    found.retain(|one| one.second_load || !is_goal(plan, one.figure));
    found
}

fn is_goal(plan: &TunePlan, figure: SideFigure) -> bool {
    match (&plan.metric, figure) {
        (AbMetric::TargetCpu, SideFigure::BrokerCpu)
        | (AbMetric::GeneratorCpu, SideFigure::ClientCpu) => true,
        (AbMetric::OfFlow(of), SideFigure::Throughput) => of.metric == Metric::Throughput,
        (AbMetric::OfFlow(of), SideFigure::LatencyP99) => {
            of.metric == Metric::Latency(Statistic::Quantile(990_000))
        }
        _ => false,
    }
}

/// Whether the brokers of the first arm and of the last one are other processes.
fn has_own_brokers(run: &RunRead, phase: &TunePhase) -> bool {
    let clusters = [phase.arms.first(), phase.arms.last()].map(|arm| {
        let plan = run.plan.as_ref()?;
        let trial = plan.trials.get(arm?.trial? as usize)?;
        Some(&trial.cluster)
    });
    matches!(clusters, [Some(today), Some(winner)] if today != winner)
}

/// The first arm against the last one, block by block.
fn effect(
    run: &RunRead,
    phase: &TunePhase,
    figure: SideFigure,
    is_second: bool,
) -> Option<SideEffect> {
    let last = phase.arms.len().checked_sub(1)?;
    let value = |arm: usize, block: u32| {
        let mut measures = phase.of_arm(arm).filter(|one| one.block == block);
        let key = RepeatKey {
            trial: phase.arms.get(arm)?.trial?,
            repeat: measures.next()?.repeat,
        };
        measured(run, key, figure).filter(|value| value.is_finite() && *value > 0.0)
    };
    let pair = |block: u32| value(0, block).zip(value(last, block));
    let pairs: Vec<(f64, f64)> = (0..phase.blocks_started()).filter_map(pair).collect();
    let logs: Vec<f64> = pairs
        .iter()
        .map(|(today, winner)| (winner / today).ln())
        .collect();
    // A proof ends by its answer, and a second load with more blocks by its conditions. Only the usual number of blocks
    // at the second load does not depend on what was measured.
    let interval = match is_second && pairs.len() <= OTHER_BLOCKS {
        true => Spread::of(&logs)
            .and_then(|spread| spread.ci95)
            .map(|ends| Interval {
                low: ends.low.exp(),
                high: ends.high.exp(),
            }),
        false => ratio_interval(&logs),
    };
    let ratio = mean(logs.iter().copied()).map(f64::exp);
    Some(SideEffect {
        figure,
        second_load: is_second,
        today: mean(pairs.iter().map(|(today, _)| *today))?,
        winner: mean(pairs.iter().map(|(_, winner)| *winner))?,
        ratio: ratio
            .zip(interval)
            .map(|(ratio, interval)| FigureRatio { ratio, interval }),
    })
}

/// A figure of one repeat.
fn measured(run: &RunRead, key: RepeatKey, figure: SideFigure) -> Option<f64> {
    let of_trial = |metric: &dyn Fn(&Trial) -> Option<AbMetric>| {
        let trial = run.plan.as_ref()?.trials.get(key.trial as usize)?;
        let repeat = run.repeats.iter().find(|repeat| repeat.key == key)?;
        repeat_figure(trial, repeat, &metric(trial)?)
    };
    match figure {
        SideFigure::Throughput => of_trial(&throughput),
        SideFigure::LatencyP50 => of_trial(&|trial| latency(trial, 500_000)),
        SideFigure::LatencyP99 => of_trial(&|trial| latency(trial, 990_000)),
        SideFigure::BrokerCpu => of_trial(&|_| Some(AbMetric::TargetCpu)),
        SideFigure::ClientCpu => of_trial(&|_| Some(AbMetric::GeneratorCpu)),
        SideFigure::ClientMemory => client_memory(run, key),
        SideFigure::BrokerMemory => broker_memory(run, key),
    }
}

/// Throughput of the first sending flow, if it runs at full speed: others have the rate of their schedule.
fn throughput(trial: &Trial) -> Option<AbMetric> {
    let mut sends = trial.flows.iter().filter_map(FlowPlan::produces);
    let flow = sends.next().filter(|flow| flow.shape == Shape::Max)?;
    Some(AbMetric::OfFlow(FigureName {
        flow: flow.name.clone(),
        metric: Metric::Throughput,
    }))
}

/// The response of the first flow that sends, unless it is time in the flow's own buffer.
fn latency(trial: &Trial, quantile: u32) -> Option<AbMetric> {
    let flow = trial.flows.iter().find(|flow| flow.produces().is_some())?;
    let statistic = Statistic::Quantile(quantile);
    let figure = FigureName {
        flow: flow.name().to_owned(),
        metric: match flow {
            FlowPlan::Echo(_) => Metric::EndToEnd(statistic),
            FlowPlan::Produce(_) | FlowPlan::Consume(_) => Metric::Latency(statistic),
        },
    };
    (!trial.is_buffer_time(&figure)).then_some(AbMetric::OfFlow(figure))
}

/// What a producer's batches hold on average, of all flows together.
fn client_memory(run: &RunRead, key: RepeatKey) -> Option<f64> {
    let mut ends: BTreeMap<u16, [ClientSample; 2]> = BTreeMap::new();
    for one in run.evidence.iter().filter(|one| one.repeat == Some(key)) {
        if let (Subject::Flow { flow }, EvidenceKind::Client(sample)) = (&one.subject, &one.kind) {
            let [_, last] = ends.entry(*flow).or_insert([*sample; 2]);
            *last = *sample;
        }
    }
    let held = |[first, last]: &[ClientSample; 2]| {
        let looks = last.looks.checked_sub(first.looks)?;
        let bytes = last.buffer_bytes_sum.checked_sub(first.buffer_bytes_sum)?;
        (looks > 0).then(|| bytes as f64 / looks as f64)
    };
    let total: f64 = ends.values().filter_map(held).sum();
    (total > 0.0).then_some(total)
}

/// The largest resident memory of the brokers' processes on this machine, all together.
fn broker_memory(run: &RunRead, key: RepeatKey) -> Option<f64> {
    let mut largest: Vec<(&Subject, u64)> = Vec::new();
    let seen = run.evidence.iter().filter(|one| one.repeat == Some(key));
    for one in seen {
        let EvidenceKind::Memory { resident_bytes } = &one.kind else {
            continue;
        };
        if !matches!(one.subject, Subject::Target { .. }) {
            continue;
        }
        match largest
            .iter_mut()
            .find(|(subject, _)| **subject == one.subject)
        {
            Some((_, most)) => *most = (*most).max(*resident_bytes),
            None => largest.push((&one.subject, *resident_bytes)),
        }
    }
    let total: u64 = largest.iter().map(|(_, bytes)| bytes).sum();
    (total > 0).then_some(total as f64)
}
