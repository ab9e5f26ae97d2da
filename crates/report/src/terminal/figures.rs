//! The tables with all figures: throughput with published figures, then latency and cost.

use kgauge_analyze::statistics::{Spread, Steadiness};
use kgauge_analyze::summary::{
    CpuSummary, Percentile, PublishedComparison, PublishedStatus, SteadyFigure,
};
use kgauge_results::Quantile;

use super::Writer;
use super::style::Ink;
use super::table::{Alignment, Column, TableLine, TableRow, TextTable};
use crate::format::{self, NOTHING, ONE_REPEAT};
use crate::view::{
    Flow, ReportView, SHOWN_PERCENTILES, ScenarioView, TrialView, published as text,
};

/// Marks a latency of a closed loop.
const CLOSED_MARK: &str = "*";
/// Marks a latency with a delay that is not the target's.
pub(super) const LATE_MARK: &str = "!";
/// Marks a percentile with too few samples beyond it.
pub(super) const FEW_MARK: &str = "~";
/// Marks every figure of a flow that was measured while the target was not steady.
pub(super) const NOT_STEADY_MARK: &str = "?";
/// Marks every figure of a flow that lost an agent.
pub(super) const LOST_MARK: &str = "†";
/// Marks a time that is smaller than the error of the two clocks that it compares.
pub(super) const CLOCKS_MARK: &str = "≲";
/// Marks a time of requests, where a flow has no time of records.
const REQUEST_MARK: &str = "°";
/// Between the two CPU figures.
const CPU_MARK: &str = "|";

/// Writes both tables and explains the marks that they use.
pub(super) fn write(writer: &mut Writer, view: &ReportView) {
    let (throughput, latency) = (throughput(view), latency(view));
    if !throughput.has_cells() {
        return;
    }
    writer.gap();
    write_table(writer, &throughput);
    writer.gap();
    write_table(writer, &latency);
    write_marks(writer, view, &latency);
}

pub(super) fn write_table(writer: &mut Writer, table: &TextTable) {
    for line in table.lines(writer.style.columns()) {
        let line = match line {
            TableLine::Head(text) | TableLine::Group(text) => {
                writer.style.paint(Ink::Strong, &text)
            }
            TableLine::Rule(text) => writer.style.paint(Ink::Soft, &text),
            TableLine::Cells(text) => text,
        };
        writer.line(line);
    }
}

/// Records and megabytes per second, with published figures and how those of Apache Kafka compare with them.
pub(crate) fn throughput(view: &ReportView) -> TextTable {
    let columns = vec![
        Column::new("throughput", Alignment::Left, 0),
        Column::new("records/s", Alignment::Right, 0),
        Column::joined(3),
        Column::new("MB/s", Alignment::Right, 1),
        Column::new("published", Alignment::Right, 4),
        Column::new("measured/published", Alignment::Left, 2),
        Column::new("failed", Alignment::Right, 0),
    ];
    let rows = rows(view, |_, flow| {
        let mut all = flow.published();
        let published = all.find(|found| text::metric(found) == "throughput");
        let published = published.or_else(|| flow.published().next());
        vec![
            flow.rate().map_or(NOTHING.to_owned(), |rate| {
                format!(
                    "{}{}",
                    format::figure(rate.mean),
                    doubts(flow, SteadyFigure::Throughput)
                )
            }),
            flow.rate()
                .map(|rate| format::spread(rate.mean, rate.ci95))
                .unwrap_or_default(),
            figure(flow.megabytes().as_ref(), format::short),
            published.map_or(String::new(), |published| {
                // The head of the column has the usual unit.
                let value = text::value(published);
                let bare = value.strip_suffix(" records/s").map(str::to_owned);
                bare.unwrap_or_else(|| format!("{} {value}", statistic(published)))
            }),
            published
                .filter(|_| view.target.is_kafka)
                .map_or(String::new(), beside),
            failures(flow),
        ]
    });
    TextTable { columns, rows }
}

/// `p99` of `end-to-end.p99`: the row has the rest.
fn statistic(published: &PublishedComparison) -> &str {
    let metric = text::metric(published);
    metric
        .split_once('.')
        .map_or(metric, |(_, statistic)| statistic)
}

/// `6.96×`; with the status where the ratio does not show it.
fn beside(published: &PublishedComparison) -> String {
    let word = text::status(published);
    match (published.ratio, published.word) {
        (Some(ratio), PublishedStatus::Higher | PublishedStatus::Lower) => {
            format!("{}×", format::short(ratio))
        }
        (Some(ratio), _) => format!("{}×, {word}", format::short(ratio)),
        (None, _) => word.to_owned(),
    }
}

