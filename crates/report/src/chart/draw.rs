//! One chart as SVG that stretches with its column while text and strokes keep their size.
//!
//! Places along the horizontal axis are percentages of the plot's width. Curves lie in an inner SVG
//! whose 1,000 × [`HEIGHT`] units are stretched; strokes do not stretch (`vector-effect`). So a
//! phone and a large screen get the same file, without script.

use super::place::{HEIGHT, TOP, number, percent, vertical};
use super::{Axis, Band, Chart, ChartLine, LineStyle, Marker, Mean, Point, Scale};
use crate::markup::Markup;

/// Room below the plot, for labels.
const BOTTOM: f64 = 26.0;
/// Width of the column with the labels of the vertical axis.
const SIDE: f64 = 58.0;
/// Units across the inner SVG.
const WIDTH: f64 = 1000.0;
/// Least distance between the names at the ends of lines.
const END_LABEL_GAP: f64 = 13.0;

/// Writes the plot with its curves.
pub(super) fn write_plot(page: &mut Markup, chart: &Chart) {
    write_plot_frame(page, chart, &label(chart), |page| {
        write_grid(page, chart);
        chart
            .bands
            .iter()
            .for_each(|band| write_band(page, chart, band));
        super::marks::write_marks(page, chart);
        chart
            .means
            .iter()
            .for_each(|mean| write_mean(page, chart, mean));
        write_curves(page, chart);
        write_markers(page, chart);
        write_bottom(page, chart);
        if chart.end_labels {
            write_end_labels(page, chart);
        }
    });
}

/// Writes the two SVGs: labels of the vertical axis, and the plot with what is in it.
pub(super) fn write_plot_frame(
    page: &mut Markup,
    chart: &Chart,
    label: &str,
    content: impl FnOnce(&mut Markup),
) {
    let height = number(TOP + HEIGHT + BOTTOM);
    let class = match chart.end_labels {
        true => "plot ends",
        false => "plot",
    };
    page.element("div", &[("class", class)], |page| {
        let side = [
            ("class", "side"),
            ("width", &*number(SIDE)),
            ("height", &*height),
            ("aria-hidden", "true"),
        ];
        page.element("svg", &side, |page| write_side(page, chart));
        let main = [
            ("class", "main"),
            ("width", "100%"),
            ("height", &*height),
            ("role", "img"),
            ("aria-label", label),
        ];
        page.element("svg", &main, content);
    });
}

/// The description of the picture for screen readers.
fn label(chart: &Chart) -> String {
    let groups: Vec<&str> = chart
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    format!(
        "Chart: {}. {} against {}. Series: {}. A data table follows.",
        chart.title,
        chart.y.name,
        chart.x.name,
        groups.join(", ")
    )
}

fn write_side(page: &mut Markup, chart: &Chart) {
    for (value, text) in chart.y.labels() {
        if let Some(y) = vertical(chart, value) {
            let (x, y) = (number(SIDE - 8.0), number(y + 4.0));
            page.leaf(
                "text",
                &[("x", &x), ("y", &y), ("text-anchor", "end")],
                &text,
            );
        }
    }
}

pub(super) fn write_grid(page: &mut Markup, chart: &Chart) {
    for minor in minor_lines(&chart.y) {
        if let Some(y) = vertical(chart, minor) {
            horizontal_line(page, "minor", y);
        }
    }
    for tick in &chart.y.ticks {
        if let Some(y) = vertical(chart, *tick) {
            horizontal_line(page, "grid", y);
        }
    }
    horizontal_line(page, "axis", TOP + HEIGHT);
}

/// Faint lines between the decades of a log axis that labels each decade and nothing between.
fn minor_lines(axis: &Axis) -> Vec<f64> {
    let Scale::Log { low, high } = axis.scale else {
        return Vec::new();
    };
    let is_decade = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-6;
    let stepped = axis.ticks.windows(2).all(|pair| pair[1] / pair[0] < 11.0);
    if !stepped || !axis.ticks.iter().all(is_decade) {
        return Vec::new();
    }
    let decades = axis.ticks.iter().flat_map(|tick| [2.0 * tick, 5.0 * tick]);
    decades
        .filter(|value| *value > low && *value < high)
        .collect()
}

