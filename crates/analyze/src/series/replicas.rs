//! The run's topic over time, as brokers report it over the wire: end offsets, replicas, leaders and groups.

use std::collections::BTreeMap;

use super::samples_by_thing::SamplesByThing;
use kgauge_results::folder::RunRead;
use kgauge_results::run::{
    Evidence, EvidenceKind, MissingEvidence, PartitionChange, RepeatKey, ReplicaChanges, Subject,
};
use kgauge_results::run::{GroupSample, TopicReplicasSample, TopicSample};
use kgauge_results::stage::{SECOND_NS, Stage};

/// What brokers reported during one repeat; empty if the run did not poll them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireSeries {
    /// The run's topic at each look.
    pub topic: Vec<TopicPoint>,
    /// Its replicas, broker by broker.
    pub brokers: Vec<BrokerReplicas>,
    /// Partitions that changed, in order.
    pub changes: Vec<ChangePoint>,
    /// Consumer groups.
    pub groups: Vec<GroupSeries>,
    /// What could not be seen, each once.
    pub not_seen: Vec<MissingEvidence>,
}

/// The topic at one look.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicPoint {
    /// When, in nanoseconds since the start of the repeat.
    pub at_ns: u64,
    /// What it was.
    pub topic: TopicSample,
}

/// The replicas on one broker over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrokerReplicas {
    /// Its id.
    pub broker: i32,
    /// At each look.
    pub looks: Vec<ReplicasPoint>,
    /// Growth of its logs between two samples; none if they shrank, as when segments are deleted.
    pub growth: Vec<GrowthPoint>,
}

/// The replicas on one broker at one look.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicasPoint {
    /// When, in nanoseconds since the start of the repeat.
    pub at_ns: u64,
    /// What they were.
    pub replicas: TopicReplicasSample,
}

/// How much longer a broker's logs got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// A partition that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePoint {
    /// When it was seen.
    pub at_ns: u64,
    /// What changed.
    pub change: PartitionChange,
}

/// A consumer group over time.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSeries {
    /// Its id.
    pub group: String,
    /// When, in nanoseconds since the start of the repeat, and how far what it had committed was behind, in records.
    /// Without samples in which the end of a partition was unknown: they would miss the lag there.
    pub lag_records: Vec<(u64, u64)>,
}

/// What brokers reported in the hold of one repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WireHold {
    /// The number of samples in it.
    pub looks: u32,
    /// The most that one follower was behind its leader, in records; `None` where that was not seen.
    pub lag_records_max: Option<u64>,
    /// Mean lag of all followers together, over the samples in which each one's lag is known.
    pub lag_records_mean: Option<f64>,
    /// Whether follower lag kept growing: see [`lag_grows`]. `None` with too few samples.
    pub lag_grows: Option<bool>,
    /// The most partitions that had too few replicas in sync at one look.
    pub under_replicated_max: u32,
    /// The share of samples with any, 0 to 1.
    pub under_replicated_part: f64,
    /// The most partitions that nobody led at one look.
    pub leaderless_max: u32,
    /// What changed.
    pub changes: ReplicaChanges,
}

pub(super) fn series_of(evidence: &[&Evidence]) -> WireSeries {
    let mut wire = WireSeries::default();
    let mut brokers = BTreeMap::<i32, Vec<ReplicasPoint>>::new();
    let mut groups = BTreeMap::<&String, Vec<(u64, u64)>>::new();
    for seen in evidence {
        let Some(at_ns) = seen.at_ns else { continue };
        match (&seen.kind, &seen.subject) {
            (EvidenceKind::Topic(topic), _) => wire.topic.push(TopicPoint {
                at_ns,
                topic: topic.clone(),
            }),
            (EvidenceKind::Replicas(replicas), Subject::Cluster { broker: Some(id) }) => {
                brokers.entry(*id).or_default().push(ReplicasPoint {
                    at_ns,
                    replicas: replicas.clone(),
                });
            }
            (EvidenceKind::Partition(change), _) => wire.changes.push(ChangePoint {
                at_ns,
                change: change.clone(),
            }),
            (
                EvidenceKind::Group(GroupSample {
                    group,
                    lag_records,
                    lag_unknown,
                    ..
                }),
                _,
            ) => {
                let looks = groups.entry(group).or_default();
                if *lag_unknown == 0 {
                    looks.push((at_ns, *lag_records));
                }
            }
            (EvidenceKind::NotSeen(what), Subject::Cluster { .. })
                if !wire.not_seen.contains(what) =>
            {
                wire.not_seen.push(what.clone());
            }
            _ => {}
        }
    }
    wire.topic.sort_by_key(|point| point.at_ns);
    wire.changes.sort_by_key(|point| point.at_ns);
    wire.brokers = brokers
        .into_iter()
        .map(|(broker, looks)| broker_series(broker, looks))
        .collect();
    wire.groups = groups
        .into_iter()
        .map(|(group, mut lag_records)| {
            lag_records.sort_unstable();
            let group = group.clone();
            GroupSeries { group, lag_records }
        })
        .collect();
    wire
}

