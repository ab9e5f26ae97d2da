//! Findings that follow from the facts about a cluster alone.

use kgauge_results::run::{BrokerCensus, ClusterCensus};

use super::{CheckupFact, CheckupFinding, CheckupSummary, push};

/// A disk that is fuller than this deserves attention; above the second it is urgent.
const DISK_FILLED: f64 = 0.70;
const DISK_NEARLY_FULL: f64 = 0.85;
/// A broker with this many times the mean number of leaders,
const SKEW_RATIO: f64 = 1.5;
/// and this many more, leads too many.
const SKEW_LEADERS_MIN: f64 = 5.0;
/// This share of partitions, and this many, are led by another broker than the preferred one.
const NOT_PREFERRED_PART: f64 = 0.10;
const NOT_PREFERRED_MIN: u32 = 10;
/// Racks matter from this number of brokers on.
const RACK_BROKERS_MIN: usize = 3;

/// Adds the findings.
pub(super) fn add(findings: &mut Vec<CheckupFinding>, summary: &CheckupSummary) {
    let census = &summary.before;
    availability(findings, summary);
    disks(findings, census);
    for deviation in &summary.deviations {
        push(
            findings,
            deviation.weight,
            CheckupFact::Setting(deviation.clone()),
        );
    }
    // With one broker there is no other choice.
    if census.single_replica > 0 && census.brokers.len() > 1 {
        let fact = CheckupFact::SingleReplica {
            partitions: census.single_replica,
            of: census.partitions,
        };
        push(findings, 65, fact);
    }
    leaders(findings, census);
    racks(findings, census);
    let mut releases: Vec<String> = census
        .brokers
        .iter()
        .filter_map(|broker| broker.release.clone())
        .collect();
    releases.sort_unstable();
    releases.dedup();
    if releases.len() > 1 {
        push(findings, 37, CheckupFact::MixedReleases { releases });
    }
}

fn availability(findings: &mut Vec<CheckupFinding>, summary: &CheckupSummary) {
    let census = &summary.before;
    if census.offline > 0 {
        let fact = CheckupFact::OfflinePartitions {
            partitions: census.offline,
            of: census.partitions,
        };
        push(findings, 100, fact);
    }
    if census.under_replicated > 0 {
        let behind = census
            .brokers
            .iter()
            .filter(|broker| broker.out_of_sync > 0);
        let fact = CheckupFact::UnderReplicated {
            partitions: census.under_replicated,
            of: census.partitions,
            brokers: behind.map(|broker| broker.id).collect(),
        };
        push(findings, 90, fact);
    }
    if !census.fenced.is_empty() {
        let brokers = census.fenced.clone();
        push(findings, 85, CheckupFact::FencedBrokers { brokers });
    }
    // What was wrong before the load has its own finding.
    if let Some(stop) = &summary.stop
        && summary.skipped.is_empty()
    {
        push(findings, 95, CheckupFact::HealthFell { stop: stop.clone() });
    }
}

fn disks(findings: &mut Vec<CheckupFinding>, census: &ClusterCensus) {
    for broker in &census.brokers {
        for dir in &broker.log_dirs {
            if let Some(error) = &dir.error {
                let fact = CheckupFact::LogDirOffline {
                    broker: broker.id,
                    path: dir.path.clone(),
                    error: error.clone(),
                };
                push(findings, 88, fact);
            }
        }
    }
    let dirs = census.brokers.iter().flat_map(|broker| {
        let dirs = broker.log_dirs.iter();
        dirs.filter_map(move |dir| Some((broker.id, &dir.path, dir.used_part()?)))
    });
    let fullest = dirs.max_by(|(.., one), (.., other)| one.total_cmp(other));
    if let Some((broker, path, used_part)) = fullest
        && used_part > DISK_FILLED
    {
        let weight = if used_part > DISK_NEARLY_FULL { 82 } else { 52 };
        let fact = CheckupFact::DiskFilled {
            broker,
            path: path.clone(),
            used_part,
        };
        push(findings, weight, fact);
    }
}

fn leaders(findings: &mut Vec<CheckupFinding>, census: &ClusterCensus) {
    let sum: u32 = census.brokers.iter().map(|broker| broker.leaders).sum();
    let mean = f64::from(sum) / census.brokers.len().max(1) as f64;
    let most = census.brokers.iter().max_by_key(|broker| broker.leaders);
    if let Some(BrokerCensus { id, leaders, .. }) = most {
        let above = f64::from(*leaders) - mean;
        if f64::from(*leaders) >= SKEW_RATIO * mean && above >= SKEW_LEADERS_MIN {
            let fact = CheckupFact::LeaderSkew {
                broker: *id,
                leaders: *leaders,
                mean,
            };
            push(findings, 54, fact);
        }
    }
    let (moved, all) = (census.not_preferred, census.partitions);
    let is_much = f64::from(moved) >= NOT_PREFERRED_PART * f64::from(all);
    if is_much && moved >= NOT_PREFERRED_MIN {
        let fact = CheckupFact::NotPreferred {
            partitions: moved,
            of: all,
        };
        push(findings, 42, fact);
    }
}

fn racks(findings: &mut Vec<CheckupFinding>, census: &ClusterCensus) {
    if census.brokers.len() < RACK_BROKERS_MIN {
        return;
    }
    let without = census.brokers.iter().filter(|broker| broker.rack.is_none());
    let without: Vec<i32> = without.map(|broker| broker.id).collect();
    let mut racks: Vec<&str> = census
        .brokers
        .iter()
        .filter_map(|broker| broker.rack.as_deref())
        .collect();
    racks.sort_unstable();
    racks.dedup();
    let brokers = u32::try_from(census.brokers.len()).unwrap_or(u32::MAX);
    match (racks.len(), without.is_empty()) {
        (0, _) | (1, true) => push(findings, 18, CheckupFact::OneRack { brokers }),
        (_, false) => push(findings, 38, CheckupFact::RacksMissing { brokers: without }),
        (_, true) => {}
    }
}
