//! The figures: throughput with its spread, published figures, failures, CPU per record.

use kgauge_analyze::statistics::{Spread, Steadiness};
use kgauge_analyze::summary::{CpuSummary, PublishedComparison, SteadyFigure};

use super::section::write_section;
use super::{audit, ratio};
use crate::format::{self, NOTHING};
use crate::markup::Markup;
use crate::text;
use crate::view::{Flow, ReportView, ScenarioView, TrialView};

/// Where a single repeat gives no interval.
pub(super) const NO_INTERVAL: &str = "one repeat: no interval";

const RATE: &str = "Records/s";
const BYTES: &str = "MB/s";
const CPU: &str = "CPU per record";
const BOTTLENECK: &str = "Bottleneck";

/// The table, whose column of published figures is there only if any was published.
struct FigureTable {
    has_published: bool,
    /// Whether published figures compare with those of the target.
    is_kafka: bool,
}

/// One table, a group of rows for each scenario.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    let trials = || view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    let mut flows = trials().flat_map(|trial| &trial.flows);
    let table = FigureTable {
        has_published: flows.any(|flow| flow.published().next().is_some()),
        is_kafka: view.target.is_kafka,
    };
    write_section(page, "figures", "part", "Figures", |page| {
        page.leaf(
            "p",
            &[("class", "lead")],
            "Mean of the repeats with its 95 % confidence interval, hold stage only. MB is 10⁶ \
             bytes of keys and values before compression. CPU is CPU time, generator | target.",
        );
        page.element("table", &[("class", "figures stack")], |page| {
            page.table_head(table.columns());
            let scenarios = view.scenarios.iter();
            scenarios.for_each(|scenario| table.write_scenario(page, scenario));
        });
        audit::write(page, view);
    });
}

impl FigureTable {
    fn columns(&self) -> Vec<&'static str> {
        let mut columns = vec!["Flow", RATE, BYTES];
        columns.extend(self.has_published.then_some(self.published_head()));
        columns.extend([CPU, BOTTLENECK]);
        columns
    }

    fn published_head(&self) -> &'static str {
        match self.is_kafka {
            true => "Measured ÷ published",
            false => "Published",
        }
    }

    fn write_published(&self, page: &mut Markup, trial: &TrialView, found: &PublishedComparison) {
        page.element("div", &[("class", "published")], |page| {
            if self.is_kafka {
                ratio::write(page, trial, found);
            }
            let metric = match text::published::metric(found) {
                "throughput" | "throughput.bytes" => String::new(),
                metric => format!("{metric} "),
            };
            let line = format!("published: {metric}{}", text::published::value(found));
            page.leaf("span", &[("class", "small block")], &line);
            audit::write_summary(page, trial, &found.audit);
        });
    }

    fn write_scenario(&self, page: &mut Markup, scenario: &ScenarioView) {
        write_rows(page, scenario, self.columns().len(), |page| {
            for trial in &scenario.trials {
                match &trial.missing {
                    Some(reason) => self.write_missing(page, trial, reason),
                    None => {
                        for (index, flow) in trial.flows.iter().enumerate() {
                            self.write_flow(page, trial, flow, index == 0);
                        }
                    }
                }
            }
        });
    }

    fn write_missing(&self, page: &mut Markup, trial: &TrialView, reason: &str) {
        page.element("tr", &[], |page| {
            page.leaf("th", &[("scope", "row")], &trial.name);
            let span = (self.columns().len() - 1).to_string();
            page.prose("td", &[("colspan", &span), ("class", "missing")], reason);
        });
    }

    /// A flow; what covers its whole trial is in the first row of it.
    fn write_flow(&self, page: &mut Markup, trial: &TrialView, flow: &Flow, is_first: bool) {
        page.element("tr", &[], |page| {
            write_flow_head(page, trial, flow);
            cell(page, RATE, |page| {
                write_figure(page, flow.rate(), format::figure);
                write_doubts(page, flow, SteadyFigure::Throughput);
                write_failures(page, flow);
            });
            cell(page, BYTES, |page| {
                write_figure(page, flow.megabytes().as_ref(), format::short);
            });
            if self.has_published {
                match flow.published().next() {
                    None => empty_cell(page),
                    Some(_) => cell(page, self.published_head(), |page| {
                        for published in flow.published() {
                            self.write_published(page, trial, published);
                        }
                    }),
                }
            }
            let limit = trial.summary.limit.as_ref().filter(|_| is_first);
            let cpu = cpu_text(&trial.summary.cpu).filter(|_| is_first);
            text_cell(page, CPU, cpu.as_deref());
            text_cell(page, BOTTLENECK, limit.map(text::bottleneck::brief));
        });
        page.line();
    }
}

fn text_cell(page: &mut Markup, column: &str, text: Option<&str>) {
    match text {
        None => empty_cell(page),
        Some(text) => cell(page, column, |page| page.text(text)),
    }
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
                let head = match &scenario.factor {
                    Some(factor) => format!("{} · {factor}", scenario.name),
                    None => scenario.name.clone(),
                };
                page.leaf("th", &attributes, &head);
            });
        }
        rows(page);
    });
}

/// The row's head: trial, flow, and how it was loaded.
pub(super) fn write_flow_head(page: &mut Markup, trial: &TrialView, flow: &Flow) {
    page.element("th", &[("scope", "row")], |page| {
        page.leaf("a", &[("href", &format!("#{}", trial.id))], &trial.short);
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

/// The badges of a figure whose target was not steady, or whose flow lost an agent.
pub(super) fn write_doubts(page: &mut Markup, flow: &Flow, figure: SteadyFigure) {
    if flow.summary.agents_lost {
        page.leaf("span", &[("class", "badge bad block")], "agent lost");
    }
    if let Some(what) = flow.not_steady(figure) {
        page.leaf("span", &[("class", "badge bad block")], "not steady");
        let text = format!("the target {what} during the hold");
        page.leaf("span", &[("class", "small block")], &text);
    } else if flow.summary.steadiness_of(figure) != Steadiness::Steady {
        page.leaf("span", &[("class", "badge block")], "steady?");
    }
}

fn write_failures(page: &mut Markup, flow: &Flow) {
    for (count, what) in flow.failures() {
        let text = format!("{} {what}", format::count(count));
        page.leaf("span", &[("class", "badge bad block")], &text);
    }
    for error in &flow.summary.errors {
        let records = format::counted(error.records, "record");
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
