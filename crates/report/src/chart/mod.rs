//! Charts as data: axes, lines, bands. [`draw`] turns one into SVG, [`figure`] into a whole figure
//! with legend and table, [`data`] into the numbers that the page's script reads.

pub(crate) mod data;
mod draw;
mod figure;
pub(crate) mod heat;
mod marks;
mod place;
mod scale;
mod unit;

use kgauge_analyze::statistics::Interval;

pub(crate) use figure::write_figure;
pub(crate) use scale::Scale;
pub(crate) use unit::AxisUnit;

/// One chart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    /// Unique in the page: `trial-2-latency`.
    pub(crate) id: String,
    /// What is shown: `Throughput over time`.
    pub(crate) title: String,
    /// What one point is.
    pub(crate) subtitle: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// Spans that are shaded: stages.
    pub(crate) bands: Vec<Band>,
    /// Moments that are marked: faults.
    pub(crate) marks: Vec<AxisMark>,
    /// What the legend lists and switches on and off.
    pub(crate) groups: Vec<LegendEntry>,
    /// Means with their interval, drawn across the plot behind the curves.
    pub(crate) means: Vec<Mean>,
    /// The curves, drawn in this order.
    pub(crate) lines: Vec<ChartLine>,
    /// Whether groups are named at the end of their line too, for eyes that do not tell colours
    /// apart.
    pub(crate) end_labels: bool,
    /// Sentences under the chart.
    pub(crate) notes: Vec<String>,
}

impl Chart {
    /// An upper estimate of its bytes in a page: path, data block, table and texts.
    pub(crate) fn bytes_about(&self) -> usize {
        // Axes, captions and the elements around them.
        const FRAME: usize = 3_000;
        // A swatch and an entry of the legend.
        const GROUP: usize = 260;
        // A path, its numbers' names, and the head of a column.
        const LINE: usize = 160;
        // A stage with its name; the line of a fault; a mean with its interval.
        const SHAPE: usize = 220;
        // `<tr><th scope="row">12.5 s</th></tr>`.
        const ROW: usize = 48;
        let rows = figure::rows(&self.lines);
        let lines = self.lines.iter().map(|line| {
            let group = self.groups.get(line.group);
            let name = group.map_or(0, |group| text_bytes(&group.name));
            let name = name + 2 * text_bytes(&line.name);
            LINE + name + self.bytes_of_points(line, rows)
        });
        // In the legend, the label, the data block and at the line's end.
        let groups = self.groups.iter();
        let groups = groups.map(|group| GROUP + 4 * text_bytes(&group.name));
        // In the caption, the label and the table's.
        let words = 3 * (text_bytes(&self.title) + text_bytes(&self.subtitle));
        let notes = self.notes.iter().map(|note| 30 + text_bytes(note));
        let bands = self.bands.iter();
        let bands = bands.map(|band| SHAPE + text_bytes(&band.label));
        FRAME
            + words
            + rows * ROW
            + (self.marks.len() + self.means.len()) * SHAPE
            + lines.chain(groups).chain(notes).chain(bands).sum::<usize>()
    }

    fn bytes_of_points(&self, line: &ChartLine, rows: usize) -> usize {
        // Two coordinates of a path and two numbers of the data block.
        const POINT: usize = 32;
        // An empty cell; a row has one for each line that has nothing there.
        const CELL: usize = 13;
        // What a value adds to its cell, and an interval.
        const VALUE: usize = 10;
        const INTERVAL: usize = 32;
        // An SVG of its own, with a line for the interval.
        const MARKER: usize = 200;
        let points = line.points.len();
        let look = self.groups.get(line.group).map(|group| group.look);
        let marker = match look.and_then(|look| look.marker) {
            Some(_) => MARKER,
            None => 0,
        };
        let interval = line.points.iter().any(|point| point.interval.is_some());
        let value = VALUE + if interval { INTERVAL } else { 0 };
        points * (POINT + marker) + rows * CELL + points.min(rows) * value
    }
}

