//! One flow of one trial: its figures, its times, its marks.

use kgauge_analyze::series::curve_of;
use kgauge_analyze::statistics::{Interval, Spread};
use kgauge_analyze::summary;
use kgauge_analyze::summary::{
    FlowKind, FlowSummary, LatencySummary, LatenessCause, MetricUnit, PublishedComparison,
    TrialSummary,
};
use kgauge_results::run::RepeatKey;
use kgauge_results::{Histogram, RunRead, TimeKind};

use crate::format;
use crate::text;
use crate::view::{
    CountsView, CurvePointView, DistributionView, FigureView, Flow, Late, Latency, LatencyKind,
    PercentileView, PublishedFigureView, PublishedStatusView,
};

/// Bytes in a megabyte (10⁶), as printed.
const MEGABYTE: f64 = 1e6;

/// What is shown of a flow.
pub(super) fn flow(run: &RunRead, trial: &TrialSummary, flow: &FlowSummary, target: &str) -> Flow {
    let throughput = flow.throughput.as_ref();
    let megabytes = throughput.and_then(|found| found.logical_bytes_per_s.times(1.0 / MEGABYTE));
    let law = flow.little.as_ref();
    let sentence = law.map(|law| text::flow::little(law, flow.closed_loop));
    let (closed, little) = match flow.closed_loop {
        true => (Some(sentence.unwrap_or_else(|| CLOSED.to_owned())), None),
        false => (None, sentence),
    };
    Flow {
        name: flow.name.clone(),
        who: who(flow),
        load: load(flow),
        rate: figure(throughput.map(|found| &found.records_per_s)),
        megabytes: figure(megabytes.as_ref()),
        published: trial
            .published
            .iter()
            .filter(|published| flow_of(&published.figure) == flow.name)
            .map(|published| beside(published, target))
            .collect(),
        latencies: latencies(run, trial, flow),
        closed,
        residual: flow.little.as_ref().and_then(|little| little.residual),
        little,
        late: late(flow),
        not_steady: text::warning::steadiness(flow),
        parts: joined(way(flow), commits(flow)),
        counts: counts(flow),
    }
}

/// Said of a closed loop whose records in flight were not measured.
const CLOSED: &str = "Closed loop: records in flight ÷ throughput (Little's law), not broker \
                      latency; records in flight were not measured.";

/// The view's form of a spread.
pub(super) fn figure(spread: Option<&Spread>) -> Option<FigureView> {
    spread.map(|spread| FigureView {
        mean: spread.mean,
        interval: spread.ci95.map(ends),
        values: spread.values.clone(),
    })
}

fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}

/// The flow in `writers.latency.p99`.
fn flow_of(figure: &str) -> &str {
    figure.split_once('.').map_or(figure, |(flow, _)| flow)
}

/// `3 producers`, `1 consumer`.
fn who(flow: &FlowSummary) -> String {
    let (one, many) = match flow.kind {
        FlowKind::Produce => ("producer", "producers"),
        FlowKind::Consume => ("consumer", "consumers"),
        FlowKind::Echo => ("echo client", "echo clients"),
        FlowKind::Unknown => return flow.name.clone(),
    };
    match flow.members {
        Some(members) => format::plural(members.into(), one, many),
        None => many.to_owned(),
    }
}

fn load(flow: &FlowSummary) -> String {
    match (&flow.shape, flow.closed_loop) {
        (_, true) => "full speed, closed loop".to_owned(),
        (Some(shape), false) => text::flow::shape(shape),
        (None, false) => "reads at full speed".to_owned(),
    }
}

fn beside(found: &PublishedComparison, target: &str) -> PublishedFigureView {
    let ratio = |value: f64| value / found.published;
    PublishedFigureView {
        metric: found
            .figure
            .split_once('.')
            .map_or("", |(_, metric)| metric)
            .to_owned(),
        text: with_unit(found.published, found.unit),
        ratio: found.ratio,
        ratio_interval: found
            .interval
            .map(|found| (ratio(found.low), ratio(found.high))),
        word: match found.word {
            summary::PublishedStatus::Agrees => PublishedStatusView::Agrees,
            summary::PublishedStatus::Undecided => PublishedStatusView::Undecided,
            summary::PublishedStatus::Higher => PublishedStatusView::Higher,
            summary::PublishedStatus::Lower => PublishedStatusView::Lower,
            summary::PublishedStatus::NotComparable => PublishedStatusView::NotComparable,
            summary::PublishedStatus::NotMeasured => PublishedStatusView::NotMeasured,
        },
        reason: text::goal::published(found, target),
        audit: found.audit.clone(),
    }
}

