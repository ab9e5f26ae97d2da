//! Brokers' own metrics over time, and their means over any span.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_results::metrics::{Means, MetricId, RequestKind};
use kgauge_results::run::{BrokerSample, Evidence, EvidenceKind, MetricsSource, Subject};

use super::metrics;
use super::samples_by_thing::{SamplesByThing, Span};
use crate::statistics::weighted_mean;

/// One broker during one repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerSeries {
    /// Its id; `None` where that could not be found out.
    pub broker: Option<i32>,
    /// Who reported.
    pub source: MetricsSource,
    /// What it did between two samples, ascending. Over a restart there is no point.
    pub points: Vec<BrokerPoint>,
}

/// A broker between two samples. What the broker does not report is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrokerPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Everything that is not of requests. The network threads' idle time is that of the listener that has least of it.
    pub values: Means,
    /// Requests of each kind.
    pub requests: BTreeMap<RequestKind, Means>,
    /// The network threads of each listener, if the broker reports them separately.
    pub listeners: Vec<ListenerPoint>,
}

/// The network threads of a listener.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListenerPoint {
    /// Its name.
    pub listener: String,
    /// The part of the time in which they had nothing to do, 0 to 1.
    pub idle: f64,
}

impl BrokerPoint {
    /// A metric that is not of requests.
    pub fn get(&self, metric: MetricId) -> Option<f64> {
        self.values.get(&metric).copied()
    }

    /// A metric of one kind of request.
    pub fn of_requests(&self, kind: RequestKind, metric: MetricId) -> Option<f64> {
        self.requests.get(&kind)?.get(&metric).copied()
    }

    /// The listener whose network threads had least to spare; `None` where the broker has only one, or does not tell.
    pub(crate) fn busiest_listener(&self) -> Option<&str> {
        let busiest = least_idle(&self.listeners)?;
        (self.listeners.len() > 1).then_some(busiest.listener.as_str())
    }

    /// The mean of several; `None` of none.
    pub(crate) fn mean(points: &[&BrokerPoint]) -> Option<BrokerPoint> {
        let (first, last) = (points.first()?, points.last()?);
        let values: Vec<(f64, &Means)> = points
            .iter()
            .map(|point| (point.seconds(), &point.values))
            .collect();
        let mut kinds = BTreeMap::<RequestKind, Vec<(f64, &Means)>>::new();
        for point in points {
            for (kind, means) in &point.requests {
                let of_kind = kinds.entry(*kind).or_default();
                of_kind.push((point.seconds(), means));
            }
        }
        let kinds = kinds.into_iter();
        let mut mean = BrokerPoint {
            start_ns: first.start_ns,
            end_ns: last.end_ns,
            values: metrics::mean(&values),
            requests: kinds
                .map(|(kind, of_kind)| (kind, metrics::mean(&of_kind)))
                .collect(),
            listeners: listeners_mean(points),
        };
        // The mean of leasts would be less where listeners take turns.
        mean.set_network_idle();
        Some(mean)
    }

    fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    /// Whoever is busy on one listener is not helped by threads that rest at another.
    fn set_network_idle(&mut self) {
        let share = self.values.remove(&MetricId::NetworkIdleShare);
        let mean = || self.get(MetricId::NetworkIdle).or(share);
        let least = least_idle(&self.listeners).map(|listener| listener.idle);
        if let Some(idle) = least.or_else(mean) {
            self.values.insert(MetricId::NetworkIdle, idle);
        }
    }
}

fn least_idle(listeners: &[ListenerPoint]) -> Option<&ListenerPoint> {
    listeners.iter().min_by(|a, b| a.idle.total_cmp(&b.idle))
}

impl BrokerSeries {
    /// The mean of all points that lie wholly in a span; `None` where there is none.
    pub(crate) fn mean_over(&self, start_ns: u64, end_ns: u64) -> Option<BrokerPoint> {
        let inside = |point: &&BrokerPoint| point.start_ns >= start_ns && point.end_ns <= end_ns;
        let points: Vec<&BrokerPoint> = self.points.iter().filter(inside).collect();
        BrokerPoint::mean(&points)
    }
}

