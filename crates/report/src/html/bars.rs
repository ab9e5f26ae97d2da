//! Charts of a comparison: a bar for each run, with the interval of its mean.

use kgauge_analyze::statistics::Interval;

use crate::compare::{self, CompareView, FlowRows, RowView, TrialRows};
use crate::markup::Markup;

pub(super) fn write_chart(
    page: &mut Markup,
    view: &CompareView,
    group: &TrialRows,
    part: &FlowRows,
    row: &RowView,
) {
    let tops = row.cells.iter().filter_map(|cell| {
        let high = cell.interval.map(|ends| ends.high);
        Some(cell.value?.max(high.unwrap_or(0.0)))
    });
    let published = row.published.as_ref();
    let top = tops
        .chain(published.map(|found| found.value))
        .fold(0.0, f64::max);
    if !(top.is_finite() && top > 0.0) {
        return;
    }
    page.element("figure", &[("class", "chart")], |page| {
        page.element("figcaption", &[], |page| {
            let flow = part.flow.as_deref().unwrap_or_default();
            page.leaf("strong", &[], &format!("{flow} {}", row.name));
            page.leaf("span", &[("class", "subtitle")], &group.title);
        });
        page.element("div", &[("class", "bars")], |page| {
            for (head, cell) in view.heads.iter().zip(&row.cells) {
                let other = cell.against.as_ref().is_some_and(|found| {
                    found.word == kgauge_analyze::compare::DifferenceVerdict::NotComparable
                });
                let bar = Bar {
                    name: &match other {
                        true => format!("{}, not comparable", head.label),
                        false => head.label.clone(),
                    },
                    value: cell.value,
                    interval: cell.interval,
                    text: &format!(
                        "{}{} {}",
                        cell.figure,
                        compare::signs(&cell.marks),
                        cell.spread
                    ),
                    class: if other { "bar c0 other" } else { "bar c0" },
                };
                bar.write(page, top);
            }
            if let Some(published) = published {
                let bar = Bar {
                    name: "published",
                    value: Some(published.value),
                    interval: None,
                    text: &published.figure,
                    class: "bar c1 published",
                };
                bar.write(page, top);
            }
        });
    });
    page.line();
}

/// One bar from zero with the interval of its mean.
struct Bar<'a> {
    name: &'a str,
    value: Option<f64>,
    interval: Option<Interval>,
    text: &'a str,
    class: &'static str,
}

impl Bar<'_> {
    fn write(&self, page: &mut Markup, top: f64) {
        let place = |value: f64| format!("{:.2}%", (value / top).clamp(0.0, 1.0) * 98.0);
        page.element("div", &[("class", "bar-row")], |page| {
            page.leaf("span", &[], self.name);
            // The text next to it has the same figures.
            let svg = [
                ("class", self.class),
                ("width", "100%"),
                ("height", "18"),
                ("aria-hidden", "true"),
            ];
            page.element("svg", &svg, |page| {
                let Some(value) = self.value else { return };
                let bar = [
                    ("x", "1"),
                    ("y", "3"),
                    ("width", &*place(value)),
                    ("height", "12"),
                ];
                page.shape("rect", &bar);
                if let Some(ends) = self.interval {
                    let (low, high) = (place(ends.low), place(ends.high));
                    for (x1, x2, y1, y2) in [
                        (&low, &high, "9", "9"),
                        (&low, &low, "5", "13"),
                        (&high, &high, "5", "13"),
                    ] {
                        page.shape("line", &[("x1", x1), ("x2", x2), ("y1", y1), ("y2", y2)]);
                    }
                }
            });
            page.leaf("span", &[("class", "bar-value")], self.text);
        });
    }
}
