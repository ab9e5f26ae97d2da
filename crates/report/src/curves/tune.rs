//! The chart of a search for better settings: the effect of each setting with its interval, and the proof of the
//! winner.

use kgauge_analyze::statistics::{FigureRatio, Interval};
use kgauge_analyze::summary::TuneSummary;

use super::{equal, equal_zone, percent};
use crate::chart::{
    Axis, AxisUnit, Chart, ChartLine, LegendEntry, LineStyle, Marker, Point, Scale,
};
use crate::format;
use crate::text::tune as words;

/// An interval beyond this many per cent would hide all others.
const PERCENT_MAX: f64 = 400.0;

/// The chart; none without an effect.
pub(super) fn charts(search: &TuneSummary) -> Vec<Chart> {
    effects(search).into_iter().collect()
}

/// A name and its effect, in the order of the chart.
fn named(search: &TuneSummary) -> Vec<(String, FigureRatio)> {
    let proof = search.winner.as_ref().map(|winner| &winner.proof);
    let proven = proof.and_then(|proof| {
        let (ratio, interval) = proof.ratio.zip(proof.interval)?;
        Some(FigureRatio { ratio, interval })
    });
    let settings = search.settings.iter();
    let mut named: Vec<(String, FigureRatio)> = settings
        .filter_map(|one| Some((format!("{}={}", one.name, one.value), one.ratio?)))
        // Without a screening, the only setting has the ratio of the proof.
        .filter(|(_, ratio)| proven != Some(*ratio))
        .collect();
    named.extend(proven.map(|ratio| ("winner, in the proof".to_owned(), ratio)));
    named
}

fn clamped(ratio: f64) -> f64 {
    percent(ratio).clamp(-100.0, PERCENT_MAX)
}

/// A legend entry and a point for each effect.
fn points(
    search: &TuneSummary,
    named: Vec<(String, FigureRatio)>,
) -> (Vec<LegendEntry>, Vec<ChartLine>) {
    let count = named.len();
    let pairs = named.into_iter().enumerate().map(|(index, (name, one))| {
        let is_winner = search.winner.is_some() && index + 1 == count;
        let marker = match is_winner {
            true => Marker::Diamond,
            false => Marker::Disc,
        };
        let look = LineStyle::dots(usize::from(is_winner), marker);
        let interval = Interval {
            low: clamped(one.interval.low),
            high: clamped(one.interval.high),
        };
        let point = Point {
            interval: Some(interval),
            ..Point::new((index + 1) as f64, Some(clamped(one.ratio)))
        };
        let line = ChartLine {
            group: index,
            name: String::new(),
            faint: false,
            points: vec![point],
        };
        let name = format!("{}: {name}", index + 1);
        (LegendEntry { name, look }, line)
    });
    pairs.unzip()
}

fn effects(search: &TuneSummary) -> Option<Chart> {
    let named = named(search);
    let high = named.iter().map(|(_, one)| clamped(one.interval.high));
    let low = named.iter().map(|(_, one)| clamped(one.interval.low));
    let equal = equal(search.width);
    let high = high.reduce(f64::max)?.max(equal.high);
    let low = low.reduce(f64::min)?.min(equal.low);
    let count = named.len() as f64;
    let (mut groups, lines) = points(search, named);
    let zone = equal_zone(search.width, &mut groups);
    let figure = words::figure_name(search);
    Some(Chart {
        id: "tune-effects".to_owned(),
        title: format!("{} with new settings", format::capital(&figure)),
        subtitle: "compared with the settings in force, with 95 % intervals".to_owned(),
        x: Axis::new(
            "setting",
            Scale::Linear {
                low: 0.0,
                high: count + 1.0,
            },
            AxisUnit::Plain,
        ),
        y: Axis::new(
            "difference",
            Scale::Linear {
                low: low.floor(),
                high: high.ceil(),
            },
            AxisUnit::Percent,
        ),
        groups,
        means: vec![zone],
        lines,
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tune::tests::better;

    #[test]
    fn each_setting_and_the_proof_is_a_point_with_its_interval() {
        let charts = charts(&better());
        let points = charts.iter().flat_map(|chart| &chart.lines);
        let points: Vec<&Point> = points.flat_map(|line| &line.points).collect();
        assert_eq!(points.len(), 3);
        assert!(points.iter().all(|point| point.interval.is_some()));
        assert_eq!(charts[0].groups.len(), 4);
    }
}
