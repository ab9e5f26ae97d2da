//! The figures of every trial and repeat as CSV (RFC 4180), for spreadsheets and notebooks.
//!
//! A row is one flow of one trial: once with scope `trial`, all repeats together, and once with scope
//! `repeat` for each repeat that counts. Numbers have a dot and no separators. Texts from outside
//! cannot become formulas.

use std::fmt::Display;

use kgauge_analyze::Summary;
use kgauge_analyze::statistics::{Interval, Steadiness};
use kgauge_analyze::summary::{
    CpuSummary, FlowKind, FlowRepeat, FlowSummary, GeneratorState, LatencySummary, RecordCounts,
    Throughput, TrialSummary,
};
use kgauge_results::{Quantile, RunRead, TimeKind};

use crate::clean::one_line;
use crate::view::fill::target_name;

/// The whole text: a head and a row a line, each ended by CR LF as the RFC wants it.
pub(crate) fn text(run: &RunRead, summary: &Summary) -> String {
    let repeats = summary.flow_repeats(run);
    let columns = columns(summary);
    let head = columns.iter().map(|column| text_cell(&column.name));
    let mut lines = vec![line(head)];
    let mut add = |row: Row<'_>| lines.push(line(columns.iter().map(|column| (column.cell)(&row))));
    for trial in &summary.trials {
        let row = Row {
            summary,
            trial,
            flow: None,
            repeat: None,
        };
        if trial.flows.is_empty() {
            add(row);
        }
        for flow in &trial.flows {
            let row = Row {
                flow: Some(flow),
                ..row
            };
            add(row);
            let own = repeats
                .iter()
                .filter(|one| (one.trial, one.flow) == (trial.index, flow.index));
            for repeat in own {
                add(Row {
                    repeat: Some(repeat),
                    ..row
                });
            }
        }
    }
    lines.concat()
}

/// What a row is about.
#[derive(Clone, Copy)]
struct Row<'a> {
    summary: &'a Summary,
    trial: &'a TrialSummary,
    /// `None` for a trial without flows.
    flow: Option<&'a FlowSummary>,
    /// `None` for all repeats together.
    repeat: Option<&'a FlowRepeat>,
}

impl<'a> Row<'a> {
    fn throughput(&self) -> Option<&'a Throughput> {
        match self.repeat {
            Some(repeat) => repeat.throughput.as_ref(),
            None => self.flow?.throughput.as_ref(),
        }
    }

    fn rate_interval(&self) -> Option<Interval> {
        self.throughput()?.records_per_s.ci95
    }

    fn records(&self) -> Option<&'a RecordCounts> {
        match self.repeat {
            Some(repeat) => Some(&repeat.records),
            None => Some(&self.flow?.records),
        }
    }

    fn cpu(&self) -> Option<&'a CpuSummary> {
        match self.repeat {
            Some(repeat) => Some(&repeat.cpu),
            None => self.flow.map(|_| &self.trial.cpu),
        }
    }

    fn times(&self, kind: TimeKind) -> Option<&'a LatencySummary> {
        let latencies = match self.repeat {
            Some(repeat) => &repeat.latencies,
            None => &self.flow?.latencies,
        };
        latencies.get(kind)
    }
}

/// A text from outside, which no spreadsheet computes.
fn text_cell(text: &str) -> String {
    harmless(&one_line(text))
}

/// A number, or nothing.
fn number(number: Option<impl Display>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A column: its name, and the cell of each row.
struct CsvColumn<'a> {
    name: String,
    cell: Box<dyn Fn(&Row<'_>) -> String + 'a>,
}

/// A column with a constant name.
type NamedCell = (&'static str, fn(&Row<'_>) -> String);

/// The columns before the factors.
const BEFORE: [NamedCell; 4] = [
    ("run", |row| text_cell(&row.summary.run.run_id)),
    ("target", |row| text_cell(&target_name(row.summary))),
    ("scenario", |row| text_cell(&row.trial.scenario)),
    ("trial", |row| number(Some(u64::from(row.trial.index) + 1))),
];

