//! What a comparison shows: figures, spreads, marks and sentences, ready for terminal and page.

mod answers;
mod counts;
mod decision;
mod sentences;

use kgauge_analyze::compare::{
    Against, Caveat, Cell, Comparison, ComparisonRow, DifferenceVerdict, FigureKind, FigureUnit,
    MissingFigure,
};
use kgauge_analyze::statistics::Interval;

use crate::format::{self, NOTHING};
use crate::text::comparison as comparison_text;
pub(crate) use answers::RunAnswer;
pub(crate) use sentences::Sentence;

/// A comparison, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct CompareView {
    /// What is compared: `linedin-2014: 3 runs side by side`.
    pub(crate) title: String,
    /// The result in a sentence for each run.
    pub(crate) decisions: Vec<String>,
    /// Whether the acked records are on the brokers.
    pub(crate) counts: Vec<Sentence>,
    /// How each run compares with the baseline.
    pub(crate) answers: Vec<RunAnswer>,
    /// The runs.
    pub(crate) heads: Vec<ColumnHead>,
    /// Position of the baseline.
    pub(crate) baseline: usize,
    /// The figures, trial by trial.
    pub(crate) groups: Vec<TrialRows>,
    /// What else than the figures differs between the runs: settings, machines, scenarios. Read first.
    pub(crate) differing: Vec<Sentence>,
    /// What must be known before anything else, and why single figures are not comparable.
    pub(crate) sentences: Vec<Sentence>,
    /// What the marks in use mean.
    pub(crate) marks: Vec<(Caveat, &'static str)>,
    /// What was taken for the spread between runs; empty where nothing was compared.
    pub(crate) between_runs: String,
    /// How the verdicts were reached.
    pub(crate) method: String,
}

/// A column's head.
#[derive(Debug, Clone)]
pub(crate) struct ColumnHead {
    /// A short name of the run.
    pub(crate) label: String,
    /// Target, run, machine: for those who want to know.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// The figures of one trial.
#[derive(Debug, Clone)]
pub(crate) struct TrialRows {
    /// The scenario.
    pub(crate) scenario: String,
    /// The question that it answers.
    pub(crate) question: String,
    /// The trial: scenario and factors.
    pub(crate) title: String,
    /// Its flows, and what a record cost without a flow's name.
    pub(crate) parts: Vec<FlowRows>,
}

/// The figures of one flow, or of none.
#[derive(Debug, Clone)]
pub(crate) struct FlowRows {
    /// The flow.
    pub(crate) flow: Option<String>,
    /// Its figures.
    pub(crate) rows: Vec<RowView>,
}

/// One figure in all runs.
#[derive(Debug, Clone)]
pub(crate) struct RowView {
    /// Its name with the unit.
    pub(crate) name: &'static str,
    /// Which.
    pub(crate) kind: FigureKind,
    /// One for each run.
    pub(crate) cells: Vec<CellView>,
    /// The published figure.
    pub(crate) published: Option<PublishedView>,
}

/// A published figure.
#[derive(Debug, Clone)]
pub(crate) struct PublishedView {
    /// Short.
    pub(crate) figure: String,
    /// Where.
    pub(crate) source: String,
}

/// One figure of one run.
#[derive(Debug, Clone)]
pub(crate) struct CellView {
    /// The figure, short: `6.38 M`; or why it is missing.
    pub(crate) figure: String,
    /// As a number in the row's unit.
    pub(crate) value: Option<f64>,
    /// `±2.4 %`, or `n=1`; empty where there is no figure.
    pub(crate) spread: String,
    /// What it must not be read without.
    pub(crate) marks: Vec<Caveat>,
    /// Its comparison with the baseline.
    pub(crate) against: Option<AgainstView>,
    /// Measured / published.
    pub(crate) beside_published: Option<f64>,
}

/// The comparison of a figure with the baseline's.
#[derive(Debug, Clone)]
pub(crate) struct AgainstView {
    /// The ratio.
    pub(crate) value: Option<f64>,
    /// `1.10`; empty where there is none to show.
    pub(crate) ratio: String,
    /// The ratio's 95 % interval.
    pub(crate) interval: Option<Interval>,
    /// The verdict.
    pub(crate) word: DifferenceVerdict,
    /// The verdict as text.
    pub(crate) name: &'static str,
    /// Good, bad, or neither.
    pub(crate) tone: Tone,
    /// Why.
    pub(crate) why: String,
}

impl AgainstView {
    /// `1.02 to 1.18`.
    pub(crate) fn interval_words(&self) -> Option<String> {
        let ends = self.interval?;
        Some(format!(
            "{} to {}",
            format::short(ends.low),
            format::short(ends.high)
        ))
    }
}

/// Whether a difference is welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Better,
    Worse,
    /// No difference, and none larger than a tenth is left.
    Same,
    /// No difference found, and there may be a large one.
    Open,
    /// Not decided or not compared.
    Silent,
}

