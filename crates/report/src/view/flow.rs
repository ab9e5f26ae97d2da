//! One flow of one trial: the figures of its summary, and the texts next to them.

use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::{
    FlowKind, FlowSummary, GoalVerdict, LatencySummary, MetricUnit, PublishedComparison,
    SteadyFigure, TrialSummary,
};
use kgauge_results::{Quantile, TimeKind};

use crate::format;
use crate::text;

/// Bytes in a megabyte (10⁶), as printed.
const MEGABYTE: f64 = 1e6;

/// The percentiles that tables show.
pub(crate) const SHOWN_PERCENTILES: [Quantile; 3] = [Quantile::P50, Quantile::P99, Quantile::P99_9];

/// The distributions that a report shows, the one of the tables first.
const SHOWN_TIMES: [TimeKind; 10] = [
    TimeKind::EndToEnd,
    TimeKind::Response,
    TimeKind::BatchWait,
    TimeKind::AckWait,
    TimeKind::CommitWait,
    TimeKind::FetchWait,
    TimeKind::Service,
    TimeKind::RoundTrip,
    TimeKind::FetchRoundTrip,
    TimeKind::Commit,
];

/// Shown for a closed loop whose records in flight were not measured.
const CLOSED: &str = "Closed loop: records in flight ÷ throughput (Little's law), not broker \
                      latency; records in flight were not measured.";

/// A flow of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow<'a> {
    trial: &'a TrialSummary,
    pub(crate) summary: &'a FlowSummary,
}

/// One of its distributions, over all repeats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latency<'a> {
    pub(crate) kind: TimeKind,
    pub(crate) times: &'a LatencySummary,
}

/// A delay in a flow's times that is not the target's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Late {
    /// Two words.
    pub(crate) badge: &'static str,
    /// With its numbers.
    pub(crate) sentence: String,
}

impl<'a> Flow<'a> {
    /// The flows of a trial, in the order of the scenario.
    pub(crate) fn all(trial: &'a TrialSummary) -> Vec<Flow<'a>> {
        let flows = trial.flows.iter();
        flows.map(|summary| Flow { trial, summary }).collect()
    }

    pub(crate) fn name(&self) -> &'a str {
        &self.summary.name
    }

    /// What it is, for a sentence: `3 producers`, `1 consumer`.
    pub(crate) fn members(&self) -> String {
        text::flow::members(self.summary)
    }

    /// How it is loaded: `full speed, closed loop`, `constant, 50,000 records/s`.
    pub(crate) fn load(&self) -> String {
        match &self.summary.shape {
            _ if self.summary.closed_loop => "full speed, closed loop".to_owned(),
            Some(shape) => text::flow::shape(shape),
            None => "reads at full speed".to_owned(),
        }
    }

