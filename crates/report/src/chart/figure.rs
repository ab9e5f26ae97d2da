//! A chart as a figure: caption, legend, plot, notes and the same data as a table.

use super::{AxisUnit, Chart, ChartLine, LegendEntry, LineStyle, Marker, draw};
use crate::format;
use crate::markup::Markup;

/// The maximum number of rows of a data table. For longer lines it has every n-th point, with a note.
const TABLE_ROWS_MAX: usize = 60;

/// Writes the whole figure.
pub(crate) fn write_figure(page: &mut Markup, chart: &Chart) {
    page.element("figure", &[("class", "chart"), ("id", &chart.id)], |page| {
        write_caption(page, chart);
        let is_empty = chart
            .lines
            .iter()
            .all(|line| line.points.iter().all(|point| point.y.is_none()));
        if is_empty {
            let words = match chart.x.unit {
                AxisUnit::Seconds => "It ended before a full second could be measured.",
                _ => "No data.",
            };
            page.leaf("p", &[("class", "empty")], words);
        } else {
            write_legend(page, &chart.groups);
            draw::write_plot(page, chart);
            write_axis_name(page, chart);
        }
        for note in &chart.notes {
            page.leaf("p", &[("class", "note")], note);
        }
        if !is_empty {
            write_table(page, chart);
        }
    });
    page.line();
}

pub(super) fn write_caption(page: &mut Markup, chart: &Chart) {
    page.element("figcaption", &[], |page| {
        page.leaf("strong", &[], &chart.title);
        page.text(" ");
        page.leaf("span", &[("class", "subtitle")], &chart.subtitle);
    });
}

pub(super) fn write_axis_name(page: &mut Markup, chart: &Chart) {
    page.leaf(
        "p",
        &[("class", "axis-name"), ("aria-hidden", "true")],
        &chart.x.name,
    );
}

fn write_legend(page: &mut Markup, groups: &[LegendEntry]) {
    page.element("ul", &[("class", "legend")], |page| {
        for (index, group) in groups.iter().enumerate() {
            page.element("li", &[("data-group", &index.to_string())], |page| {
                write_swatch(page, group.look);
                page.text(&group.name);
            });
        }
    });
}

fn write_swatch(page: &mut Markup, look: LineStyle) {
    let attributes = [
        ("class", "swatch"),
        ("width", "28"),
        ("height", "12"),
        ("aria-hidden", "true"),
    ];
    page.element("svg", &attributes, |page| {
        if look.joined {
            let class = format!("line c{} {}", look.colour, look.dash.class());
            page.shape("path", &[("class", &class), ("d", "M1 6H27")]);
        }
        if let Some(marker) = look.marker {
            let class = format!("mark c{}", look.colour);
            page.element("g", &[("class", &class)], |page| {
                swatch_marker(page, marker)
            });
        }
    });
}

fn swatch_marker(page: &mut Markup, marker: Marker) {
    draw::write_marker(page, "50%", 6.0, marker);
}

/// One row per place on the horizontal axis, one column per line.
fn write_table(page: &mut Markup, chart: &Chart) {
    let places = places(&chart.lines);
    let stride = places.len().div_ceil(TABLE_ROWS_MAX).max(1);
    let words = match stride {
        1 => String::new(),
        _ => format!(
            "Every {} of {}; the page's data block has all of them.",
            ordinal(stride),
            format::counted(places.len() as u64, "point")
        ),
    };
    write_data(page, chart, &words, |page| {
        write_head(page, chart);
        page.element("tbody", &[], |page| {
            places
                .iter()
                .step_by(stride)
                .for_each(|x| write_row(page, chart, *x));
        });
    });
}

/// A folded table, with a sentence above it where there is something to say.
pub(super) fn write_data(
    page: &mut Markup,
    chart: &Chart,
    words: &str,
    table: impl FnOnce(&mut Markup),
) {
    page.element("details", &[("class", "data")], |page| {
        page.leaf("summary", &[], "Data table");
        if !words.is_empty() {
            page.leaf("p", &[("class", "note")], words);
        }
        let label = format!("{}: data", chart.title);
        page.element(
            "div",
            &[
                ("class", "scroll"),
                ("tabindex", "0"),
                ("role", "region"),
                ("aria-label", &label),
            ],
            |page| page.element("table", &[], table),
        );
    });
}

fn write_head(page: &mut Markup, chart: &Chart) {
    page.element("thead", &[], |page| {
        page.element("tr", &[], |page| {
            page.leaf("th", &[("scope", "col")], &chart.x.name);
            for line in &chart.lines {
                page.leaf("th", &[("scope", "col")], &column_name(chart, line));
            }
        });
    });
}

fn column_name(chart: &Chart, line: &ChartLine) -> String {
    let group = chart
        .groups
        .get(line.group)
        .map_or("", |group| group.name.as_str());
    match line.name.as_str() {
        "" => group.to_owned(),
        name if group.is_empty() => name.to_owned(),
        name => format!("{group}, {name}"),
    }
}

fn write_row(page: &mut Markup, chart: &Chart, x: f64) {
    page.element("tr", &[], |page| {
        page.leaf("th", &[("scope", "row")], &chart.x.unit.value(x));
        for line in &chart.lines {
            let point = line
                .points
                .iter()
                .find(|point| point.x.total_cmp(&x).is_eq());
            let text = match point.and_then(|point| point.y.map(|y| (y, point.interval))) {
                None => format::NOTHING.to_owned(),
                Some((y, None)) => chart.y.unit.value(y),
                Some((y, Some(ends))) => format!(
                    "{} ({} to {})",
                    chart.y.unit.value(y),
                    chart.y.unit.value(ends.low),
                    chart.y.unit.value(ends.high)
                ),
            };
            page.leaf("td", &[], &text);
        }
    });
}

/// How many rows the table of these lines has at most.
pub(super) fn rows(lines: &[ChartLine]) -> usize {
    places(lines).len().min(TABLE_ROWS_MAX)
}

/// All places of all lines, rising, each once.
fn places(lines: &[ChartLine]) -> Vec<f64> {
    let mut places: Vec<f64> = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.x))
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

fn ordinal(value: usize) -> String {
    let suffix = match (value % 10, value % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{value}{suffix}")
}