fn broker_series(broker: i32, mut looks: Vec<ReplicasPoint>) -> BrokerReplicas {
    looks.sort_by_key(|point| point.at_ns);
    let mut bytes = SamplesByThing::new();
    for point in &looks {
        if let Some(log_bytes) = point.replicas.log_bytes {
            bytes.add((), point.at_ns, log_bytes);
        }
    }
    let growth = bytes.between(|span, one, next| {
        Some(GrowthPoint {
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            bytes_per_s: span.per_s(*one, *next)?,
        })
    });
    BrokerReplicas {
        broker,
        growth: growth.flat_map(|(_, points)| points).collect(),
        looks,
    }
}

/// What brokers reported in the hold of a repeat; `None` if they were not polled or there was no hold.
pub fn wire_hold(run: &RunRead, key: RepeatKey) -> Option<WireHold> {
    let repeat = run.repeats.iter().find(|repeat| repeat.key == key)?;
    let flows = &repeat.record.as_ref()?.flows;
    let holds = flows.iter().filter_map(|flow| flow.stage(Stage::Hold));
    let (start_ns, end_ns) = holds.fold(None, |all: Option<(u64, u64)>, span| {
        let (start_ns, end_ns) = all.unwrap_or((span.start_ns, span.end_ns));
        Some((start_ns.min(span.start_ns), end_ns.max(span.end_ns)))
    })?;
    let evidence = run.evidence.iter();
    let evidence: Vec<&Evidence> = evidence.filter(|seen| seen.repeat == Some(key)).collect();
    series_of(&evidence).hold(start_ns, end_ns)
}

impl WireSeries {
    /// What brokers reported between two moments; `None` without a sample in between.
    pub fn hold(&self, start_ns: u64, end_ns: u64) -> Option<WireHold> {
        let within = start_ns..=end_ns;
        let looks = self.topic.iter();
        let looks: Vec<&TopicPoint> = looks.filter(|at| within.contains(&at.at_ns)).collect();
        if looks.is_empty() {
            return None;
        }
        let sick = looks.iter().filter(|at| at.topic.under_replicated > 0);
        let replicas = self.brokers.iter().flat_map(|broker| &broker.looks);
        let replicas = replicas.filter(|at| within.contains(&at.at_ns));
        let changes = self.changes.iter();
        let changes = changes.filter(|at| within.contains(&at.at_ns));
        let lag = self.lag(start_ns, end_ns);
        let mean = |lag: &[(u64, u64)]| {
            let sum: f64 = lag.iter().map(|(_, records)| *records as f64).sum();
            (!lag.is_empty()).then(|| sum / lag.len() as f64)
        };
        Some(WireHold {
            looks: u32::try_from(looks.len()).unwrap_or(u32::MAX),
            lag_records_max: replicas.filter_map(|at| at.replicas.lag_records_max).max(),
            lag_records_mean: mean(&lag),
            lag_grows: lag_grows(&lag, self.records_per_s(start_ns, end_ns)),
            under_replicated_max: looks
                .iter()
                .map(|at| at.topic.under_replicated)
                .max()
                .unwrap_or(0),
            under_replicated_part: sick.count() as f64 / looks.len() as f64,
            leaderless_max: looks
                .iter()
                .map(|at| at.topic.leaderless)
                .max()
                .unwrap_or(0),
            changes: changes
                .map(|at| at.change.counted())
                .fold(ReplicaChanges::default(), ReplicaChanges::plus),
        })
    }

