//! The latency table: response percentiles, each with the marks that it must not be read without.

use super::figures::{cell, write_flow_head};
use crate::format::{self, NOTHING};
use crate::markup::Markup;
use crate::view::{Distribution, Flow, Percentile, Scenario, Trial, View};

/// Percentiles with a column of their own.
pub(crate) const SHOWN: [f64; 3] = [0.5, 0.99, 0.999];

/// One table, a group of rows for each scenario; nothing when no flow has latencies.
pub(super) fn write(page: &mut Markup, view: &View) {
    let any = view
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.trials)
        .any(has_latency);
    if !any {
        return;
    }
    page.element("section", &[("aria-labelledby", "latency-head")], |page| {
        page.leaf("h2", &[("id", "latency-head")], "Latency");
        page.leaf(
            "p",
            &[("class", "lead")],
            "Response time: from when a record should have been sent until it was acked or read, \
             all repeats together. Service time starts when it was really sent.",
        );
        page.element("table", &[("class", "figures stack")], |page| {
            page.element("thead", &[], |page| {
                page.element("tr", &[], |page| {
                    page.leaf("th", &[("scope", "col")], "Flow");
                    for quantile in SHOWN {
                        page.leaf(
                            "th",
                            &[("scope", "col")],
                            &format::percentile_name(quantile),
                        );
                    }
                    page.leaf("th", &[("scope", "col")], "Largest");
                    page.leaf("th", &[("scope", "col")], "Read it as");
                });
            });
            view.scenarios
                .iter()
                .for_each(|scenario| write_scenario(page, scenario));
        });
    });
    page.line();
}

fn has_latency(trial: &Trial) -> bool {
    trial
        .flows
        .iter()
        .any(|flow| flow.latency.response.is_some())
}

fn write_scenario(page: &mut Markup, scenario: &Scenario) {
    if !scenario.trials.iter().any(has_latency) {
        return;
    }
    page.element("tbody", &[], |page| {
        if scenario.trials.len() > 1 {
            page.element("tr", &[("class", "group")], |page| {
                page.leaf(
                    "th",
                    &[("colspan", "6"), ("scope", "rowgroup")],
                    &scenario.name,
                );
            });
        }
        for trial in &scenario.trials {
            for flow in &trial.flows {
                if let Some(response) = &flow.latency.response {
                    write_flow(page, trial, flow, response);
                }
            }
        }
    });
}

fn write_flow(page: &mut Markup, trial: &Trial, flow: &Flow, response: &Distribution) {
    let service = flow.latency.service.as_ref();
    page.element("tr", &[], |page| {
        write_flow_head(page, trial, flow);
        for quantile in SHOWN {
            cell(page, &format::percentile_name(quantile), |page| {
                write_percentile(page, response.at(quantile));
                if let Some(found) = service.and_then(|service| service.at(quantile)) {
                    let text = format!("service {}", format::nanoseconds(found.ns as f64));
                    page.leaf("span", &[("class", "small block")], &text);
                }
            });
        }
        cell(page, "Largest", |page| {
            let text = format::nanoseconds(response.max_ns as f64);
            page.leaf("span", &[("class", "number")], &text);
            if response.out_of_range > 0 {
                let text = format!("{} beyond range", format::count(response.out_of_range));
                page.leaf("span", &[("class", "badge bad block")], &text);
            }
        });
        cell(page, "Read it as", |page| write_marks(page, flow));
    });
    page.line();
}

fn write_percentile(page: &mut Markup, percentile: Option<&Percentile>) {
    match percentile {
        None => page.text(NOTHING),
        Some(found) => {
            page.leaf(
                "span",
                &[("class", "number")],
                &format::nanoseconds(found.ns as f64),
            );
            if found.few {
                let text = format!("only {} beyond", format::count(found.beyond));
                page.leaf("span", &[("class", "small block")], &text);
            }
        }
    }
}

/// The marks: closed loop, late generator; or that the figure stands for itself.
fn write_marks(page: &mut Markup, flow: &Flow) {
    if flow.closed.is_some() {
        page.leaf("span", &[("class", "badge mark-closed")], "closed loop");
        let text = "records in flight ÷ throughput; not the broker's latency";
        page.leaf("span", &[("class", "small block")], text);
    }
    if let Some(late) = &flow.late {
        page.leaf("span", &[("class", "badge bad")], "late generator");
        page.leaf("span", &[("class", "small block")], late);
    }
    if flow.closed.is_none() && flow.late.is_none() {
        page.text("what a caller would see");
    }
}
