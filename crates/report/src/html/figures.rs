//! The figures: throughput with its spread, beside what was published; failures; CPU per record.

use super::ratio;
use crate::format::{self, NOTHING};
use crate::markup::Markup;
use crate::view::{Counts, Figure, Flow, Metric, Scenario, Trial, View};

const COLUMNS: [&str; 6] = [
    "Flow",
    "Records/s",
    "MB/s",
    "Published",
    "Measured ÷ published",
    "CPU per record",
];

/// One table, a group of rows for each scenario.
pub(super) fn write(page: &mut Markup, view: &View) {
    page.element(
        "section",
        &[("id", "figures"), ("aria-labelledby", "figures-head")],
        |page| {
            page.leaf("h2", &[("id", "figures-head")], "Figures");
            page.leaf(
            "p",
            &[("class", "lead")],
            "Mean of the repeats with its 95 % confidence interval. MB is 10⁶ bytes of keys and \
             values, before compression. CPU is processor time, generator | target.",
        );
            page.element("table", &[("class", "figures stack")], |page| {
                page.element("thead", &[], |page| {
                    page.element("tr", &[], |page| {
                        for name in COLUMNS {
                            page.leaf("th", &[("scope", "col")], name);
                        }
                    });
                });
                view.scenarios
                    .iter()
                    .for_each(|scenario| write_scenario(page, scenario));
            });
        },
    );
    page.line();
}

fn write_scenario(page: &mut Markup, scenario: &Scenario) {
    page.element("tbody", &[], |page| {
        if scenario.trials.len() > 1 {
            page.element("tr", &[("class", "group")], |page| {
                let span = COLUMNS.len().to_string();
                let attributes = [("colspan", &*span), ("scope", "rowgroup")];
                page.leaf("th", &attributes, &scenario.name);
            });
        }
        for trial in &scenario.trials {
            match &trial.missing {
                Some(reason) => write_missing(page, trial, reason),
                None => trial
                    .flows
                    .iter()
                    .for_each(|flow| write_flow(page, trial, flow)),
            }
        }
    });
}

fn write_missing(page: &mut Markup, trial: &Trial, reason: &str) {
    page.element("tr", &[], |page| {
        page.leaf("th", &[("scope", "row")], &trial.name);
        let span = (COLUMNS.len() - 1).to_string();
        page.leaf("td", &[("colspan", &span), ("class", "missing")], reason);
    });
}

fn write_flow(page: &mut Markup, trial: &Trial, flow: &Flow) {
    page.element("tr", &[], |page| {
        write_flow_head(page, trial, flow);
        cell(page, COLUMNS[1], |page| {
            write_figure(page, flow.rate.as_ref(), format::figure);
            write_bad_counts(page, &flow.counts);
        });
        cell(page, COLUMNS[2], |page| {
            write_figure(page, flow.megabytes.as_ref(), format::short)
        });
        cell(page, COLUMNS[3], |page| write_published(page, flow));
        cell(page, COLUMNS[4], |page| match flow.published.first() {
            Some(published) => ratio::write(page, published),
            None => page.text(NOTHING),
        });
        cell(page, COLUMNS[5], |page| page.text(&cpu(flow)));
    });
    page.line();
}

/// The row's head: flow, trial where it is not the scenario's only one, and how it was loaded.
pub(super) fn write_flow_head(page: &mut Markup, trial: &Trial, flow: &Flow) {
    page.element("th", &[("scope", "row")], |page| {
        page.element("a", &[("href", &format!("#{}", trial.id))], |page| {
            page.text(&trial.name);
        });
        let how = format!("{} · {}", flow.name, flow.load);
        page.leaf("span", &[("class", "small block")], &how);
    });
}

/// A cell that knows its column's name, for the stacked form on narrow screens.
pub(super) fn cell(page: &mut Markup, column: &str, children: impl FnOnce(&mut Markup)) {
    page.element("td", &[("data-column", column)], |page| {
        page.element("div", &[], children);
    });
}

fn write_figure(page: &mut Markup, figure: Option<&Figure>, write: fn(f64) -> String) {
    let Some(figure) = figure else {
        return page.text(NOTHING);
    };
    page.leaf("span", &[("class", "number")], &write(figure.mean));
    let spread = match figure.half() {
        Some(half) => format::plus_minus(half, figure.mean),
        None => "one repeat: no interval".to_owned(),
    };
    page.leaf("span", &[("class", "small block")], &spread);
}

fn write_bad_counts(page: &mut Markup, counts: &Counts) {
    let bad = [
        (counts.failed, "failed"),
        (counts.unknown, "of unknown fate"),
        (counts.skipped, "skipped"),
        (counts.late, "sent late"),
    ];
    for (value, word) in bad.into_iter().filter(|(value, _)| *value > 0) {
        let text = format!("{} {word}", format::count(value));
        page.leaf("span", &[("class", "badge bad block")], &text);
    }
}

fn write_published(page: &mut Markup, flow: &Flow) {
    if flow.published.is_empty() {
        return page.text(NOTHING);
    }
    for published in &flow.published {
        let unit = match &published.metric {
            Metric::Rate => "records/s",
            Metric::Megabytes => "MB/s",
            Metric::Other(name) => name,
        };
        let value = format::as_published(published.value);
        page.leaf("span", &[("class", "number block")], &value);
        page.leaf("span", &[("class", "small block")], unit);
    }
}

/// `45 ns | 80 ns`.
pub(crate) fn cpu(flow: &Flow) -> String {
    let write = |figure: &Option<Figure>| {
        figure.as_ref().map_or(NOTHING.to_owned(), |figure| {
            format::nanoseconds(figure.mean)
        })
    };
    match (&flow.cpu_ns_generator, &flow.cpu_ns_target) {
        (None, None) => NOTHING.to_owned(),
        (generator, target) => format!("{} | {}", write(generator), write(target)),
    }
}
