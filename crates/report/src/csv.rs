//! The figures of every trial and repeat as CSV (RFC 4180), for spreadsheets and notebooks.
//!
//! A row is one flow of one trial: once with scope `trial`, all repeats together, and once with scope
//! `repeat` for each repeat that counts. Numbers have a dot and no separators. Texts from outside
//! cannot become formulas.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{
    CpuSummary, FlowKind, FlowRepeat, FlowSummary, GeneratorState, Latencies, LatencySummary,
    RecordCounts, Throughput, TrialSummary,
};
use kgauge_results::RunRead;

use crate::clean::one_line;
use crate::view::fill::target_name;

/// The whole text: a head and a row a line, each ended by CR LF as the RFC wants it.
pub(crate) fn text(run: &RunRead, summary: &Summary) -> String {
    let sheet = Sheet::of(summary);
    let repeats = summary.flow_repeats(run);
    let mut lines = vec![sheet.head()];
    for trial in &summary.trials {
        if trial.flows.is_empty() {
            lines.push(sheet.row(trial, None, &Figures::default()));
        }
        for flow in &trial.flows {
            lines.push(sheet.row(trial, Some(flow), &Figures::of_trial(trial, flow)));
            let own = repeats
                .iter()
                .filter(|one| (one.trial, one.flow) == (trial.index, flow.index));
            for repeat in own {
                lines.push(sheet.row(trial, Some(flow), &Figures::of_repeat(repeat)));
            }
        }
    }
    lines.concat()
}

/// One distribution of a flow, by its name in the head.
type Times = (&'static str, fn(&Latencies) -> Option<&LatencySummary>);

/// Every distribution; those that no flow has get no columns.
const TIMES: [Times; 12] = [
    ("response", |times| times.response.as_ref()),
    ("service", |times| times.service.as_ref()),
    ("lag", |times| times.lag.as_ref()),
    ("end_to_end", |times| times.end_to_end.as_ref()),
    ("round_trip", |times| times.round_trip.as_ref()),
    ("fetch_round_trip", |times| times.fetch_round_trip.as_ref()),
    ("buffer_wait", |times| times.buffer_wait.as_ref()),
    ("batch_wait", |times| times.batch_wait.as_ref()),
    ("ack_wait", |times| times.ack_wait.as_ref()),
    ("fetch_wait", |times| times.fetch_wait.as_ref()),
    ("commit_wait", |times| times.commit_wait.as_ref()),
    ("commit", |times| times.commit.as_ref()),
];

/// The columns of a distribution after its name.
const OF_TIMES: [&str; 24] = [
    "count",
    "min_ns",
    "mean_ns",
    "p50_ns",
    "p90_ns",
    "p95_ns",
    "p99_ns",
    "p99_9_ns",
    "p99_99_ns",
    "max_ns",
    "mean_ns_ci95_low",
    "mean_ns_ci95_high",
    "p50_ns_ci95_low",
    "p50_ns_ci95_high",
    "p90_ns_ci95_low",
    "p90_ns_ci95_high",
    "p95_ns_ci95_low",
    "p95_ns_ci95_high",
    "p99_ns_ci95_low",
    "p99_ns_ci95_high",
    "p99_9_ns_ci95_low",
    "p99_9_ns_ci95_high",
    "p99_99_ns_ci95_low",
    "p99_99_ns_ci95_high",
];
/// The percentiles among them, in millionths.
const PERCENTILES: [u32; 6] = [500_000, 900_000, 950_000, 990_000, 999_000, 999_900];

/// The columns before the factors.
const BEFORE: [&str; 4] = ["run", "target", "scenario", "trial"];
/// The columns between the factors and the distributions.
const AFTER: [&str; 26] = [
    "flow",
    "kind",
    "members",
    "closed_loop",
    "record_bytes",
    "scope",
    "repeat",
    "repeats",
    "not_measured",
    "generator",
    "hold_s",
    "records_per_s",
    "records_per_s_ci95_low",
    "records_per_s_ci95_high",
    "logical_bytes_per_s",
    "wire_bytes_per_s",
    "records_scheduled",
    "records_skipped",
    "records_acked",
    "records_consumed",
    "records_failed",
    "records_indeterminate",
    "records_unresolved",
    "records_corrupt",
    "generator_cpu_ns_per_record",
    "target_cpu_ns_per_record",
];

/// Which columns there are.
struct Sheet<'a> {
    summary: &'a Summary,
    /// Paths of the factors of all trials, each once.
    factors: Vec<&'a str>,
    times: Vec<Times>,
}

