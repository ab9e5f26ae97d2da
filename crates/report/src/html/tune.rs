//! The section of a search for better settings: the lines of the winner, what it changes elsewhere, the effects of all
//! settings, the race, and what was not tried.

use kgauge_analyze::summary::{SettingLine, TuneSummary};

use crate::chart::write_figure;
use crate::format;
use crate::markup::Markup;
use crate::text::tune as words;
use crate::view::ReportView;

use super::charts::PageCharts;
use super::section::write_section;

const EFFECTS: [&str; 5] = ["Setting", "In force", "Tried", "Difference", "Effect"];
const RACE: [&str; 3] = ["Candidate", "Difference", "Race"];

/// The section; nothing without a search.
pub(super) fn write(page: &mut Markup, view: &ReportView, charts: &PageCharts) {
    let Some(search) = view.tune else {
        return;
    };
    let on_first_screen = charts.search_picture(view).map(|chart| &*chart.id);
    write_section(page, "tune", "", "Settings", |page| {
        page.prose("p", &[("class", "small")], &words::setup(search));
        if let Some(winner) = &search.winner {
            if search.has_lines() {
                write_lines(page, search, &winner.changes);
            }
            write_list(page, "What else changes", &words::elsewhere(winner));
        }
        page.element("div", &[("class", "charts")], |page| {
            let charts = charts.tune.iter();
            let shown = charts.filter(|chart| Some(&*chart.id) != on_first_screen);
            shown.for_each(|chart| write_figure(page, chart));
        });
        write_effects(page, search);
        write_race(page, search);
        write_list(page, "Not tried", &words::left_out(search));
        for sentence in words::details(search) {
            page.prose("p", &[], &sentence);
        }
    });
}

/// The winner as the text of properties files.
fn write_lines(page: &mut Markup, search: &TuneSummary, changes: &[SettingLine]) {
    let mut places: Vec<(&str, String)> = Vec::new();
    for line in changes {
        let place = words::place(line.scope);
        let mut text = format!("# {}\n", words::because(search, line));
        for property in words::properties(line) {
            text.push_str(&property);
            text.push('\n');
        }
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, known)) => known.push_str(&text),
            None => places.push((place, text)),
        }
    }
    for (place, text) in places {
        page.leaf("h3", &[], place);
        page.leaf("pre", &[], text.trim_end());
    }
}

fn write_list(page: &mut Markup, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.leaf("h3", &[], title);
    page.element("ul", &[], |page| {
        for line in lines {
            page.leaf("li", &[], line);
        }
    });
}

fn write_effects(page: &mut Markup, search: &TuneSummary) {
    let nothing = || format::NOTHING.to_owned();
    let rows = search.settings.iter().map(|one| {
        let cells = vec![
            one.today.clone().unwrap_or_else(nothing),
            one.value.clone(),
            one.ratio.map_or_else(nothing, words::changed),
            words::effect_word(search, one.effect),
        ];
        (one.name.clone(), cells)
    });
    write_rows(page, &EFFECTS, rows.collect());
}

fn write_race(page: &mut Markup, search: &TuneSummary) {
    let rows = search.race.iter().map(|one| {
        let ratio = one.ratio.map(words::changed);
        let cells = vec![
            ratio.unwrap_or_else(|| format::NOTHING.to_owned()),
            words::place_word(one.place).to_owned(),
        ];
        (words::names(&one.changes), cells)
    });
    write_rows(page, &RACE, rows.collect());
}

/// A table whose first column names the row; nothing without rows.
fn write_rows(page: &mut Markup, columns: &[&str], rows: Vec<(String, Vec<String>)>) {
    if rows.is_empty() {
        return;
    }
    page.element("table", &[("class", "figures stack")], |page| {
        page.table_head(columns.iter().map(|&column| column.to_owned()));
        page.element("tbody", &[("class", "alone")], |page| {
            for (name, cells) in &rows {
                page.element("tr", &[], |page| {
                    page.leaf("th", &[("scope", "row")], name);
                    for (cell, column) in cells.iter().zip(columns.iter().skip(1)) {
                        super::figures::cell(page, column, |page| page.text(cell));
                    }
                });
            }
        });
    });
}
