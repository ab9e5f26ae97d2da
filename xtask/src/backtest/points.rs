//! The clusters of the back-test: which are fitted, and which are predicted.

use std::time::Duration;

use kgauge_analyze::sizing::{GivenCluster, MachineType, SizingNeed};

use crate::kafka::RELEASE;

/// The goal of searches on Apache Kafka: longer than the periods of a CPU limit, in which brokers stand still.
const KAFKA_P99_MS: f64 = 250.0;
/// The goal of searches on the embedded cluster.
const EMBEDDED_P99_MS: f64 = 100.0;

/// The software of a point. Each is fitted and predicted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PointTarget {
    /// Apache Kafka with a limit on each broker's CPU
    Kafka,
    /// The embedded cluster with a limit on the bytes that each node takes
    Embedded,
}

/// One cluster with one kind of records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BacktestPoint {
    pub(super) target: PointTarget,
    pub(super) brokers: u32,
    pub(super) replication: u32,
    pub(super) partitions: u32,
    pub(super) record_bytes: u32,
    /// Thousandths of a core of each broker, of Apache Kafka.
    milli_cores: u32,
    /// Memory of each broker in GiB, of Apache Kafka.
    memory_gib: u32,
    /// Bytes per second that each node takes, in 10⁶, of the embedded cluster.
    cap_mb_per_s: u32,
    /// Whether its trials are fitted; otherwise its capacity is predicted.
    pub(super) is_fitted: bool,
}

/// Every point: 33 of Apache Kafka and 12 of the embedded cluster, of which a third is fitted.
pub(super) fn points() -> Vec<BacktestPoint> {
    const SIZES: [u32; 3] = [100, 1_000, 10_000];
    let mut points = Vec::new();
    // Brokers, replicas, and limits of CPU; three brokers and the load share two processors. With less than a third of
    // a core, Java's compilers are not done within a warm-up.
    let clusters: [(u32, u32, &[u32]); 5] = [
        (1, 1, &[350, 600, 1_000]),
        (3, 1, &[350, 500]),
        (3, 2, &[350, 500]),
        (3, 3, &[350, 500]),
        (2, 2, &[350, 700]),
    ];
    for (row, (brokers, replication, limits)) in clusters.into_iter().enumerate() {
        for (column, milli_cores) in limits.iter().enumerate() {
            for (place, record_bytes) in SIZES.into_iter().enumerate() {
                points.push(BacktestPoint {
                    target: PointTarget::Kafka,
                    brokers,
                    replication,
                    partitions: 6,
                    record_bytes,
                    milli_cores: *milli_cores,
                    memory_gib: 1 + (row + column + place) as u32 % 2,
                    cap_mb_per_s: 0,
                    // Each size, limit, number of replicas and of brokers is fitted somewhere.
                    is_fitted: (row + column) % 3 == place,
                });
            }
        }
    }
    for (row, brokers) in [1, 3].into_iter().enumerate() {
        for (column, cap_mb_per_s) in [3, 10].into_iter().enumerate() {
            for (place, record_bytes) in SIZES.into_iter().enumerate() {
                points.push(BacktestPoint {
                    target: PointTarget::Embedded,
                    brokers,
                    replication: 1,
                    // Four partitions on three nodes are uneven.
                    partitions: if cap_mb_per_s == 10 { 4 } else { 6 },
                    record_bytes,
                    milli_cores: 0,
                    memory_gib: 0,
                    cap_mb_per_s,
                    is_fitted: (2 * row + column) % 3 == place,
                });
            }
        }
    }
    points
}

impl BacktestPoint {
    /// The name of its run folder: letters, digits, hyphens.
    pub(super) fn name(&self) -> String {
        let (brokers, replicas) = (self.brokers, self.replication);
        let size = self.record_bytes;
        match self.target {
            PointTarget::Kafka => format!(
                "kafka-{brokers}x{}m-{}g-r{replicas}-{size}b",
                self.milli_cores, self.memory_gib
            ),
            PointTarget::Embedded => {
                format!("embedded-{brokers}x{}mb-{size}b", self.cap_mb_per_s)
            }
        }
    }

    /// How long its search may take: what is left of a session must be as long.
    pub(super) fn time(&self) -> Duration {
        Duration::from_secs(match self.target {
            PointTarget::Kafka => 900,
            PointTarget::Embedded => 420,
        })
    }

