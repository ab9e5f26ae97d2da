//! `report.html`: one file that needs no network, complete without script.

mod ab;
mod audit;
mod bars;
mod capacity;
mod charts;
mod checkup;
pub(crate) mod compare;
mod contents;
mod diagnostics;
mod digest;
mod drivers;
mod figures;
mod first_screen;
mod head;
mod latency;
mod live;
mod ratio;
mod ratios;
mod section;
mod setup;
pub(crate) mod size;
mod top;
mod trial;
mod tune;
mod words;

use crate::markup::Markup;
use crate::view::ReportView;
use charts::{Numbers, PageCharts};
use contents::Contents;

pub(crate) use figures::{cell, write_figure};
pub(crate) use live::{LiveHead, live_page, live_policy, write_live_trial};

/// The script that reacts to pointer and keys. The page is complete without it.
const SCRIPT: &str = include_str!("script.js");
/// The only style sheet.
const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(crate) fn page(view: &ReportView) -> String {
    let charts = PageCharts::of(view);
    let mut page = Markup::new();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        head::write(page, view);
        page.element("body", &[], |page| write_body(page, view, &charts));
    });
    page.line();
    page.finish()
}

fn write_body(page: &mut Markup, view: &ReportView, charts: &PageCharts) {
    page.line();
    page.leaf(
        "a",
        &[("class", "skip"), ("href", "#figures")],
        "Skip to the figures",
    );
    page.element("div", &[("class", "frame")], |page| {
        Contents::of_report(view).write(page);
        page.element("div", &[("class", "column")], |page| {
            page.element("main", &[], |page| {
                first_screen::write(page, view, charts);
                ab::write(page, view, charts);
                tune::write(page, view, charts);
                checkup::write(page, view);
                capacity::write(page, view, charts);
                figures::write(page, view);
                latency::write(page, view);
                drivers::write(page, view);
                top::write_limits(page, view);
                top::write_goals(page, view);
                top::write_warnings(page, view);
                write_scenarios(page, view, charts);
                words::write(page, view);
                setup::write(page, view);
            });
            setup::write_footer(page, view);
        });
    });
    page.line();
    write_numbers(page, &charts.numbers());
    page.element("script", &[], |page| page.own(SCRIPT));
    page.line();
}

/// The numbers for the script. Finite numbers and strings always serialise; an empty block only costs the values under
/// the pointer.
fn write_numbers(page: &mut Markup, numbers: &[Numbers<'_>]) {
    let json = serde_json::to_string(numbers).unwrap_or_else(|_| "[]".to_owned());
    page.json_block("chart-data", &json);
    page.line();
}

/// The scenarios with their trials.
fn write_scenarios(page: &mut Markup, view: &ReportView, charts: &PageCharts) {
    let is_only = view.scenarios.len() == 1;
    let rows = view.scenarios.iter().enumerate();
    for ((index, scenario), trials) in rows.zip(&charts.trials) {
        let pictures = charts.pictures.get(index).map_or(&[][..], Vec::as_slice);
        let part = trial::ScenarioPart {
            scenario,
            is_only,
            // The first screen of a single scenario has it.
            pictures: match is_only && charts::opens_with_chart(scenario) {
                true => pictures.get(1..).unwrap_or_default(),
                false => pictures,
            },
            trials,
        };
        section::write_section(
            page,
            &scenario_id(index),
            "scenario",
            &scenario.name,
            |page| {
                part.write(page);
            },
        );
    }
    if let Some(sentence) = &charts.omitted {
        page.leaf("p", &[("class", "note")], sentence);
    }
}

/// The anchor of a scenario.
fn scenario_id(index: usize) -> String {
    format!("scenario-{}", index + 1)
}
