//! Chooses and fills the picture of an answer.

use kgauge_analyze::answer::{
    AnswerFacts, AnswerFigure, FactorValues, FigureCourse, ScenarioAnswer, TrialEffect,
};
use kgauge_analyze::compare::FigureKind;
use kgauge_analyze::statistics::{Interval, Steadiness};
use kgauge_analyze::summary::{FlowSummary, PublishedStatus, Summary, TrialSummary};
use kgauge_results::run::TargetKind;

use crate::text::answer::{lead_of, trend_lead};
use crate::text::trial::{flows, has_a_name, label, setting};
use crate::view::{AnswerBar, AnswerPicture};

/// More bars than these show nothing at a glance.
const BARS_MAX: usize = 24;

/// The figure that a picture shows.
#[derive(Clone, Copy, PartialEq)]
struct ShownFigure<'a> {
    flow: Option<&'a str>,
    figure: FigureKind,
}

/// One trial's value of it.
struct ShownValue {
    trial: u32,
    value: f64,
    interval: Option<Interval>,
    is_best: bool,
    is_base: bool,
}

/// The picture of an answer.
pub(super) fn of(answer: &ScenarioAnswer, summary: &Summary) -> AnswerPicture {
    match &answer.facts {
        AnswerFacts::HowMuch { figures } => how_much(answer, summary, figures),
        AnswerFacts::Effect { comparisons } => effect(answer, summary, comparisons),
        AnswerFacts::Trend {
            kept_rates: Some(_),
            ..
        } => AnswerPicture::Curve,
        AnswerFacts::Trend {
            setting: path,
            figures,
            ..
        } => {
            let trials: Vec<&TrialSummary> = trials(answer, summary).collect();
            let path = path.as_deref().unwrap_or_default();
            let shown = trend_lead(figures, &setting(path, &flows(&trials)));
            course(answer, summary, shown)
        }
        AnswerFacts::Best { figures } => course(answer, summary, FigureCourse::main_of(figures)),
        AnswerFacts::Outage {
            outage: Some(_), ..
        } => AnswerPicture::Outage,
        AnswerFacts::Outage { outage: None, .. } | AnswerFacts::Loss { .. } => AnswerPicture::None,
    }
}

/// The main figure of the target: p99 for an open loop.
fn how_much(answer: &ScenarioAnswer, summary: &Summary, figures: &[AnswerFigure]) -> AnswerPicture {
    let of = |kind: FigureKind| figures.iter().find(|one| one.figure == kind);
    let is_kept = trials(answer, summary).all(|trial| {
        let mut flows = trial.flows.iter().filter(|flow| flow.shape.is_some());
        flows.all(|flow| flow.has_kept_rate())
    });
    let latency = of(FigureKind::LatencyP99).filter(|_| is_kept);
    let Some(main) = latency.or_else(|| of(FigureKind::Throughput)) else {
        return AnswerPicture::None;
    };
    let shown = ShownFigure {
        flow: main.flow.as_deref(),
        figure: main.figure,
    };
    // Of one trial every flow has its bar, as far as they have the same figure.
    let is_single = answer.trials.len() == 1;
    let same = figures.iter().filter(|one| one.figure == main.figure);
    let same = same.filter(|one| is_single || one.flow == main.flow);
    let bars = same.map(|one| {
        let value = ShownValue {
            trial: one.trial,
            value: one.value,
            interval: one.interval,
            is_best: false,
            is_base: false,
        };
        let flow = one.flow.as_deref();
        let mut bar = bar(summary, ShownFigure { flow, ..shown }, &value);
        if let (true, Some(flow)) = (is_single, flow) {
            bar.label = flow.to_owned();
        }
        bar
    });
    bars_of(answer, summary, shown, bars.collect())
}

fn effect(
    answer: &ScenarioAnswer,
    summary: &Summary,
    comparisons: &[TrialEffect],
) -> AnswerPicture {
    let Some(main) = lead_of(comparisons) else {
        return uncompared(answer, summary, comparisons);
    };
    let shown = ShownFigure {
        flow: main.flow.as_deref(),
        figure: main.figure,
    };
    let mut values: Vec<ShownValue> = Vec::new();
    for comparison in comparisons {
        let mut figures = comparison.figures.iter();
        let found = figures.find(|one| one.figure == main.figure && one.flow == main.flow);
        let (Some(found), Some(base)) = (found, comparison.base) else {
            continue;
        };
        let both = [
            (base, found.base, found.base_interval, true),
            (comparison.trial, found.value, found.value_interval, false),
        ];
        for (trial, value, interval, is_base) in both {
            if values.iter().all(|known| known.trial != trial) {
                values.push(ShownValue {
                    trial,
                    value,
                    interval,
                    is_best: false,
                    is_base,
                });
            }
        }
    }
    let bars = values.iter().map(|value| bar(summary, shown, value));
    bars_of(answer, summary, shown, bars.collect())
}