fn horizontal_line(page: &mut Markup, class: &str, y: f64) {
    let y = number(y);
    page.shape(
        "line",
        &[
            ("class", class),
            ("x1", "0"),
            ("x2", "100%"),
            ("y1", &y),
            ("y2", &y),
        ],
    );
}

pub(super) fn write_band(page: &mut Markup, chart: &Chart, band: &Band) {
    let (Some(from), Some(to)) = (chart.x.scale.place(band.from), chart.x.scale.place(band.to))
    else {
        return;
    };
    if !band.measured {
        let (x, width) = (percent(from), percent(to - from));
        page.shape(
            "rect",
            &[
                ("class", "band"),
                ("x", &x),
                ("width", &width),
                ("y", &number(TOP)),
                ("height", &number(HEIGHT)),
            ],
        );
    }
    // A name needs about a twelfth of a phone's plot.
    if to - from >= 0.08 {
        let attributes = [
            ("class", "stage"),
            ("x", &*percent((from + to) / 2.0)),
            ("y", &*number(TOP - 6.0)),
            ("text-anchor", "middle"),
        ];
        page.leaf("text", &attributes, &band.label);
    }
}

fn write_mean(page: &mut Markup, chart: &Chart, mean: &Mean) {
    let Some(group) = chart.groups.get(mean.group) else {
        return;
    };
    let class = format!("mean c{}", group.look.colour);
    let index = mean.group.to_string();
    page.element("g", &[("class", &class), ("data-group", &index)], |page| {
        let interval = mean
            .interval
            .and_then(|ends| Some((vertical(chart, ends.low)?, vertical(chart, ends.high)?)));
        if let Some((low, high)) = interval {
            let (y, height) = (number(high), number((low - high).max(1.0)));
            page.shape(
                "rect",
                &[
                    ("x", "0"),
                    ("width", "100%"),
                    ("y", &y),
                    ("height", &height),
                ],
            );
        }
        if let Some(y) = vertical(chart, mean.value) {
            horizontal_line(page, group.look.dash.class(), y);
        }
    });
}

fn write_curves(page: &mut Markup, chart: &Chart) {
    let view_box = format!("0 0 {WIDTH} {HEIGHT}");
    let attributes = [
        ("y", &*number(TOP)),
        ("width", "100%"),
        ("height", &*number(HEIGHT)),
        ("viewBox", &*view_box),
        ("preserveAspectRatio", "none"),
    ];
    page.element("svg", &attributes, |page| {
        for (line, look) in chart
            .lines
            .iter()
            .filter_map(|line| Some((line, sample(chart, line)?)))
        {
            if look.joined {
                let weight = if line.faint { " faint" } else { "" };
                let drawn = line.points.iter().filter(|point| point.y.is_some());
                // What is one point only would hardly be seen.
                let lone = if drawn.count() == 1 { " lone" } else { "" };
                let class = format!("line c{} {}{weight}{lone}", look.colour, look.dash.class());
                let group = line.group.to_string();
                let path = path(chart, &line.points);
                page.shape(
                    "path",
                    &[("class", &class), ("data-group", &group), ("d", &path)],
                );
            }
        }
    });
}

fn sample(chart: &Chart, line: &ChartLine) -> Option<LineStyle> {
    chart.groups.get(line.group).map(|group| group.look)
}

/// The `d` of a path: a new sub-path after every gap. A single point between two gaps still shows, as a dot: round line
/// caps draw a line of no length.
fn path(chart: &Chart, points: &[Point]) -> String {
    let mut out = String::with_capacity(points.len() * 10);
    let (mut pen_down, mut alone) = (false, false);
    for point in points {
        let place = point
            .y
            .and_then(|y| Some((chart.x.scale.place(point.x)?, chart.y.scale.place(y)?)));
        match place {
            Some((x, y)) => {
                out.push(if pen_down { 'L' } else { 'M' });
                out.push_str(&number(x * WIDTH));
                out.push(' ');
                out.push_str(&number((1.0 - y) * HEIGHT));
                (alone, pen_down) = (!pen_down, true);
            }
            None => {
                out.push_str(if alone { "h0" } else { "" });
                (alone, pen_down) = (false, false);
            }
        }
    }
    out.push_str(if alone { "h0" } else { "" });
    out
}

