//! What brokers told of themselves during a repeat: which of it is drawn, and under which names.

use std::collections::BTreeMap;

use kgauge_analyze::series::{BrokerPoint, BrokerSeries, RequestPoint};
use kgauge_results::SECOND_NS;
use kgauge_results::run::{MetricsSource, MissingEvidence, RequestKind};

use super::spans::{SpanRate, WeightedValue, of_spans};
use super::{LETTERS_MAX, MEGABYTE, PanelContext};
use crate::clean::cut;
use crate::view::{MachineLine, MachineTimeline, Panel};

const NS_PER_MS: f64 = 1e6;

/// The parts of a request's time, in their order in time.
type TimePhase = (&'static str, fn(&RequestPoint) -> Option<f64>);
const PARTS: [TimePhase; 6] = [
    ("waiting for a handler", |one| one.request_queue_ms),
    ("local (handler)", |one| one.local_ms),
    ("waiting for other brokers or data", |one| one.remote_ms),
    ("throttled by a quota", |one| one.throttle_ms),
    ("waiting for a network thread", |one| one.response_queue_ms),
    ("sending", |one| one.response_send_ms),
];

/// The same of nodes of the embedded cluster, which have one thread for everything.
const PARTS_EMBEDDED: [&str; 6] = [
    "waiting for the thread",
    "handling",
    "waiting for other brokers or data",
    "throttled by a quota",
    "response waiting for the thread",
    "sending",
];

fn are_embedded(brokers: &[BrokerSeries]) -> bool {
    let mut brokers = brokers.iter();
    brokers.any(|series| series.source == MetricsSource::Embedded)
}

/// What is drawn of a repeat that took so long.
pub(in crate::view::fill) fn broker_timeline(
    brokers: &[BrokerSeries],
    not_seen: &[MissingEvidence],
    end_ns: u64,
) -> MachineTimeline {
    let mut drawing = PanelContext::over(end_ns);
    let kinds = [
        (
            Panel::ProduceParts,
            Panel::ProduceTime,
            RequestKind::Produce,
        ),
        (
            Panel::FetchParts,
            Panel::FetchTime,
            RequestKind::FetchConsumer,
        ),
        (
            Panel::FollowerParts,
            Panel::FollowerTime,
            RequestKind::FetchFollower,
        ),
    ];
    for (parts, by_broker, kind) in kinds {
        drawing.parts(parts, brokers, kind);
        // Of one broker the parts say all.
        if brokers.len() > 1 {
            drawing.totals(by_broker, brokers, kind);
        }
    }
    for series in brokers {
        drawing.broker(series);
    }
    MachineTimeline {
        lines: drawing.lines,
        seconds_per_point: drawing.seconds_per_point,
        notes: notes(brokers, not_seen),
    }
}

impl PanelContext {
    /// Mean times of all brokers' requests together, part by part.
    fn parts(&mut self, panel: Panel, brokers: &[BrokerSeries], kind: RequestKind) {
        let embedded = are_embedded(brokers);
        for ((name, part), name_embedded) in PARTS.into_iter().zip(PARTS_EMBEDDED) {
            let name = if embedded { name_embedded } else { name };
            let known = together(brokers, |point| {
                let one = point.requests_of(kind)?;
                weighed(one, part)
            });
            let points = of_spans(&known, self.seconds_per_point);
            self.add(panel, name.to_owned(), points);
        }
    }

    /// Mean times of requests, broker by broker.
    fn totals(&mut self, panel: Panel, brokers: &[BrokerSeries], kind: RequestKind) {
        for series in brokers {
            let value = |point: &BrokerPoint| weighed(point.requests_of(kind)?, |one| one.total_ms);
            self.of_broker(panel, series, "", value);
        }
    }

    fn broker(&mut self, series: &BrokerSeries) {
        let mut draw = |panel, what: &str, value: fn(&BrokerPoint) -> Option<f64>| {
            self.of_broker(panel, series, what, |point| {
                value(point).map(WeightedValue::even)
            });
        };
        let handlers = match series.source {
            MetricsSource::Embedded => " thread",
            _ => " handlers",
        };
        draw(Panel::Idle, handlers, |point| {
            Some(point.handler_idle? * 100.0)
        });
        draw(Panel::Idle, " network", |point| {
            Some(point.network_idle? * 100.0)
        });
        draw(Panel::BrokerBytes, " in", |point| {
            Some(point.bytes_in_per_s? / MEGABYTE)
        });
        draw(Panel::BrokerBytes, " out", |point| {
            Some(point.bytes_out_per_s? / MEGABYTE)
        });
        draw(Panel::BrokerBytes, " to followers", |point| {
            Some(point.replication_bytes_out_per_s? / MEGABYTE)
        });
        draw(Panel::BrokerQueues, " requests", |point| {
            point.request_queue
        });
        draw(Panel::BrokerQueues, " responses", |point| {
            point.response_queue
        });
        draw(Panel::Purgatory, " produce", |point| {
            point.produce_purgatory
        });
        draw(Panel::Purgatory, " fetch", |point| point.fetch_purgatory);
        draw(Panel::Leaders, " leads", |point| point.leaders);
        draw(Panel::OutOfSync, " under-replicated", |point| {
            point.under_replicated
        });
        draw(Panel::OutOfSync, " under min.insync.replicas", |point| {
            point.under_min_isr
        });
        draw(Panel::OutOfSync, " leaderless", |point| {
            point.offline_partitions
        });
        draw(Panel::Flushes, "", |point| point.flushes_per_s);
        draw(Panel::Failed, " produce", |point| {
            point.failed_produce_per_s
        });
        draw(Panel::Failed, " fetch", |point| point.failed_fetch_per_s);
        draw(Panel::Conversions, "", |point| point.conversions_per_s);
        draw(Panel::Collections, "", |point| {
            Some(point.collection_share? * 100.0)
        });
        self.of_broker(Panel::FlushTimes, series, "", |point| {
            let (value, per_s) = (point.flush_mean_ms? * NS_PER_MS, point.flushes_per_s?);
            Some(WeightedValue { value, per_s })
        });
    }

    fn of_broker(
        &mut self,
        panel: Panel,
        series: &BrokerSeries,
        what: &str,
        value: impl Fn(&BrokerPoint) -> Option<WeightedValue>,
    ) {
        let known = series.points.iter().map(|point| SpanRate {
            start_ns: point.start_ns,
            end_ns: point.end_ns,
            value: value(point),
        });
        let known: Vec<SpanRate> = known.collect();
        let points = of_spans(&known, self.seconds_per_point);
        let name = match series.broker {
            Some(id) => format!("broker {id}{what}"),
            None => format!("a broker{what}"),
        };
        // That a thread never rests is worth a line.
        let has_any = points.iter().any(|(_, value)| value.is_some());
        match panel == Panel::Idle && has_any {
            true => self.lines.push(MachineLine {
                panel,
                name,
                points,
            }),
            false => self.add(panel, name, points),
        }
    }
}

fn weighed(one: &RequestPoint, ms: fn(&RequestPoint) -> Option<f64>) -> Option<WeightedValue> {
    Some(WeightedValue {
        value: ms(one)? * NS_PER_MS,
        per_s: one.per_s,
    })
}

/// One mean of all brokers for each second; their looks are some milliseconds apart.
fn together(
    brokers: &[BrokerSeries],
    value: impl Fn(&BrokerPoint) -> Option<WeightedValue>,
) -> Vec<SpanRate> {
    let mut seconds = BTreeMap::<u64, (SpanRate, f64, f64)>::new();
    for point in brokers.iter().flat_map(|series| &series.points) {
        let middle_ns = point.start_ns / 2 + point.end_ns / 2;
        let known = SpanRate {
            start_ns: point.start_ns,
            end_ns: point.end_ns,
            value: None,
        };
        let second = seconds.entry(middle_ns / SECOND_NS);
        let (_, weight, sum) = second.or_insert((known, 0.0, 0.0));
        if let Some(one) = value(point) {
            *weight += one.per_s;
            *sum += one.per_s * one.value;
        }
    }
    let each = seconds.into_values().map(|(known, per_s, sum)| SpanRate {
        value: (per_s > 0.0).then(|| WeightedValue {
            value: sum / per_s,
            per_s,
        }),
        ..known
    });
    each.collect()
}

/// Who told, and what could not be had.
fn notes(brokers: &[BrokerSeries], not_seen: &[MissingEvidence]) -> Vec<String> {
    let tells = |source| brokers.iter().any(|series| series.source == source);
    let mut notes = Vec::new();
    if tells(MetricsSource::Jolokia) {
        notes.push("Kafka's own metrics, read through Jolokia.".to_owned());
    }
    if tells(MetricsSource::Embedded) {
        let words = "Counted by the embedded cluster's nodes. Each node is a single thread that \
                     reads, handles and writes.";
        notes.push(words.to_owned());
    }
    if tells(MetricsSource::Prometheus) {
        notes.push("Kafka's own metrics, from a Prometheus endpoint.".to_owned());
        let mut requests = brokers
            .iter()
            .flat_map(|series| &series.points)
            .flat_map(|point| &point.requests);
        if requests.all(|one| one.total_ms.is_none()) {
            let words = "It exports no mean request times, so none are shown: add them to the \
                         exporter rules.";
            notes.push(words.to_owned());
        }
    }
    let not_seen = not_seen.iter();
    notes.extend(not_seen.map(|one| format!("Not available: {} ({}).", one.what, one.why)));
    notes
        .into_iter()
        .map(|note| cut(&note, LETTERS_MAX))
        .collect()
}