/// The brokers during a repeat, from that repeat's evidence, by id.
pub(super) fn series_of(evidence: &[&Evidence]) -> Vec<BrokerSeries> {
    let mut samples = SamplesByThing::new();
    for seen in evidence {
        if let (EvidenceKind::Broker(sample), Subject::Target { broker }, Some(at_ns)) =
            (&seen.kind, &seen.subject, seen.at_ns)
        {
            samples.add((*broker, sample.source), at_ns, sample.as_ref());
        }
    }
    let series = samples.between(between);
    let series = series.map(|((broker, source), points)| BrokerSeries {
        broker,
        source,
        points,
    });
    series.collect()
}

/// The process was restarted in between, so its counters started again at zero.
fn is_restart(one: &BrokerSample, next: &BrokerSample) -> bool {
    let began = one.started_unix_ms.zip(next.started_unix_ms);
    // A clock that is set moves what a process says of its start; a restart takes longer than that.
    let is_another = began.is_some_and(|(one, next)| one.abs_diff(next) > 1_000);
    let went_back = next.requests.keys().any(|kind| {
        let count = |of: &BrokerSample| of.of_requests(*kind, MetricId::RequestCount);
        count(next) < count(one)
    });
    is_another || went_back
}

fn between(span: Span, one: &&BrokerSample, next: &&BrokerSample) -> Option<BrokerPoint> {
    if is_restart(one, next) {
        return None;
    }
    let requests = next.requests.iter().filter_map(|(kind, next)| {
        let one = one.requests.get(kind)?;
        Some((*kind, metrics::between(span, one, next)))
    });
    let mut values = metrics::between(span, &one.values, &next.values);
    if let Some(idle) = handler_idle(span, one, next) {
        values.insert(MetricId::HandlerIdle, idle);
    }
    let mut point = BrokerPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        values,
        requests: requests.collect(),
        listeners: listeners(span, one, next),
    };
    point.set_network_idle();
    Some(point)
}

/// The handlers of a controller have nearly nothing to do: what is left is at most too small by what they did.
fn handler_idle(span: Span, one: &BrokerSample, next: &BrokerSample) -> Option<f64> {
    let others = next.get(MetricId::HandlerPools)?.saturating_sub(1);
    let idle_ns = |of: &BrokerSample| of.get(MetricId::HandlerIdle);
    let all = span.share(idle_ns(next)?.checked_sub(idle_ns(one)?)?);
    Some((all - others as f64).clamp(0.0, 1.0))
}

/// Each listener that is in both samples with as many threads: with more or fewer the mean is one of others.
fn listeners(span: Span, one: &BrokerSample, next: &BrokerSample) -> Vec<ListenerPoint> {
    let each = next.listeners.iter().filter_map(|next| {
        let mut before = one.listeners.iter();
        let one =
            before.find(|one| (&one.listener, one.threads) == (&next.listener, next.threads))?;
        Some(ListenerPoint {
            listener: next.listener.clone(),
            idle: span
                .share(next.idle_ns.checked_sub(one.idle_ns)?)
                .clamp(0.0, 1.0),
        })
    });
    each.collect()
}

fn listeners_mean(points: &[&BrokerPoint]) -> Vec<ListenerPoint> {
    let listeners = points.iter().flat_map(|point| &point.listeners);
    let names: BTreeSet<&String> = listeners.map(|one| &one.listener).collect();
    let mean = |name: &String| {
        let pairs = points.iter().filter_map(|point| {
            let mut listeners = point.listeners.iter();
            let listener = listeners.find(|one| one.listener == *name)?;
            Some((point.seconds(), listener.idle))
        });
        Some(ListenerPoint {
            listener: name.clone(),
            idle: weighted_mean(pairs)?,
        })
    };
    names.into_iter().filter_map(mean).collect()
}

#[cfg(test)]
mod tests;
