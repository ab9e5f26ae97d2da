//! How much: the figures of trials.

use kgauge_analyze::answer::{AnswerDoubtCause, AnswerFacts, ScenarioAnswer};
use kgauge_analyze::summary::{
    ConsumerPace, FlowKind, FlowSummary, LatencySummary, MirrorSummary, PublishedStatus,
    TrialSummary,
};
use kgauge_results::run::TargetKind;
use kgauge_results::{Quantile, TimeKind};

use super::course::goal_status;
use super::words::{AnswerNames, opening};
use crate::format;
use crate::text::{flow, generator, published};

/// Trials whose figures are listed; of more, only the number is given.
const LISTED_MAX: usize = 6;

/// A clause for each flow of a single trial, or a figure for each of several. A trial that could not be compared comes
/// after the one that it was to be compared with.
pub(super) fn sentence(names: &AnswerNames, answer: &ScenarioAnswer) -> String {
    match (names.trials.as_slice(), base(names, answer)) {
        ([only], Some(base)) => list(names, answer, &[base, *only]),
        ([only], None) => single(names, answer, only),
        (several, _) => list(names, answer, several),
    }
}

/// The measured trial of another scenario that an effect is about.
fn base<'a>(names: &AnswerNames<'a>, answer: &ScenarioAnswer) -> Option<&'a TrialSummary> {
    let AnswerFacts::Effect { comparisons } = &answer.facts else {
        return None;
    };
    let base = names.trial(comparisons.first()?.base?)?;
    (base.repeats_measured > 0).then_some(base)
}

fn single(names: &AnswerNames, answer: &ScenarioAnswer, trial: &TrialSummary) -> String {
    let clauses = trial.flows.iter();
    let clauses: Vec<String> = clauses
        .filter_map(|flow| clause(names, trial, flow))
        .collect();
    if clauses.is_empty() {
        return String::new();
    }
    let goals = answer.goals.first();
    let goals = goals.map_or_else(String::new, |goals| {
        format!("; goals {}", goal_status(goals.status))
    });
    let text = format!("{}{goals}", clauses.join("; "));
    match super::doubt(names, answer, trial) {
        None => format!("{}.", opening(&text)),
        Some(doubt) => format!("Inconclusive, {doubt}: {text}."),
    }
}

/// `1 producer wrote 1,284,000 records/s (±2.4 %, 128 MB/s)`; at a rate `at 20,000 records/s, p99 12.4 ms`.
fn clause(names: &AnswerNames, trial: &TrialSummary, flow: &FlowSummary) -> Option<String> {
    let rate = &flow.throughput.as_ref()?.records_per_s;
    let times = times(flow);
    if flow.has_kept_rate()
        && let Some(times) = &times
    {
        let at = format!("at {} records/s, {times}", format::figure(rate.mean));
        return Some(match trial.flows.len() {
            1 => at,
            _ => format!("{} {at}", flow.name),
        });
    }
    Some(format!(
        "{} {} {}{}{}{}",
        flow::members(flow),
        verb(trial, flow),
        rate_text(flow)?,
        beside_published(names, trial, flow),
        times.map_or_else(String::new, |times| format!(", {times}")),
        consumer_lag(trial, flow)
    ))
}

/// What a flow did; of consumers beside producers, whether they kept up.
fn verb(trial: &TrialSummary, flow: &FlowSummary) -> &'static str {
    let limit = trial.limit.as_ref();
    let pace = || limit.and_then(|limit| limit.consumer_pace(flow));
    match flow.kind {
        FlowKind::Produce => "wrote",
        FlowKind::Consume => match pace() {
            Some(ConsumerPace::KeptUp) => "kept up:",
            Some(ConsumerPace::FellBehind) => "fell behind:",
            None => "read",
        },
        FlowKind::Echo => "echoed",
        FlowKind::Unknown => "moved",
    }
}

/// `1,284,000 records/s (±2.4 %, 128 MB/s)`, `391 of 2,000 records/s`.
fn rate_text(flow: &FlowSummary) -> Option<String> {
    let throughput = flow.throughput.as_ref()?;
    let rate = &throughput.records_per_s;
    let ends = rate.ci95.map(|ends| format::plus_minus(rate.mean, ends));
    let megabytes = format!("{} MB/s", format::short(throughput.logical_mb_per_s));
    let asides: Vec<String> = ends.into_iter().chain([megabytes]).collect();
    Some(format!(
        "{}{} records/s ({})",
        format::figure(rate.mean),
        of_planned(flow),
        asides.join(", ")
    ))
}

/// ` of 2,000`, where that rate was not kept.
fn of_planned(flow: &FlowSummary) -> String {
    let planned = flow.planned_per_s().filter(|_| !flow.has_kept_rate());
    planned.map_or_else(String::new, |planned| {
        format!(" of {}", format::figure(planned))
    })
}

/// `p99 12.4 ms (10.9 to 14.1 ms), p50 2.13 ms`, for open loops only: a closed loop's times are not the broker's.
fn times(flow: &FlowSummary) -> Option<String> {
    if flow.closed_loop {
        return None;
    }
    let (kind, times) = headline(flow)?;
    let title = match kind {
        TimeKind::EndToEnd => " end to end",
        _ => "",
    };
    let blame = flow.lateness.map(|lateness| lateness.blame);
    let late = blame
        .and_then(generator::late)
        .map_or("", |(_, aside)| aside);
    let p50 = times.percentile(Quantile::P50);
    let p50 = p50.map_or_else(String::new, |p50| {
        format!(", p50 {}", format::nanoseconds(p50.value_ns as f64))
    });
    Some(format!("p99{title} {}{p50}{late}", p99(times, true)?))
}

