//! The section of searches: the answer, the curve with both bounds, the loads and the search over time.

use kgauge_analyze::summary::{CapacitySearch, CapacitySummary, LoadVerdict};

use crate::chart::{Chart, write_figure};
use crate::format;
use crate::markup::Markup;
use crate::text::capacity as words;
use crate::view::ReportView;

use super::charts::PageCharts;
use super::section::write_section;

/// The columns of the table of loads.
const COLUMNS: [&str; 4] = ["Load", "Windows kept", "Figure", "Verdict"];

/// A part for each search; nothing without one.
pub(super) fn write(page: &mut Markup, view: &ReportView, charts: &PageCharts) {
    if view.capacities.is_empty() {
        return;
    }
    let mut searches = charts.searches.iter();
    let on_first_screen = charts.search_picture(view).map(|chart| &*chart.id);
    write_section(page, "capacity", "", "Capacity", |page| {
        for capacity in view.capacities {
            if !capacity.name.is_empty() {
                page.leaf("h3", &[], &capacity.name);
            }
            page.prose("p", &[("class", "small")], &words::setup(capacity));
            if let Some(sentence) = words::over_searches(capacity) {
                page.prose("p", &[("class", "lead")], &sentence);
            }
            for search in &capacity.searches {
                let charts = searches.next().into_iter().flatten();
                let charts = charts.filter(|chart| Some(&*chart.id) != on_first_screen);
                let charts = charts.collect::<Vec<_>>();
                write_search(page, capacity, search, &charts, view.checkup.is_none());
            }
        }
    });
}

fn write_search(
    page: &mut Markup,
    capacity: &CapacitySummary,
    search: &CapacitySearch,
    charts: &[&Chart],
    can_resume: bool,
) {
    page.prose("p", &[("class", "lead")], &words::answer(capacity, search));
    let more = [words::typical(search), words::limit(search)];
    for sentence in more.into_iter().flatten() {
        page.prose("p", &[], &sentence);
    }
    page.element("div", &[("class", "charts")], |page| {
        charts.iter().for_each(|chart| write_figure(page, chart));
    });
    page.element("details", &[], |page| {
        page.leaf("summary", &[], "All loads");
        write_loads(page, capacity, search);
    });
    page.prose(
        "p",
        &[("class", "small")],
        &words::cost(capacity, search, can_resume),
    );
    let goals: Vec<&str> = capacity.added_goals.iter().map(String::as_str).collect();
    let also = format!(
        "Every window also had to keep: {}. A load that is void is measured again and never counted.",
        goals.join(", ")
    );
    page.prose("p", &[("class", "small")], &also);
}

fn write_loads(page: &mut Markup, capacity: &CapacitySummary, search: &CapacitySearch) {
    page.element("table", &[("class", "figures stack")], |page| {
        page.table_head(
            COLUMNS.map(|column| match (column, words::figure_name(capacity)) {
                ("Figure", Some(name)) => name.to_owned(),
                (column, _) => column.to_owned(),
            }),
        );
        page.element("tbody", &[("class", "alone")], |page| {
            for load in &search.loads {
                let kept = load.windows.len() - load.broken();
                let value = load
                    .value_ns
                    .map_or_else(|| format::NOTHING.to_owned(), format::nanoseconds);
                let verdict = match load.held {
                    LoadVerdict::Held => "goals hold".to_owned(),
                    LoadVerdict::Broke => format!("broke {}", load.broken_goals.join(", ")),
                    LoadVerdict::Undecided => "measured too briefly to decide".to_owned(),
                };
                let cells = [format!("{kept} of {}", load.windows.len()), value, verdict];
                page.element("tr", &[], |page| {
                    let rate = format!("{} records/s", format::figure(load.rate));
                    page.leaf("th", &[("scope", "row")], &rate);
                    for (cell, column) in cells.iter().zip(COLUMNS.iter().skip(1)) {
                        super::figures::cell(page, column, |page| page.text(cell));
                    }
                });
            }
        });
    });
}
