//! Results of OpenMessaging Benchmark: a JSON file per run. Publish and end-to-end latencies are in milliseconds, the
//! delay before the send (`publishDelayLatency`) in microseconds.

use serde_json::Value;

use crate::distribution::PublishedTimes;

/// The figures of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct OmbResult {
    /// `workload`.
    pub workload: String,
    /// Records per second of each window.
    pub publish_rates: Vec<f64>,
    /// Failed sends per second, the maximum of all windows.
    pub errors_per_s_max: f64,
    /// `messageSize`, bytes.
    pub message_bytes: Option<f64>,
    /// Publish latency.
    pub publish: Option<PublishedTimes>,
    /// End-to-end latency.
    pub end_to_end: Option<PublishedTimes>,
    /// p99 of the delay between the intended and the actual send.
    pub delay_p99_ms: Option<f64>,
}

impl OmbResult {
    /// The latencies in the file.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = &PublishedTimes> {
        self.publish.iter().chain(&self.end_to_end)
    }
}

/// Reads a result, if the bytes are one.
pub(crate) fn find(bytes: &[u8]) -> Option<OmbResult> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    value.get("aggregatedPublishLatencyAvg")?;
    let numbers = |name: &str| -> Vec<f64> {
        let list = value.get(name).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect()
    };
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let latency = |name: &'static str, key: &str| {
        let points = [
            (0.5, "50pct"),
            (0.75, "75pct"),
            (0.95, "95pct"),
            (0.99, "99pct"),
            (0.999, "999pct"),
            (0.9999, "9999pct"),
        ];
        let points: Vec<(f64, f64)> = points
            .iter()
            .filter_map(|(part, end)| Some((*part, number(&format!("aggregated{key}{end}"))?)))
            .collect();
        (!points.is_empty()).then_some(PublishedTimes {
            name,
            mean_ms: number(&format!("aggregated{key}Avg"))?,
            points,
            max_ms: number(&format!("aggregated{key}Max"))?,
        })
    };
    Some(OmbResult {
        workload: value
            .get("workload")
            .and_then(Value::as_str)
            .unwrap_or("a workload")
            .to_owned(),
        publish_rates: numbers("publishRate"),
        errors_per_s_max: numbers("publishErrorRate").into_iter().fold(0.0, f64::max),
        message_bytes: number("messageSize"),
        publish: latency("publish latency", "PublishLatency"),
        end_to_end: latency("end-to-end latency", "EndToEndLatency"),
        delay_p99_ms: number("aggregatedPublishDelayLatency99pct").map(|us| us / 1e3),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const RESULT: &str = r#"{"workload": "one", "messageSize": 1024, "publishRate": [1000.0, 900.0],
        "publishErrorRate": [0.0, 3.5], "backlog": [0, 5000], "aggregatedPublishLatencyAvg": 8.1,
        "aggregatedPublishLatency50pct": 8.0, "aggregatedPublishLatency75pct": 10.8, "aggregatedPublishLatency95pct": 13.0,
        "aggregatedPublishLatency99pct": 14.3, "aggregatedPublishLatency999pct": 16.2,
        "aggregatedPublishLatency9999pct": 21.7, "aggregatedPublishLatencyMax": 36.7,
        "aggregatedPublishDelayLatency99pct": 52000}"#;

    #[test]
    fn a_result_is_read() {
        let found = find(RESULT.as_bytes()).unwrap();
        assert_eq!(
            (found.workload.as_str(), found.errors_per_s_max),
            ("one", 3.5)
        );
        assert_eq!(found.delay_p99_ms, Some(52.0));
        let publish = found.publish.unwrap();
        assert_eq!(found.end_to_end, None);
        assert_eq!((publish.points.len(), publish.max_ms), (6, 36.7));
        assert_eq!(find(b"{\"a\": 1}"), None);
        assert_eq!(find(&RESULT.as_bytes()[..200]), None);
    }
}
