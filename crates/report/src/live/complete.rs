//! The trials whose repeats have ended, with their figures.

use kgauge_analyze::Summary;

use crate::format::{self, NOTHING};
use crate::markup::Markup;
use crate::view::{FigureView, Flow, ReportView, TrialView};

/// Rows that are shown at most: the latest ones of a large plan stand in the report.
const ROWS_MAX: usize = 300;
const COLUMNS: [&str; 6] = ["Trial", "Repeats", "Records/s", "MB/s", "p50", "p99"];

/// Writes them; nothing while there are none.
pub(super) fn write(page: &mut Markup, view: &ReportView, summary: &Summary) {
    let trials = view
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.trials.iter().map(move |trial| (scenario, trial)));
    let rows = trials.filter(|(_, trial)| trial.repeats > 0);
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
                page.element("thead", &[], |page| {
                    page.element("tr", &[], |page| {
                        COLUMNS
                            .iter()
                            .for_each(|name| page.leaf("th", &[("scope", "col")], name));
                    });
                });
                page.element("tbody", &[("class", "alone")], |page| {
                    let mut left = ROWS_MAX;
                    for (name, trial) in rows.iter().rev() {
                        for flow in trial.flows.iter().take(left) {
                            write_row(page, name, trial, flow, summary);
                        }
                        left = left.saturating_sub(trial.flows.len());
                    }
                });
            });
        },
    );
    page.line();
}

fn write_row(page: &mut Markup, name: &str, trial: &TrialView, flow: &Flow, summary: &Summary) {
    page.element("tr", &[("class", "ended")], |page| {
        page.element("th", &[("scope", "row")], |page| {
            page.text(name);
            page.leaf(
                "span",
                &[("class", "small block")],
                &format!("{} · {}", flow.name, flow.load),
            );
        });
        let mut known = summary.trials.iter();
        let planned = known.find(|known| trial.id == format!("trial-{}", known.index + 1));
        let planned = planned.map_or(0, |known| u64::from(known.repeats_planned));
        let repeats = match planned > trial.repeats {
            true => format!("{} of {planned}", trial.repeats),
            false => trial.repeats.to_string(),
        };
        cell(page, COLUMNS[1], |page| page.text(&repeats));
        cell(page, COLUMNS[2], |page| {
            write_figure(page, flow.rate.as_ref(), format::figure);
            for (count, word) in &flow.counts.bad {
                page.leaf(
                    "span",
                    &[("class", "badge bad block")],
                    &format!("{} {word}", format::count(*count)),
                );
            }
        });
        cell(page, COLUMNS[3], |page| {
            write_figure(page, flow.megabytes.as_ref(), format::short)
        });
        for (column, millionths) in [(COLUMNS[4], 500_000), (COLUMNS[5], 990_000)] {
            cell(page, column, |page| {
                let found = flow
                    .latency()
                    .and_then(|latency| latency.distribution.at(millionths));
                match found {
                    Some(found) => {
                        let text = format::nanoseconds(found.ns as f64);
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
        page.leaf("span", &[("class", "small block")], latency.kind.name());
    } else if flow.closed.is_some() {
        page.leaf("span", &[("class", "small block")], "closed loop");
    }
    if let Some(late) = &flow.late {
        page.leaf("span", &[("class", "badge bad block")], late.badge);
    }
}

fn cell(page: &mut Markup, column: &str, children: impl FnOnce(&mut Markup)) {
    page.element("td", &[("data-column", column)], |page| {
        page.element("div", &[], children)
    });
}

fn write_figure(page: &mut Markup, figure: Option<&FigureView>, write: fn(f64) -> String) {
    let Some(figure) = figure else {
        return page.text(NOTHING);
    };
    page.leaf("span", &[("class", "number")], &write(figure.mean));
    if let Some(interval) = figure.interval {
        page.leaf(
            "span",
            &[("class", "small spread block")],
            &format::plus_minus(figure.mean, interval),
        );
    }
}