/// Trials that could not be compared, next to those that they were to be compared with: the throughput of their first
/// flow, unless the load set it.
fn uncompared(
    answer: &ScenarioAnswer,
    summary: &Summary,
    comparisons: &[TrialEffect],
) -> AnswerPicture {
    let is_base = |trial: &TrialSummary| {
        let mut comparisons = comparisons.iter();
        comparisons.any(|one| one.base == Some(trial.index))
    };
    let trials = summary.trials.iter();
    let trials = trials.filter(|one| answer.trials.contains(&one.index) || is_base(one));
    let flows = trials.filter_map(|trial| Some((trial, trial.flows.first()?)));
    let flows: Vec<(&TrialSummary, &FlowSummary)> = flows.collect();
    let Some((_, first)) = flows.first() else {
        return AnswerPicture::None;
    };
    if flows.iter().any(|(_, flow)| flow.has_kept_rate()) {
        return AnswerPicture::None;
    }
    let shown = ShownFigure {
        flow: Some(first.name.as_str()),
        figure: FigureKind::Throughput,
    };
    let bars = flows.iter().filter_map(|(trial, flow)| {
        let rate = &flow.throughput.as_ref()?.records_per_s;
        let value = ShownValue {
            trial: trial.index,
            value: rate.mean,
            interval: rate.ci95,
            is_best: false,
            is_base: is_base(trial),
        };
        Some(bar(summary, shown, &value))
    });
    bars_of(answer, summary, shown, bars.collect())
}

fn course(
    answer: &ScenarioAnswer,
    summary: &Summary,
    shown: Option<&FigureCourse>,
) -> AnswerPicture {
    let Some(main) = shown else {
        return AnswerPicture::None;
    };
    let shown = ShownFigure {
        flow: main.flow.as_deref(),
        figure: main.figure,
    };
    let bars = main.points.iter().map(|point| {
        let value = ShownValue {
            trial: point.trial,
            value: point.value,
            interval: point.interval,
            is_best: main.best == Some(point.trial),
            is_base: false,
        };
        bar(summary, shown, &value)
    });
    bars_of(answer, summary, shown, bars.collect())
}

fn trials<'a>(
    answer: &'a ScenarioAnswer,
    summary: &'a Summary,
) -> impl Iterator<Item = &'a TrialSummary> {
    let trials = summary.trials.iter();
    trials.filter(move |trial| answer.trials.contains(&trial.index))
}

fn bars_of(
    answer: &ScenarioAnswer,
    summary: &Summary,
    shown: ShownFigure<'_>,
    bars: Vec<AnswerBar>,
) -> AnswerPicture {
    if bars.is_empty() || bars.len() > BARS_MAX {
        return AnswerPicture::None;
    }
    let trials: Vec<&TrialSummary> = trials(answer, summary).collect();
    let (name, unit, _) = scale(shown.figure);
    let by = FactorValues::path_of(&trials).filter(|path| trials.len() > 1 && !has_a_name(path));
    let by = by.map(|path| format!(" by {}", setting(path, &flows(&trials))));
    let flow = shown
        .flow
        .filter(|_| trials.len() > 1 && flows(&trials).len() > 1);
    let flow = flow.map_or_else(String::new, |flow| format!("{flow} "));
    AnswerPicture::Bars {
        title: format!("{flow}{name}{}", by.unwrap_or_default()),
        unit: unit.to_owned(),
        bars,
    }
}

/// What a figure is called, the unit of its bars, and what its values are divided by.
fn scale(figure: FigureKind) -> (&'static str, &'static str, f64) {
    match figure {
        FigureKind::Capacity => ("capacity", "records/s", 1.0),
        FigureKind::CapacityTypical => ("typical capacity", "records/s", 1.0),
        FigureKind::Throughput => ("records/s", "records/s", 1.0),
        FigureKind::ThroughputBytes => ("MB/s", "MB/s", 1e6),
        FigureKind::PerPrice => ("records for the price", "records", 1.0),
        FigureKind::LatencyP50 => ("p50", "ms", 1e6),
        FigureKind::LatencyP99 => ("p99", "ms", 1e6),
        FigureKind::LatencyP999 => ("p99.9", "ms", 1e6),
        FigureKind::GeneratorCpu => ("generator CPU per record", "µs", 1e3),
        FigureKind::TargetCpu => ("target CPU per record", "µs", 1e3),
        FigureKind::WireBytes => ("bytes on the wire per record", "B", 1.0),
        FigureKind::Lost => ("records lost", "records", 1.0),
    }
}

fn bar(summary: &Summary, shown: ShownFigure<'_>, value: &ShownValue) -> AnswerBar {
    let (_, _, divisor) = scale(shown.figure);
    let mut trials = summary.trials.iter();
    let trial = trials.find(|trial| trial.index == value.trial);
    let published = trial.and_then(|trial| published(summary, trial, shown));
    let mut flows = trial.into_iter().flat_map(|trial| &trial.flows);
    let steady = shown.figure.steady_figure();
    let is_steady = |flow: &FlowSummary| flow.steadiness_of(steady) == Steadiness::Steady;
    let is_of_it = |flow: &FlowSummary| shown.flow.is_none_or(|name| flow.name == name);
    AnswerBar {
        label: trial.map_or_else(String::new, label),
        value: value.value / divisor,
        low: value.interval.map(|ends| ends.low / divisor),
        high: value.interval.map(|ends| ends.high / divisor),
        published: published.map(|published| published / divisor),
        is_best: value.is_best,
        is_base: value.is_base,
        is_steady: flows.all(|flow| !is_of_it(flow) || is_steady(flow)),
    }
}

/// What others published, where the target is Apache Kafka and the figures can be compared.
fn published(summary: &Summary, trial: &TrialSummary, shown: ShownFigure<'_>) -> Option<f64> {
    let kind = summary.target.kind;
    let is_kafka = kind.is_some_and(TargetKind::is_apache_kafka);
    let metric = match shown.figure {
        FigureKind::Throughput => "throughput",
        FigureKind::ThroughputBytes => "throughput.bytes",
        _ => return None,
    };
    let figure = format!("{}.{metric}", shown.flow?);
    let mut all = trial.published.iter().filter(|_| is_kafka);
    let found =
        all.find(|one| one.figure == figure && one.word != PublishedStatus::NotComparable)?;
    Some(found.published)
}
