//! The brokers' own metrics during a repeat: which of them are drawn, and under which names.

use std::collections::BTreeMap;

use kgauge_analyze::series::{BrokerPoint, BrokerSeries};
use kgauge_analyze::statistics::weighted_mean;
use kgauge_results::SECOND_NS;
use kgauge_results::metrics::{MetricDisplay, MetricGroup, MetricId, Panel, RequestKind};
use kgauge_results::run::{MetricsSource, MissingEvidence};

use super::spans::{SpanRate, WeightedValue, of_spans};
use super::{LETTERS_MAX, PanelContext, shown};
use crate::clean::cut;
use crate::view::{MachineLine, MachineTimeline};

fn are_embedded(brokers: &[BrokerSeries]) -> bool {
    let mut brokers = brokers.iter();
    brokers.any(|series| series.source == MetricsSource::Embedded)
}

/// What is drawn of a repeat that took that long.
pub(in crate::view::fill) fn broker_timeline(
    brokers: &[BrokerSeries],
    not_seen: &[MissingEvidence],
    end_ns: u64,
) -> MachineTimeline {
    let mut drawing = PanelContext::over(end_ns);
    for kind in RequestKind::SAMPLED {
        drawing.requests(brokers, kind);
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
    /// The mean time of one kind of request: of all brokers by phase, then broker by broker.
    fn requests(&mut self, brokers: &[BrokerSeries], kind: RequestKind) {
        let Some((phases, by_broker)) = Panel::of_requests(kind) else {
            return;
        };
        let is_embedded = are_embedded(brokers);
        for metric in MetricId::of(MetricGroup::Requests) {
            let value = |point: &BrokerPoint| shown(metric, phases, point.requests.get(&kind)?);
            match metric.row().display {
                MetricDisplay::Phase { name, embedded } => {
                    let name = if is_embedded { embedded } else { name };
                    let points = of_spans(&together(brokers, value), self.seconds_per_point);
                    self.add(phases, name.to_owned(), points);
                }
                // Of one broker the phases say all.
                MetricDisplay::RequestTime if brokers.len() > 1 => {
                    for series in brokers {
                        self.of_broker(by_broker, series, "", value);
                    }
                }
                MetricDisplay::RequestTime
                | MetricDisplay::Line { .. }
                | MetricDisplay::Evidence(_) => {}
            }
        }
    }

    fn broker(&mut self, series: &BrokerSeries) {
        let groups = MetricGroup::OF_BROKERS.into_iter();
        for metric in groups.flat_map(MetricId::of) {
            if let MetricDisplay::Line {
                panel,
                name,
                embedded,
            } = metric.row().display
            {
                let name = match series.source {
                    MetricsSource::Embedded => embedded,
                    MetricsSource::Jolokia | MetricsSource::Prometheus | MetricsSource::Unknown => {
                        name
                    }
                };
                self.of_broker(panel, series, name, |point| {
                    shown(metric, panel, &point.values)
                });
            }
        }
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

/// One mean of all brokers for each second; their samples are a few milliseconds apart.
fn together(
    brokers: &[BrokerSeries],
    value: impl Fn(&BrokerPoint) -> Option<WeightedValue>,
) -> Vec<SpanRate> {
    let mut seconds = BTreeMap::<u64, Vec<(&BrokerPoint, Option<WeightedValue>)>>::new();
    for point in brokers.iter().flat_map(|series| &series.points) {
        let middle_ns = point.start_ns / 2 + point.end_ns / 2;
        let second = seconds.entry(middle_ns / SECOND_NS).or_default();
        second.push((point, value(point)));
    }
    let each = seconds.into_values().filter_map(|points| {
        let (first, _) = points.first()?;
        let known = points.iter().filter_map(|(_, value)| *value);
        let known: Vec<(f64, f64)> = known.map(|one| (one.per_s, one.value)).collect();
        let per_s = known.iter().map(|(per_s, _)| per_s).sum();
        Some(SpanRate {
            start_ns: first.start_ns,
            end_ns: first.end_ns,
            value: weighted_mean(known).map(|value| WeightedValue { value, per_s }),
        })
    });
    each.collect()
}

/// The source of the metrics, and what was not available.
fn notes(brokers: &[BrokerSeries], not_seen: &[MissingEvidence]) -> Vec<String> {
    let has = |source| brokers.iter().any(|series| series.source == source);
    let mut notes = Vec::new();
    if has(MetricsSource::Jolokia) {
        notes.push("Kafka's own metrics, read through Jolokia.".to_owned());
    }
    if has(MetricsSource::Embedded) {
        let words = "Counted by the embedded cluster's nodes. Each node is a single thread that \
                     reads, handles and writes.";
        notes.push(words.to_owned());
    }
    if has(MetricsSource::Prometheus) {
        notes.push("Kafka's own metrics, from a Prometheus endpoint.".to_owned());
        let mut requests = brokers
            .iter()
            .flat_map(|series| &series.points)
            .flat_map(|point| point.requests.values());
        if requests.all(|means| !means.contains_key(&MetricId::RequestTotal)) {
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
