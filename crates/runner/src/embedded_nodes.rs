//! What the nodes of the embedded cluster have counted, as a source of brokers' metrics. They are asked over the way on
//! which faults are done to them: one question for all nodes, once a second.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_observe::{BrokerSamples, BrokerSource, LOOK_MAX, MissedBroker};
use kgauge_results::run::{
    BrokerSample, LogSample, MetricsSource, ReplicaSample, RequestKind, RequestSample,
    ThreadPoolSample, TrafficSample,
};
use kgauge_target::{NodeCounts, RequestCounts};

use crate::shared::SharedTarget;

/// Less than a look may take: a cluster that is late is no slow endpoint, which would be asked more rarely.
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
        let told = self.target.counts(ANSWER_MAX)?;
        self.looks += 1;
        let mut looks = Vec::with_capacity(told.len());
        for one in told {
            match one.told {
                Ok(counts) => looks.push((Some(i32::from(one.node)), sample(&counts))),
                Err(why) => {
                    let missing = self.missing.entry(one.node);
                    missing.or_insert((0, why)).0 += 1;
                }
            }
        }
        Ok(looks)
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
    let follower = &counts.follower_fetch;
    BrokerSample {
        source: MetricsSource::Embedded,
        started_unix_ms: Some(counts.started_unix_ms),
        requests: vec![
            requests(RequestKind::Produce, &counts.produce),
            requests(RequestKind::FetchConsumer, &counts.fetch),
            RequestSample {
                kind: RequestKind::FetchFollower,
                count: follower.count,
                total_ns: Some(follower.total_ns()),
                remote_ns: Some(follower.remote_ns),
                ..RequestSample::default()
            },
        ],
        threads: ThreadPoolSample {
            handler_idle_ns: Some(counts.idle_ns),
            produce_purgatory: Some(counts.produce_purgatory),
            fetch_purgatory: Some(counts.fetch_purgatory),
            ..ThreadPoolSample::default()
        },
        listeners: Vec::new(),
        traffic: TrafficSample {
            bytes_in: Some(counts.bytes_in),
            bytes_out: Some(counts.bytes_out),
            replication_bytes_in: Some(counts.replication_bytes_in),
            replication_bytes_out: Some(counts.replication_bytes_out),
            messages_in: Some(counts.messages_in),
            ..TrafficSample::default()
        },
        replicas: ReplicaSample {
            leaders: Some(counts.leaders),
            partitions: Some(counts.partitions),
            under_replicated: Some(counts.under_replicated),
            under_min_isr: Some(counts.under_min_isr),
            isr_shrinks: Some(counts.isr_shrinks),
            isr_expands: Some(counts.isr_expands),
            ..ReplicaSample::default()
        },
        log: LogSample {
            flushes: Some(counts.flushes),
            flush_ns: Some(counts.flush_ns),
        },
        jvm: None,
    }
}

fn requests(kind: RequestKind, counts: &RequestCounts) -> RequestSample {
    RequestSample {
        kind,
        count: counts.count,
        total_ns: Some(counts.total_ns()),
        request_queue_ns: Some(counts.request_queue_ns),
        local_ns: Some(counts.local_ns),
        remote_ns: Some(counts.remote_ns),
        throttle_ns: Some(counts.throttle_ns),
        response_queue_ns: Some(counts.response_queue_ns),
        response_send_ns: Some(counts.response_send_ns),
        temporary_memory_bytes: None,
    }
}

#[cfg(test)]
mod tests {
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
        let produce = &look.requests[0];
        // A client that is told to wait has its answer all the same.
        assert_eq!(
            (produce.kind, produce.total_ns),
            (RequestKind::Produce, Some(39))
        );
        assert_eq!(
            [
                produce.request_queue_ns,
                produce.local_ns,
                produce.remote_ns,
                produce.throttle_ns,
                produce.response_queue_ns,
                produce.response_send_ns,
            ],
            [3, 5, 7, 1_000, 11, 13].map(Some)
        );
        let follower = &look.requests[2];
        assert_eq!(follower.kind, RequestKind::FetchFollower);
        assert_eq!((follower.total_ns, follower.local_ns), (Some(17), None));
        assert_eq!(look.threads.handler_idle_ns, Some(19));
        assert_eq!(look.threads.network_idle_ns, None);
        assert_eq!(look.replicas.leaders, Some(4));
    }

    #[test]
    fn a_cluster_that_is_gone_is_said() {
        let mut nodes = EmbeddedNodes::new(SharedTarget::none());
        assert_eq!(nodes.sample().unwrap_err(), "there is no cluster");
        assert!(nodes.missing().is_empty());
    }
}
