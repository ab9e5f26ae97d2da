//! The section of an A/B test, whose answer and pairs are on the first screen: both sides, the reasons for the answer,
//! and all blocks.

use kgauge_analyze::summary::{AbStep, AbSummary};
use kgauge_scenario::AbSide;

use crate::chart::write_figure;
use crate::format;
use crate::markup::Markup;
use crate::text::ab as words;
use crate::text::answer::{change, change_between};
use crate::text::capacity::void_cause;
use crate::view::ReportView;

use super::charts::PageCharts;
use super::section::write_section;

/// The columns of the table of blocks.
const COLUMNS: [&str; 6] = ["Pair", "First", "A", "B", "B / A", "All pairs so far"];

/// The section; nothing without a test.
pub(super) fn write(page: &mut Markup, view: &ReportView, charts: &PageCharts) {
    let Some(test) = view.ab else {
        return;
    };
    let on_first_screen = charts.search_picture(view).map(|chart| &*chart.id);
    write_section(page, "ab", "", "A/B test", |page| {
        page.prose("p", &[("class", "small")], &words::setup(test));
        write_sides(page, test);
        for sentence in words::details(test) {
            page.prose("p", &[], &sentence);
        }
        page.element("div", &[("class", "charts")], |page| {
            let charts = charts.ab.iter();
            let shown = charts.filter(|chart| Some(&*chart.id) != on_first_screen);
            shown.for_each(|chart| write_figure(page, chart));
        });
        page.element("details", &[], |page| {
            page.leaf("summary", &[], "All pairs");
            write_blocks(page, test);
        });
        page.prose("p", &[("class", "small")], &words::cost(test));
    });
}

fn write_sides(page: &mut Markup, test: &AbSummary) {
    page.element("ul", &[], |page| {
        for side in AbSide::BOTH {
            let summary = test.side(side);
            let name = words::side(test, side);
            page.element("li", &[], |page| {
                match words::values(test, summary) {
                    Some((mean, ends)) => page.text(&format!("{name}: {mean} ({ends})")),
                    None => page.text(&name),
                }
                if let Some(folder) = summary.folder.as_ref().filter(|_| summary.trial.is_none()) {
                    page.text(" · ");
                    let href = format!("../{folder}/report.html");
                    page.leaf("a", &[("href", &href)], "its report");
                }
            });
        }
    });
}

fn write_blocks(page: &mut Markup, test: &AbSummary) {
    page.element("table", &[("class", "figures stack")], |page| {
        page.table_head(COLUMNS.map(str::to_owned));
        page.element("tbody", &[("class", "alone")], |page| {
            for (number, step) in (1..).zip(&test.blocks) {
                write_step(page, test, number, step);
            }
        });
    });
}

fn write_step(page: &mut Markup, test: &AbSummary, number: usize, step: &AbStep) {
    let block = &step.block;
    let value = |value: Option<f64>| {
        value.map_or_else(|| format::NOTHING.to_owned(), |one| words::value(test, one))
    };
    let ratio = match (&block.void, block.a.zip(block.b)) {
        (Some(cause), _) => format!("void: {}", void_cause(cause)),
        (None, Some((a, b))) => change(b / a),
        (None, None) => format::NOTHING.to_owned(),
    };
    let first = match test.duet {
        true => "both".to_owned(),
        false => block.first.to_string(),
    };
    let all = step.ratio.map_or_else(
        || format::NOTHING.to_owned(),
        |ratio| change_between(ratio, step.interval),
    );
    let cells = [first, value(block.a), value(block.b), ratio, all];
    page.element("tr", &[], |page| {
        page.leaf("th", &[("scope", "row")], &number.to_string());
        for (cell, column) in cells.iter().zip(COLUMNS.iter().skip(1)) {
            super::figures::cell(page, column, |page| page.text(cell));
        }
    });
}
