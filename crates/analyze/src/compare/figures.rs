//! The figures of one trial of one run, as cells of a comparison.

use super::row::{BesidePublished, Caveat, Cell, FigureKind, PublishedFigure};
use crate::statistics::Spread;
use crate::summary::{
    FlowSummary, GeneratorState, LatencySummary, SteadyFigure, Summary, TrialSummary,
};
use kgauge_results::run::{RunStatus, TargetKind};
use kgauge_results::{Quantile, TimeKind};

/// The place of a figure, and its measured value.
pub(crate) struct ComparedFigure {
    /// The flow; `None` for figures of the whole trial.
    pub(crate) flow: Option<String>,
    pub(crate) kind: FigureKind,
    pub(crate) cell: Cell,
    pub(super) published: Option<PublishedFigure>,
}

/// All figures that a trial has, flow by flow, then what a record cost.
pub(crate) fn of_trial(summary: &Summary, trial: &TrialSummary) -> Vec<ComparedFigure> {
    let flows = trial.flows.iter();
    let mut found = flows
        .flat_map(|flow| of_flow(summary, trial, flow))
        .collect::<Vec<_>>();
    let costs = [
        (
            FigureKind::GeneratorCpu,
            &trial.cpu.generator_threads_ns_per_record,
        ),
        (FigureKind::TargetCpu, &trial.cpu.target_ns_per_record),
    ];
    let is_usable = |flow: &FlowSummary| flow.steadiness_of(SteadyFigure::Throughput).is_usable();
    let mut marks = trial_marks(summary, trial);
    marks.extend((!trial.flows.iter().all(is_usable)).then_some(Caveat::NotSteady));
    for (kind, spread) in costs {
        if let Some(spread) = spread {
            found.push(ComparedFigure {
                flow: None,
                kind,
                cell: cell(spread, marks.clone()),
                published: None,
            });
        }
    }
    found.extend(lost(summary, trial));
    found
}

/// Records of a trial that were lost. Unresolved records count too: nothing shows that they arrived.
fn lost(summary: &Summary, trial: &TrialSummary) -> Option<ComparedFigure> {
    let of_flow = |flow: &FlowSummary| {
        let records = &flow.records_all_stages;
        let unresolved = u64::try_from(records.unresolved).unwrap_or(0);
        records.failed + records.indeterminate + unresolved + records.corrupt
    };
    let disagree = trial
        .counted
        .iter()
        .filter(|counted| counted.agrees == Some(false));
    let missing = disagree.map(|counted| {
        let on_broker = counted.on_broker.unwrap_or(counted.acked);
        counted.acked.saturating_sub(on_broker)
    });
    let lost = trial.flows.iter().map(of_flow).sum::<u64>() + missing.sum::<u64>();
    (trial.repeats_measured > 0).then(|| ComparedFigure {
        flow: None,
        kind: FigureKind::Lost,
        cell: Cell {
            estimate: Some(lost as f64),
            missing: None,
            interval: None,
            repeats: trial.repeats_measured,
            bounds: Vec::new(),
            values: Vec::new(),
            values_of_runs: Vec::new(),
            marks: trial_marks(summary, trial),
            published: None,
            against: None,
        },
        published: None,
    })
}