    /// What all followers were behind: (when, records). Only at looks at which each of them is known: a broker that
    /// does not answer for a while is most likely behind, and without it the sum would fall.
    pub fn lag(&self, start_ns: u64, end_ns: u64) -> Vec<(u64, u64)> {
        let mut sums = BTreeMap::<u64, (Option<u64>, bool)>::new();
        for point in self.brokers.iter().flat_map(|broker| &broker.looks) {
            let TopicReplicasSample {
                follows,
                lag_records,
                lag_unknown,
                ..
            } = point.replicas;
            let (sum, is_whole) = sums.entry(point.at_ns).or_insert((None, true));
            if let Some(lag) = lag_records {
                *sum = Some(sum.unwrap_or_default().saturating_add(lag));
            }
            // Runs of older releases do not record `lag_unknown`: there, a follower without a lag is unknown.
            let is_silent = follows > 0 && lag_records.is_none();
            *is_whole &= lag_unknown == 0 && !is_silent;
        }
        let within = start_ns..=end_ns;
        let known = sums.into_iter().filter(|(at_ns, _)| within.contains(at_ns));
        let whole =
            known.filter_map(|(at_ns, (sum, is_whole))| Some((at_ns, sum.filter(|_| is_whole)?)));
        whole.collect()
    }

    /// Records that the topic took a second between two moments, from the ends of its leaders' logs; 0 where that is
    /// not known.
    fn records_per_s(&self, start_ns: u64, end_ns: u64) -> f64 {
        let within = start_ns..=end_ns;
        let ends = self.topic.iter().filter(|at| within.contains(&at.at_ns));
        let mut ends = ends.filter_map(|at| Some((at.at_ns, at.topic.log_end_sum?)));
        let Some(first) = ends.next() else {
            return 0.0;
        };
        let last = ends.next_back().unwrap_or(first);
        let seconds = last.0.saturating_sub(first.0).max(1) as f64 / SECOND_NS as f64;
        last.1.saturating_sub(first.1) as f64 / seconds
    }
}

/// With fewer samples of a lag, its trend is unknown.
const LOOKS_MIN: usize = 6;

/// Whether a lag grows: its mean rises from each third of the looks to the next, and in the last third it is more than
/// all that the topic takes in one second. A follower that is less behind than that keeps up. `None` of fewer than six
/// looks.
pub fn lag_grows(lag: &[(u64, u64)], records_per_s: f64) -> Option<bool> {
    if lag.len() < LOOKS_MIN {
        return None;
    }
    let third = lag.len() / 3;
    let mean = |looks: &[(u64, u64)]| {
        let sum: f64 = looks.iter().map(|(_, records)| *records as f64).sum();
        sum / looks.len().max(1) as f64
    };
    let first = mean(&lag[..third]);
    let middle = mean(&lag[third..lag.len() - third]);
    let last = mean(&lag[lag.len() - third..]);
    Some(first < middle && middle < last && last > records_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lag(records: &[u64]) -> Vec<(u64, u64)> {
        (0..).zip(records.iter().copied()).collect()
    }

    #[test]
    fn a_lag_grows_when_each_third_is_higher_and_the_last_is_worth_a_second() {
        // Thirds: 15, 35, 55.
        let rising = lag(&[10, 20, 30, 40, 50, 60]);
        assert_eq!(lag_grows(&rising, 50.0), Some(true));
        assert_eq!(lag_grows(&rising, 60.0), Some(false));
        let falling = lag(&[60, 50, 40, 30, 20, 10]);
        assert_eq!(lag_grows(&falling, 1.0), Some(false));
        assert_eq!(lag_grows(&lag(&[70; 9]), 1.0), Some(false));
        assert_eq!(lag_grows(&rising[..5], 1.0), None);
        assert_eq!(lag_grows(&[], 1.0), None);
    }
}
