//! Positions in a chart, and how SVG writes them.

use super::Chart;

/// Height of the plot in pixels.
pub(super) const HEIGHT: f64 = 220.0;
/// Room above the plot, for the names of bands.
pub(super) const TOP: f64 = 18.0;

/// Pixels from the top of the SVG to a value.
pub(super) fn vertical(chart: &Chart, value: f64) -> Option<f64> {
    chart
        .y
        .scale
        .place(value)
        .map(|place| TOP + (1.0 - place) * HEIGHT)
}

/// A coordinate with at most one decimal.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A share of the plot's width.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}%")
}
