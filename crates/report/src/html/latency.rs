//! The latency table: percentiles, each with the marks that it must not be read without.

use kgauge_analyze::summary::{Percentile, SteadyFigure};
use kgauge_results::TimeKind;

use super::figures::{NO_INTERVAL, cell, write_doubts, write_flow_head, write_rows};
use super::section::write_section;
use crate::format::{self, NOTHING};
use crate::markup::Markup;
use crate::view::{Flow, Latency, ReportView, SHOWN_PERCENTILES, ScenarioView, TrialView};

/// Whether any flow has latencies.
pub(super) fn is_shown(view: &ReportView) -> bool {
    let mut scenarios = view.scenarios.iter();
    scenarios.any(|scenario| has_latency(scenario, |_| true))
}

/// A table of what callers see, a group of rows for each scenario, and a folded one of closed loops and requests;
/// nothing when no flow has latencies.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    if !is_shown(view) {
        return;
    }
    write_section(page, "latency", "part", "Latency", |page| {
        let callers = |flow: &Flow| flow.has_caller_latency();
        let mut scenarios = view.scenarios.iter();
        if scenarios.any(|scenario| has_latency(scenario, callers)) {
            page.leaf(
                "p",
                &[("class", "lead")],
                "Response: from a record's intended send time until its ack. Service: from its \
                 actual send time. All repeats merged, hold stage only, with the 95 % confidence \
                 interval over the repeats.",
            );
            write_table(page, view, callers);
        } else {
            page.leaf("p", &[("class", "lead")], NO_RATE);
        }
        let others = |flow: &Flow| !flow.has_caller_latency();
        let has_others = |scenario: &ScenarioView| has_latency(scenario, others);
        if view.scenarios.iter().any(has_others) {
            page.element("details", &[("class", "sheet")], |page| {
                page.element("summary", &[], |page| page.leaf("h3", &[], OTHERS));
                page.leaf("p", &[("class", "lead")], CLOSED);
                write_table(page, view, others);
            });
        }
    });
}

const NO_RATE: &str = "No flow had a rate. At full speed, the time of a record is the time that it \
                       spends in the producer's buffer.";
const OTHERS: &str = "Times of closed loops and requests";
const CLOSED: &str = "Closed loop: records in flight ÷ throughput, not broker latency. Round trips \
                      are per request, not per record.";

fn write_table(page: &mut Markup, view: &ReportView, is_shown: fn(&Flow) -> bool) {
    page.element("table", &[("class", "figures stack")], |page| {
        let percentiles = SHOWN_PERCENTILES.map(|quantile| quantile.name());
        let names = [
            &["Flow".to_owned()],
            &percentiles[..],
            &["Max", "Notes"].map(str::to_owned),
        ];
        page.table_head(names.concat());
        let scenarios = view.scenarios.iter();
        let scenarios = scenarios.filter(|scenario| has_latency(scenario, is_shown));
        scenarios.for_each(|scenario| write_scenario(page, scenario, is_shown));
    });
    page.line();
}

fn has_latency(scenario: &ScenarioView, is_shown: impl Fn(&Flow) -> bool) -> bool {
    let mut flows = scenario.trials.iter().flat_map(|trial| &trial.flows);
    flows.any(|flow| flow.latency().is_some() && is_shown(flow))
}

fn write_scenario(page: &mut Markup, scenario: &ScenarioView, is_shown: fn(&Flow) -> bool) {
    write_rows(page, scenario, SHOWN_PERCENTILES.len() + 3, |page| {
        for trial in &scenario.trials {
            for flow in trial.flows.iter().filter(|flow| is_shown(flow)) {
                if let Some(latency) = flow.latency() {
                    write_flow(page, trial, flow, latency);
                }
            }
        }
    });
}

fn write_flow(page: &mut Markup, trial: &TrialView, flow: &Flow, latency: Latency) {
    let shown = latency.times;
    let mut latencies = flow.latencies();
    let service = latencies.find(|latency| latency.kind == TimeKind::Service);
    page.element("tr", &[], |page| {
        write_flow_head(page, trial, flow);
        for quantile in SHOWN_PERCENTILES {
            cell(page, &quantile.name(), |page| {
                write_percentile(page, flow, shown.percentile(quantile));
                if let Some(found) = service.and_then(|found| found.times.percentile(quantile)) {
                    let time = format::nanoseconds(found.value_ns as f64);
                    let spread = format::spread(found.value_ns as f64, found.interval());
                    let text = format!("service {time} {spread}");
                    page.leaf("span", &[("class", "small spread block")], &text);
                }
            });
        }
        cell(page, "Max", |page| {
            let text = format::nanoseconds(shown.max_ns as f64);
            page.leaf("span", &[("class", "number")], &text);
        });
        cell(page, "Notes", |page| write_marks(page, flow, latency.kind));
    });
    page.line();
}

fn write_percentile(page: &mut Markup, flow: &Flow, percentile: Option<&Percentile>) {
    let Some(found) = percentile else {
        return page.text(NOTHING);
    };
    page.leaf(
        "span",
        &[("class", "number")],
        &format::nanoseconds(found.value_ns as f64),
    );
    let spread = match found.interval() {
        Some(interval) => format::nanoseconds_between(interval),
        None => NO_INTERVAL.to_owned(),
    };
    page.leaf("span", &[("class", "small spread block")], &spread);
    if flow.is_below_clocks(found.value_ns) {
        let text = "smaller than the error of the two clocks";
        page.leaf("span", &[("class", "small block")], text);
    }
    if found.few {
        let text = format!(
            "{} samples beyond, fewer than 100",
            format::count(found.samples_beyond)
        );
        page.leaf("span", &[("class", "small block")], &text);
    }
}

/// The marks: per request, closed loop, sent late; or that the figure has none.
fn write_marks(page: &mut Markup, flow: &Flow, kind: TimeKind) {
    let mark = |page: &mut Markup, class: &'static str, word: &str, meaning: &str| {
        page.leaf("span", &[("class", class)], word);
        page.leaf("span", &[("class", "small block")], meaning);
    };
    if !kind.is_headline() {
        return mark(page, "badge", kind.title(), "per request, not per record");
    }
    if flow.summary.closed_loop {
        let residual = flow.residual().map_or_else(String::new, |residual| {
            format!(
                " (Little's law residual {})",
                format::percent(residual.abs())
            )
        });
        let meaning = format!("records in flight ÷ throughput, not broker latency{residual}");
        mark(page, "badge mark-closed", "closed loop", &meaning);
    }
    let late = flow.late();
    if let Some(late) = &late {
        mark(page, "badge bad", late.badge, &late.sentence);
    }
    write_doubts(page, flow, SteadyFigure::Latency);
    if let Some(parts) = flow.parts() {
        page.text(&parts);
    } else if !flow.summary.closed_loop
        && late.is_none()
        && flow.not_steady(SteadyFigure::Latency).is_none()
    {
        page.text("the latency a caller sees");
    }
}