impl<'a> Sheet<'a> {
    fn of(summary: &'a Summary) -> Self {
        let mut factors: Vec<&str> = Vec::new();
        for factor in summary.trials.iter().flat_map(|trial| &trial.factors) {
            if !factors.contains(&factor.path.as_str()) {
                factors.push(&factor.path);
            }
        }
        let mut flows = summary.trials.iter().flat_map(|trial| &trial.flows);
        let flows = flows.by_ref().collect::<Vec<_>>();
        let times = TIMES.into_iter().filter(|(_, times)| {
            let mut flows = flows.iter();
            flows.any(|flow| times(&flow.latencies).is_some())
        });
        Self {
            summary,
            factors,
            times: times.collect(),
        }
    }

    fn head(&self) -> String {
        let mut line = Line::default();
        BEFORE.iter().for_each(|name| line.own(name));
        for path in &self.factors {
            line.text(&format!("factor.{path}"));
        }
        AFTER.iter().for_each(|name| line.own(name));
        for (kind, _) in &self.times {
            for name in OF_TIMES {
                line.own(&format!("{kind}_{name}"));
            }
        }
        line.finish()
    }

    fn row(
        &self,
        trial: &TrialSummary,
        flow: Option<&FlowSummary>,
        figures: &Figures<'_>,
    ) -> String {
        let mut line = Line::default();
        line.text(&self.summary.run.run_id);
        line.text(&target_name(self.summary));
        line.text(&trial.scenario);
        line.number(Some(u64::from(trial.index) + 1));
        for path in &self.factors {
            let factor = trial.factors.iter().find(|factor| factor.path == *path);
            line.text(factor.map_or("", |factor| &factor.value));
        }
        write_flow(&mut line, flow);
        line.own(match (flow, figures.repeat) {
            (_, Some(_)) => "repeat",
            (_, None) => "trial",
        });
        line.number(figures.repeat.map(|repeat| u64::from(repeat) + 1));
        line.number(Some(trial.repeats_measured));
        line.text(trial.not_measured.as_deref().unwrap_or(""));
        line.own(match trial.generator.word {
            GeneratorState::Fine => "fine",
            GeneratorState::Late => "late",
            GeneratorState::Crowded => "crowded",
            GeneratorState::Limited => "limited",
            GeneratorState::Unknown => "unknown",
        });
        figures.write(&mut line, &self.times);
        line.finish()
    }
}

fn write_flow(line: &mut Line, flow: Option<&FlowSummary>) {
    line.text(flow.map_or("", |flow| &flow.name));
    line.own(flow.map_or("", |flow| match flow.kind {
        FlowKind::Produce => "produce",
        FlowKind::Consume => "consume",
        FlowKind::Echo => "echo",
        FlowKind::Unknown => "unknown",
    }));
    line.number(flow.and_then(|flow| flow.members));
    line.number(flow.map(|flow| flow.closed_loop));
    line.number(flow.and_then(|flow| flow.record_bytes));
}

/// The figures of one row.
#[derive(Default)]
struct Figures<'a> {
    /// From 0; `None` for all repeats together.
    repeat: Option<u32>,
    throughput: Option<&'a Throughput>,
    records: Option<&'a RecordCounts>,
    cpu: Option<&'a CpuSummary>,
    latencies: Option<&'a Latencies>,
}

