//! Charts as data: axes, lines, bands. [`draw`] turns one into SVG, [`figure`] into a whole figure
//! with legend and table, [`data`] into the numbers that the page's script reads.

pub(crate) mod data;
mod draw;
mod figure;
pub(crate) mod heat;
mod marks;
mod scale;
mod unit;

pub(crate) use figure::write_figure;
pub(crate) use scale::Scale;
pub(crate) use unit::Unit;

/// One chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// Unique in the page: `trial-2-latency`.
    pub(crate) id: String,
    /// What is shown: `Throughput over time`.
    pub(crate) title: String,
    /// What one point is, in a few words.
    pub(crate) subtitle: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// Spans that are shaded: stages.
    pub(crate) bands: Vec<Band>,
    /// Moments that are marked: faults.
    pub(crate) marks: Vec<Mark>,
    /// What the legend lists and switches on and off.
    pub(crate) groups: Vec<Group>,
    /// Means with their interval, drawn across the plot behind the curves.
    pub(crate) means: Vec<Mean>,
    /// The curves, drawn in this order.
    pub(crate) lines: Vec<Line>,
    /// Whether groups are named at the end of their line too, for eyes that do not tell colours
    /// apart.
    pub(crate) end_labels: bool,
    /// Sentences under the chart.
    pub(crate) notes: Vec<String>,
}

impl Chart {
    /// About how many bytes of a page it takes: path, data block and table of every line.
    pub(crate) fn bytes_about(&self) -> usize {
        const POINT: usize = 28;
        const CELL: usize = 30;
        const FRAME: usize = 3_000;
        let lines = self.lines.iter().map(|line| {
            let points = line.points.len();
            points * POINT + points.min(figure::TABLE_ROWS_MAX) * CELL
        });
        FRAME + lines.sum::<usize>()
    }
}

/// One axis.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// What it shows.
    pub(crate) name: String,
    /// Where values stand.
    pub(crate) scale: Scale,
    /// How values are written.
    pub(crate) unit: Unit,
    /// Which values are labelled.
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    /// An axis with the labels that its scale suggests.
    pub(crate) fn new(name: &str, scale: Scale, unit: Unit) -> Self {
        let ticks = match (unit, scale) {
            (Unit::Seconds, Scale::Linear { high, .. }) => Scale::time_ticks(high),
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
            self.unit == Unit::Seconds && self.ticks.last().is_some_and(|end| *end >= 100.0);
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
pub(crate) struct Mark {
    /// Where.
    pub(crate) at: f64,
    /// By which the notes name it.
    pub(crate) number: usize,
    /// False when something ends there.
    pub(crate) begins: bool,
}

/// A horizontal line with the interval around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mean {
    /// Index of its [`Group`].
    pub(crate) group: usize,
    /// The mean.
    pub(crate) value: f64,
    /// Its interval.
    pub(crate) interval: Option<(f64, f64)>,
}

/// An entry of the legend.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Its name.
    pub(crate) name: String,
    /// How its lines look.
    pub(crate) look: Look,
}

/// Colour, dash and marker together, so that no group is told by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Which of the [`Look::COLOURS`] colours of the style sheet.
    pub(crate) colour: u8,
    /// Which dash pattern.
    pub(crate) dash: Dash,
    /// What stands at each point; `None` for dense lines.
    pub(crate) marker: Option<Marker>,
    /// Whether points are joined.
    pub(crate) joined: bool,
}

impl Look {
    /// Colours in the style sheet (`.c0` to `.c5`).
    pub(crate) const COLOURS: u8 = 6;

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
}

impl Dash {
    /// The n-th pattern, over and over.
    pub(crate) fn nth(index: usize) -> Self {
        [Self::Solid, Self::Dashed, Self::Dotted, Self::Mixed][index % 4]
    }

    /// Its class in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Self::Solid => "d0",
            Self::Dashed => "d1",
            Self::Dotted => "d2",
            Self::Mixed => "d3",
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
pub(crate) struct Line {
    /// Index of its [`Group`].
    pub(crate) group: usize,
    /// What it is within the group, for the table: `repeat 2`; empty when the group has one line.
    pub(crate) name: String,
    /// True for lines that stand behind the others: further repeats.
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
    pub(crate) interval: Option<(f64, f64)>,
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
