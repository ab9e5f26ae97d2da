//! Adds the findings of all partitions, and decides which of them the settings permit.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_load::LedgerName;
use kgauge_results::run::{
    Anomaly, AnomalyPlace, AnomalyRecord, LateRead, UncheckedCause, UncheckedRecords,
    VerificationRecord,
};
use kgauge_scenario::Trial;
use kgauge_verify::{
    PartitionVerdict, PromiseFacts, Sighting, is_permitted, producer_place, torn_transactions,
};

use super::loaded::{LoadedRepeat, reads_committed};
use crate::load_run::two_clocks_bound_ns;

const NS_PER_MS: u64 = 1_000_000;

/// Examples of a class and flow in the record.
const EXAMPLES_MAX: usize = 5;

/// The findings so far.
pub(super) struct VerificationTotals<'a> {
    pub(super) record: VerificationRecord,
    trial: &'a Trial,
    topic_settings: &'a BTreeMap<String, String>,
    circumstances: PromiseFacts,
    /// When each fault began, in milliseconds since 1970.
    faults: Vec<(u64, String)>,
    /// The largest error of a time between the ledgers of two agents, which follow their own clocks from the start on.
    clocks_bound_ns: u64,
    sums: PartitionVerdict,
    /// Records of other clients that may be in any partition: of unknown outcome, and not sent for certain.
    pub(super) unknown_anywhere: u64,
    pub(super) refused_anywhere: u64,
    anomalies: BTreeMap<(Anomaly, Option<usize>), FoundAnomaly>,
    unchecked: BTreeMap<UncheckedCause, UncheckedRecords>,
}

/// The anomalies of a class and flow over all partitions.
#[derive(Default)]
struct FoundAnomaly {
    count: u64,
    examples: Vec<(u32, Sighting)>,
}

impl<'a> VerificationTotals<'a> {
    pub(super) fn new(
        repeat: &LoadedRepeat<'a>,
        is_existing: bool,
        lacks_idempotence: bool,
    ) -> Self {
        let outcome = repeat.outcome;
        let end_ns = outcome.map_or(0, |outcome| outcome.end_ns);
        Self {
            record: VerificationRecord::default(),
            trial: repeat.trial,
            topic_settings: &repeat.topic.facts.settings,
            circumstances: PromiseFacts {
                // On somebody's cluster, leaders move for reasons that are not visible here.
                had_outage: is_existing || repeat.had_outage,
                is_shared: repeat.topic.earliest.is_some(),
                has_unknown_transaction: outcome.is_none_or(|outcome| outcome.broken)
                    || repeat.agents.iter().any(|agent| agent.lost.is_some()),
                lacks_idempotence,
                lacks_settings: repeat.topic.facts.settings.is_empty(),
                only_renumbered_duplicates: false,
            },
            faults: fault_times(repeat),
            clocks_bound_ns: two_clocks_bound_ns(repeat.agents, end_ns),
            sums: PartitionVerdict::default(),
            unknown_anywhere: 0,
            refused_anywhere: 0,
            anomalies: BTreeMap::new(),
            unchecked: BTreeMap::new(),
        }
    }

    /// Adds what was found in a partition.
    pub(super) fn add(&mut self, partition: u32, verdict: &PartitionVerdict) {
        self.sums.merge_counts(verdict);
        self.record.read = self.sums.read;
        for (key, tally) in &verdict.anomalies {
            let found = self.anomalies.entry(*key).or_default();
            found.count += tally.count;
            let room = EXAMPLES_MAX.saturating_sub(found.examples.len());
            let examples = tally.examples.iter().take(room);
            found.examples.extend(examples.map(|one| (partition, *one)));
        }
        for (&cause, &records) in &verdict.unchecked {
            self.add_unchecked(cause, records);
        }
        if let Some((late_ms, sighting)) = verdict.latest_read {
            let late_ns = (late_ms * NS_PER_MS).saturating_sub(self.clocks_bound_ns);
            self.note_late_read(late_ns, (partition, sighting));
        }
    }

    /// Keeps the latest read of all partitions.
    fn note_late_read(&mut self, late_ns: u64, found: (u32, Sighting)) {
        let latest = self.record.latest_read.as_ref();
        if latest.is_none_or(|latest| late_ns > latest.late_ns) {
            let flow = found.1.producer.map(|producer| producer_place(producer).0);
            let plan = flow.and_then(|flow| self.trial.flows.get(flow));
            self.record.latest_read = Some(LateRead {
                late_ns,
                flow: plan.map(|plan| plan.name().to_owned()),
                place: AnomalyPlace {
                    fault: fault_before(
                        &self.faults,
                        found.1.unix_ms.map(|ms| ms + late_ns / NS_PER_MS),
                    ),
                    ..self.place(&found)
                },
            });
        }
    }

