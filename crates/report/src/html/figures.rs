//! The figures: throughput with its spread, published figures, failures, CPU per record.

use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::CpuSummary;

use super::{audit, ratio};
use crate::format::{self, NOTHING};
use crate::markup::Markup;
use crate::view::{Flow, ReportView, ScenarioView, TrialView};

/// Where a single repeat gives no interval.
pub(super) const NO_INTERVAL: &str = "one repeat: no interval";

const COLUMNS: [&str; 5] = [
    "Flow",
    "Records/s",
    "MB/s",
    "Measured ÷ published",
    "CPU per record",
];

/// One table, a group of rows for each scenario.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    page.element(
        "section",
        &[("id", "figures"), ("aria-labelledby", "figures-head")],
        |page| {
            page.leaf("h2", &[("id", "figures-head")], "Figures");
            page.leaf(
                "p",
                &[("class", "lead")],
                "Mean of the repeats with its 95 % confidence interval, hold stage only. MB is 10⁶ \
             bytes of keys and values before compression. CPU is CPU time, generator | target.",
            );
            page.element("table", &[("class", "figures stack")], |page| {
                page.table_head(COLUMNS);
                view.scenarios
                    .iter()
                    .for_each(|scenario| write_scenario(page, scenario));
            });
            audit::write(page, view);
        },
    );
    page.line();
}

fn write_scenario(page: &mut Markup, scenario: &ScenarioView) {
    write_rows(page, scenario, COLUMNS.len(), |page| {
        for trial in &scenario.trials {
            match &trial.missing {
                Some(reason) => write_missing(page, trial, reason),
                None => {
                    for (index, flow) in trial.flows.iter().enumerate() {
                        // CPU covers the whole trial: the row of its first flow has it.
                        write_flow(
                            page,
                            trial,
                            flow,
                            (index == 0).then_some(&trial.summary.cpu),
                        );
                    }
                }
            }
        }
    });
}

/// The rows of a scenario, below its name where it has several trials.
pub(super) fn write_rows(
    page: &mut Markup,
    scenario: &ScenarioView,
    columns: usize,
    rows: impl FnOnce(&mut Markup),
) {
    let is_grouped = scenario.trials.len() > 1;
    let class = if is_grouped { "grouped" } else { "alone" };
    page.element("tbody", &[("class", class)], |page| {
        if is_grouped {
            page.element("tr", &[("class", "group")], |page| {
                let attributes = [("colspan", &*columns.to_string()), ("scope", "rowgroup")];
                page.leaf("th", &attributes, &scenario.name);
            });
        }
        rows(page);
    });
}

fn write_missing(page: &mut Markup, trial: &TrialView, reason: &str) {
    page.element("tr", &[], |page| {
        page.leaf("th", &[("scope", "row")], &trial.name);
        let span = (COLUMNS.len() - 1).to_string();
        page.leaf("td", &[("colspan", &span), ("class", "missing")], reason);
    });
}

fn write_flow(page: &mut Markup, trial: &TrialView, flow: &Flow, cpu: Option<&CpuSummary>) {
    let published: Vec<_> = flow.published().collect();
    page.element("tr", &[], |page| {
        write_flow_head(page, trial, flow);
        cell(page, COLUMNS[1], |page| {
            write_figure(page, flow.rate(), format::figure);
            write_not_steady(page, flow);
            write_failures(page, flow);
        });
        cell(page, COLUMNS[2], |page| {
            write_figure(page, flow.megabytes().as_ref(), format::short);
        });
        match published.is_empty() {
            true => empty_cell(page),
            false => cell(page, COLUMNS[3], |page| {
                published
                    .iter()
                    .for_each(|published| ratio::write(page, trial, published));
            }),
        }
        match cpu.map(cpu_text) {
            None | Some(None) => empty_cell(page),
            Some(Some(text)) => cell(page, COLUMNS[4], |page| page.text(&text)),
        }
    });
    page.line();
}

/// The row's head: trial, flow, and how it was loaded.
pub(super) fn write_flow_head(page: &mut Markup, trial: &TrialView, flow: &Flow) {
    page.element("th", &[("scope", "row")], |page| {
        page.leaf("a", &[("href", &format!("#{}", trial.id))], &trial.name);
        let how = format!("{} · {} · {}", flow.name(), flow.members(), flow.load());
        page.leaf("span", &[("class", "small block")], &how);
    });
}

/// A cell that knows its column's name, for the stacked form on narrow screens.
pub(crate) fn cell(page: &mut Markup, column: &str, children: impl FnOnce(&mut Markup)) {
    page.element("td", &[("data-column", column)], |page| {
        page.element("div", &[], children);
    });
}

/// A cell without a figure; the stacked form leaves it out.
fn empty_cell(page: &mut Markup) {
    page.leaf("td", &[("class", "none")], NOTHING);
}

/// A figure with its interval, or why there is none.
pub(crate) fn write_figure(page: &mut Markup, figure: Option<&Spread>, write: fn(f64) -> String) {
    let Some(figure) = figure else {
        return page.text(NOTHING);
    };
    page.leaf("span", &[("class", "number")], &write(figure.mean));
    let spread = match figure.ci95 {
        Some(interval) => format::plus_minus(figure.mean, interval),
        None => NO_INTERVAL.to_owned(),
    };
    page.leaf("span", &[("class", "small spread block")], &spread);
}

/// The badge of a flow whose target was not steady.
pub(super) fn write_not_steady(page: &mut Markup, flow: &Flow) {
    if let Some(what) = flow.not_steady() {
        page.leaf("span", &[("class", "badge bad block")], "not steady");
        let text = format!("the target {what} during the hold");
        page.leaf("span", &[("class", "small block")], &text);
    }
}

fn write_failures(page: &mut Markup, flow: &Flow) {
    for (count, what) in flow.failures() {
        let text = format!("{} {what}", format::count(count));
        page.leaf("span", &[("class", "badge bad block")], &text);
    }
    for error in &flow.summary.errors {
        let records = format::plural(error.records, "record", "records");
        let text = format!("{}: {records}", error.name);
        page.leaf("span", &[("class", "small block")], &text);
    }
}

/// `45.0 ns | 80.0 ns`.
fn cpu_text(cpu: &CpuSummary) -> Option<String> {
    let write = |figure: &Option<Spread>| {
        let figure = figure.as_ref();
        figure.map_or(NOTHING.to_owned(), |figure| {
            format::nanoseconds(figure.mean)
        })
    };
    match (
        &cpu.generator_threads_ns_per_record,
        &cpu.target_ns_per_record,
    ) {
        (None, None) => None,
        (generator, target) => Some(format!("{} | {}", write(generator), write(target))),
    }
}