fn of_flow(summary: &Summary, trial: &TrialSummary, flow: &FlowSummary) -> Vec<ComparedFigure> {
    let mut marks = trial_marks(summary, trial);
    let records = &flow.records_all_stages;
    if records.failed > 0 || records.indeterminate > 0 || records.unresolved != 0 {
        marks.push(Caveat::SendsFailed);
    }
    let marks_of = |figure: SteadyFigure| {
        let is_unsteady = !flow.steadiness_of(figure).is_usable();
        let not_steady = is_unsteady.then_some(Caveat::NotSteady);
        marks.iter().copied().chain(not_steady).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    // Figures of the embedded cluster do not compare with those that others published.
    let is_kafka = summary.target.kind.is_some_and(TargetKind::is_apache_kafka);
    let mut push = |kind, cell| {
        let name = format!("{}.{}", flow.name, metric(kind));
        let mut all = trial.published.iter().filter(|_| is_kafka);
        let published = all.find(|found| found.figure == name);
        let mut cell: Cell = cell;
        cell.published = published.map(|found| BesidePublished {
            ratio: found.ratio,
            word: found.word,
        });
        found.push(ComparedFigure {
            flow: Some(flow.name.clone()),
            kind,
            cell,
            published: published.map(|found| PublishedFigure {
                value: found.published,
                text: found.published_text.clone(),
                source: found.source.clone(),
            }),
        });
    };
    let throughput = flow.throughput.as_ref();
    let marks = marks_of(SteadyFigure::Throughput);
    if let Some(throughput) = throughput {
        push(
            FigureKind::Throughput,
            cell(&throughput.records_per_s, marks.clone()),
        );
        if let Some(spread) = per_price(summary, &throughput.records_per_s) {
            push(FigureKind::PerPrice, cell(&spread, marks.clone()));
        }
        push(
            FigureKind::ThroughputBytes,
            cell(&throughput.logical_bytes_per_s, marks.clone()),
        );
    }
    let latencies = &flow.latencies;
    let headline = latencies.get(TimeKind::EndToEnd);
    if let Some(latency) = headline.or_else(|| latencies.get(TimeKind::Response)) {
        let marks = marks_of(SteadyFigure::Latency);
        for (kind, quantile) in [
            (FigureKind::LatencyP50, Quantile::P50),
            (FigureKind::LatencyP99, Quantile::P99),
            (FigureKind::LatencyP999, Quantile::P99_9),
        ] {
            if let Some(cell) = percentile(flow, latency, quantile, &marks) {
                push(kind, cell);
            }
        }
    }
    if let Some(spread) = throughput.and_then(wire_bytes) {
        push(FigureKind::WireBytes, cell(&spread, marks));
    }
    found
}

/// What a scenario calls the figure in `published`.
fn metric(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Throughput => "throughput",
        FigureKind::ThroughputBytes => "throughput.bytes",
        FigureKind::LatencyP50 => "latency.p50",
        FigureKind::LatencyP99 => "latency.p99",
        FigureKind::LatencyP999 => "latency.p99.9",
        // Nothing of the kind can be published in a scenario.
        FigureKind::Capacity
        | FigureKind::CapacityTypical
        | FigureKind::PerPrice
        | FigureKind::GeneratorCpu
        | FigureKind::TargetCpu
        | FigureKind::WireBytes
        | FigureKind::Lost => "",
    }
}

fn percentile(
    flow: &FlowSummary,
    latency: &LatencySummary,
    quantile: Quantile,
    marks: &[Caveat],
) -> Option<Cell> {
    let found = latency.percentile(quantile)?;
    let mut marks = marks.to_vec();
    if flow.closed_loop {
        marks.push(Caveat::ClosedLoop);
    }
    if found.few {
        marks.push(Caveat::FewSamples);
    }
    let mut cell = cell(found.over_repeats.as_ref()?, marks);
    cell.estimate = Some(found.value_ns as f64);
    Some(cell)
}

/// Records for a unit of money, repeat by repeat.
fn per_price(summary: &Summary, records_per_s: &Spread) -> Option<Spread> {
    const SECONDS_PER_HOUR: f64 = 3_600.0;
    let price_per_hour = summary.run.price_per_hour.filter(|price| *price > 0.0)?;
    let each = records_per_s.values.iter();
    let each = each.map(|rate| rate * SECONDS_PER_HOUR / price_per_hour);
    Spread::of(&each.collect::<Vec<_>>())
}

/// Bytes on the wire for a record, repeat by repeat.
fn wire_bytes(throughput: &crate::summary::Throughput) -> Option<Spread> {
    let wire = throughput.wire_bytes_per_s.as_ref()?;
    let records = &throughput.records_per_s.values;
    if wire.values.len() != records.len() {
        return None;
    }
    let each = wire.values.iter().zip(records);
    Spread::of(
        &each
            .map(|(bytes, records)| bytes / records)
            .collect::<Vec<_>>(),
    )
}

fn cell(spread: &Spread, mut marks: Vec<Caveat>) -> Cell {
    if spread.two_modes {
        marks.push(Caveat::TwoModes);
    }
    if spread.n == 1 {
        marks.push(Caveat::OneRepeat);
    }
    marks.sort_unstable();
    Cell {
        estimate: Some(spread.mean),
        missing: None,
        interval: spread.ci95,
        repeats: spread.n,
        bounds: Vec::new(),
        values: spread.values.clone(),
        values_of_runs: Vec::new(),
        marks,
        published: None,
        against: None,
    }
}

fn trial_marks(summary: &Summary, trial: &TrialSummary) -> Vec<Caveat> {
    let mut marks = Vec::new();
    if summary.run.status != RunStatus::Complete {
        marks.push(Caveat::NotFinished);
    }
    if trial.repeats_measured < trial.repeats_planned {
        marks.push(Caveat::RepeatsMissing);
    }
    match trial.generator.word {
        GeneratorState::Limited => marks.push(Caveat::GeneratorLimited),
        GeneratorState::Late | GeneratorState::Crowded => marks.push(Caveat::GeneratorLate),
        GeneratorState::Fine | GeneratorState::Unknown => {}
    }
    marks
}
