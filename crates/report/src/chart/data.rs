//! The numbers behind the charts as the page's script reads them, in one JSON block.

use serde::Serialize;

use super::{Axis, Chart, ChartLine, Scale};

/// One chart's numbers.
#[derive(Serialize)]
pub(crate) struct ChartData<'a> {
    id: &'a str,
    x: AxisData<'a>,
    y: AxisData<'a>,
    groups: Vec<&'a str>,
    lines: Vec<LineData<'a>>,
}

#[derive(Serialize)]
pub(super) struct AxisData<'a> {
    name: &'a str,
    unit: &'static str,
    scale: &'static str,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct LineData<'a> {
    group: usize,
    name: &'a str,
    x: Vec<f64>,
    y: Vec<Option<f64>>,
}

impl<'a> ChartData<'a> {
    /// Takes the numbers out of a chart, with six significant digits: more than a pointer can tell.
    pub(crate) fn of(chart: &'a Chart) -> Self {
        Self {
            id: &chart.id,
            x: AxisData::of(&chart.x),
            y: AxisData::of(&chart.y),
            groups: chart
                .groups
                .iter()
                .map(|group| group.name.as_str())
                .collect(),
            lines: chart.lines.iter().map(LineData::of).collect(),
        }
    }
}

impl<'a> AxisData<'a> {
    pub(super) fn of(axis: &'a Axis) -> Self {
        let (scale, low, high) = match axis.scale {
            Scale::Linear { low, high } => ("linear", low, high),
            Scale::Log { low, high } => ("log", low, high),
            Scale::Tail { nines } => ("tail", 0.0, nines),
        };
        Self {
            name: &axis.name,
            unit: axis.unit.key(),
            scale,
            low,
            high,
        }
    }
}

impl<'a> LineData<'a> {
    fn of(line: &'a ChartLine) -> Self {
        Self {
            group: line.group,
            name: &line.name,
            x: line.points.iter().map(|point| rounded(point.x)).collect(),
            y: line
                .points
                .iter()
                .map(|point| point.y.map(rounded))
                .collect(),
        }
    }
}

/// A number with six significant digits, so that the file stays small.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // Quantiles near one need their distance to one, not their own digits.
    if value < 1.0 && value > 0.9 {
        return (value * 1e9).round() / 1e9;
    }
    let exponent = value.abs().log10().floor() as i32;
    if exponent >= 6 {
        return value.round();
    }
    let factor = 10_f64.powi(5 - exponent);
    (value * factor).round() / factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits_and_quantiles_their_nines() {
        assert_eq!(rounded(1_234_567.8), 1_234_568.0);
        assert_eq!(rounded(0.001_234_567_8), 0.001_234_57);
        assert_eq!(rounded(0.999_995), 0.999_995);
        assert_eq!(rounded(0.0), 0.0);
    }
}