/// Percentiles with their marks, and what a record cost.
pub(crate) fn latency(view: &ReportView) -> TextTable {
    let columns = vec![
        Column::new("latency", Alignment::Left, 0),
        Column::new("p50", Alignment::Right, 0),
        Column::joined(2),
        Column::new("p99", Alignment::Right, 0),
        Column::joined(0),
        Column::new("p99.9", Alignment::Right, 0),
        Column::joined(1),
        Column::new("max", Alignment::Right, 3),
        Column::new("Little", Alignment::Right, 0),
        Column::new("CPU", Alignment::Right, 4),
    ];
    let rows = rows(view, |trial, flow| {
        let latency = flow.latency();
        let found = |quantile| latency.and_then(|found| found.times.percentile(quantile));
        // What a closed loop's buffer takes is not worth an interval.
        let is_open = !flow.summary.closed_loop;
        let spread = |quantile| {
            let found = found(quantile).filter(|_| is_open);
            // One cell of a row is enough to say that there is none.
            let found =
                found.filter(|found| found.interval().is_some() || quantile == Quantile::P99);
            let spread =
                |found: &Percentile| format::spread(found.value_ns as f64, found.interval());
            found.map(spread).unwrap_or_default()
        };
        let largest = latency.map_or(NOTHING.to_owned(), |found| {
            let max_ns = found.times.max_ns as f64;
            let clocks = clocks(flow, found.times.max_ns);
            format!("{}{clocks}{}", format::nanoseconds(max_ns), marks(flow))
        });
        let [p50, p99, p99_9] = SHOWN_PERCENTILES.map(|at| percentile(flow, found(at)));
        let spreads = SHOWN_PERCENTILES.map(spread);
        let [p50_spread, p99_spread, p99_9_spread] = spreads;
        // CPU covers the whole trial: the row of its first flow has it.
        let first = trial
            .flows
            .first()
            .is_some_and(|first| first.name() == flow.name());
        let cpu = if first {
            cpu(&trial.summary.cpu)
        } else {
            String::new()
        };
        vec![
            p50,
            p50_spread,
            p99,
            p99_spread,
            p99_9,
            p99_9_spread,
            largest,
            residual(flow),
            cpu,
        ]
    });
    TextTable { columns, rows }
}

/// One row for each flow of each measured trial. A scenario with one trial of one flow is one row;
/// otherwise its name heads the rows.
fn rows(view: &ReportView, cells: impl Fn(&TrialView, &Flow) -> Vec<String>) -> Vec<TableRow> {
    let mut rows = Vec::new();
    for scenario in &view.scenarios {
        let measured = || {
            scenario
                .trials
                .iter()
                .filter(|trial| trial.missing.is_none())
        };
        let alone = matches!(scenario.trials.as_slice(), [trial] if trial.flows.len() < 2);
        if !alone && measured().next().is_some() {
            rows.push(TableRow::Group(match &scenario.factor {
                Some(factor) => format!("{}: {factor}", scenario.name),
                None => scenario.name.clone(),
            }));
        }
        for trial in measured() {
            for flow in &trial.flows {
                let mut row = vec![row_name(scenario, trial, flow, alone)];
                row.extend(cells(trial, flow));
                rows.push(TableRow::Cells(row));
            }
        }
    }
    rows
}

fn row_name(scenario: &ScenarioView, trial: &TrialView, flow: &Flow, alone: bool) -> String {
    match (alone, scenario.trials.len(), trial.flows.len()) {
        (true, ..) => scenario.name.clone(),
        (_, 1, _) => format!("  {}", flow.name()),
        (_, _, 1) => format!("  {}", trial.short),
        _ => format!("  {}, {}", trial.short, flow.name()),
    }
}

pub(super) fn figure(figure: Option<&Spread>, write: fn(f64) -> String) -> String {
    figure.map_or(NOTHING.to_owned(), |figure| write(figure.mean))
}

/// How far Little's law is missed: a closed loop's times are never printed without it.
fn residual(flow: &Flow) -> String {
    match (flow.summary.closed_loop, flow.residual()) {
        (false, _) => String::new(),
        (true, None) => "unknown".to_owned(),
        (true, Some(residual)) => format::percent(residual.abs()),
    }
}

/// CPU time per record, generator | target.
fn cpu(cpu: &CpuSummary) -> String {
    match (
        &cpu.generator_threads_ns_per_record,
        &cpu.target_ns_per_record,
    ) {
        (None, None) => String::new(),
        (generator, target) => format!(
            "{} {CPU_MARK} {}",
            figure(generator.as_ref(), format::nanoseconds),
            figure(target.as_ref(), format::nanoseconds)
        ),
    }
}