    /// Notes records of one partition that could not be checked.
    pub(super) fn add_unchecked(&mut self, cause: UncheckedCause, records: u64) {
        let unchecked = self.unchecked.entry(cause).or_insert(UncheckedRecords {
            cause,
            records: 0,
            partitions: 0,
        });
        unchecked.records += records;
        unchecked.partitions += 1;
    }

    /// Committed offsets that went back. Records that a group passed over are in its members' logs.
    pub(super) fn add_groups(&mut self, repeat: &LoadedRepeat<'_>) {
        let flows = repeat.outcome.iter().flat_map(|outcome| &outcome.flows);
        for (flow, outcome) in flows.enumerate() {
            let back = outcome.group.map_or(0, |group| group.commits_back);
            if back > 0 {
                let key = (Anomaly::CommittedOffsetBack, Some(flow));
                self.anomalies.entry(key).or_default().count += back;
            }
        }
    }

    /// Committed transactions of which some records are lost and others are not, and those of unknown end of which only
    /// some are readable.
    pub(super) fn find_torn_transactions(&mut self, repeat: &LoadedRepeat<'_>) {
        for producer in self.sums.half_committed() {
            let (flow, _) = producer_place(producer);
            let found = self.anomalies.entry((Anomaly::TornTransaction, Some(flow)));
            found.or_default().count += 1;
        }
        let lost = &self.sums.lost_by_transaction;
        let producers: BTreeSet<u32> = lost.keys().map(|(producer, _)| *producer).collect();
        for producer in producers {
            let (flow, member) = producer_place(producer);
            let plan = repeat
                .trial
                .flows
                .get(flow)
                .and_then(|flow| flow.produces());
            if plan.is_none_or(|plan| plan.transaction.is_none()) {
                continue;
            }
            let Ok(Some(mut ledger)) = repeat.open(LedgerName::of_producer(flow, member)) else {
                continue;
            };
            if let Ok(torn @ 1..) = torn_transactions(&mut ledger, lost) {
                let found = self.anomalies.entry((Anomaly::TornTransaction, Some(flow)));
                found.or_default().count += torn;
            }
        }
    }

    /// Acked records that incomplete ledgers lack, if their number is known: acks within transactions are no promise,
    /// and other causes leave records out as well.
    pub(super) fn count_unlisted(&mut self, repeat: &LoadedRepeat<'_>) {
        let mut causes = self.unchecked.keys();
        let is_known = !reads_committed(self.trial)
            && causes.all(|cause| {
                let of_no_record = *cause == UncheckedCause::PollsIncomplete;
                of_no_record || *cause == UncheckedCause::LedgerIncomplete
            });
        let flows = repeat.outcome.iter().flat_map(|outcome| &outcome.flows);
        let acked: u64 = flows.map(|flow| flow.totals.acked).sum();
        let incomplete = self.unchecked.get_mut(&UncheckedCause::LedgerIncomplete);
        if let Some(incomplete) = incomplete.filter(|_| is_known) {
            incomplete.records = acked.saturating_sub(self.sums.acked);
        }
    }

    /// The record of the check.
    pub(super) fn finish(mut self) -> VerificationRecord {
        let duplicates = self.anomalies.iter();
        let duplicates = duplicates.filter(|((one, _), _)| *one == Anomaly::Duplicate);
        let duplicates: u64 = duplicates.map(|(_, found)| found.count).sum();
        self.circumstances.only_renumbered_duplicates =
            duplicates == self.sums.duplicates_renumbered;
        let anomalies = self.anomalies.iter();
        let anomalies = anomalies.map(|(key, found)| self.anomaly(*key, found));
        let anomalies = anomalies.collect();
        let sums = &self.sums;
        let unread = self.unknown_anywhere.saturating_sub(sums.unknown_anywhere);
        VerificationRecord {
            acked: sums.acked,
            confirmed: sums.confirmed,
            // A record that no ledger lists was sent by a producer whose ledger ends too early.
            unknown_present: sums.unknown_present + sums.unknown_anywhere + sums.unlisted,
            unknown_absent: sums.unknown_absent + unread,
            aborted: sums.refused + self.refused_anywhere,
            read: sums.read,
            anomalies,
            unchecked: self.unchecked.into_values().collect(),
            ..self.record
        }
    }