/// The columns between the factors and the distributions.
const AFTER: [NamedCell; 27] = [
    ("flow", |row| {
        row.flow
            .map_or_else(String::new, |flow| text_cell(&flow.name))
    }),
    ("kind", |row| {
        row.flow.map_or("", |flow| flow_kind(flow.kind)).to_owned()
    }),
    ("members", |row| {
        number(row.flow.and_then(|flow| flow.members))
    }),
    ("closed_loop", |row| {
        number(row.flow.map(|flow| flow.closed_loop))
    }),
    ("record_bytes", |row| {
        number(row.flow.and_then(|flow| flow.record_bytes))
    }),
    ("scope", |row| {
        row.repeat.map_or("trial", |_| "repeat").to_owned()
    }),
    ("repeat", |row| {
        number(row.repeat.map(|repeat| u64::from(repeat.repeat) + 1))
    }),
    ("repeats", |row| number(Some(row.trial.repeats_measured))),
    ("not_measured", |row| {
        text_cell(row.trial.not_measured.as_deref().unwrap_or_default())
    }),
    ("generator", |row| {
        generator_state(row.trial.generator.word).to_owned()
    }),
    // Empty where nobody judged it: with faults, and where the rate changes on purpose.
    ("steadiness", |row| {
        let verdict = row.flow.and_then(|flow| flow.steadiness.as_ref());
        verdict.map_or_else(String::new, |found| steadiness(found.verdict).to_owned())
    }),
    ("hold_s", |row| {
        number(row.throughput().map(|found| found.hold_s))
    }),
    ("records_per_s", |row| {
        number(row.throughput().map(|found| found.records_per_s.mean))
    }),
    ("records_per_s_ci95_low", |row| {
        number(row.rate_interval().map(|ends| ends.low))
    }),
    ("records_per_s_ci95_high", |row| {
        number(row.rate_interval().map(|ends| ends.high))
    }),
    ("logical_bytes_per_s", |row| {
        number(row.throughput().map(|found| found.logical_bytes_per_s.mean))
    }),
    ("wire_bytes_per_s", |row| {
        let wire = row
            .throughput()
            .and_then(|found| found.wire_bytes_per_s.as_ref());
        number(wire.map(|wire| wire.mean))
    }),
    ("records_scheduled", |row| {
        number(row.records().map(|counts| counts.scheduled))
    }),
    ("records_skipped", |row| {
        number(row.records().map(|counts| counts.skipped))
    }),
    ("records_acked", |row| {
        number(row.records().map(|counts| counts.acked))
    }),
    ("records_consumed", |row| {
        number(row.records().map(|counts| counts.consumed))
    }),
    ("records_failed", |row| {
        number(row.records().map(|counts| counts.failed))
    }),
    ("records_indeterminate", |row| {
        number(row.records().map(|counts| counts.indeterminate))
    }),
    ("records_unresolved", |row| {
        number(row.records().map(|counts| counts.unresolved))
    }),
    ("records_corrupt", |row| {
        number(row.records().map(|counts| counts.corrupt))
    }),
    ("generator_cpu_ns_per_record", |row| {
        let cpu = row
            .cpu()
            .and_then(|cpu| cpu.generator_threads_ns_per_record.as_ref());
        number(cpu.map(|cpu| cpu.mean))
    }),
    ("target_cpu_ns_per_record", |row| {
        let cpu = row.cpu().and_then(|cpu| cpu.target_ns_per_record.as_ref());
        number(cpu.map(|cpu| cpu.mean))
    }),
];

fn flow_kind(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Produce => "produce",
        FlowKind::Consume => "consume",
        FlowKind::Echo => "echo",
        FlowKind::Unknown => "unknown",
    }
}

fn generator_state(state: GeneratorState) -> &'static str {
    match state {
        GeneratorState::Fine => "fine",
        GeneratorState::Late => "late",
        GeneratorState::Crowded => "crowded",
        GeneratorState::Limited => "limited",
        GeneratorState::Unknown => "unknown",
    }
}

fn steadiness(verdict: Steadiness) -> &'static str {
    match verdict {
        Steadiness::Steady => "steady",
        Steadiness::Undecided => "undecided",
        Steadiness::Shifting => "shifting",
        Steadiness::Slowing => "slowing",
        Steadiness::Warming => "warming",
    }
}

/// All columns: a factor has its own, and so has each figure of a distribution that any flow has.
fn columns(summary: &Summary) -> Vec<CsvColumn<'_>> {
    let named = |(name, cell): NamedCell| CsvColumn {
        name: name.to_owned(),
        cell: Box::new(cell),
    };
    let mut columns: Vec<CsvColumn<'_>> = BEFORE.into_iter().map(named).collect();
    let mut factors: Vec<&str> = Vec::new();
    for factor in summary.trials.iter().flat_map(|trial| &trial.factors) {
        if !factors.contains(&factor.path.as_str()) {
            factors.push(&factor.path);
        }
    }
    columns.extend(factors.into_iter().map(|path| CsvColumn {
        name: format!("factor.{path}"),
        cell: Box::new(move |row| {
            let mut factors = row.trial.factors.iter();
            let factor = factors.find(|factor| factor.path == path);
            text_cell(factor.map_or("", |factor| &factor.value))
        }),
    }));
    columns.extend(AFTER.into_iter().map(named));
    let flows = || summary.trials.iter().flat_map(|trial| &trial.flows);
    for kind in TimeKind::summarised() {
        if flows().any(|flow| flow.latencies.get(kind).is_some()) {
            columns.extend(columns_of_times(kind));
        }
    }
    columns
}