fn write_markers(page: &mut Markup, chart: &Chart) {
    for line in &chart.lines {
        let Some((look, marker)) = sample(chart, line).and_then(|look| Some((look, look.marker?)))
        else {
            continue;
        };
        let group = line.group.to_string();
        let class = format!("mark c{}", look.colour);
        page.element("g", &[("class", &class), ("data-group", &group)], |page| {
            for point in &line.points {
                write_point(page, chart, point, marker);
            }
        });
    }
}

fn write_point(page: &mut Markup, chart: &Chart, point: &Point, marker: Marker) {
    let place = chart
        .x
        .scale
        .place(point.x)
        .zip(point.y.and_then(|y| vertical(chart, y)));
    let Some((x, y)) = place else { return };
    let x = percent(x);
    let interval = point
        .interval
        .and_then(|ends| Some((vertical(chart, ends.low)?, vertical(chart, ends.high)?)));
    if let Some((low, high)) = interval {
        let (low, high) = (number(low), number(high));
        page.shape(
            "line",
            &[("x1", &x), ("x2", &x), ("y1", &low), ("y2", &high)],
        );
    }
    write_marker(page, &x, y, marker);
}

/// A marker keeps its form because it is in its own unstretched SVG.
pub(super) fn write_marker(page: &mut Markup, x: &str, y: f64, marker: Marker) {
    let y = number(y);
    page.element(
        "svg",
        &[("x", x), ("y", &y), ("overflow", "visible")],
        |page| match marker {
            Marker::Disc => page.shape("circle", &[("r", "4")]),
            Marker::Diamond => {
                page.shape("path", &[("class", "hollow"), ("d", "M0-6L6 0L0 6L-6 0z")])
            }
        },
    );
}

pub(super) fn write_bottom(page: &mut Markup, chart: &Chart) {
    for (value, text) in chart.x.labels() {
        let Some(place) = chart.x.scale.place(value) else {
            continue;
        };
        let x = percent(place);
        let (top, end) = (number(TOP + HEIGHT), number(TOP + HEIGHT + 5.0));
        page.shape(
            "line",
            &[
                ("class", "axis"),
                ("x1", &x),
                ("x2", &x),
                ("y1", &top),
                ("y2", &end),
            ],
        );
        let y = number(TOP + HEIGHT + 19.0);
        page.leaf(
            "text",
            &[("x", &x), ("y", &y), ("text-anchor", "middle")],
            &text,
        );
    }
}

/// Names at the ends of lines, moved apart where they would touch.
fn write_end_labels(page: &mut Markup, chart: &Chart) {
    let mut labels: Vec<(f64, usize)> = Vec::new();
    for (index, _) in chart.groups.iter().enumerate() {
        let last = chart.lines.iter().rfind(|line| line.group == index);
        let end = last.and_then(|line| line.points.iter().rev().find_map(|point| point.y));
        if let Some(y) = end.and_then(|y| vertical(chart, y)) {
            labels.push((y, index));
        }
    }
    // At equal heights the later group is higher: the maximum above the p99.
    labels.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut above = f64::NEG_INFINITY;
    for (y, index) in labels {
        let y = y.max(above + END_LABEL_GAP);
        above = y;
        let Some(group) = chart.groups.get(index) else {
            continue;
        };
        let class = format!("end c{}", group.look.colour);
        let attributes = [
            ("class", &*class),
            ("x", "100%"),
            ("dx", "6"),
            ("y", &*number(y + 4.0)),
            ("data-group", &*index.to_string()),
        ];
        page.leaf("text", &attributes, &group.name);
    }
}
