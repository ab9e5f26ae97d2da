//! A small picture of measured ÷ published, on an axis from 0.1 to 10.

use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{PublishedComparison, PublishedStatus};

use super::audit;
use crate::format;
use crate::markup::Markup;
use crate::view::{TrialView, published as text};

/// The picture's ends: a tenth and ten times the published figure.
const DECADES: f64 = 1.0;

/// Writes ratio, status and picture of one published figure.
pub(super) fn write(page: &mut Markup, trial: &TrialView, published: &PublishedComparison) {
    let class = match published.word {
        PublishedStatus::Agrees => "badge good",
        _ => "badge",
    };
    if let Some(ratio) = published.ratio {
        page.leaf(
            "span",
            &[("class", "ratio-number")],
            &format!("{} ×", format::short(ratio)),
        );
        page.text(" ");
    }
    page.leaf("span", &[("class", class)], text::status(published));
    audit::write_why(page, trial, published);
    if let Some(ratio) = published.ratio {
        write_strip(page, ratio, text::ratio_interval(published));
    }
}

/// A line from 0.1 × to 10 ×, a tick at 1 ×, the ratio as a disc with its interval. A ratio beyond
/// the ends is an arrow at the end; its number is printed next to it.
fn write_strip(page: &mut Markup, ratio: f64, interval: Option<Interval>) {
    let label = format!(
        "measured is {} times the published figure",
        format::short(ratio)
    );
    let attributes = [
        ("class", "strip"),
        ("width", "152"),
        ("height", "26"),
        ("viewBox", "-6 0 152 26"),
        ("role", "img"),
        ("aria-label", &*label),
    ];
    page.element("svg", &attributes, |page| {
        page.shape(
            "path",
            &[("class", "axis"), ("d", "M10 9H130M10 6v6M70 4v10M130 6v6")],
        );
        for (x, text) in [("10", "0.1×"), ("70", "1×"), ("130", "10×")] {
            page.leaf(
                "text",
                &[("x", x), ("y", "24"), ("text-anchor", "middle")],
                text,
            );
        }
        page.element("g", &[("class", "mark c0")], |page| {
            if let Some(ends) = interval {
                let (low, high) = (place(ends.low).to_string(), place(ends.high).to_string());
                page.shape(
                    "line",
                    &[("x1", &low), ("x2", &high), ("y1", "9"), ("y2", "9")],
                );
            }
            let x = place(ratio);
            let marker = match ratio.log10() {
                far if far > DECADES => format!("M{x} 4l7 5l-7 5z"),
                far if far < -DECADES => format!("M{x} 4l-7 5l7 5z"),
                _ => format!("M{} 9a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", x - 4.0),
            };
            page.shape("path", &[("d", &marker)]);
        });
    });
}

fn place(ratio: f64) -> f64 {
    let share = (ratio.max(1e-9).log10() / DECADES).clamp(-1.0, 1.0);
    ((70.0 + 60.0 * share) * 10.0).round() / 10.0
}