    /// Whether the topic is compacted.
    pub(super) fn is_compacted(&self) -> bool {
        let policy = self.topic_settings.get("cleanup.policy");
        policy.is_some_and(|policy| policy.contains("compact")) || self.trial.topic.is_compacted()
    }

    fn anomaly(
        &self,
        (anomaly, flow): (Anomaly, Option<usize>),
        found: &FoundAnomaly,
    ) -> AnomalyRecord {
        let plan = flow.and_then(|flow| self.trial.flows.get(flow));
        let examples = found.examples.iter().map(|one| AnomalyPlace {
            fault: fault_of(&self.faults, anomaly, one.1.unix_ms),
            ..self.place(one)
        });
        AnomalyRecord {
            anomaly,
            flow: plan.map(|plan| plan.name().to_owned()),
            is_permitted: is_permitted(
                anomaly,
                self.trial,
                self.topic_settings,
                plan,
                self.circumstances,
            ),
            count: found.count,
            examples: examples.collect(),
        }
    }
}

/// When each fault of the plan began, in milliseconds since 1970, and what it is.
fn fault_times(repeat: &LoadedRepeat<'_>) -> Vec<(u64, String)> {
    let Some(outcome) = repeat.outcome else {
        // Only an existing cluster outlives the run, and it has no faults.
        return Vec::new();
    };
    let (hold_start_ns, hold_end_ns) = (outcome.hold_start_ns, outcome.hold_end_ns);
    let mut faults = Vec::new();
    for fault in &repeat.trial.faults {
        let mut at_ns = fault.at.at_ns(hold_start_ns);
        loop {
            let unix_ms = repeat.started_unix_ms + at_ns / NS_PER_MS;
            faults.push((unix_ms, format!("{}: {}", fault.node, fault.kind)));
            let Some(every_ns) = fault.every_ns.filter(|every_ns| *every_ns > 0) else {
                break;
            };
            at_ns = at_ns.saturating_add(every_ns);
            if at_ns >= hold_end_ns {
                break;
            }
        }
    }
    faults.sort();
    faults
}

impl VerificationTotals<'_> {
    fn place(&self, (partition, sighting): &(u32, Sighting)) -> AnomalyPlace {
        let is_displaced = sighting.offset.is_some() && sighting.acked_offset != sighting.offset;
        AnomalyPlace {
            partition: *partition,
            producer: sighting.producer.map(|producer| producer_place(producer).1),
            sequence: sighting.sequence,
            records: sighting.records,
            offset: sighting.offset.or(sighting.acked_offset),
            acked_offset: sighting.acked_offset.filter(|_| is_displaced),
            acked_unix_ms: sighting.unix_ms.filter(|ms| *ms > 0),
            fault: None,
        }
    }
}

/// The fault that an anomaly follows, if its time is known: the last one before it. A record is lost after its ack: the
/// next fault can have done it.
fn fault_of(faults: &[(u64, String)], anomaly: Anomaly, unix_ms: Option<u64>) -> Option<String> {
    let acked_ms = unix_ms.filter(|ms| *ms > 0)?;
    let next = faults.iter().find(|(at_ms, _)| *at_ms >= acked_ms);
    match (anomaly, next) {
        (Anomaly::LostWrite, Some((_, what))) => Some(what.clone()),
        _ => fault_before(faults, Some(acked_ms)),
    }
}

fn fault_before(faults: &[(u64, String)], unix_ms: Option<u64>) -> Option<String> {
    let unix_ms = unix_ms?;
    let last = faults.iter().rev().find(|(at_ms, _)| *at_ms <= unix_ms);
    last.map(|(_, what)| what.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anomaly_follows_the_last_fault_before_it() {
        let faults = [(1_000, "first".to_owned()), (2_000, "second".to_owned())];
        let of = |anomaly, unix_ms| fault_of(&faults, anomaly, unix_ms);
        assert_eq!(
            of(Anomaly::Duplicate, Some(1_500)).as_deref(),
            Some("first")
        );
        assert_eq!(of(Anomaly::Duplicate, Some(900)), None);
        assert_eq!(of(Anomaly::PollSkip, None), None, "at no known time");
        let lost = Anomaly::LostWrite;
        assert_eq!(of(lost, Some(1_500)).as_deref(), Some("second"));
        assert_eq!(of(lost, Some(3_000)).as_deref(), Some("second"));
    }
}
