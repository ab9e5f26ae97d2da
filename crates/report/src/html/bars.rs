//! Bars with the 95 % interval of their value, and the published figure as a line across.

use crate::format;
use crate::markup::Markup;
use crate::view::AnswerBar;

/// Bars of one figure at most: the tables have all of them.
const BARS_MAX: usize = 16;
/// An interval that reaches further than this many times the largest value is cut.
const REACH_MAX: f64 = 1.5;

/// Where values are: from zero to the largest.
pub(super) struct BarScale {
    top: f64,
}

impl BarScale {
    /// Of all bars next to each other; `None` where nothing can be drawn.
    pub(super) fn of(bars: &[&AnswerBar]) -> Option<BarScale> {
        let values = bars.iter().flat_map(|bar| [Some(bar.value), bar.published]);
        let largest = values.flatten().fold(0.0, f64::max);
        let highs = bars.iter().filter_map(|bar| bar.high);
        let top = highs
            .map(|high| high.min(REACH_MAX * largest))
            .fold(largest, f64::max);
        (top.is_finite() && top > 0.0).then_some(BarScale { top })
    }

    fn place(&self, value: f64) -> String {
        let share = (value / self.top).clamp(0.0, 1.0);
        format!("{:.2}%", share * 99.0)
    }
}

/// A figure of bars.
pub(super) fn write_figure(page: &mut Markup, title: &str, unit: &str, bars: &[AnswerBar]) {
    let (shown, more) = bars.split_at(bars.len().min(BARS_MAX));
    let shown: Vec<&AnswerBar> = shown.iter().collect();
    let Some(scale) = BarScale::of(&shown) else {
        return;
    };
    page.element("figure", &[("class", "chart")], |page| {
        page.element("figcaption", &[], |page| {
            page.leaf("strong", &[], title);
            page.text(" ");
            page.leaf("span", &[("class", "subtitle")], &legend(unit, &shown));
        });
        page.element("div", &[("class", "bars")], |page| {
            for bar in shown {
                write_row(page, &scale, unit, &bar.label, bar);
            }
        });
        if !more.is_empty() {
            let text = format!("{} more in the table of figures.", more.len());
            page.leaf("p", &[("class", "note")], &text);
        }
    });
    page.line();
}

/// What the parts of the bars are.
pub(super) fn legend(unit: &str, bars: &[&AnswerBar]) -> String {
    let mut parts = vec![unit];
    if bars.iter().any(|bar| bar.low.is_some()) {
        parts.push("whiskers: 95 % confidence interval");
    }
    if bars.iter().any(|bar| bar.published.is_some()) {
        parts.push("dashed line: published");
    }
    if bars.iter().any(|bar| !bar.is_steady) {
        parts.push("?: not steady, or too noisy to tell");
    }
    parts.join("; ")
}

/// One bar between its name and its value.
pub(super) fn write_row(
    page: &mut Markup,
    scale: &BarScale,
    unit: &str,
    label: &str,
    bar: &AnswerBar,
) {
    let class = match bar.is_best {
        true => "bar-row best",
        false => "bar-row",
    };
    page.element("div", &[("class", class)], |page| {
        if !label.is_empty() {
            page.leaf("span", &[], label);
        }
        // The text next to it has the same figures.
        let svg = [
            ("class", "bar c0"),
            ("width", "100%"),
            ("height", "18"),
            ("aria-hidden", "true"),
        ];
        page.element("svg", &svg, |page| write_drawing(page, scale, bar));
        page.element("span", &[("class", "bar-value")], |page| {
            page.text(&value_text(unit, bar));
        });
    });
}

fn write_drawing(page: &mut Markup, scale: &BarScale, bar: &AnswerBar) {
    let rect = [
        ("x", "0"),
        ("y", "3"),
        ("width", &*scale.place(bar.value)),
        ("height", "12"),
    ];
    page.shape("rect", &rect);
    if let (Some(low), Some(high)) = (bar.low, bar.high) {
        write_whisker(page, &scale.place(low), &scale.place(high));
    }
    if let Some(published) = bar.published {
        let x = scale.place(published);
        write_line(page, "published c1", [&x, &x], ["0", "18"]);
    }
}

/// An interval.
pub(super) fn write_whisker(page: &mut Markup, low: &str, high: &str) {
    write_line(page, "whisker", [low, high], ["9", "9"]);
    write_line(page, "whisker", [low, low], ["5", "13"]);
    write_line(page, "whisker", [high, high], ["5", "13"]);
}

pub(super) fn write_line(page: &mut Markup, class: &str, [x1, x2]: [&str; 2], [y1, y2]: [&str; 2]) {
    let ends = [
        ("class", class),
        ("x1", x1),
        ("x2", x2),
        ("y1", y1),
        ("y2", y2),
    ];
    page.shape("line", &ends);
}

/// `4.53 M? ±59 %, published 822 k`: with the mark of the terminal's table where the target was not steady.
fn value_text(unit: &str, bar: &AnswerBar) -> String {
    let written = |value: f64| match unit {
        "ms" => format::nanoseconds(value * 1e6),
        "µs" => format::nanoseconds(value * 1e3),
        "records/s" | "records" => format::thousands(value),
        unit => format!("{} {unit}", format::short(value)),
    };
    let mut text = written(bar.value);
    if !bar.is_steady {
        text.push('?');
    }
    if let (Some(low), Some(high)) = (bar.low, bar.high) {
        let ends = kgauge_analyze::statistics::Interval { low, high };
        text = format!("{text} {}", format::plus_minus(bar.value, ends));
    }
    match bar.published {
        Some(published) => format!("{text}, published {}", written(published)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64, high: Option<f64>, published: Option<f64>) -> AnswerBar {
        AnswerBar {
            label: "a".to_owned(),
            value,
            low: high.map(|high| 2.0 * value - high),
            high,
            published,
            is_best: false,
            is_base: false,
            is_steady: true,
        }
    }

    #[test]
    fn a_bar_shows_its_value_its_interval_and_the_published_figure() {
        let unsteady = AnswerBar {
            is_steady: false,
            ..bar(1_000_000.0, None, None)
        };
        let bars = [
            bar(4_000_000.0, Some(5_000_000.0), Some(800_000.0)),
            unsteady,
        ];
        let mut page = Markup::new();
        write_figure(&mut page, "Throughput", "records/s", &bars);
        let page = page.finish();
        assert!(page.contains("4.00 M ±25 %, published 800 k"), "{page}");
        assert!(page.contains(">1.00 M?<"), "{page}");
        assert!(page.contains("width=\"79.20%\""), "4 of 5 million: {page}");
        assert!(page.contains("x1=\"15.84%\""), "the published one: {page}");
        assert!(page.contains("whiskers: 95 % confidence interval; dashed line: published"));
        assert_eq!(page.matches("<rect").count(), 2);
    }

    #[test]
    fn a_wide_interval_is_cut_and_nothing_is_drawn_of_nothing() {
        let wide = bar(10.0, Some(1e20), None);
        let scale = BarScale::of(&[&wide]).unwrap();
        assert_eq!(scale.place(10.0), "66.00%");
        assert_eq!(
            (scale.place(1e20), scale.place(-1e20)),
            ("99.00%".to_owned(), "0.00%".to_owned())
        );
        assert!(BarScale::of(&[&bar(0.0, None, None)]).is_none());
    }
}
