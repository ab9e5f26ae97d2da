//! What a chart over time shows, in words: instead of a line that is flat, or of few points.

use crate::chart::{AxisUnit, Chart, ChartLine};
use crate::format;

/// Fewer points make no curve.
pub(crate) const POINTS_MIN: usize = 5;
/// Values that differ by at most this share of the largest are one value.
const SAME_WITHIN: f64 = 0.01;
/// Lines that are named at most.
const NAMED_MAX: usize = 12;

/// A chart in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeriesText {
    /// What the chart would show.
    pub(crate) title: String,
    /// Its values.
    pub(crate) words: String,
}

/// The values of one group of lines.
struct GroupRange<'a> {
    name: &'a str,
    low: f64,
    high: f64,
}

/// The text that replaces a chart; `None` if the chart shows more.
///
/// They replace a chart over time whose lines are flat, or that has fewer than five points.
pub(crate) fn instead_of(chart: &Chart) -> Option<SeriesText> {
    if chart.x.unit != AxisUnit::Seconds {
        return None;
    }
    let ranges = ranges(chart);
    let values = |line: &ChartLine| {
        let points = line.points.iter();
        points.filter(|point| point.y.is_some()).count()
    };
    let longest = chart.lines.iter().map(values).max().unwrap_or(0);
    let is_flat = ranges.iter().all(|range| is_same(range.low, range.high));
    if !is_flat && longest >= POINTS_MIN {
        return None;
    }
    let words = match (ranges.as_slice(), is_flat) {
        ([], _) => "no complete second was measured".to_owned(),
        (ranges, true) => flat(chart, ranges),
        (ranges, false) => listed(ranges, |range| {
            let ends = (value(chart, range.low), value(chart, range.high));
            match is_same(range.low, range.high) {
                true => ends.1,
                false => format::pair(&ends.0, "to", &ends.1),
            }
        }),
    };
    Some(SeriesText {
        title: chart.title.clone(),
        words,
    })
}

