//! How what was written was shared out among brokers, and whether one had much more than its part.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_scenario::Trial;

use super::hold::MeasuredRepeats;
use crate::summary::TrialSummary;
use crate::summary::load::{BrokerShare, BrokerShares, BrokerSkew};
use kgauge_results::run::RepeatRecord;

/// A broker with at least this many times the even share has too much.
const SKEW: f64 = 1.6;
/// Fewer records are no load.
const RECORDS_MIN: u64 = 1_000;

/// The shares of each repeat. Leaders are those at the end of the repeat, so trials that take nodes down have no
/// shares.
pub(super) fn shares(trial: Option<&Trial>, measured: &MeasuredRepeats<'_>) -> Vec<BrokerShares> {
    let faults = trial.iter().flat_map(|trial| &trial.faults);
    if faults.into_iter().any(|fault| fault.kind.takes_down()) {
        return Vec::new();
    }
    let records = measured
        .repeats
        .iter()
        .filter_map(|one| one.record.as_ref());
    let of_repeat = |record: &RepeatRecord| {
        let brokers = of_brokers(record, brokers(record))?;
        Some(BrokerShares {
            repeat: record.key.repeat,
            brokers,
        })
    };
    records.filter_map(of_repeat).collect()
}

/// The ids of all brokers that the trial's cluster had.
fn brokers(record: &RepeatRecord) -> BTreeSet<i32> {
    let leaders = record.topics.iter().flat_map(|topic| &topic.partitions);
    let leaders = leaders.filter_map(|one| one.leader);
    leaders.chain(record.brokers.iter().copied()).collect()
}

fn of_brokers(record: &RepeatRecord, brokers: BTreeSet<i32>) -> Option<Vec<BrokerShare>> {
    let mut led: BTreeMap<i32, (u32, u64)> =
        brokers.into_iter().map(|broker| (broker, (0, 0))).collect();
    for partition in record.topics.iter().flat_map(|topic| &topic.partitions) {
        let written = partition.end_after?.checked_sub(partition.end_before?)?;
        let of_leader = led.entry(partition.leader?).or_default();
        of_leader.0 += 1;
        of_leader.1 += u64::try_from(written).ok()?;
    }
    let all: u64 = led.values().map(|(_, records)| records).sum();
    if all == 0 {
        return None;
    }
    let share = |(broker, (partitions, records)): (i32, (u32, u64))| BrokerShare {
        broker,
        partitions,
        records,
        part: records as f64 / all as f64,
    };
    let mut shares: Vec<BrokerShare> = led.into_iter().map(share).collect();
    shares.sort_by(|a, b| b.records.cmp(&a.records).then(a.broker.cmp(&b.broker)));
    Some(shares)
}

/// A broker that had much more than its part, of the repeat in which it was most.
pub(super) fn skew(trial: &TrialSummary) -> Option<BrokerSkew> {
    let worst = trial
        .broker_shares
        .iter()
        .filter(|shares| shares.brokers.len() > 1)
        .max_by(|a, b| busiest(a).total_cmp(&busiest(b)))?;
    let busy = worst.brokers.first()?;
    let count = worst.brokers.len();
    let even = 1.0 / count as f64;
    let all: u64 = worst.brokers.iter().map(|one| one.records).sum();
    if busy.part < SKEW * even || all < RECORDS_MIN {
        return None;
    }
    let idle = worst.brokers.iter().filter(|one| one.records == 0);
    Some(BrokerSkew {
        broker: busy.broker,
        part: busy.part,
        brokers: count as u32,
        idle: idle.count() as u32,
        partitions: trial.topic.map(|topic| topic.partitions),
        replication: trial.topic.map(|topic| topic.replication_factor),
    })
}

fn busiest(shares: &BrokerShares) -> f64 {
    shares.brokers.first().map_or(0.0, |broker| broker.part)
}
