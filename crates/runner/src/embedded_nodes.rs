//! What the nodes of the embedded cluster have counted, as a source of brokers' metrics. They are asked over the way on
//! which faults are done to them: one question for all nodes, once a second.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_observe::{BrokerSamples, BrokerSource, LOOK_MAX, MissedBroker};
use kgauge_results::metrics::{MetricGroup, MetricId, Readings, RequestKind};
use kgauge_results::run::{BrokerSample, MetricsSource};
use kgauge_target::{NodeCounts, RequestCounts};
use serde_json::Value;

use crate::shared::SharedTarget;

/// Shorter than the limit of a scrape, so that a late cluster does not count as a slow endpoint.
const ANSWER_MAX: Duration = LOOK_MAX.saturating_sub(Duration::from_millis(150));

/// All nodes of an embedded cluster.
pub(crate) struct EmbeddedNodes {
    target: SharedTarget,
    looks: u64,
    missing: BTreeMap<u16, (u64, String)>,
}

impl EmbeddedNodes {
    pub(crate) fn new(target: SharedTarget) -> EmbeddedNodes {
        EmbeddedNodes {
            target,
            looks: 0,
            missing: BTreeMap::new(),
        }
    }
}

impl BrokerSource for EmbeddedNodes {
    fn sample(&mut self) -> Result<BrokerSamples, String> {
        let reports = self.target.counts(ANSWER_MAX)?;
        self.looks += 1;
        let mut samples = Vec::with_capacity(reports.len());
        for one in reports {
            match one.counts {
                Ok(counts) => samples.push((Some(i32::from(one.node)), sample(&counts))),
                Err(why) => {
                    let missing = self.missing.entry(one.node);
                    missing.or_insert((0, why)).0 += 1;
                }
            }
        }
        Ok(samples)
    }

    fn label(&self) -> String {
        "the embedded cluster".to_owned()
    }

    fn missing(&self) -> Vec<MissedBroker> {
        let missing = self.missing.iter().map(|(node, (lost, why))| MissedBroker {
            whose: format!("broker {node}"),
            lost: *lost,
            looks: self.looks,
            why: why.clone(),
        });
        missing.collect()
    }
}

/// A node's counts under the names that brokers' metrics have in evidence. What a node does not have stays unknown: it
/// has no queue between threads, no threads for the network alone, and no Java (docs/decisions/metrics.md).
fn sample(counts: &NodeCounts) -> BrokerSample {
    let mut requests = BTreeMap::from([
        (RequestKind::Produce, request_readings(&counts.produce)),
        (RequestKind::FetchConsumer, request_readings(&counts.fetch)),
        (
            RequestKind::FetchFollower,
            request_readings(&counts.follower_fetch),
        ),
    ]);
    // They come over channels: all of their time is a wait.
    if let Some(followers) = requests.get_mut(&RequestKind::FetchFollower) {
        let parts = [
            MetricId::RequestCount,
            MetricId::RequestTotal,
            MetricId::RequestRemote,
        ];
        followers.retain(|metric, _| parts.contains(metric));
    }
    let values = serde_json::to_value(counts).unwrap_or_default();
    let groups = MetricGroup::OF_BROKERS.into_iter();
    BrokerSample {
        source: MetricsSource::Embedded,
        started_unix_ms: Some(counts.started_unix_ms),
        requests,
        listeners: Vec::new(),
        values: groups.flat_map(|group| readings(group, &values)).collect(),
    }
}

fn request_readings(counts: &RequestCounts) -> Readings {
    let values = serde_json::to_value(counts).unwrap_or_default();
    let mut readings: Readings = readings(MetricGroup::Requests, &values).collect();
    readings.insert(MetricId::RequestTotal, counts.total_ns());
    readings
}

/// The table has the names of the counters.
fn readings(group: MetricGroup, counts: &Value) -> impl Iterator<Item = (MetricId, u64)> {
    MetricId::of(group).filter_map(|metric| {
        let counter = metric.row().embedded?;
        Some((metric, counts.get(counter)?.as_u64()?))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_part_of_a_requests_time_keeps_its_name() {
        let counts = NodeCounts {
            produce: RequestCounts {
                count: 2,
                request_queue_ns: 3,
                local_ns: 5,
                remote_ns: 7,
                throttle_ns: 1_000,
                response_queue_ns: 11,
                response_send_ns: 13,
            },
            follower_fetch: RequestCounts {
                count: 1,
                remote_ns: 17,
                ..RequestCounts::default()
            },
            idle_ns: 19,
            leaders: 4,
            ..NodeCounts::default()
        };
        let look = sample(&counts);
        assert_eq!(look.source, MetricsSource::Embedded);
        let produce = |metric| look.of_requests(RequestKind::Produce, metric);
        // A throttled client has had its answer, so the request counts.
        assert_eq!(produce(MetricId::RequestTotal), Some(39));
        let parts = [
            MetricId::RequestQueueTime,
            MetricId::RequestLocal,
            MetricId::RequestRemote,
            MetricId::RequestThrottle,
            MetricId::ResponseQueueTime,
            MetricId::ResponseSend,
        ];
        assert_eq!(parts.map(produce), [3, 5, 7, 1_000, 11, 13].map(Some));
        let follower = |metric| look.of_requests(RequestKind::FetchFollower, metric);
        assert_eq!(follower(MetricId::RequestTotal), Some(17));
        assert_eq!(follower(MetricId::RequestLocal), None);
        assert_eq!(look.get(MetricId::HandlerIdle), Some(19));
        assert_eq!(look.get(MetricId::NetworkIdle), None);
        assert_eq!(look.get(MetricId::Leaders), Some(4));
    }

    #[test]
    fn every_counter_of_a_node_is_in_the_table_and_every_name_in_the_table_is_a_counter() {
        let names = |counts: Value, groups: &[MetricGroup]| -> [BTreeSet<String>; 2] {
            let Value::Object(counts) = counts else {
                panic!("{counts}")
            };
            let metrics = groups.iter().flat_map(|group| MetricId::of(*group));
            let counters = metrics.filter_map(|metric| metric.row().embedded);
            [
                counts.keys().cloned().collect(),
                counters.map(str::to_owned).collect(),
            ]
        };
        let requests = serde_json::to_value(RequestCounts::default()).unwrap();
        let [counted, mut named] = names(requests, &[MetricGroup::Requests]);
        assert!(named.remove("total_ns"), "it is the sum of the others");
        assert_eq!(counted, named);
        let counts = serde_json::to_value(NodeCounts::default()).unwrap();
        let [mut counted, named] = names(counts, &MetricGroup::OF_BROKERS);
        for other in ["started_unix_ms", "produce", "fetch", "follower_fetch"] {
            assert!(counted.remove(other), "{other}");
        }
        assert_eq!(counted, named);
    }

    #[test]
    fn a_cluster_that_is_gone_is_said() {
        let mut nodes = EmbeddedNodes::new(SharedTarget::none());
        assert_eq!(nodes.sample().unwrap_err(), "there is no cluster");
        assert!(nodes.missing().is_empty());
    }
}