/// The time of records from when they were due.
fn headline(flow: &FlowSummary) -> Option<(TimeKind, &LatencySummary)> {
    let kinds = [TimeKind::EndToEnd, TimeKind::Response];
    let mut known = kinds.into_iter();
    known.find_map(|kind| Some((kind, flow.latencies.get(kind)?)))
}

/// `12.4 ms (10.9 to 14.1 ms)`.
fn p99(times: &LatencySummary, with_interval: bool) -> Option<String> {
    let found = times.percentile(Quantile::P99)?;
    let value = format::nanoseconds(found.value_ns as f64);
    Some(match found.interval().filter(|_| with_interval) {
        Some(ends) => format!("{value} ({})", format::nanoseconds_between(ends)),
        None => value,
    })
}

/// `, 1.56 times the published 821,557 records/s`. What others published is about Apache Kafka: only the table shows
/// how the embedded cluster compares with it.
fn beside_published(names: &AnswerNames, trial: &TrialSummary, flow: &FlowSummary) -> String {
    let kind = names.summary.target.kind;
    if !kind.is_some_and(TargetKind::is_apache_kafka) {
        return String::new();
    }
    let figure = format!("{}.throughput", flow.name);
    let mut all = trial.published.iter();
    let found = all.find(|found| found.figure == figure);
    let Some((found, ratio)) = found.and_then(|found| Some((found, found.ratio?))) else {
        return String::new();
    };
    let value = published::value(found);
    match found.word {
        PublishedStatus::Agrees => format!(", in agreement with the published {value}"),
        PublishedStatus::Undecided => format!("; inconclusive against the published {value}"),
        PublishedStatus::Higher | PublishedStatus::Lower => {
            format!(", {} times the published {value}", format::short(ratio))
        }
        PublishedStatus::NotComparable | PublishedStatus::NotMeasured => String::new(),
    }
}

/// `, consumer lag at most 310 records`, of consumers beside producers with a rate.
fn consumer_lag(trial: &TrialSummary, flow: &FlowSummary) -> String {
    let has_rate = |other: &FlowSummary| other.kind == FlowKind::Produce && !other.closed_loop;
    let is_beside = flow.kind == FlowKind::Consume && trial.flows.iter().any(has_rate);
    let batching = flow.batching.as_ref().filter(|_| is_beside);
    let lag = batching.and_then(|batching| batching.behind);
    lag.map_or_else(String::new, |lag| {
        format!(
            ", consumer lag at most {} records",
            format::figure(lag.records_max)
        )
    })
}

/// `250 B: 434,000 records/s (±2.4 %); 500 B: 231,000 (±0.8 %)`.
fn list(names: &AnswerNames, answer: &ScenarioAnswer, trials: &[&TrialSummary]) -> String {
    let has = |cause: AnswerDoubtCause| answer.doubts.iter().any(|one| one.cause == cause);
    let doubt = if has(AnswerDoubtCause::BrokerOutage) {
        Some(super::OUTAGE.to_owned())
    } else if has(AnswerDoubtCause::NotSteady) {
        Some(format!("the target was not steady ({})", names.steadier()))
    } else {
        None
    };
    // Figures that answer nothing are in the table.
    let (opening, listed_max) = match doubt {
        Some(doubt) => (format!("Inconclusive, {doubt}: "), LISTED_MAX / 2),
        None => (String::new(), LISTED_MAX),
    };
    let measured = trials.iter().filter(|trial| trial.repeats_measured > 0);
    let text = |with_interval: bool| {
        let items = measured.clone().filter_map(|trial| {
            let figure = main_figure(trial, with_interval)?;
            Some(format!("{}: {figure}", names.label(trial.index)))
        });
        let mut items: Vec<String> = items.collect();
        let more = items.len().saturating_sub(listed_max);
        items.truncate(listed_max);
        items.extend((more > 0).then(|| format!("and {more} more")));
        format!("{opening}{}.", items.join("; "))
    };
    let long = text(true);
    match long.chars().count() <= names.letters_max {
        true => long,
        false => text(false),
    }
}

/// Of a kept rate p99, otherwise the throughput.
fn main_figure(trial: &TrialSummary, with_interval: bool) -> Option<String> {
    let flow = trial.flows.iter().find(|flow| flow.throughput.is_some())?;
    let rate = &flow.throughput.as_ref()?.records_per_s;
    if flow.has_kept_rate()
        && let Some((_, times)) = headline(flow)
    {
        let times = p99(times, with_interval)?;
        return Some(format!("p99 {times}"));
    }
    let ends = rate.ci95.filter(|_| with_interval);
    let ends = ends.map_or_else(String::new, |ends| {
        format!(" ({})", format::plus_minus(rate.mean, ends))
    });
    Some(format!(
        "{}{} records/s{ends}",
        format::figure(rate.mean),
        of_planned(flow)
    ))
}

/// Whether all records arrived in the copies on another cluster; `None` without one.
pub(super) fn copies(trials: &[&TrialSummary]) -> Option<String> {
    let flows = trials.iter().flat_map(|trial| &trial.flows);
    let mirrors: Vec<&MirrorSummary> = flows.filter_map(|flow| flow.mirror.as_ref()).collect();
    let sum = |of: fn(&MirrorSummary) -> u64| -> u64 {
        let records = mirrors.iter().map(|mirror| of(mirror));
        records.fold(0, u64::saturating_add)
    };
    let (acked, missing) = (sum(|one| one.acked), sum(|one| one.missing));
    let acked_text = format::counted(acked, "acked record");
    match (mirrors.is_empty(), missing) {
        (true, _) => None,
        (false, 0) => Some(format!("All {acked_text} arrived in the copy.")),
        (false, missing) => Some(format!(
            "{} of {acked_text} are missing in the copy.",
            format::count(missing)
        )),
    }
}