/// What went wrong, in one cell; empty when nothing did.
pub(super) fn failures(flow: &Flow) -> String {
    let failures = flow.failures();
    let parts = failures.map(|(count, what)| format!("{} {what}", format::count(count)));
    parts.collect::<Vec<_>>().join(", ")
}

pub(super) fn percentile(flow: &Flow, found: Option<&Percentile>) -> String {
    let Some(found) = found else {
        return NOTHING.to_owned();
    };
    let few = if found.few { FEW_MARK } else { "" };
    format!(
        "{}{few}{}{}",
        format::nanoseconds(found.value_ns as f64),
        clocks(flow, found.value_ns),
        marks(flow)
    )
}

/// The mark of a time that two clocks cannot tell from nothing.
fn clocks(flow: &Flow, value_ns: u64) -> &'static str {
    match flow.is_below_clocks(value_ns) {
        true => CLOCKS_MARK,
        false => "",
    }
}

/// The marks that a flow's latencies must not be printed without.
fn marks(flow: &Flow) -> String {
    let closed = if flow.summary.closed_loop {
        CLOSED_MARK
    } else {
        ""
    };
    let late = if flow.late().is_some() { LATE_MARK } else { "" };
    let request = match flow.latency() {
        Some(latency) if !latency.kind.is_headline() => REQUEST_MARK,
        _ => "",
    };
    format!(
        "{closed}{late}{}{request}",
        doubts(flow, SteadyFigure::Latency)
    )
}

/// The marks that such a figure of a flow carries.
pub(super) fn doubts(flow: &Flow, figure: SteadyFigure) -> String {
    let not_steady = match flow.summary.steadiness_of(figure) {
        Steadiness::Steady => "",
        _ => NOT_STEADY_MARK,
    };
    let lost = if flow.summary.agents_lost {
        LOST_MARK
    } else {
        ""
    };
    format!("{not_steady}{lost}")
}

/// The marks that a table uses, each with what it means.
pub(crate) fn explanations(
    table: &TextTable,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let used = |mark: &str| {
        table.rows.iter().any(|row| match row {
            TableRow::Cells(cells) => cells.iter().skip(1).any(|cell| cell.contains(mark)),
            TableRow::Group(_) => false,
        })
    };
    let words = [
        (
            CLOSED_MARK,
            "closed loop at full speed: records in flight / throughput (Little's law), not broker \
             latency; `Little` is the law's residual",
        ),
        (
            LATE_MARK,
            "sent late for reasons other than the target: the latency includes that delay",
        ),
        (
            NOT_STEADY_MARK,
            "the target was not steady (warming up, slowing down or shifting), or varied too much to tell",
        ),
        (
            LOST_MARK,
            "an agent was lost: what it would have sent or read is missing",
        ),
        (FEW_MARK, "fewer than 100 samples lie beyond it"),
        (
            CLOCKS_MARK,
            "smaller than the error of the two agents' clocks that it compares",
        ),
        (
            REQUEST_MARK,
            "request round trip including the wait for data, not per record",
        ),
        (CPU_MARK, "CPU time per record, generator | target"),
        (ONE_REPEAT, "one repeat: no interval"),
    ];
    words.into_iter().filter(move |(mark, _)| used(mark))
}

/// Explains the marks that the table uses.
fn write_marks(writer: &mut Writer, view: &ReportView, table: &TextTable) {
    // A column that did not fit takes its mark with it.
    let shown: Vec<String> = table.texts(writer.style.columns());
    let is_shown = |mark: &str| shown.iter().any(|line| line.contains(mark));
    for (mark, words) in explanations(table).filter(|(mark, _)| is_shown(mark)) {
        writer.sentence(Some(Ink::Caution), words, &format!("{mark} "), "  ");
    }
    let flows = || {
        let trials = view.scenarios.iter().flat_map(|scenario| &scenario.trials);
        trials.flat_map(|trial| trial.flows.iter().map(move |flow| (trial, flow)))
    };
    for (trial, flow) in flows() {
        if let Some(late) = flow.late() {
            let place = format!("{}, {}: ", trial.name, flow.name());
            writer.sentence(Some(Ink::Caution), &late.sentence, &place, "  ");
        }
        if let Some(parts) = flow.parts() {
            let place = format!("{}, {}: ", trial.name, flow.name());
            writer.sentence(None, &parts, &place, "  ");
        }
    }
}
