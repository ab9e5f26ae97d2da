//! The tables of the terminal: throughput beside what was published, then latency and cost.

use super::Writer;
use super::style::Ink;
use super::table::{Column, Line, Row, Side, Table};
use crate::format::{self, NOTHING};
use crate::view::{Counts, Figure, Flow, Metric, Percentile, Scenario, Trial, View};

/// Marks a latency of a closed loop.
const CLOSED_MARK: &str = "*";
/// Marks a latency that a late generator measured.
const LATE_MARK: &str = "!";
/// Marks a percentile with too few samples beyond it.
const FEW_MARK: &str = "~";
/// Between the two CPU figures.
const CPU_MARK: &str = "|";

/// Writes both tables and explains the marks that they use.
pub(super) fn write(writer: &mut Writer, view: &View) {
    writer.gap();
    write_table(writer, &throughput(view));
    let latency = latency(view);
    if latency.rows.iter().any(|row| matches!(row, Row::Cells(_))) {
        writer.gap();
        write_table(writer, &latency);
        write_marks(writer, view, &latency);
    }
}

fn write_table(writer: &mut Writer, table: &Table) {
    for line in table.lines(writer.style.columns()) {
        let line = match line {
            Line::Head(text) | Line::Group(text) => writer.style.paint(Ink::Strong, &text),
            Line::Rule(text) => writer.style.paint(Ink::Soft, &text),
            Line::Cells(text) => text,
        };
        writer.line(line);
    }
}

fn throughput(view: &View) -> Table {
    let column = |head, side, rank| Column { head, side, rank };
    let columns = vec![
        column("throughput", Side::Left, 0),
        column("records/s", Side::Right, 0),
        column("", Side::Left, 3),
        column("MB/s", Side::Right, 1),
        column("published", Side::Right, 4),
        column("measured/published", Side::Left, 2),
        column("failed", Side::Right, 0),
    ];
    let rows = rows(view, |flow| {
        let published = flow.published.first();
        vec![
            figure(flow.rate.as_ref(), format::figure),
            spread(flow.rate.as_ref()),
            figure(flow.megabytes.as_ref(), format::short),
            published.map_or(String::new(), |published| {
                let value = format::as_published(published.value);
                match &published.metric {
                    Metric::Rate => value,
                    Metric::Megabytes => format!("{value} MB/s"),
                    Metric::Other(name) => format!("{value} {name}"),
                }
            }),
            published.map_or(String::new(), |published| match published.ratio {
                Some(ratio) => format!("{} x {}", format::short(ratio), published.word),
                None => published.word.clone(),
            }),
            bad(&flow.counts),
        ]
    });
    Table { columns, rows }
}

fn latency(view: &View) -> Table {
    let column = |head, side, rank| Column { head, side, rank };
    let columns = vec![
        column("response", Side::Left, 0),
        column("p50", Side::Right, 0),
        column("p99", Side::Right, 0),
        column("p99.9", Side::Right, 0),
        column("max", Side::Right, 0),
        column("CPU ns/record", Side::Right, 1),
    ];
    let rows = rows(view, |flow| {
        let response = flow.latency.response.as_ref();
        let at = |quantile| {
            response.map_or(NOTHING.to_owned(), |found| {
                percentile(flow, found.at(quantile))
            })
        };
        vec![
            at(0.5),
            at(0.99),
            at(0.999),
            response.map_or(NOTHING.to_owned(), |found| {
                format!(
                    "{}{}",
                    format::nanoseconds(found.max_ns as f64),
                    marks(flow)
                )
            }),
            cpu(flow),
        ]
    });
    Table { columns, rows }
}