/// Makes the view.
pub(crate) fn view(comparison: &Comparison) -> CompareView {
    let groups = groups(comparison);
    CompareView {
        title: title(comparison),
        decisions: decision::decisions(comparison),
        counts: counts::sentences(comparison),
        answers: answers::answers(comparison),
        heads: comparison.runs.iter().map(sentences::head).collect(),
        baseline: comparison.baseline as usize,
        marks: marks_in_use(comparison),
        groups,
        differing: sentences::differing(comparison),
        sentences: sentences::all(comparison),
        between_runs: comparison_text::between_runs(&comparison.method.between_runs),
        method: comparison_text::method(comparison),
    }
}

fn title(comparison: &Comparison) -> String {
    let sides = comparison.runs.len() as u64;
    let further: usize = comparison.runs.iter().map(|run| run.further.len()).sum();
    let runs = sides + further as u64;
    let mut scenarios: Vec<&str> = Vec::new();
    for row in &comparison.rows {
        if scenarios.last() != Some(&row.scenario.as_str()) {
            scenarios.push(&row.scenario);
        }
    }
    let what = match scenarios.as_slice() {
        [] => "nothing measured".to_owned(),
        [only] => (*only).to_owned(),
        many => format::counted(many.len() as u64, "scenario"),
    };
    let runs = format::counted(runs, "run");
    match further {
        0 => format!("{runs} compared: {what}"),
        _ => format!("{sides} sides, {runs} in total: {what}"),
    }
}

fn groups(comparison: &Comparison) -> Vec<TrialRows> {
    let mut groups: Vec<TrialRows> = Vec::new();
    let mut last: Option<&ComparisonRow> = None;
    for row in &comparison.rows {
        let same_trial = last.is_some_and(|last| {
            last.scenario == row.scenario && last.trial == row.trial && last.factors == row.factors
        });
        if !same_trial {
            groups.push(TrialRows {
                scenario: row.scenario.clone(),
                question: row.question.clone(),
                title: trial_title(row),
                parts: Vec::new(),
            });
        }
        last = Some(row);
        let Some(group) = groups.last_mut() else {
            continue;
        };
        if group.parts.last().is_none_or(|part| part.flow != row.flow) {
            group.parts.push(FlowRows {
                flow: row.flow.clone(),
                rows: Vec::new(),
            });
        }
        if let Some(part) = group.parts.last_mut() {
            part.rows.push(row_view(row));
        }
    }
    groups
}

/// `message-size, writers.record.size=10 B`
pub(crate) fn trial_title(row: &ComparisonRow) -> String {
    let name = match row.scenario.as_str() {
        "" => "unknown scenario",
        name => name,
    };
    match row.trial.as_str() {
        "" => name.to_owned(),
        trial => format!("{name}, {trial}"),
    }
}

fn row_view(row: &ComparisonRow) -> RowView {
    let published = row.published.as_ref().map(|found| PublishedView {
        figure: figure(found.value, row.unit),
        source: found.source.clone().unwrap_or_default(),
    });
    RowView {
        name: comparison_text::figure_name(row.figure),
        kind: row.figure,
        cells: row.cells.iter().map(|cell| cell_view(row, cell)).collect(),
        published,
    }
}

fn cell_view(row: &ComparisonRow, cell: &Cell) -> CellView {
    let text = match (cell.estimate, cell.missing) {
        (Some(value), _) => figure(value, row.unit),
        (None, Some(MissingFigure::NotRun)) => "not run".to_owned(),
        (None, _) => NOTHING.to_owned(),
    };
    let spread = match (cell.estimate, cell.interval) {
        (None, _) => String::new(),
        // A count has no spread.
        _ if row.figure == FigureKind::Lost => String::new(),
        (Some(value), Some(interval)) => format::plus_minus(value, interval),
        (Some(_), None) => match upper_bound(cell) {
            Some(upper) => format!("to {}", figure(upper, row.unit)),
            None => format!("n={}", cell.repeats),
        },
    };
    let against = cell.against.as_ref().map(|found| AgainstView {
        value: found.ratio,
        ratio: found.ratio.map(format::short).unwrap_or_default(),
        interval: found.interval,
        word: found.word,
        name: answers::word(found),
        tone: tone(found),
        why: comparison_text::reason(found),
    });
    CellView {
        figure: text,
        value: cell.estimate,
        spread,
        marks: cell.marks.clone(),
        against,
        beside_published: cell.published.and_then(|found| found.ratio),
    }
}