/// The smallest and the largest value of each group that has any.
fn ranges(chart: &Chart) -> Vec<GroupRange<'_>> {
    let range = |index: usize| {
        let lines = chart.lines.iter().filter(|line| line.group == index);
        let values = lines.flat_map(|line| line.points.iter().filter_map(|point| point.y));
        values.fold(None, |known: Option<(f64, f64)>, value| {
            let (low, high) = known.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
    };
    let groups = chart.groups.iter().enumerate();
    let ranges = groups.filter_map(|(index, group)| {
        let (low, high) = range(index)?;
        let name = &group.name;
        Some(GroupRange { name, low, high })
    });
    ranges.collect()
}

fn is_same(low: f64, high: f64) -> bool {
    high - low <= SAME_WITHIN * high.abs().max(low.abs())
}

/// `2 partitions each throughout`, `generator 0.62 cores, target 0.85 cores throughout`.
fn flat(chart: &Chart, ranges: &[GroupRange<'_>]) -> String {
    let all = ranges.iter().map(|range| range.high);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match ranges {
        [_, _, ..] if is_same(low, high) => {
            format!("{} each throughout", value(chart, high))
        }
        ranges => format!(
            "{} throughout",
            listed(ranges, |range| value(chart, range.high))
        ),
    }
}

/// Each group with its words, as far as they are few.
fn listed(ranges: &[GroupRange<'_>], words: impl Fn(&GroupRange<'_>) -> String) -> String {
    let named: Vec<String> = ranges
        .iter()
        .map(|range| match range.name {
            "" => words(range),
            // `writers, repeat 1: 3,843,000 to 4,107,000 records/s`: two numbers must not follow each other.
            name if name.contains(' ') && name.ends_with(|last: char| last.is_ascii_digit()) => {
                format!("{name}: {}", words(range))
            }
            name => format!("{name} {}", words(range)),
        })
        .collect();
    format::few_clauses(&named, NAMED_MAX)
}

/// A value with its unit, which the axis has in a chart.
fn value(chart: &Chart, value: f64) -> String {
    let text = chart.y.unit.value(value);
    match chart.y.unit {
        AxisUnit::RecordsPerSecond | AxisUnit::MegabytesPerSecond | AxisUnit::Cores => {
            format!("{text} {}", chart.y.unit.key())
        }
        AxisUnit::Plain if value == 1.0 => format!("1 {}", chart.y.name.trim_end_matches('s')),
        AxisUnit::Plain => format!("{} {}", format::compact(value), chart.y.name),
        AxisUnit::Seconds
        | AxisUnit::Nanoseconds
        | AxisUnit::Bytes
        | AxisUnit::Quantile
        | AxisUnit::Percent => text,
    }
}

/// `Omitted to keep the page small: broker charts of 12 trials. ...`; `None` where nothing is omitted.
pub(crate) fn omitted(counts: &[(&str, u64)]) -> Option<String> {
    let kinds: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| format!("{what} of {}", format::counted(*count, "trial")))
        .collect();
    (!kinds.is_empty()).then(|| {
        format!(
            "Omitted to keep the page small: {}. The run folder has all their data.",
            kinds.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Dash, LegendEntry, LineStyle, Point, Scale};

    /// A chart over time with a line of these values for each name.
    fn chart(unit: AxisUnit, lines: &[(&str, &[f64])]) -> Chart {
        let scale = Scale::Linear {
            low: 0.0,
            high: 10.0,
        };
        let group = |(name, _): &(&str, &[f64])| LegendEntry {
            name: (*name).to_owned(),
            look: LineStyle::line(0, Dash::Solid),
        };
        let line = |(group, (_, values)): (usize, &(&str, &[f64]))| ChartLine {
            group,
            name: String::new(),
            faint: false,
            points: values
                .iter()
                .enumerate()
                .map(|(at, value)| Point::new(at as f64, Some(*value)))
                .collect(),
        };
        Chart {
            id: "trial-1-a".to_owned(),
            title: "Leaders".to_owned(),
            subtitle: String::new(),
            x: Axis::new("time", scale, AxisUnit::Seconds),
            y: Axis::new("partitions", scale, unit),
            bands: Vec::new(),
            marks: Vec::new(),
            groups: lines.iter().map(group).collect(),
            means: Vec::new(),
            lines: lines.iter().enumerate().map(line).collect(),
            end_labels: false,
            notes: Vec::new(),
        }
    }

    fn words(unit: AxisUnit, lines: &[(&str, &[f64])]) -> Option<String> {
        instead_of(&chart(unit, lines)).map(|text| text.words)
    }

    #[test]
    fn flat_lines_become_a_sentence() {
        let two: &[f64] = &[2.0; 9];
        let brokers = [("broker 1", two), ("broker 2", two)];
        assert_eq!(
            words(AxisUnit::Plain, &brokers).as_deref(),
            Some("2 partitions each throughout")
        );
        assert_eq!(
            words(AxisUnit::Cores, &[("a", &[0.5; 9]), ("b", &[0.25; 9])]).as_deref(),
            Some("a 0.500 cores; b 0.250 cores throughout")
        );
        assert_eq!(
            words(AxisUnit::Plain, &[("a", &[0.0; 9])]).as_deref(),
            Some("a 0 partitions throughout")
        );
    }

    #[test]
    fn fewer_than_five_points_become_numbers() {
        let lines: [(&str, &[f64]); 2] = [("read", &[1e6, 3e6]), ("write", &[2e6])];
        assert_eq!(
            words(AxisUnit::Nanoseconds, &lines).as_deref(),
            Some("read 1.00 to 3.00 ms; write 2.00 ms")
        );
        let repeats: [(&str, &[f64]); 2] = [("w, repeat 1", &[10.0, 30.0]), ("p99", &[20.0])];
        assert_eq!(
            words(AxisUnit::RecordsPerSecond, &repeats).as_deref(),
            Some("w, repeat 1: 10.00 to 30.00 records/s; p99 20.00 records/s")
        );
        assert_eq!(
            words(AxisUnit::Percent, &[]).as_deref(),
            Some("no complete second was measured")
        );
    }

    #[test]
    fn what_changes_stays_a_chart() {
        let five: &[f64] = &[1.0, 1.0, 1.0, 1.0, 1.2];
        assert_eq!(words(AxisUnit::Plain, &[("a", five)]), None);
        let mut curve = chart(AxisUnit::Plain, &[("a", &[1.0, 1.0])]);
        curve.x.unit = AxisUnit::RecordsPerSecond;
        assert_eq!(instead_of(&curve), None, "no chart over time");
    }

    #[test]
    fn what_is_omitted_is_counted_by_kind() {
        assert_eq!(omitted(&[("heat maps", 0)]), None);
        assert_eq!(
            omitted(&[
                ("heat maps", 0),
                ("broker charts", 1),
                ("machine charts", 12)
            ])
            .as_deref(),
            Some(
                "Omitted to keep the page small: broker charts of 1 trial, machine charts of 12 \
                 trials. The run folder has all their data."
            )
        );
    }
}