    /// The target, as `kgauge capacity` takes it.
    pub(super) fn target_text(&self) -> String {
        match self.target {
            PointTarget::Kafka => format!(
                "kafka:{RELEASE},brokers={},cpu={},memory={}G,heap=512M",
                self.brokers,
                f64::from(self.milli_cores) / 1e3,
                self.memory_gib
            ),
            PointTarget::Embedded => format!("embedded:{}", self.brokers),
        }
    }

    /// The scenario of the search, as YAML.
    pub(super) fn scenario(&self) -> String {
        let (p99, durations) = match self.target {
            PointTarget::Kafka => (KAFKA_P99_MS, "window: 5 s, duration: 30 s, width: 4 %"),
            PointTarget::Embedded => (EMBEDDED_P99_MS, "window: 2 s, duration: 12 s, width: 4 %"),
        };
        let mut text = format!(
            "kgauge: 1\nname: backtest\nquestion: What does the cluster take?\n\
             target: {{brokers: {}}}\ntopic: {{partitions: {}, replication: {}}}\nflows:\n\
             \x20 - {{name: writers, kind: produce, shape: max, producers: 2, record: {{size: {} B}}, \
             settings: {{acks: all, linger.ms: 5}}}}\nstages: {{warm-up: 5 s}}\n\
             search: {{goals: [p99 <= {p99} ms], {durations}}}\n",
            self.brokers, self.partitions, self.replication, self.record_bytes
        );
        if self.target == PointTarget::Embedded {
            text.push_str("faults:\n");
            for node in 1..=self.brokers {
                text.push_str(&format!(
                    "  - {{at: start, node: {node}, api: produce, capacity: {} MB/s}}\n",
                    self.cap_mb_per_s
                ));
            }
        }
        text
    }

    /// What it must be able to do, apart from the rate.
    pub(super) fn need(&self) -> SizingNeed {
        SizingNeed {
            rate_bytes_per_s: 1.0,
            record_bytes: f64::from(self.record_bytes),
            peak: 1.0,
            retention_s: 0.0,
            fan_out: 0.0,
            replication: self.replication,
            lose: 0,
            tls: false,
            compression: None,
            recompressed: false,
            // The limit of the embedded nodes is no matter of their CPU, and so no point of its curve.
            latency_ns_p99: (self.target == PointTarget::Kafka).then_some(KAFKA_P99_MS * 1e6),
            outage_s: 0.0,
            catch_up_s: 1.0,
            zones: 1,
            controllers: 0,
        }
    }

    /// What is known of the cluster before anything is measured on it. Memory limits no rate.
    pub(super) fn cluster(&self) -> GivenCluster {
        let is_kafka = self.target == PointTarget::Kafka;
        GivenCluster {
            machine: MachineType {
                name: self.name(),
                vcpus: match is_kafka {
                    true => f64::from(self.milli_cores) / 1e3,
                    false => 1.0,
                },
                memory_bytes: f64::INFINITY,
                network_bytes_per_s: None,
                disk_bytes_per_s: (!is_kafka).then(|| f64::from(self.cap_mb_per_s) * 1e6),
                disk_bytes: None,
                price_per_hour: None,
                disk_price_per_gb_month: None,
                zone_price_per_gb: None,
            },
            brokers: self.brokers,
            partitions: self.partitions,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_third_is_fitted_and_every_level_of_it() {
        for (target, all) in [(PointTarget::Kafka, 33), (PointTarget::Embedded, 12)] {
            let points: Vec<BacktestPoint> = points()
                .into_iter()
                .filter(|point| point.target == target)
                .collect();
            assert_eq!(points.len(), all);
            let fitted = || points.iter().filter(|point| point.is_fitted);
            assert_eq!(fitted().count(), all / 3);
            let levels = |of: fn(&BacktestPoint) -> u32| {
                let all: BTreeSet<u32> = points.iter().map(of).collect();
                let some: BTreeSet<u32> = fitted().map(of).collect();
                assert_eq!(some, all, "{target:?}");
            };
            levels(|point| point.record_bytes);
            levels(|point| point.brokers);
            levels(|point| point.replication);
            levels(|point| point.milli_cores);
            levels(|point| point.cap_mb_per_s);
        }
        let names: BTreeSet<String> = points().iter().map(BacktestPoint::name).collect();
        assert_eq!(names.len(), 45);
    }

    #[test]
    fn scenarios_are_read() {
        for point in points() {
            let scenario = kgauge_scenario::Scenario::parse("backtest", &point.scenario());
            assert!(scenario.is_ok(), "{:?}", scenario.err());
        }
    }
}