/// A published figure with its unit, all of its digits kept.
fn with_unit(value: f64, unit: MetricUnit) -> String {
    match unit {
        MetricUnit::RecordsPerSecond => format!("{} records/s", format::all_digits(value)),
        MetricUnit::BytesPerSecond => format!("{} MB/s", format::all_digits(value / MEGABYTE)),
        MetricUnit::Nanoseconds => format::without_zeros(&format::nanoseconds(value)),
        MetricUnit::Records => format!("{} records", format::all_digits(value)),
    }
}

/// The times of a flow, the one for the tables first. What takes no time of its own is left out: a
/// closed loop's service is its response.
fn latencies(run: &RunRead, trial: &TrialSummary, flow: &FlowSummary) -> Vec<Latency> {
    let times = &flow.latencies;
    let service = match flow.closed_loop {
        true => None,
        false => times.service.as_ref(),
    };
    let kinds = [
        (
            LatencyKind::EndToEnd,
            TimeKind::EndToEnd,
            times.end_to_end.as_ref(),
        ),
        (
            LatencyKind::Response,
            TimeKind::Response,
            times.response.as_ref(),
        ),
        (
            LatencyKind::BatchWait,
            TimeKind::BatchWait,
            times.batch_wait.as_ref(),
        ),
        (
            LatencyKind::AckWait,
            TimeKind::AckWait,
            times.ack_wait.as_ref(),
        ),
        (
            LatencyKind::CommitWait,
            TimeKind::CommitWait,
            times.commit_wait.as_ref(),
        ),
        (
            LatencyKind::FetchWait,
            TimeKind::FetchWait,
            times.fetch_wait.as_ref(),
        ),
        (LatencyKind::Service, TimeKind::Service, service),
        (
            LatencyKind::RoundTrip,
            TimeKind::RoundTrip,
            times.round_trip.as_ref(),
        ),
        (
            LatencyKind::FetchRoundTrip,
            TimeKind::FetchRoundTrip,
            times.fetch_round_trip.as_ref(),
        ),
        (LatencyKind::Commit, TimeKind::Commit, times.commit.as_ref()),
    ];
    kinds
        .into_iter()
        .filter_map(|(kind, recorded, summary)| {
            let merged = merged(run, trial, flow.index, recorded);
            Some(Latency {
                kind,
                distribution: distribution(summary?, &merged),
            })
        })
        .collect()
}

/// All samples of the hold stages of the repeats that count.
fn merged(run: &RunRead, trial: &TrialSummary, flow: u16, kind: TimeKind) -> Histogram {
    let mut merged = Histogram::new();
    for repeat in trial.repeats.iter().filter(|repeat| repeat.measured) {
        let key = RepeatKey {
            trial: trial.index,
            repeat: repeat.repeat,
        };
        let read = run.repeats.iter().find(|read| read.key == key);
        let hold = read
            .and_then(|read| read.flows.get(&flow))
            .and_then(|flow| flow.hold());
        if let Some(hold) = hold {
            merged.add(hold.times(kind));
        }
    }
    merged
}

fn distribution(summary: &LatencySummary, merged: &Histogram) -> DistributionView {
    DistributionView {
        count: summary.count,
        mean_ns: summary.mean_ns,
        mean_interval: summary.mean_interval().map(ends),
        max_ns: summary.max_ns,
        percentiles: summary
            .percentiles
            .iter()
            .map(|found| PercentileView {
                millionths: found.millionths,
                ns: found.value_ns,
                interval: found.interval().map(ends),
                beyond: found.samples_beyond,
                few: found.few,
            })
            .collect(),
        curve: curve_of(merged)
            .iter()
            .map(|point| CurvePointView {
                quantile: f64::from(point.millionths) / 1e6,
                ns: point.value_ns,
                beyond: point.samples_beyond,
            })
            .collect(),
    }
}