    /// Records per second.
    pub(crate) fn rate(&self) -> Option<&'a Spread> {
        Some(&self.summary.throughput.as_ref()?.records_per_s)
    }

    /// Megabytes (10⁶) of keys, values and headers per second.
    pub(crate) fn megabytes(&self) -> Option<Spread> {
        let throughput = self.summary.throughput.as_ref()?;
        throughput.logical_bytes_per_s.times(1.0 / MEGABYTE)
    }

    /// The published figures of this flow.
    pub(crate) fn published(&self) -> impl Iterator<Item = &'a PublishedComparison> + use<'a> {
        let name = self.name();
        let all = self.trial.published.iter();
        all.filter(move |published| published.figure.split('.').next() == Some(name))
    }

    /// Its distributions, the one of the tables first. A closed loop's service is its response and is left out.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = Latency<'a>> + use<'a> {
        let summary = self.summary;
        let is_shown = |kind: &TimeKind| !(summary.closed_loop && *kind == TimeKind::Service);
        let shown = SHOWN_TIMES.into_iter().filter(is_shown);
        shown.filter_map(|kind| {
            let times = summary.latencies.get(kind)?;
            Some(Latency { kind, times })
        })
    }

    /// The distribution of the tables.
    pub(crate) fn latency(&self) -> Option<Latency<'a>> {
        self.latencies().next()
    }

    /// Whether its latency is what a caller sees: of records that are sent at a rate. In a closed loop it is the
    /// producer's buffer, and a consumer has times of requests.
    pub(crate) fn has_caller_latency(&self) -> bool {
        !self.summary.closed_loop && self.summary.kind != FlowKind::Consume
    }

    /// Whether its rate is a result: the load does not set it.
    pub(crate) fn has_free_rate(&self) -> bool {
        let is_free = |flow: &FlowSummary| flow.closed_loop || flow.shape.is_none();
        match self.summary.kind {
            FlowKind::Consume => self.trial.flows.iter().all(is_free),
            FlowKind::Produce | FlowKind::Echo | FlowKind::Unknown => self.summary.closed_loop,
        }
    }

    /// The goals on its times.
    pub(crate) fn latency_goals(&self) -> impl Iterator<Item = &'a GoalVerdict> + use<'a> {
        let name = self.name();
        let of_flow = move |goal: &&GoalVerdict| {
            let flow = goal.figure.split('.').next();
            flow == Some(name) && goal.unit == MetricUnit::Nanoseconds
        };
        self.trial.goals.iter().filter(of_flow)
    }

    /// Why its latency is not the broker's, for a closed loop: Little's law with its numbers.
    pub(crate) fn closed(&self) -> Option<String> {
        let sentence = || self.littles_law().unwrap_or_else(|| CLOSED.to_owned());
        self.summary.closed_loop.then(sentence)
    }

    /// Little's law with its numbers.
    pub(crate) fn littles_law(&self) -> Option<String> {
        let law = self.summary.little.as_ref()?;
        Some(text::flow::little(law, self.summary.closed_loop))
    }

    /// How far Little's law is missed, as a share: printed with a closed loop's times.
    pub(crate) fn residual(&self) -> Option<f64> {
        self.summary.little.as_ref()?.residual
    }

    /// What the target did during the hold where such a figure was not steady: it then carries the mark.
    pub(crate) fn not_steady(&self, figure: SteadyFigure) -> Option<&'static str> {
        text::warning::steadiness(self.summary, figure)
    }

    /// Why its times contain a delay that is not the target's: percentiles then carry the mark.
    pub(crate) fn late(&self) -> Option<Late> {
        let lateness = self.summary.lateness?;
        let (badge, _) = text::generator::late(lateness.blame)?;
        let sentence = format!(
            "{} of the records were sent more than {} late (p99 {}), which is included in these \
             latencies. Cause: {}.",
            format::percent(lateness.late_part),
            format::nanoseconds(lateness.late_after_ns as f64),
            format::nanoseconds(lateness.lag_ns_p99 as f64),
            text::generator::subject(lateness.blame)
        );
        Some(Late { badge, sentence })
    }

    /// What an echo flow's time is made of, and what transactions took.
    pub(crate) fn parts(&self) -> Option<String> {
        let flow = self.summary;
        let parts = [two_clocks(flow), echo_parts(flow), commits(flow)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Whether a time of the tables is smaller than the error of the two clocks that it compares.
    pub(crate) fn is_below_clocks(&self, value_ns: u64) -> bool {
        let is_end_to_end = self
            .latency()
            .is_some_and(|found| found.kind == TimeKind::EndToEnd);
        let bound_ns = self.summary.clock_bound_ns.filter(|_| is_end_to_end);
        bound_ns.is_some_and(|bound_ns| value_ns < bound_ns)
    }

    /// Records of all stages that were acked, or read.
    pub(crate) fn records(&self) -> u64 {
        let all = &self.summary.records_all_stages;
        match self.summary.kind {
            FlowKind::Consume => all.consumed,
            FlowKind::Produce | FlowKind::Echo | FlowKind::Unknown => all.acked,
        }
    }

    /// What did not go well in any stage, and how many records it hit: only what is not zero.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let all = &self.summary.records_all_stages;
        let not_echoed = match self.summary.kind {
            FlowKind::Echo => all.acked.saturating_sub(all.echoed + all.aborted),
            FlowKind::Produce | FlowKind::Consume | FlowKind::Unknown => 0,
        };
        let unresolved = u64::try_from(all.unresolved).unwrap_or(0);
        let failures = [
            (all.failed, "failed"),
            (all.indeterminate, "with unknown outcome"),
            (unresolved, "without an outcome"),
            (all.skipped, "skipped"),
            (not_echoed, "not read back"),
            (all.transactions_aborted, "transactions aborted"),
            (all.aborted, "aborted with their transaction"),
            (all.corrupt, "corrupt"),
        ];
        failures.into_iter().filter(|(count, _)| *count > 0)
    }
}

/// Where the time of an echo flow's records went: means, which add up.
fn echo_parts(flow: &FlowSummary) -> Option<String> {
    let mean = |kind: TimeKind| {
        let times = flow.latencies.get(kind)?;
        Some(format::nanoseconds(times.mean_ns))
    };
    let whole = mean(TimeKind::EndToEnd)?;
    let (batch, ack) = (mean(TimeKind::BatchWait)?, mean(TimeKind::AckWait)?);
    let fetch = mean(TimeKind::FetchWait)?;
    let (commit, confirmed) = match mean(TimeKind::CommitWait) {
        Some(commit) => (
            format!(", {commit} for the commit and then"),
            "commit was confirmed",
        ),
        None => (" and".to_owned(), "ack was"),
    };
    let early = match flow.records.echoed_early {
        0 => String::new(),
        early => {
            let part = early as f64 / flow.records.echoed.max(1) as f64;
            let part = format::percent(part);
            format!("; {part} were read before their {confirmed}")
        }
    };
    Some(format!(
        "Of the mean {whole} end to end, records waited {batch} in the batch, {ack} for the \
         ack{commit} {fetch} for the fetch{early}."
    ))
}

/// How exact end-to-end times are that compare two clocks.
fn two_clocks(flow: &FlowSummary) -> Option<String> {
    let bound_ns = flow.clock_bound_ns?;
    Some(format!(
        "End-to-end times compare the clocks of two agents, which are known to ±{} together.",
        format::nanoseconds(bound_ns as f64)
    ))
}

/// What the commits of transactions took.
fn commits(flow: &FlowSummary) -> Option<String> {
    let commit = flow.latencies.get(TimeKind::Commit)?;
    let p99 = commit.percentile(Quantile::P99)?;
    Some(format!(
        "{} were committed; commit time {} (mean), p99 {}. No records are accepted during a \
         commit.",
        format::counted(flow.records.transactions, "transaction"),
        format::nanoseconds(commit.mean_ns),
        format::nanoseconds(p99.value_ns as f64)
    ))
}
