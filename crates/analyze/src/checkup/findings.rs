//! The findings of a checkup, ranked.

use super::{CheckupFinding, CheckupSummary, facts, load};
use crate::summary::{CapacitySummary, TrialSummary};

/// All findings, the gravest first. Equal weights keep the order in which they are found, so that the same folder gives
/// the same list.
pub(super) fn ranked(
    summary: &CheckupSummary,
    capacity: Option<&CapacitySummary>,
    trials: &[TrialSummary],
) -> Vec<CheckupFinding> {
    let mut findings = Vec::new();
    facts::add(&mut findings, summary);
    load::add(&mut findings, summary, capacity, trials);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    findings
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::{
        AppliedQuota, BrokerCensus, CheckupLimits, ClusterCensus, HealthStop, LogDirCensus,
        QuotaLevel, RateLimit,
    };

    use super::super::{CheckupFact, CheckupPoint, ReadPoint};
    use super::*;

    const MS: f64 = 1e6;

    /// A checkup of three healthy brokers that measured nothing.
    fn checkup() -> CheckupSummary {
        let broker = |id: i32| BrokerCensus {
            id,
            rack: Some(format!("rack-{id}")),
            release: Some("4.3".to_owned()),
            leaders: 20,
            ..BrokerCensus::default()
        };
        CheckupSummary {
            goal: "p99 <= 20 ms".to_owned(),
            limits: CheckupLimits {
                budget_s: 900,
                load_s: 900,
                topics_max: 1,
                record_bytes: 1_000,
                partitions: 6,
                replication: 3,
                rate_max: 1e5,
                rate_limit: RateLimit::Disk,
                written_bytes_max: 1,
                disk_bytes_max: 1,
            },
            before: ClusterCensus {
                brokers: vec![broker(1), broker(2), broker(3)],
                partitions: 60,
                ..ClusterCensus::default()
            },
            after: None,
            idle: None,
            end_to_end: Vec::new(),
            acks: Vec::new(),
            replication: Vec::new(),
            tail: None,
            from_start: None,
            from_disk: None,
            brokers: Vec::new(),
            deviations: Vec::new(),
            skipped: Vec::new(),
            limited_loads: Vec::new(),
            stop: None,
            findings: Vec::new(),
        }
    }

    fn facts(summary: &CheckupSummary) -> Vec<CheckupFact> {
        let findings = ranked(summary, None, &[]).into_iter();
        findings.map(|finding| finding.fact).collect()
    }

    fn point(value: &str, rate: f64, p99_ms: f64) -> CheckupPoint {
        CheckupPoint {
            value: value.to_owned(),
            share: None,
            planned_per_s: Some(rate),
            records_per_s: rate,
            kept_rate: true,
            p50_ns: Some(p99_ms * MS / 2.0),
            p99_ns: Some(p99_ms * MS),
        }
    }

    #[test]
    fn a_healthy_cluster_has_no_finding() {
        assert_eq!(facts(&checkup()), []);
    }

    #[test]
    fn lost_availability_comes_before_everything_else() {
        let mut summary = checkup();
        let census = &mut summary.before;
        census.single_replica = 4;
        census.under_replicated = 3;
        census.brokers[1].out_of_sync = 3;
        census.offline = 1;
        census.brokers[0].log_dirs.push(LogDirCensus {
            path: "/data".to_owned(),
            total_bytes: Some(100),
            usable_bytes: Some(20),
            ..LogDirCensus::default()
        });
        let facts = facts(&summary);
        let [offline, behind, single, disk] = facts.as_slice() else {
            panic!("{facts:#?}");
        };
        assert!(matches!(
            offline,
            CheckupFact::OfflinePartitions {
                partitions: 1,
                of: 60
            }
        ));
        let CheckupFact::UnderReplicated { brokers, .. } = behind else {
            panic!("{behind:?}");
        };
        assert_eq!(brokers, &[2]);
        assert!(matches!(
            single,
            CheckupFact::SingleReplica { partitions: 4, .. }
        ));
        // 80 % full is above 70 % and below 85 %.
        assert!(matches!(disk, CheckupFact::DiskFilled { broker: 1, .. }));
    }

    #[test]
    fn uneven_leaders_and_racks_are_found() {
        let mut summary = checkup();
        let census = &mut summary.before;
        // 32 of 60 are 1.6 times the mean of 20, and 12 more.
        for (broker, leaders) in census.brokers.iter_mut().zip([32, 14, 14]) {
            broker.leaders = leaders;
        }
        census.not_preferred = 12;
        census.brokers[2].rack = None;
        let facts = facts(&summary);
        let [skew, moved, racks] = facts.as_slice() else {
            panic!("{facts:#?}");
        };
        assert!(matches!(
            skew,
            CheckupFact::LeaderSkew {
                broker: 1,
                leaders: 32,
                ..
            }
        ));
        assert!(matches!(
            moved,
            CheckupFact::NotPreferred {
                partitions: 12,
                of: 60
            }
        ));
        assert_eq!(racks, &CheckupFact::RacksMissing { brokers: vec![3] });
    }

    #[test]
    fn costs_need_a_ratio_and_a_difference() {
        let mut summary = checkup();
        // Twice as long, but half a millisecond is nothing.
        summary.acks = vec![point("1", 1e4, 0.5), point("all", 1e4, 1.0)];
        summary.replication = vec![point("1", 1e4, 4.0), point("3", 1e4, 5.0)];
        assert_eq!(facts(&summary), []);
        summary.acks[1] = point("all", 1e4, 4.0);
        summary.replication[1] = point("3", 1e4, 6.0);
        let facts = facts(&summary);
        let [replication, acks] = facts.as_slice() else {
            panic!("{facts:#?}");
        };
        assert!(matches!(replication, CheckupFact::ReplicationCost { .. }));
        assert!(matches!(acks, CheckupFact::AcksCost { .. }));
    }

    #[test]
    fn steep_latency_and_slow_consumers_are_found() {
        let mut summary = checkup();
        let at = |share: f64, p99: f64| CheckupPoint {
            share: Some(share),
            ..point("", share * 1e5, p99)
        };
        summary.end_to_end = vec![at(0.1, 2.0), at(0.5, 4.0), at(0.75, 9.0), at(0.9, 20.0)];
        let reads = |read_per_s: f64| ReadPoint {
            read_per_s,
            bytes_per_s: 1e3 * read_per_s,
            written_per_s: Some(5e4),
            lag_max: None,
        };
        summary.tail = Some(reads(4e4));
        let found = facts(&summary);
        let [behind, steep] = found.as_slice() else {
            panic!("{found:#?}");
        };
        assert!(matches!(behind, CheckupFact::ConsumersBehind { .. }));
        assert!(matches!(steep, CheckupFact::SteepLatency { .. }));
        summary.tail = Some(reads(4.9e4));
        summary.end_to_end[3] = at(0.9, 19.0);
        assert_eq!(facts(&summary), []);
        // Without the load at half of the capacity there is nothing to compare with.
        summary.end_to_end = vec![at(0.1, 1.0), at(0.75, 9.0), at(0.9, 90.0)];
        assert_eq!(facts(&summary), []);
    }

    #[test]
    fn a_quota_that_decides_the_rate_matters_more() {
        let mut summary = checkup();
        summary.before.quotas.push(AppliedQuota {
            key: "producer_byte_rate".to_owned(),
            value: 1e6,
            level: QuotaLevel::DefaultClient,
        });
        assert_eq!(ranked(&summary, None, &[])[0].weight, 32);
        summary.limits.rate_limit = RateLimit::Quota;
        assert_eq!(ranked(&summary, None, &[])[0].weight, 74);
        // One that is far away limits nothing.
        summary.before.quotas.push(AppliedQuota {
            key: "consumer_byte_rate".to_owned(),
            value: 9e9,
            level: QuotaLevel::DefaultClient,
        });
        let weights: Vec<u32> = ranked(&summary, None, &[])
            .iter()
            .map(|one| one.weight)
            .collect();
        assert_eq!(weights, [74, 32]);
    }

    #[test]
    fn health_that_fell_is_not_what_was_wrong_before() {
        let mut summary = checkup();
        let stop = HealthStop::UnderReplicated {
            partitions: 3,
            before: 0,
        };
        summary.stop = Some(stop.clone());
        assert_eq!(facts(&summary), [CheckupFact::HealthFell { stop }]);
    }
}
