//! The table at a glance: a row for each trial and flow, with what a first look needs.

use kgauge_analyze::summary::{PublishedComparison, PublishedStatus, SteadyFigure};
use kgauge_results::Quantile;

use super::Writer;
use super::figures::{
    CLOCKS_MARK, FEW_MARK, LATE_MARK, LOST_MARK, NOT_STEADY_MARK, doubts, failures, figure,
    percentile, write_table,
};
use super::style::Ink;
use super::table::{Alignment, Column, TableRow, TextTable};
use crate::clean::columns;
use crate::format::{self, NOTHING, ONE_REPEAT};
use crate::text::bottleneck;
use crate::text::trial::{setting, value};
use crate::view::{Flow, Latency, ReportView, ScenarioView, TrialView, published};

/// A longer name of scenario and trial takes two lines.
const NAME_MAX: usize = 26;
/// Places of failures, and names of trials without figures, beyond it are only counted.
const NAMED_MAX: usize = 3;

/// Writes the table, what its marks mean, and which trials have no figures.
pub(super) fn write(writer: &mut Writer, view: &ReportView) {
    let table = table(view);
    writer.gap();
    if table.has_cells() {
        write_table(writer, &table);
        write_marks(writer, &table);
    }
    write_failures(writer, view);
    write_missing(writer, view);
}

/// What went wrong with the records of flows.
fn write_failures(writer: &mut Writer, view: &ReportView) {
    let trials = view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    let flows = trials.flat_map(|trial| trial.flows.iter().map(move |flow| (trial, flow)));
    let failed = flows.filter_map(|(trial, flow)| {
        let failures = failures(flow);
        let place = format!("{}, {}", trial.name, flow.name());
        (!failures.is_empty()).then(|| format!("{place}: {failures}"))
    });
    let failed: Vec<String> = failed.collect();
    for text in failed.iter().take(NAMED_MAX) {
        writer.sentence(Some(Ink::Bad), text, "", "  ");
    }
    let more = failed.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        let more = format!(
            "and {} with failures",
            format::counted(more as u64, "more flow")
        );
        writer.sentence(Some(Ink::Bad), &more, "", "  ");
    }
}

/// What is the same for all rows.
struct Columns {
    /// The only scenario of the report: its name is the title already.
    is_alone: bool,
    /// Whether any latency means anything.
    has_times: bool,
    /// Whether published figures compare with those of the target.
    is_kafka: bool,
}

fn table(view: &ReportView) -> TextTable {
    let trials = || view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    let mut flows = trials().flat_map(|trial| &trial.flows);
    let shared = Columns {
        is_alone: view.scenarios.len() == 1,
        has_times: flows.any(|flow| times(flow).is_some()),
        is_kafka: view.target.is_kafka,
    };
    let first = match view.scenarios.as_slice() {
        [alone] => match setting_names(alone) {
            names if names.is_empty() => "flow".to_owned(),
            names => names,
        },
        _ => "scenario".to_owned(),
    };
    let columns = vec![
        Column::new(first, Alignment::Left, 0),
        Column::new("records/s", Alignment::Right, 0),
        Column::joined(2),
        Column::new("MB/s", Alignment::Right, 6),
        Column::new("p50", Alignment::Right, 4),
        Column::new("p99", Alignment::Right, 0),
        Column::joined(3),
        Column::new("bottleneck", Alignment::Left, 0),
        Column::new("vs. published", Alignment::Left, 1),
        Column::joined(5),
    ];
    let rows = view.scenarios.iter();
    let rows = rows.flat_map(|scenario| rows_of(scenario, &shared));
    TextTable {
        columns,
        rows: rows.collect(),
    }
}