/// The upper bound of a capacity that one search found.
fn upper_bound(cell: &Cell) -> Option<f64> {
    match cell.bounds.as_slice() {
        [one] => one.upper,
        _ => None,
    }
}

fn tone(against: &Against) -> Tone {
    match against.word {
        DifferenceVerdict::Faster | DifferenceVerdict::Cheaper | DifferenceVerdict::Smaller => {
            Tone::Better
        }
        DifferenceVerdict::Slower | DifferenceVerdict::Dearer | DifferenceVerdict::Larger => {
            Tone::Worse
        }
        DifferenceVerdict::NoDifference if answers::is_same(against) => Tone::Same,
        DifferenceVerdict::NoDifference => Tone::Open,
        DifferenceVerdict::Undecided
        | DifferenceVerdict::NotComparable
        | DifferenceVerdict::NotMeasured
        | DifferenceVerdict::NotJudged => Tone::Silent,
    }
}

/// A figure in few characters.
pub(crate) fn figure(value: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::RecordsPerSecond | FigureUnit::RecordsPerPrice => format::thousands(value),
        FigureUnit::BytesPerSecond => format::short(value / 1e6),
        FigureUnit::Nanoseconds | FigureUnit::NanosecondsPerRecord => format::nanoseconds(value),
        FigureUnit::BytesPerRecord => format::short(value),
        FigureUnit::Records => format::count(value as u64),
    }
}

/// The sign of a mark next to a figure; the legend explains it.
pub(crate) fn mark_sign(mark: Caveat) -> &'static str {
    match mark {
        Caveat::ClosedLoop => "*",
        Caveat::GeneratorLate => "!",
        Caveat::GeneratorLimited => "^",
        Caveat::NotSteady => "?",
        Caveat::FewSamples => "~",
        Caveat::SendsFailed => "#",
        Caveat::TwoModes => "‖",
        Caveat::WideBounds => "↔",
        Caveat::NotFinished | Caveat::RepeatsMissing => "†",
        // Its spread shows it: n=1.
        Caveat::OneRepeat => "",
    }
}

/// The signs of a cell, each once.
pub(crate) fn signs(marks: &[Caveat]) -> String {
    let mut signs = String::new();
    for sign in marks.iter().map(|mark| mark_sign(*mark)) {
        if !signs.contains(sign) {
            signs.push_str(sign);
        }
    }
    signs
}

fn marks_in_use(comparison: &Comparison) -> Vec<(Caveat, &'static str)> {
    let words = [
        (
            Caveat::ClosedLoop,
            "closed loop at full speed: records in flight / throughput (Little's law), not broker \
             latency",
        ),
        (
            Caveat::GeneratorLimited,
            "the generator was the bottleneck: the target can do at least this much",
        ),
        (
            Caveat::GeneratorLate,
            "records were sent late for reasons other than the target: latencies include that \
             delay",
        ),
        (
            Caveat::NotSteady,
            "the target was not steady: warming up, slowing down or shifting during measurement",
        ),
        (Caveat::FewSamples, "fewer than 100 samples lie beyond it"),
        (
            Caveat::SendsFailed,
            "sends failed or their outcome is unknown",
        ),
        (
            Caveat::TwoModes,
            "the repeats form two groups: the mean describes neither",
        ),
        (
            Caveat::WideBounds,
            "a search ended before its bounds were close: the capacity may be higher",
        ),
        (
            Caveat::NotFinished,
            "the run is incomplete: stopped, failed or cut short",
        ),
        (Caveat::RepeatsMissing, "planned repeats are missing"),
        (
            Caveat::OneRepeat,
            "one repeat: no interval, so differences cannot be told from chance",
        ),
    ];
    let used = |mark: Caveat| {
        let mut cells = comparison.rows.iter().flat_map(|row| &row.cells);
        cells.any(|cell| cell.marks.contains(&mark))
    };
    words.into_iter().filter(|(mark, _)| used(*mark)).collect()
}
