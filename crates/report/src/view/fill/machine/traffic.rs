//! Clients and replicas during a repeat: which of their figures are drawn, and under which names.

use std::collections::BTreeSet;

use kgauge_analyze::series::{
    ClientFigures, ClientSecond, ClientSeries, GrowthPoint, HeldPoint, RepeatSeries, WireSeries,
};
use kgauge_analyze::summary::FlowSummary;
use kgauge_results::metrics::Panel;

use super::spans::WeightedValue;
use super::{LETTERS_MAX, MEGABYTE, PanelContext};
use crate::clean::cut;
use crate::view::MachineTimeline;

/// Brokers that are drawn at most, the first by their ids.
const BROKERS_MAX: usize = 9;

/// What is drawn of a repeat of this length.
pub(in crate::view::fill) fn timeline(
    repeat: &RepeatSeries,
    flows: &[FlowSummary],
    end_ns: u64,
) -> MachineTimeline {
    let mut drawing = PanelContext::over(end_ns);
    for series in &repeat.clients {
        let summary = flows.iter().find(|flow| flow.index == series.flow);
        let Some(summary) = summary else { continue };
        drawing.clients(series, &summary.name, end_ns);
    }
    let mut notes = drawing.replicas(&repeat.wire);
    let not_seen = repeat.wire.not_seen.iter();
    notes.extend(not_seen.map(|what| format!("Not available: {} ({}).", what.what, what.why)));
    let mut once = BTreeSet::new();
    MachineTimeline {
        lines: drawing.lines,
        seconds_per_point: drawing.seconds_per_point,
        notes: notes
            .iter()
            .map(|note| cut(note, LETTERS_MAX))
            .filter(|note| once.insert(note.clone()))
            .collect(),
    }
}

impl PanelContext {
    fn clients(&mut self, series: &ClientSeries, name: &str, end_ns: u64) {
        // What came after the end is no second of its own.
        let seconds: Vec<ClientSecond> = series
            .seconds
            .iter()
            .filter(|second| second.start_ns < end_ns)
            .map(|second| ClientSecond {
                end_ns: second.end_ns.min(end_ns),
                ..*second
            })
            .collect();
        let span = |second: &ClientSecond| (second.start_ns, second.end_ns);
        let mut draw = |panel, what: &str, value: fn(&ClientFigures) -> Option<WeightedValue>| {
            let value = |second: &ClientSecond| value(&second.figures);
            self.spans(panel, (name, what), &seconds, span, value);
        };
        draw(Panel::BatchFill, "", |one| {
            weighed(one.batch_fill_part? * 100.0, one.requests_per_s)
        });
        draw(Panel::PerRequest, " produced", |one| {
            weighed(one.records_per_request?, one.requests_per_s)
        });
        draw(Panel::PerRequest, " fetched", |one| {
            weighed(one.records_per_fetch?, one.fetches_per_s)
        });
        draw(Panel::BufferWaits, "", |one| {
            weighed(one.buffer_wait_ns_mean?, one.buffer_waits_per_s)
        });
        draw(Panel::Throttle, "", |one| {
            Some(WeightedValue::even(one.throttle_part * 100.0))
        });
        draw(Panel::Retries, " retried", |one| {
            Some(WeightedValue::even(one.retried_per_s))
        });
        draw(Panel::Retries, " failed", |one| {
            Some(WeightedValue::even(one.failed_per_s))
        });
        let span = |point: &HeldPoint| (point.start_ns, point.end_ns);
        let mut draw = |what: &str, value: fn(&HeldPoint) -> f64| {
            let value = |point: &HeldPoint| Some(WeightedValue::even(value(point) * 100.0));
            self.spans(Panel::Held, (name, what), &series.held, span, value);
        };
        draw(" buffer", |point| point.buffer_part);
        draw(" requests", |point| point.in_flight_part);
    }

    /// Draws them, and lists those that are not drawn.
    fn replicas(&mut self, wire: &WireSeries) -> Vec<String> {
        let mut draw = |name: &str, value: fn(&kgauge_results::run::TopicSample) -> u32| {
            let looks = wire.topic.iter();
            let looks = looks.map(|at| (at.at_ns, Some(f64::from(value(&at.topic)))));
            self.moments(Panel::UnderReplicated, name, &looks.collect::<Vec<_>>());
        };
        draw("too few in sync", |topic| topic.under_replicated);
        draw("without a leader", |topic| topic.leaderless);
        for broker in wire.brokers.iter().take(BROKERS_MAX) {
            let name = format!("broker {}", broker.broker);
            let looks = broker.looks.iter();
            let looks = looks.map(|at| {
                // Where not all of them are known their sum would fall.
                let is_whole = at.replicas.lag_unknown == 0;
                let lag = at.replicas.lag_records.filter(|_| is_whole);
                (at.at_ns, lag.map(|records| records as f64))
            });
            self.moments(Panel::ReplicaLag, &name, &looks.collect::<Vec<_>>());
            let span = |point: &GrowthPoint| (point.start_ns, point.end_ns);
            let growth = (name.as_str(), "");
            self.spans(Panel::LogGrowth, growth, &broker.growth, span, |point| {
                Some(WeightedValue::even(point.bytes_per_s / MEGABYTE))
            });
        }
        for group in &wire.groups {
            let looks = group.lag_records.iter();
            let looks = looks.map(|(at_ns, records)| (*at_ns, Some(*records as f64)));
            self.moments(Panel::GroupLag, &group.group, &looks.collect::<Vec<_>>());
        }
        let more = wire.brokers.len().saturating_sub(BROKERS_MAX);
        (more > 0)
            .then(|| format!("Omitted: {more} more brokers."))
            .into_iter()
            .collect()
    }
}

/// A mean, by how many it is of.
#[allow(clippy::unnecessary_wraps, reason = "it closes closures of options")]
fn weighed(value: f64, per_s: f64) -> Option<WeightedValue> {
    Some(WeightedValue { value, per_s })
}