impl<'a> Figures<'a> {
    fn of_trial(trial: &'a TrialSummary, flow: &'a FlowSummary) -> Self {
        Self {
            repeat: None,
            throughput: flow.throughput.as_ref(),
            records: Some(&flow.records),
            cpu: Some(&trial.cpu),
            latencies: Some(&flow.latencies),
        }
    }

    fn of_repeat(repeat: &'a FlowRepeat) -> Self {
        Self {
            repeat: Some(repeat.repeat),
            throughput: repeat.throughput.as_ref(),
            records: Some(&repeat.records),
            cpu: Some(&repeat.cpu),
            latencies: Some(&repeat.latencies),
        }
    }

    fn write(&self, line: &mut Line, times: &[Times]) {
        let throughput = self.throughput;
        let rate = throughput.map(|found| &found.records_per_s);
        let interval = rate.and_then(|rate| rate.ci95);
        let wire = throughput.and_then(|found| found.wire_bytes_per_s.as_ref());
        line.number(throughput.map(|found| found.hold_s));
        line.number(rate.map(|rate| rate.mean));
        line.number(interval.map(|interval| interval.low));
        line.number(interval.map(|interval| interval.high));
        line.number(throughput.map(|found| found.logical_bytes_per_s.mean));
        line.number(wire.map(|wire| wire.mean));
        let counts: [fn(&RecordCounts) -> u64; 6] = [
            |counts| counts.scheduled,
            |counts| counts.skipped,
            |counts| counts.acked,
            |counts| counts.consumed,
            |counts| counts.failed,
            |counts| counts.indeterminate,
        ];
        counts
            .iter()
            .for_each(|count| line.number(self.records.map(count)));
        line.number(self.records.map(|counts| counts.unresolved));
        line.number(self.records.map(|counts| counts.corrupt));
        let cpu = self.cpu;
        let generator = cpu.and_then(|cpu| cpu.generator_threads_ns_per_record.as_ref());
        let target = cpu.and_then(|cpu| cpu.target_ns_per_record.as_ref());
        line.number(generator.map(|found| found.mean));
        line.number(target.map(|found| found.mean));
        for (_, of) in times {
            write_times(line, self.latencies.and_then(of));
        }
    }
}

fn write_times(line: &mut Line, times: Option<&LatencySummary>) {
    line.number(times.map(|times| times.count));
    line.number(times.map(|times| times.min_ns));
    line.number(times.map(|times| times.mean_ns));
    let percentiles = PERCENTILES.map(|millionths| times?.percentile(millionths));
    for found in percentiles {
        line.number(found.map(|found| found.value_ns));
    }
    line.number(times.map(|times| times.max_ns));
    let mean = times.and_then(LatencySummary::mean_interval);
    let intervals = percentiles.map(|found| found?.interval());
    for interval in [mean].into_iter().chain(intervals) {
        // Whole nanoseconds: a histogram knows no more.
        line.number(interval.map(|found| found.low.round()));
        line.number(interval.map(|found| found.high.round()));
    }
}

/// One line under construction.
#[derive(Default)]
struct Line {
    out: String,
    begun: bool,
}

impl Line {
    /// A text from outside.
    fn text(&mut self, text: &str) {
        self.own(&harmless(&one_line(text)));
    }

    /// A number, or nothing.
    fn number(&mut self, number: Option<impl std::fmt::Display>) {
        self.own(&number.map_or_else(String::new, |number| number.to_string()));
    }

    /// A text that can be no formula: of our own, or made harmless.
    fn own(&mut self, text: &str) {
        if std::mem::replace(&mut self.begun, true) {
            self.out.push(',');
        }
        let is_plain = !text.contains(['"', ',', ';', '\r', '\n']) && text.trim() == text;
        match is_plain {
            true => self.out.push_str(text),
            false => {
                self.out.push('"');
                self.out.push_str(&text.replace('"', "\"\""));
                self.out.push('"');
            }
        }
    }

    fn finish(mut self) -> String {
        self.out.push_str("\r\n");
        self.out
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
        let mut line = Line::default();
        line.text(text);
        line.out
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