/// A delay in a flow's times that is not the target's, by whose doing it is.
fn late(flow: &FlowSummary) -> Option<Late> {
    let lateness = flow
        .lateness
        .filter(|found| found.blame.is_in_latencies())?;
    let (badge, aside) = match lateness.blame {
        LatenessCause::OtherPrograms { .. } => {
            ("busy machine", ", including delay from other programs")
        }
        LatenessCause::SharedProcessors => (
            "shared CPUs",
            ", including the load generator's wait for CPU",
        ),
        LatenessCause::Generator { .. } => ("late generator", ", including generator lateness"),
        LatenessCause::Unknown => ("sent late", ", including lateness before the send"),
        LatenessCause::None | LatenessCause::Target { .. } | LatenessCause::Fault => return None,
    };
    let sentence = format!(
        "{} of the records were sent more than {} late (p99 {}), which is included in these \
         latencies. Cause: {}.",
        format::percent(lateness.late_part),
        format::nanoseconds(lateness.late_after_ns as f64),
        format::nanoseconds(lateness.lag_ns_p99 as f64),
        text::generator::subject(lateness.blame)
    );
    Some(Late {
        badge,
        aside,
        sentence,
    })
}

/// Where the time of an echo flow's records went: means, which add up.
fn way(flow: &FlowSummary) -> Option<String> {
    let times = &flow.latencies;
    let mean = |of: &Option<LatencySummary>| of.as_ref().map(|times| times.mean_ns);
    let whole = mean(&times.end_to_end)?;
    let (batch, ack) = (mean(&times.batch_wait)?, mean(&times.ack_wait)?);
    let fetch = mean(&times.fetch_wait)?;
    let heard = match times.commit_wait {
        Some(_) => "commit was confirmed",
        None => "ack was",
    };
    let early = match flow.records.echoed_early {
        0 => String::new(),
        early => {
            let part = early as f64 / flow.records.echoed.max(1) as f64;
            format!("; {} were read before their {heard}", format::percent(part))
        }
    };
    let commit = mean(&times.commit_wait).map(format::nanoseconds);
    let commit = commit.map_or_else(String::new, |commit| format!(", {commit} for the commit"));
    let [whole, batch, ack, fetch] = [whole, batch, ack, fetch].map(format::nanoseconds);
    let and = if commit.is_empty() {
        " and"
    } else {
        " and then"
    };
    Some(format!(
        "Of the mean {whole} end to end, records waited {batch} in the batch, {ack} for the \
         ack{commit}{and} {fetch} for the fetch{early}."
    ))
}

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one} {other}")),
        (one, other) => one.or(other),
    }
}

/// What the commits of transactions took.
fn commits(flow: &FlowSummary) -> Option<String> {
    let commit = flow.latencies.commit.as_ref()?;
    let p99 = commit.percentile(990_000)?;
    Some(format!(
        "{} were committed; commit time {} (mean), p99 {}. No records are accepted during a \
         commit.",
        format::plural(flow.records.transactions, "transaction", "transactions"),
        format::nanoseconds(commit.mean_ns),
        format::nanoseconds(p99.value_ns as f64)
    ))
}

/// Records of an echo flow that were acked and never seen again.
fn not_echoed(flow: &FlowSummary) -> u64 {
    let all = &flow.records_all_stages;
    match flow.kind {
        FlowKind::Echo => all.acked.saturating_sub(all.echoed + all.aborted),
        _ => 0,
    }
}

fn counts(flow: &FlowSummary) -> CountsView {
    let all = &flow.records_all_stages;
    let bad = [
        (all.failed, "failed"),
        (all.indeterminate, "with unknown outcome"),
        (
            u64::try_from(all.unresolved).unwrap_or(0),
            "without an outcome",
        ),
        (all.skipped, "skipped"),
        (not_echoed(flow), "not read back"),
        (all.transactions_aborted, "transactions aborted"),
        (all.aborted, "aborted with their transaction"),
        (all.corrupt, "corrupt"),
    ];
    CountsView {
        good: match flow.kind {
            FlowKind::Consume => all.consumed,
            _ => all.acked,
        },
        bad: bad.into_iter().filter(|(count, _)| *count > 0).collect(),
        errors: flow
            .errors
            .iter()
            .map(|error| (error.name.clone(), error.records))
            .collect(),
    }
}