/// The rows of a scenario: its name is next to the first one where there is room, else above them.
fn rows_of(scenario: &ScenarioView, shared: &Columns) -> Vec<TableRow> {
    let several_flows = scenario.trials.iter().any(|trial| trial.flows.len() > 1);
    let trials = scenario.trials.iter();
    let measured = trials.filter(|trial| trial.missing.is_none());
    let flows = measured.flat_map(|trial| trial.flows.iter().map(move |flow| (trial, flow)));
    let named: Vec<(String, &TrialView, &Flow)> = flows
        .map(|(trial, flow)| {
            let flow_name = if several_flows { flow.name() } else { "" };
            let name = [values(trial).as_str(), flow_name].join(" ");
            (name.trim().to_owned(), trial, flow)
        })
        .collect();
    let widths = named.iter().map(|(name, ..)| columns(name));
    let widest = widths.max().unwrap_or(0);
    let indent = columns(&scenario.name) + 1;
    let is_above = widest > 0 && indent + widest > NAME_MAX;
    let mut rows = Vec::new();
    if !shared.is_alone && is_above {
        let names = setting_names(scenario);
        rows.push(TableRow::Group(match names.is_empty() {
            true => scenario.name.clone(),
            false => format!("{}: {names}", scenario.name),
        }));
    }
    for (index, (name, trial, flow)) in named.into_iter().enumerate() {
        let name = match (shared.is_alone, name.is_empty()) {
            (true, true) => flow.name().to_owned(),
            (true, false) => name,
            (false, true) => scenario.name.clone(),
            _ if is_above => format!("  {name}"),
            _ if index == 0 => format!("{} {name}", scenario.name),
            _ => format!("{}{name}", " ".repeat(indent)),
        };
        let mut cells = vec![name];
        cells.extend(cells_of(trial, flow, shared));
        rows.push(TableRow::Cells(cells));
    }
    rows
}

/// The values that tell a trial from the others of its scenario: `4 KiB, 5 ms`.
fn values(trial: &TrialView) -> String {
    let factors = trial.summary.factors.iter();
    let values: Vec<&str> = factors.map(value).collect();
    values.join(", ")
}

/// The settings that they are values of: `batch.size, linger.ms`; empty where names say what is varied.
fn setting_names(scenario: &ScenarioView) -> String {
    let Some(trial) = scenario.trials.first() else {
        return String::new();
    };
    let flows: Vec<&str> = trial.flows.iter().map(Flow::name).collect();
    let factors = trial.summary.factors.iter();
    // The name of a setting has a dot before it: flow, section or both.
    let factors = factors.filter(|factor| factor.path.contains('.'));
    let names: Vec<String> = factors
        .map(|factor| setting(&factor.path, &flows))
        .collect();
    names.join(", ")
}

fn cells_of(trial: &TrialView, flow: &Flow, shared: &Columns) -> Vec<String> {
    let rate = flow.rate().map_or(NOTHING.to_owned(), |rate| {
        let rate = match shared.is_alone {
            true => format::figure(rate.mean),
            false => format::thousands(rate.mean),
        };
        rate + &doubts(flow, SteadyFigure::Throughput)
    });
    let spread = |rate: &kgauge_analyze::statistics::Spread| format::spread(rate.mean, rate.ci95);
    let [p50, p99, p99_spread] = times_of(flow, shared.has_times);
    // A trial has one bottleneck, whatever its flows are.
    let is_first = trial.flows.first().map(Flow::name) == Some(flow.name());
    let limit = trial.summary.limit.as_ref();
    let limit = limit.filter(|_| is_first);
    let [ratio, interval] = match shared.is_kafka {
        true => against_published(flow),
        false => Default::default(),
    };
    vec![
        rate,
        flow.rate().map(spread).unwrap_or_default(),
        figure(flow.megabytes().as_ref(), format::short),
        p50,
        p99,
        p99_spread,
        limit.map_or("", bottleneck::brief).to_owned(),
        ratio,
        interval,
    ]
}

/// The latency of a flow's records: not of a closed loop, whose times are those of its own buffer, and not of a flow
/// that has only times of requests.
fn times<'a>(flow: &Flow<'a>) -> Option<Latency<'a>> {
    let latency = flow.latency().filter(|latency| latency.kind.is_headline());
    latency.filter(|_| !flow.summary.closed_loop)
}