/// Bytes that a text takes at most, in the page or in its data block: `&quot;` is the longest that becomes of one
/// letter.
pub(crate) fn text_bytes(text: &str) -> usize {
    let bytes = |letter: char| match letter {
        '<' | '>' | '&' | '"' | '\'' | '\\' | '\u{2028}' | '\u{2029}' => 6,
        letter if letter.is_control() => 6,
        letter => letter.len_utf8().max(if letter.is_ascii() { 1 } else { 3 }),
    };
    text.chars().map(bytes).sum()
}

/// One axis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Axis {
    /// What it shows.
    pub(crate) name: String,
    /// The places of values.
    pub(crate) scale: Scale,
    /// How values are written.
    pub(crate) unit: AxisUnit,
    /// Which values are labelled.
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    /// An axis with the labels that its scale suggests.
    pub(crate) fn new(name: &str, scale: Scale, unit: AxisUnit) -> Self {
        let ticks = match (unit, scale) {
            (AxisUnit::Seconds, Scale::Linear { high, .. }) => Scale::time_ticks(high),
            _ => scale.ticks(),
        };
        Self {
            name: name.to_owned(),
            scale,
            unit,
            ticks,
        }
    }

    /// Labels with their values.
    fn labels(&self) -> Vec<(f64, String)> {
        let clock =
            self.unit == AxisUnit::Seconds && self.ticks.last().is_some_and(|end| *end >= 100.0);
        let write = |tick: f64| match clock {
            true => unit::clock(tick),
            false => self.unit.tick(tick),
        };
        self.ticks
            .iter()
            .map(|tick| (*tick, write(*tick)))
            .collect()
    }
}

/// A shaded span of the horizontal axis.
#[derive(Debug, Clone)]
pub(crate) struct Band {
    /// First value.
    pub(crate) from: f64,
    /// Last value.
    pub(crate) to: f64,
    /// Its name, written at its top.
    pub(crate) label: String,
    /// True where figures are taken; spans around it are shaded.
    pub(crate) measured: bool,
}

/// A moment of the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AxisMark {
    /// Where.
    pub(crate) at: f64,
    /// By which the notes name it.
    pub(crate) number: usize,
    /// What happened there.
    pub(crate) what: MarkKind,
}

/// What is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// A fault begins.
    Begins,
    /// A fault ends.
    Ends,
    /// The cluster changed: leaders, or who is in sync.
    Changes,
}

/// A horizontal line with the interval around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mean {
    /// Index of its [`LegendEntry`].
    pub(crate) group: usize,
    /// The mean.
    pub(crate) value: f64,
    /// Its interval.
    pub(crate) interval: Option<Interval>,
}

/// An entry of the legend.
#[derive(Debug, Clone)]
pub(crate) struct LegendEntry {
    /// Its name.
    pub(crate) name: String,
    /// The look of its lines.
    pub(crate) look: LineStyle,
}

/// Colour, dash and marker together, so that no group differs by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineStyle {
    /// Which of the [`LineStyle::COLOURS`] colours of the style sheet.
    pub(crate) colour: u8,
    /// Which dash pattern.
    pub(crate) dash: Dash,
    /// The marker of each point; `None` for dense lines.
    pub(crate) marker: Option<Marker>,
    /// Whether points are joined.
    pub(crate) joined: bool,
}

impl LineStyle {
    /// Colours in the style sheet (`.c0` to `.c5`).
    pub(crate) const COLOURS: u8 = 6;

    /// The n-th look of a chart whose lines all differ: by dash alone while there are enough dashes, else by dash and
    /// colour.
    pub(crate) fn nth(index: usize) -> Self {
        let colours = usize::from(Self::COLOURS);
        Self::line(index, Dash::nth(index + index / colours))
    }

    /// A joined line without markers.
    pub(crate) fn line(colour: usize, dash: Dash) -> Self {
        let colour = (colour % usize::from(Self::COLOURS)) as u8;
        Self {
            colour,
            dash,
            marker: None,
            joined: true,
        }
    }

    /// Single points.
    pub(crate) fn dots(colour: usize, marker: Marker) -> Self {
        Self {
            marker: Some(marker),
            joined: false,
            ..Self::line(colour, Dash::Solid)
        }
    }
}

