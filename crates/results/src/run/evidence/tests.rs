//! Lines of evidence that were recorded before the table of metrics existed.

use super::*;
use crate::metrics::{MetricId, RequestKind};
use crate::run::MetricsSource;

const RECORDED: &str = include_str!("recorded.jsonl");

fn broker(line: &str) -> BrokerSample {
    match serde_json::from_str::<Evidence>(line).unwrap().kind {
        EvidenceKind::Broker(sample) => *sample,
        other => panic!("{other:?}"),
    }
}

#[test]
fn recorded_lines_are_read_completely_and_written_as_before() {
    for line in RECORDED.lines() {
        let seen: Evidence = serde_json::from_str(line).unwrap();
        assert_ne!(seen.kind, EvidenceKind::Unknown, "{line}");
        let before: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_value(&seen).unwrap(), before);
    }
}

#[test]
fn a_recorded_line_of_a_broker_has_its_values_under_their_names() {
    let kafka = broker(RECORDED.lines().next().unwrap());
    let produce = |metric| kafka.of_requests(RequestKind::Produce, metric);
    assert_eq!(produce(MetricId::RequestCount), Some(218_675));
    assert_eq!(produce(MetricId::RequestQueueTime), Some(1_710_000_000));
    assert_eq!(kafka.listeners[0].listener, "PLAINTEXT");
    assert_eq!(kafka.get(MetricId::OfflinePartitions), Some(0));
}

#[test]
fn what_a_newer_kgauge_adds_is_left_out() {
    let line = r#"{"at_unix_ms":1,"subject":"target","evidence":"broker","source":"carrier-pigeon",
        "requests":[{"kind":"vote","count":3},{"kind":"produce","count":5,"new":{"a":1}}],
        "threads":{"request_queue":7,"new":"x"},"new":[1]}"#;
    let sample = broker(line);
    assert_eq!(sample.source, MetricsSource::Unknown);
    assert_eq!(
        sample.of_requests(RequestKind::Produce, MetricId::RequestCount),
        Some(5)
    );
    assert_eq!(sample.get(MetricId::RequestQueue), Some(7));
}
