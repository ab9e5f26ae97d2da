//! Ratios to a baseline with their intervals, on one logarithmic axis.

use kgauge_analyze::compare::{DifferenceVerdict, FigureKind};
use kgauge_analyze::statistics::Interval;

use super::bars::{write_line, write_whisker};
use crate::compare::{AgainstView, CompareView, FlowRows, Tone, TrialRows};
use crate::format;
use crate::markup::Markup;

/// The axis reaches at least this far, and at most so far.
const REACH: (f64, f64) = (1.25, 10.0);
/// The share of the width on each side of 1.
const HALF: f64 = 48.0;

/// One ratio.
struct RatioRow<'a> {
    label: String,
    ratio: f64,
    interval: Option<Interval>,
    against: &'a AgainstView,
}

/// The ratios of one trial, a row for each figure and run; nothing where none was compared.
pub(super) fn write_figure(page: &mut Markup, view: &CompareView, group: &TrialRows) {
    let flows = group
        .parts
        .iter()
        .filter(|part| part.flow.is_some())
        .count();
    let rows = group
        .parts
        .iter()
        .flat_map(|part| rows(view, part, flows > 1));
    let rows: Vec<RatioRow<'_>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let axis = RatioAxis::of(&rows);
    let base = view.heads.get(view.baseline);
    let base = base.map_or("the baseline", |head| head.label.as_str());
    page.element("figure", &[("class", "chart")], |page| {
        page.element("figcaption", &[], |page| {
            page.leaf("strong", &[], &group.title);
            page.text(" ");
            let subtitle = format!("× {base}, with the 95 % confidence interval; log axis");
            page.leaf("span", &[("class", "subtitle")], &subtitle);
        });
        page.element("div", &[("class", "bars")], |page| {
            rows.iter().for_each(|row| axis.write_row(page, row));
            axis.write_ends(page);
        });
    });
    page.line();
}

/// The main figures of a flow that were judged.
fn rows<'a>(view: &CompareView, part: &'a FlowRows, names_flow: bool) -> Vec<RatioRow<'a>> {
    let several = view.heads.len() > 2;
    let flow = part.flow.as_ref().filter(|_| names_flow);
    let flow = flow.map_or_else(String::new, |flow| format!("{flow} "));
    let mut found = Vec::new();
    for row in part.rows.iter().filter(|row| is_drawn(row.kind, several)) {
        for (head, cell) in view.heads.iter().zip(&row.cells) {
            let Some(against) = &cell.against else {
                continue;
            };
            let (Some(ratio), false) = (against.value, is_silent(against.word)) else {
                continue;
            };
            found.push(RatioRow {
                label: match several {
                    true => format!("{flow}{}, {}", row.name, head.label),
                    false => format!("{flow}{}", row.name),
                },
                ratio,
                interval: against.interval,
                against,
            });
        }
    }
    found
}

/// Of several runs the two main figures; of two all that are judged and have a spread.
fn is_drawn(kind: FigureKind, several: bool) -> bool {
    match several {
        true => matches!(
            kind,
            FigureKind::Capacity | FigureKind::Throughput | FigureKind::LatencyP99
        ),
        false => !matches!(kind, FigureKind::ThroughputBytes | FigureKind::Lost),
    }
}

fn is_silent(word: DifferenceVerdict) -> bool {
    matches!(
        word,
        DifferenceVerdict::NotComparable
            | DifferenceVerdict::NotMeasured
            | DifferenceVerdict::NotJudged
    )
}

/// From the inverse of its reach to its reach, with 1 in the middle.
struct RatioAxis {
    reach: f64,
}

impl RatioAxis {
    fn of(rows: &[RatioRow<'_>]) -> RatioAxis {
        let values = rows.iter().flat_map(|row| {
            let ends = row.interval.map(|ends| [ends.low, ends.high]);
            ends.into_iter().flatten().chain([row.ratio])
        });
        let far = values.filter(|value| *value > 0.0);
        let reach = far
            .map(|value| value.max(1.0 / value))
            .fold(REACH.0, f64::max);
        RatioAxis {
            reach: reach.min(REACH.1),
        }
    }

    fn place(&self, ratio: f64) -> String {
        let share = ratio.max(1e-9).ln() / self.reach.ln();
        format!("{:.2}%", 50.0 + HALF * share.clamp(-1.0, 1.0))
    }

    fn write_row(&self, page: &mut Markup, row: &RatioRow<'_>) {
        let class = match row.against.tone {
            Tone::Better => "ratio better",
            Tone::Worse => "ratio worse",
            Tone::Same | Tone::Open | Tone::Silent => "ratio",
        };
        page.element("div", &[("class", "bar-row")], |page| {
            page.leaf("span", &[], &row.label);
            // The text next to it has the same figures.
            let svg = [
                ("class", class),
                ("width", "100%"),
                ("height", "18"),
                ("aria-hidden", "true"),
            ];
            page.element("svg", &svg, |page| {
                write_line(page, "one", ["50%", "50%"], ["0", "18"]);
                if let Some(ends) = row.interval {
                    let (low, high) = (self.place(ends.low), self.place(ends.high));
                    write_whisker(page, &low, &high);
                }
                let x = self.place(row.ratio);
                page.shape("circle", &[("cx", &x), ("cy", "9"), ("r", "4.5")]);
            });
            let interval = row.against.interval_words();
            let interval = interval.map_or_else(String::new, |ends| format!(" ({ends})"));
            let text = format!("{}×{interval}, {}", row.against.ratio, row.against.name);
            page.leaf("span", &[("class", "bar-value")], &text);
        });
    }

    /// The numbers below the axis.
    fn write_ends(&self, page: &mut Markup) {
        page.element("div", &[("class", "bar-row")], |page| {
            page.leaf("span", &[], "");
            let svg = [
                ("class", "ratio"),
                ("width", "100%"),
                ("height", "16"),
                ("aria-hidden", "true"),
            ];
            page.element("svg", &svg, |page| {
                let ends = [
                    (self.place(1.0 / self.reach), 1.0 / self.reach),
                    ("50%".to_owned(), 1.0),
                    (self.place(self.reach), self.reach),
                ];
                for ((x, value), anchor) in ends.iter().zip(["start", "middle", "end"]) {
                    let attributes = [("x", &**x), ("y", "12"), ("text-anchor", anchor)];
                    let text = format!("{}×", format::compact(*value));
                    page.leaf("text", &attributes, &text);
                }
            });
            page.leaf("span", &[("class", "bar-value")], "");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_and_its_inverse_are_equally_far_from_one() {
        let axis = RatioAxis { reach: 4.0 };
        assert_eq!(axis.place(1.0), "50.00%");
        assert_eq!(
            (axis.place(2.0), axis.place(0.5)),
            ("74.00%".to_owned(), "26.00%".to_owned())
        );
        assert_eq!(
            (axis.place(99.0), axis.place(0.0)),
            ("98.00%".to_owned(), "2.00%".to_owned())
        );
    }
}