/// Dash patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dash {
    /// ———
    Solid,
    /// – – –
    Dashed,
    /// · · ·
    Dotted,
    /// – · –
    Mixed,
    /// —— ——
    Long,
    /// – · · –
    Double,
}

impl Dash {
    /// The n-th pattern, over and over.
    pub(crate) fn nth(index: usize) -> Self {
        [
            Self::Solid,
            Self::Dashed,
            Self::Dotted,
            Self::Mixed,
            Self::Long,
            Self::Double,
        ][index % 6]
    }

    /// Its class in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Self::Solid => "d0",
            Self::Dashed => "d1",
            Self::Dotted => "d2",
            Self::Mixed => "d3",
            Self::Long => "d4",
            Self::Double => "d5",
        }
    }
}

/// Marks of single points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// A filled disc: measured.
    Disc,
    /// A hollow diamond: published.
    Diamond,
}

/// One curve.
#[derive(Debug, Clone)]
pub(crate) struct ChartLine {
    /// Index of its [`LegendEntry`].
    pub(crate) group: usize,
    /// What it is within the group, for the table: `repeat 2`; empty when the group has one line.
    pub(crate) name: String,
    /// True for lines behind the others: further repeats.
    pub(crate) faint: bool,
    /// Points by rising x.
    pub(crate) points: Vec<Point>,
}

/// One point; `y` is `None` where nothing was measured, which leaves a gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Place on the horizontal axis.
    pub(crate) x: f64,
    /// Value.
    pub(crate) y: Option<f64>,
    /// Interval around the value, where there is one.
    pub(crate) interval: Option<Interval>,
}

impl Point {
    /// A point without interval.
    pub(crate) fn new(x: f64, y: Option<f64>) -> Self {
        Self {
            x,
            y,
            interval: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::Markup;

    /// Lines of so many points whose places differ between them by `apart`.
    fn chart(lines: usize, points: usize, apart: f64, unit: AxisUnit) -> Chart {
        let line = |index: usize| ChartLine {
            group: index,
            name: format!("repeat {index}"),
            faint: index > 0,
            points: (0..points)
                .map(|at| {
                    let x = at as f64 + index as f64 * apart + 0.1;
                    Point::new(x, Some(123_456.789 * (at as f64 + 1.3)))
                })
                .collect(),
        };
        let group = |index| LegendEntry {
            name: format!("sd{index} \"written\""),
            look: LineStyle::line(index, Dash::nth(index)),
        };
        let high = points as f64 + 1.0;
        let x = Scale::Linear { low: 0.0, high };
        Chart {
            id: "trial-1-disks".to_owned(),
            title: "Disks".to_owned(),
            subtitle: "megabytes a second".to_owned(),
            x: Axis::new("time since the repeat started", x, AxisUnit::Seconds),
            y: Axis::new("MB/s", Scale::from_zero(123_456.0 * high), unit),
            bands: Vec::new(),
            marks: Vec::new(),
            groups: (0..lines).map(group).collect(),
            means: Vec::new(),
            lines: (0..lines).map(line).collect(),
            end_labels: true,
            notes: vec!["\"<".repeat(100)],
        }
    }

    #[test]
    fn a_chart_takes_no_more_bytes_than_were_charged_for_it() {
        for (lines, points, apart) in [
            (1, 1, 0.0),
            (3, 120, 0.0),
            (12, 120, 0.01),
            (40, 60, 0.01),
            (90, 3, 0.001),
        ] {
            for unit in [
                AxisUnit::MegabytesPerSecond,
                AxisUnit::Nanoseconds,
                AxisUnit::Bytes,
            ] {
                let chart = chart(lines, points, apart, unit);
                let mut page = Markup::new();
                write_figure(&mut page, &chart);
                let data = serde_json::to_string(&data::ChartData::of(&chart)).unwrap();
                page.json_block("chart-data", &data);
                let (charged, taken) = (chart.bytes_about(), page.finish().len());
                assert!(taken <= charged, "{lines} × {points}: {taken} of {charged}");
                assert!(charged < 2 * taken + 3_000, "{taken} of {charged}");
            }
        }
    }
}
