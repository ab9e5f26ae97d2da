//! A heat map as a figure: caption, the scale of its colours, plot, notes and a table.

use super::{Heat, Run};
use crate::chart::draw::{write_band, write_bottom, write_grid, write_plot_frame};
use crate::chart::place::{HEIGHT, TOP, number};
use crate::chart::{figure, marks};
use crate::format;
use crate::markup::Markup;

/// Rows of the table at most, and its columns: spans and bands are put together to fit.
const TABLE_MAX: (usize, usize) = (24, 10);

/// Writes the whole figure.
pub(crate) fn write_figure(page: &mut Markup, heat: &Heat) {
    let frame = &heat.frame;
    let attributes = [("class", "chart heat"), ("id", &*frame.id)];
    page.element("figure", &attributes, |page| {
        figure::write_caption(page, frame);
        write_scale(page, heat);
        let label = format!(
            "Heat map: {}. {} against {}; colour shows the number of {}. A data table follows.",
            frame.title, frame.y.name, frame.x.name, heat.counted
        );
        write_plot_frame(page, frame, &label, |page| {
            write_grid(page, frame);
            frame
                .bands
                .iter()
                .for_each(|band| write_band(page, frame, band));
            write_cells(page, heat);
            marks::write_marks(page, frame);
            write_bottom(page, frame);
        });
        figure::write_axis_name(page, frame);
        for note in &frame.notes {
            page.leaf("p", &[("class", "note")], note);
        }
        write_table(page, heat);
    });
    page.line();
}

/// Which colour is how many.
fn write_scale(page: &mut Markup, heat: &Heat) {
    let levels = heat.levels();
    page.element("ul", &[("class", "scale")], |page| {
        for level in 0..levels.len() {
            page.element("li", &[], |page| {
                let attributes = [
                    ("class", "swatch"),
                    ("width", "14"),
                    ("height", "14"),
                    ("aria-hidden", "true"),
                ];
                page.element("svg", &attributes, |page| {
                    let square = [
                        ("class", levels.class(level)),
                        ("width", "14"),
                        ("height", "14"),
                    ];
                    page.shape("rect", &square);
                });
                page.text(&levels.words(level));
                if level + 1 == levels.len() {
                    page.text(&format!(" {}", heat.counted));
                }
            });
        }
    });
}

/// The cells, a path for each colour. One unit is a column wide and a row high; what lies beyond the
/// axis is cut off by the inner SVG.
fn write_cells(page: &mut Markup, heat: &Heat) {
    let columns = match heat.frame.x.scale {
        crate::chart::Scale::Linear { high, .. } => high / heat.seconds_per_column as f64,
        _ => heat.counts.len() as f64,
    };
    let view_box = format!("0 0 {columns:.4} {}", heat.rows());
    let attributes = [
        ("y", &*number(TOP)),
        ("width", "100%"),
        ("height", &*number(HEIGHT)),
        ("viewBox", &*view_box),
        ("preserveAspectRatio", "none"),
        ("shape-rendering", "crispEdges"),
    ];
    let levels = heat.levels();
    page.element("svg", &attributes, |page| {
        for (level, runs) in heat.runs().iter().enumerate() {
            if !runs.is_empty() {
                let path = path(heat.rows(), runs);
                let class = levels.class(level);
                page.shape("path", &[("class", class), ("d", &path)]);
            }
        }
    });
}

fn path(rows: usize, runs: &[Run]) -> String {
    let mut out = String::with_capacity(runs.len() * 16);
    for run in runs {
        let (x, y, length) = (run.column, rows - 1 - run.row, run.length);
        out.push_str(&format!("M{x} {y}h{length}v1h-{length}z"));
    }
    out
}

/// The same counts, added up to a table that can be read.
fn write_table(page: &mut Markup, heat: &Heat) {
    let (rows_max, columns_max) = TABLE_MAX;
    let spans = heat.counts.len().div_ceil(rows_max).max(1);
    let bands = heat.rows().div_ceil(columns_max).max(1);
    let unit = heat.frame.y.unit;
    let words = format!(
        "Counts of {}, merged to fit; the page's data block has every cell.",
        heat.counted
    );
    figure::write_data(page, &heat.frame, &words, |page| {
        page.element("thead", &[], |page| {
            page.element("tr", &[], |page| {
                page.leaf("th", &[("scope", "col")], "seconds");
                for pair in (0..heat.rows()).step_by(bands) {
                    let low = heat.borders.get(pair).copied().unwrap_or(0.0);
                    let text = format!("from {}", unit.value(low));
                    page.leaf("th", &[("scope", "col")], &text);
                }
            });
        });
        page.element("tbody", &[], |page| {
            for (index, span) in heat.counts.chunks(spans).enumerate() {
                write_row(page, heat, (index * spans, span), bands);
            }
        });
    });
}

fn write_row(page: &mut Markup, heat: &Heat, (first, span): (usize, &[Vec<u64>]), bands: usize) {
    let second = |column: usize| column as u64 * heat.seconds_per_column;
    page.element("tr", &[], |page| {
        let (from, to) = (second(first), second(first + span.len()));
        let text = format!("{} to {}", format::count(from), format::count(to));
        page.leaf("th", &[("scope", "row")], &text);
        for low in (0..heat.rows()).step_by(bands) {
            let of_column = |column: &Vec<u64>| {
                let counts = column.iter().skip(low).take(bands);
                counts.fold(0, |sum: u64, count| sum.saturating_add(*count))
            };
            let count = span.iter().map(of_column).fold(0, u64::saturating_add);
            let text = match count {
                0 => String::new(),
                count => format::count(count),
            };
            page.leaf("td", &[], &text);
        }
    });
}