/// One row for each flow of each trial. A scenario with one trial of one flow is one row; otherwise its
/// name heads the rows.
fn rows(view: &View, cells: impl Fn(&Flow) -> Vec<String>) -> Vec<Row> {
    let mut rows = Vec::new();
    for scenario in &view.scenarios {
        let alone = matches!(scenario.trials.as_slice(), [trial] if trial.flows.len() < 2);
        if !alone {
            rows.push(Row::Group(scenario.name.clone()));
        }
        for trial in &scenario.trials {
            if let Some(reason) = &trial.missing {
                rows.push(Row::Group(format!("{}: {reason}", trial.name)));
            }
            for flow in &trial.flows {
                let mut row = vec![row_name(scenario, trial, flow, alone)];
                row.extend(cells(flow));
                rows.push(Row::Cells(row));
            }
        }
    }
    rows
}

fn row_name(scenario: &Scenario, trial: &Trial, flow: &Flow, alone: bool) -> String {
    match (alone, scenario.trials.len(), trial.flows.len()) {
        (true, ..) => scenario.name.clone(),
        (_, 1, _) => format!("  {}", flow.name),
        (_, _, 1) => format!("  {}", trial.name),
        _ => format!("  {}, {}", trial.name, flow.name),
    }
}

fn figure(figure: Option<&Figure>, write: fn(f64) -> String) -> String {
    figure.map_or(NOTHING.to_owned(), |figure| write(figure.mean))
}

fn spread(figure: Option<&Figure>) -> String {
    figure
        .and_then(|figure| Some(format::plus_minus(figure.half()?, figure.mean)))
        .unwrap_or_default()
}

/// CPU nanoseconds per record, generator | target.
fn cpu(flow: &Flow) -> String {
    match (&flow.cpu_ns_generator, &flow.cpu_ns_target) {
        (None, None) => String::new(),
        (generator, target) => format!(
            "{} | {}",
            figure(generator.as_ref(), format::short),
            figure(target.as_ref(), format::short)
        ),
    }
}

/// What went wrong, in one cell; empty when nothing did.
fn bad(counts: &Counts) -> String {
    let parts = [
        (counts.failed, "failed"),
        (counts.unknown, "unknown"),
        (counts.skipped, "skipped"),
        (counts.late, "late"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(value, _)| *value > 0)
        .map(|(value, word)| format!("{} {word}", format::count(*value)))
        .collect();
    parts.join(", ")
}

fn percentile(flow: &Flow, found: Option<&Percentile>) -> String {
    let Some(found) = found else {
        return NOTHING.to_owned();
    };
    let few = if found.few { FEW_MARK } else { "" };
    format!(
        "{}{few}{}",
        format::nanoseconds(found.ns as f64),
        marks(flow)
    )
}

/// The marks that a flow's latencies must not be printed without.
fn marks(flow: &Flow) -> String {
    let closed = if flow.closed.is_some() {
        CLOSED_MARK
    } else {
        ""
    };
    let late = if flow.late.is_some() { LATE_MARK } else { "" };
    format!("{closed}{late}")
}

/// Explains the marks that the table uses.
fn write_marks(writer: &mut Writer, view: &View, table: &Table) {
    let used = |mark: &str| {
        table.rows.iter().any(|row| match row {
            Row::Cells(cells) => cells.iter().skip(1).any(|cell| cell.contains(mark)),
            Row::Group(_) => false,
        })
    };
    let words = [
        (
            CLOSED_MARK,
            "closed loop: records in flight / throughput (Little's law), not the broker's latency",
        ),
        (
            LATE_MARK,
            "the generator was late: this is partly its own delay",
        ),
        (FEW_MARK, "fewer than 100 samples lie beyond it"),
        (
            CPU_MARK,
            "CPU: processor time of the generator | of the target",
        ),
    ];
    for (mark, words) in words.into_iter().filter(|(mark, _)| used(mark)) {
        writer.sentence(Some(Ink::Caution), words, &format!("{mark} "), "  ");
    }
    let flows = || {
        let trials = view.scenarios.iter().flat_map(|scenario| &scenario.trials);
        trials.flat_map(|trial| trial.flows.iter().map(move |flow| (trial, flow)))
    };
    for (trial, flow) in flows() {
        if let Some(late) = &flow.late {
            let place = format!("{}, {}: ", trial.name, flow.name);
            writer.sentence(Some(Ink::Caution), late, &place, "  ");
        }
    }
}
