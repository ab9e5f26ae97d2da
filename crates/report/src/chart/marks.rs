//! Marked moments of a chart over time: a line each, with a number where it fits.

use super::place::{HEIGHT, TOP, number, percent};
use super::{Chart, MarkKind};
use crate::markup::Markup;

/// The part of the plot's width that a number needs, on a phone too.
const ROOM: f64 = 0.035;

/// Writes the marks that lie on the chart.
pub(super) fn write_marks(page: &mut Markup, chart: &Chart) {
    let mut taken = f64::NEG_INFINITY;
    for mark in &chart.marks {
        let Some(place) = chart.x.scale.place(mark.at) else {
            continue;
        };
        let x = percent(place);
        let class = match mark.what {
            MarkKind::Begins => "fault",
            MarkKind::Ends => "fault over",
            MarkKind::Changes => "fault change",
        };
        page.shape(
            "line",
            &[
                ("class", class),
                ("x1", &x),
                ("x2", &x),
                ("y1", &number(TOP)),
                ("y2", &number(TOP + HEIGHT)),
            ],
        );
        if place - taken < ROOM {
            continue;
        }
        taken = place;
        let attributes = [
            ("class", "fault-number"),
            ("x", &*x),
            ("dx", "3"),
            ("y", &*number(TOP + 10.0)),
        ];
        page.leaf("text", &attributes, &mark.number.to_string());
    }
}