/// p50, p99 and the spread of p99.
fn times_of(flow: &Flow, has_times: bool) -> [String; 3] {
    let Some(latency) = times(flow) else {
        let nothing = if has_times { NOTHING } else { "" };
        return [nothing.to_owned(), nothing.to_owned(), String::new()];
    };
    let p99 = latency.times.percentile(Quantile::P99);
    let spread = p99.map(|found| format::spread(found.value_ns as f64, found.interval()));
    [
        percentile(flow, latency.times.percentile(Quantile::P50)),
        percentile(flow, p99),
        spread.unwrap_or_default(),
    ]
}

/// Measured ÷ published with its interval, throughput first: `1.56×`, `(1.40 to 1.72)`.
fn against_published(flow: &Flow) -> [String; 2] {
    let mut all = flow.published();
    let found = all.find(|found| published::metric(found) == "throughput");
    let Some(found) = found.or_else(|| flow.published().next()) else {
        return Default::default();
    };
    let [ratio, interval] = ratio_of(found);
    match found.word {
        PublishedStatus::Agrees => [format!("{ratio} (agrees)"), String::new()],
        PublishedStatus::Higher | PublishedStatus::Lower => [ratio, interval],
        PublishedStatus::Undecided => ["inconclusive".to_owned(), String::new()],
        PublishedStatus::NotComparable | PublishedStatus::NotMeasured => {
            [NOTHING.to_owned(), String::new()]
        }
    }
}

fn ratio_of(found: &PublishedComparison) -> [String; 2] {
    let ratio = found
        .ratio
        .map(|ratio| format!("{}×", format::short(ratio)));
    let interval = published::ratio_interval(found).map(|ends| {
        let (low, high) = (format::short(ends.low), format::short(ends.high));
        format!("({low} to {high})")
    });
    [ratio.unwrap_or_default(), interval.unwrap_or_default()]
}

/// One line for the marks in use.
fn write_marks(writer: &mut Writer, table: &TextTable) {
    let cells = || {
        let rows = table.rows.iter().filter_map(|row| match row {
            TableRow::Cells(cells) => Some(cells),
            TableRow::Group(_) => None,
        });
        rows.flat_map(|cells| cells.iter().skip(1))
    };
    let marks = [
        (LATE_MARK, "includes a delay that is not the target's"),
        (NOT_STEADY_MARK, "not steady, or too noisy to tell"),
        (LOST_MARK, "an agent was lost"),
        (FEW_MARK, "fewer than 100 samples beyond"),
        (CLOCKS_MARK, "smaller than the error of two agents' clocks"),
        (ONE_REPEAT, "one repeat, no interval"),
    ];
    let used = marks
        .iter()
        .filter(|(mark, _)| cells().any(|cell| cell.contains(mark)));
    let words: Vec<String> = used
        .map(|(mark, words)| format!("{mark} {words}"))
        .collect();
    writer.clauses(Some(Ink::Caution), &words);
}

/// Trials without figures, each reason once: by scenario where all of its trials have it.
fn write_missing(writer: &mut Writer, view: &ReportView) {
    let mut reasons: Vec<(&str, Vec<&str>, u64)> = Vec::new();
    for scenario in &view.scenarios {
        let all = scenario.trials.iter().all(|trial| trial.missing.is_some());
        for trial in &scenario.trials {
            let Some(reason) = &trial.missing else {
                continue;
            };
            let place = if all { &scenario.name } else { &trial.name };
            let known = reasons.iter_mut().find(|(known, ..)| known == reason);
            match known {
                Some((_, places, count)) => {
                    *count += 1;
                    if !places.contains(&place.as_str()) {
                        places.push(place);
                    }
                }
                None => reasons.push((reason, vec![place], 1)),
            }
        }
    }
    for (reason, places, count) in reasons {
        let text = match places.len() > NAMED_MAX {
            true => format!("{}: {reason}", format::counted(count, "trial")),
            false => format!("{}: {reason}", places.join(", ")),
        };
        writer.sentence(Some(Ink::Bad), &text, "", "  ");
    }
}