/// The columns of one distribution.
fn columns_of_times(kind: TimeKind) -> Vec<CsvColumn<'static>> {
    type Figure = Box<dyn Fn(&LatencySummary) -> String>;
    let mut figures: Vec<(String, Figure)> = vec![
        (
            "count".to_owned(),
            Box::new(|times| number(Some(times.count))),
        ),
        (
            "min_ns".to_owned(),
            Box::new(|times| number(Some(times.min_ns))),
        ),
        (
            "mean_ns".to_owned(),
            Box::new(|times| number(Some(times.mean_ns))),
        ),
    ];
    let of_percentile = |quantile: Quantile| format!("{}_ns", quantile.name().replace('.', "_"));
    for quantile in Quantile::SUMMARISED {
        let value = move |times: &LatencySummary| {
            number(times.percentile(quantile).map(|found| found.value_ns))
        };
        figures.push((of_percentile(quantile), Box::new(value)));
    }
    figures.push((
        "max_ns".to_owned(),
        Box::new(|times| number(Some(times.max_ns))),
    ));
    let quantiles = Quantile::SUMMARISED.into_iter().map(Some);
    for quantile in [None].into_iter().chain(quantiles) {
        let name = quantile.map_or_else(|| "mean_ns".to_owned(), of_percentile);
        let interval = move |times: &LatencySummary| match quantile {
            None => times.mean_interval(),
            Some(quantile) => times.percentile(quantile)?.interval(),
        };
        // Whole nanoseconds: a histogram is not more precise.
        let low =
            move |times: &LatencySummary| number(interval(times).map(|ends| ends.low.round()));
        let high =
            move |times: &LatencySummary| number(interval(times).map(|ends| ends.high.round()));
        figures.push((format!("{name}_ci95_low"), Box::new(low)));
        figures.push((format!("{name}_ci95_high"), Box::new(high)));
    }
    let column = |(name, figure): (String, Figure)| CsvColumn {
        name: format!("{}_{name}", kind.field()),
        cell: Box::new(move |row| row.times(kind).map_or_else(String::new, &figure)),
    };
    figures.into_iter().map(column).collect()
}

/// A line with its end.
fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(quoted).collect();
    cells.join(",") + "\r\n"
}

/// The cell, in quotes where it would otherwise be read as several or lose blanks.
fn quoted(cell: String) -> String {
    let is_plain = !cell.contains(['"', ',', ';', '\r', '\n']) && cell.trim() == cell;
    match is_plain {
        true => cell,
        false => format!("\"{}\"", cell.replace('"', "\"\"")),
    }
}

/// Spreadsheets compute what begins with one of these, also in its full-width form.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// An apostrophe before what a spreadsheet would take for a formula: at the start, and after a
/// semicolon, which separates cells where the comma is the decimal mark. A plain number stays one.
fn harmless(text: &str) -> String {
    if text.parse::<f64>().is_ok_and(f64::is_finite) {
        return text.to_owned();
    }
    let guarded = |part: &str| {
        let start = part.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '"');
        match start.starts_with(FORMULA) {
            true => format!("'{part}"),
            false => part.to_owned(),
        }
    };
    let parts: Vec<String> = text.split(';').map(guarded).collect();
    parts.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        quoted(text_cell(text))
    }

    #[test]
    fn what_a_spreadsheet_would_compute_begins_with_an_apostrophe() {
        assert_eq!(cell("=cmd()"), "'=cmd()");
        assert_eq!(cell("+1+1"), "'+1+1");
        assert_eq!(cell("-2+3"), "'-2+3");
        assert_eq!(cell("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(cell("＝1"), "'＝1");
        assert_eq!(cell("\t=1"), "' =1");
        assert_eq!(cell("\"=1"), "\"'\"\"=1\"");
        assert_eq!(cell("a;=1;b"), "\"a;'=1;b\"");
    }

    #[test]
    fn a_number_stays_a_number() {
        for number in ["-1", "+5", "1e6", "0.25"] {
            assert_eq!(cell(number), number);
        }
        assert_eq!(cell("-inf"), "'-inf");
    }

    #[test]
    fn commas_quotes_and_line_breaks_do_not_end_a_cell() {
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(cell("one\ntwo\rthree"), "one two\u{fffd}three");
    }
}
