//! The trials whose repeats have ended, with their figures.

use kgauge_results::Quantile;

use crate::format::{self, NOTHING};
use crate::html::{cell, write_figure};
use crate::markup::Markup;
use crate::view::{Flow, ReportView, TrialView};

/// Rows that are shown at most: the report has all trials of a large plan.
const ROWS_MAX: usize = 300;
const COLUMNS: [&str; 6] = ["Trial", "Repeats", "Records/s", "MB/s", "p50", "p99"];

/// Writes them; nothing while there are none.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    let trials = view
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.trials.iter().map(move |trial| (scenario, trial)));
    let rows = trials.filter(|(_, trial)| trial.summary.repeats_measured > 0);
    let rows: Vec<(String, &TrialView)> = rows
        .map(|(scenario, trial)| {
            let name = match trial.name == scenario.name {
                true => trial.name.clone(),
                false => format!("{}, {}", scenario.name, trial.name),
            };
            (name, trial)
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    page.element(
        "section",
        &[("id", "complete"), ("aria-labelledby", "complete-head")],
        |page| {
            page.leaf("h2", &[("id", "complete-head")], "Completed trials");
            page.leaf(
                "p",
                &[("class", "lead")],
                "Mean of the completed repeats with its 95 % confidence interval, hold stage only. \
             The final report adds goals, verdicts and bottlenecks.",
            );
            page.element("table", &[("class", "figures stack")], |page| {
                page.table_head(COLUMNS);
                page.element("tbody", &[("class", "alone")], |page| {
                    let mut left = ROWS_MAX;
                    for (name, trial) in rows.iter().rev() {
                        for flow in trial.flows.iter().take(left) {
                            write_row(page, name, trial, flow);
                        }
                        left = left.saturating_sub(trial.flows.len());
                    }
                });
            });
        },
    );
    page.line();
}

fn write_row(page: &mut Markup, name: &str, trial: &TrialView, flow: &Flow) {
    page.element("tr", &[("class", "ended")], |page| {
        page.element("th", &[("scope", "row")], |page| {
            page.text(name);
            page.leaf(
                "span",
                &[("class", "small block")],
                &format!("{} · {}", flow.name(), flow.load()),
            );
        });
        let (measured, planned) = (
            trial.summary.repeats_measured,
            trial.summary.repeats_planned,
        );
        let repeats = match planned > measured {
            true => format!("{measured} of {planned}"),
            false => measured.to_string(),
        };
        cell(page, COLUMNS[1], |page| page.text(&repeats));
        cell(page, COLUMNS[2], |page| {
            write_figure(page, flow.rate(), format::figure);
            for (count, what) in flow.failures() {
                let text = format!("{} {what}", format::count(count));
                page.leaf("span", &[("class", "badge bad block")], &text);
            }
        });
        cell(page, COLUMNS[3], |page| {
            write_figure(page, flow.megabytes().as_ref(), format::short)
        });
        for (column, quantile) in [(COLUMNS[4], Quantile::P50), (COLUMNS[5], Quantile::P99)] {
            cell(page, column, |page| {
                let found = flow
                    .latency()
                    .and_then(|latency| latency.times.percentile(quantile));
                match found {
                    Some(found) => {
                        let text = format::nanoseconds(found.value_ns as f64);
                        page.leaf("span", &[("class", "number")], &text);
                        write_marks(page, flow);
                    }
                    None => page.text(NOTHING),
                }
            });
        }
    });
    page.line();
}

/// What the time must not be read without.
fn write_marks(page: &mut Markup, flow: &Flow) {
    let latency = flow.latency();
    if let Some(latency) = latency.filter(|latency| !latency.kind.is_headline()) {
        page.leaf("span", &[("class", "small block")], latency.kind.title());
    } else if flow.summary.closed_loop {
        page.leaf("span", &[("class", "small block")], "closed loop");
    }
    if let Some(late) = flow.late() {
        page.leaf("span", &[("class", "badge bad block")], late.badge);
    }
}
