//! The check of every record after the load: reads each partition from where the repeat began, and compares it with the
//! ledgers of the producers.

mod fetch;
mod loaded;
mod log_files;
mod polled;
mod reader;
mod replicas;
mod totals;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kgauge_client::admin::EndOf;
use kgauge_client::{Cluster, Interrupt};
use kgauge_load::{FlowContent, LedgerFolder, LedgerName, PayloadError, stamp_key};
use kgauge_results::RepeatFolder;
use kgauge_results::run::{
    Anomaly, EventKind, LedgerStart, RepeatKey, TopicFacts, UncheckedCause, UncheckedRecords,
    VerificationRecord,
};
use kgauge_scenario::{FlowPlan, TargetKind, Trial};
use kgauge_verify::{
    LedgerReader, OutcomeError, PartitionCheck, PartitionOutcomes, PartitionVerdict, ReadExtent,
    ReplicaDigest, Sighting, acked_records,
};
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::Decompressor;

use crate::error::{OrRunError, RunError};
use crate::followers::FOLLOWERS_BEHIND;
use crate::observer::{Activity, RunEvent};
use crate::prepared_topic::PreparedTopic;
use crate::recovery_wait::RecoveryWait;
use crate::session::Session;
pub(crate) use loaded::LoadedRepeat;
use loaded::{ledger_kind, open, producers, reads_committed};
use log_files::ComparedRange;
use polled::{polls, why_uncompared};
use reader::{CheckedPages, PATIENCE, PartitionEnd, PartitionRange, PartitionReader};
use replicas::compare;
use totals::VerificationTotals;

/// How long followers may take to catch up after the load.
const SETTLING_TIME_MAX: Duration = Duration::from_secs(15);

/// How often the user sees how far it is.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Makes a folder for the ledgers of a repeat; `None` if nothing is verified. `ends_before` are the ends of the topic's
/// partitions before the first record.
pub(crate) fn ledgers(
    trial: &Trial,
    folder: &RepeatFolder,
    topic: &PreparedTopic,
    ends_before: &[i64],
    started_unix_ms: u64,
) -> Result<Option<LedgerFolder>, RunError> {
    if !trial.verify {
        return Ok(None);
    }
    let start = LedgerStart {
        started_unix_ms,
        topic: topic.facts.clone(),
        is_shared: topic.earliest.is_some(),
        ends_before: ends_before.to_vec(),
    };
    Ok(Some(LedgerFolder(folder.ledgers(&start).or_unwritable()?)))
}

/// The acked records of a repeat of which nothing can be read, as far as its ledgers can be.
pub(crate) fn unchecked(
    trial: &Trial,
    ledgers: &LedgerFolder,
    cause: UncheckedCause,
) -> VerificationRecord {
    let acked_in = |(flow, member)| {
        let name = LedgerName::of_producer(flow, member);
        let ledger = open(ledgers, name).ok().flatten();
        let mut ledger = ledger.map(LedgerReader::until_damage)?;
        acked_records(&mut ledger, ledger_kind(trial, flow)).ok()
    };
    let acked: u64 = producers(trial).filter_map(acked_in).sum();
    let unchecked = UncheckedRecords {
        cause,
        records: acked,
        partitions: trial.topic.partitions,
    };
    VerificationRecord {
        acked,
        unchecked: (acked > 0).then_some(unchecked).into_iter().collect(),
        ..VerificationRecord::default()
    }
}

/// Reads and checks every partition that can be read; `None` if nothing is verified.
pub(crate) fn check(
    session: &mut Session<'_>,
    repeat: Option<&LoadedRepeat<'_>>,
) -> Result<Option<VerificationRecord>, RunError> {
    let Some(repeat) = repeat else {
        return Ok(None);
    };
    if repeat.is_target_gone() {
        let (trial, cause) = (repeat.trial, UncheckedCause::Unreadable);
        return Ok(Some(unchecked(trial, repeat.ledgers, cause)));
    }
    let began = Instant::now();
    let facts = &repeat.topic.facts;
    let contents = contents(repeat).map_err(|error| RunError::Input(error.to_string()))?;
    let _ = session.cluster.refresh(&[&facts.name]);
    let interrupt = repeat.interrupt(&session.stopping).clone();
    let ends = settled_ends(session, facts, &interrupt);
    let is_existing = session.kind == TargetKind::Existing;
    let mut totals = VerificationTotals::new(repeat, is_existing, lacks_idempotence(session));
    for plan in &repeat.trial.flows {
        if let Some(why) = why_uncompared(repeat, plan, totals.is_compacted()) {
            let flow = plan.name();
            let text = format!("{flow}: not all that its consumers read was compared: {why}");
            warn(session, repeat, text);
        }
    }
    let mut pass = ReadingPass {
        repeat,
        ends,
        contents,
        folders: session.target.broker_dirs().into_iter().collect(),
        bytes: 0,
        reported: Instant::now(),
        interrupt,
        patient_until: began + transactions_end_within(repeat),
    };
    for partition in 0..facts.partitions {
        pass.check_partition(session, partition, &mut totals);
    }
    totals.record.bytes = pass.bytes;
    totals.find_torn_transactions(repeat);
    totals.add_groups(repeat);
    totals.count_unlisted(repeat);
    totals.record.span_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(Some(totals.finish()))
}

/// The reading of all partitions, one after the other.
struct ReadingPass<'a> {
    repeat: &'a LoadedRepeat<'a>,
    ends: PartitionEnds,
    contents: Vec<Option<FlowContent>>,
    /// The data folders of brokers that kgauge started.
    folders: BTreeMap<i32, Vec<PathBuf>>,
    bytes: u64,
    /// When the user last saw how far it is.
    reported: Instant,
    interrupt: Interrupt,
    /// Until then, transactions of clients that were killed may be open.
    patient_until: Instant,
}

impl ReadingPass<'_> {
    fn check_partition(
        &mut self,
        session: &mut Session<'_>,
        partition: u32,
        totals: &mut VerificationTotals<'_>,
    ) {
        let outcomes = match outcomes(self.repeat, partition) {
            Ok(outcomes) => outcomes,
            Err(OutcomeError::TooMany { .. }) => {
                return totals.add_unchecked(UncheckedCause::TooManyGaps, 0);
            }
            Err(OutcomeError::Ledger(_)) => {
                return totals.add_unchecked(UncheckedCause::LedgerIncomplete, 0);
            }
        };
        totals.unknown_anywhere = outcomes.unknown_anywhere();
        totals.refused_anywhere = outcomes.refused_anywhere();
        // A repeat that was cut short has no other ledgers.
        if outcomes.ledgers_unclosed() > 0 && self.repeat.outcome.is_some() {
            totals.add_unchecked(UncheckedCause::LedgerIncomplete, 0);
        }
        let (readable, of_log) = self.ends.of(partition);
        let start = self.repeat.before.get(partition as usize).copied();
        let range = PartitionRange {
            partition,
            start: start
                .and_then(|start| u64::try_from(start).ok())
                .unwrap_or(0),
            end: readable.unwrap_or(0),
        };
        let is_compacted = totals.is_compacted();
        let (polls, logs) = polls(self.repeat, &range, is_compacted);
        let check = PartitionCheck::new(stamp_key(self.repeat.share), outcomes, polls);
        let mut check = check.of_compacted(is_compacted);
        let (end, digest) = match readable {
            Some(_) => self.read(session, range, &mut check, totals.record.read),
            None => (PartitionEnd::UNREAD, ReplicaDigest::default()),
        };
        let extent = ReadExtent {
            // What followers do not have so far cannot be read.
            is_complete: end.extent.is_complete && of_log == readable,
            ..end.extent
        };
        let mut verdict = check.finish(extent);
        if end.is_stuck {
            let place = Sighting::at(extent.read_end);
            verdict.add(Anomaly::StuckLastStableOffset, &place);
        }
        if !extent.is_complete {
            self.note_unread(session, (partition, of_log), extent, &mut verdict);
        }
        if logs.lacks_reads(self.repeat.outcome.is_none(), verdict.acked) {
            totals.add_unchecked(UncheckedCause::PollsIncomplete, 0);
        }
        self.compare_replicas(session, (&range, extent), &digest, totals, &mut verdict);
        totals.add(partition, &verdict);
    }

    /// Names a partition that could not be read to its end.
    fn note_unread(
        &self,
        session: &Session<'_>,
        (partition, of_log): (u32, Option<u64>),
        extent: ReadExtent,
        verdict: &mut PartitionVerdict,
    ) {
        let cause = UncheckedCause::Unreadable;
        let records = *verdict.unchecked.entry(cause).or_default();
        let read = match of_log {
            None => "it has no leader that answers".to_owned(),
            Some(end) => format!("it was read up to offset {} of {end}", extent.read_end),
        };
        if !self.interrupt.is_raised() {
            let text = format!(
                "partition {partition}: {records} acked records were not checked, because {read}"
            );
            warn(session, self.repeat, text);
        }
    }

    fn compare_replicas(
        &self,
        session: &mut Session<'_>,
        (range, extent): (&PartitionRange, ReadExtent),
        digest: &ReplicaDigest,
        totals: &mut VerificationTotals<'_>,
        verdict: &mut PartitionVerdict,
    ) {
        // What retention or compaction removes, each replica loses at another time.
        let is_kept = extent.log_start == 0 && !totals.is_compacted();
        let facts = &self.repeat.topic.facts;
        if !extent.is_complete || !is_kept || facts.replication_factor == 1 {
            return;
        }
        let range = ComparedRange {
            topic: &facts.name,
            partition: range.partition,
            start: range.start,
            end: range.end,
        };
        let cluster = &mut session.cluster;
        let compared = compare(cluster, &self.folders, &range, digest, &self.interrupt);
        totals.record.replicas_compared += compared.compared;
        for offset in compared.differing {
            verdict.add(Anomaly::DivergentReplicas, &Sighting::at(offset));
        }
    }

    fn read(
        &mut self,
        session: &mut Session<'_>,
        range: PartitionRange,
        check: &mut PartitionCheck,
        records: u64,
    ) -> (PartitionEnd, ReplicaDigest) {
        let facts = &self.repeat.topic.facts;
        let (observer, reported) = (&mut *session.observer, &mut self.reported);
        let mut reader = PartitionReader {
            cluster: &mut session.cluster,
            topic: &facts.name,
            reads_committed: reads_committed(self.repeat.trial),
            interrupt: self.interrupt.clone(),
            patient_until: self.patient_until,
            pages: CheckedPages {
                contents: &mut self.contents,
                decompressor: Decompressor::new(),
                scratch: Vec::new(),
                bytes: self.bytes,
                end: range.end,
                digest: ReplicaDigest::from(range.start),
            },
        };
        let end = reader.read(range, check, |bytes| {
            if reported.elapsed() >= REPORT_INTERVAL {
                *reported = Instant::now();
                observer.observe(&RunEvent::Activity(&Activity::Verifying {
                    partition: range.partition,
                    partitions: facts.partitions,
                    records,
                    bytes,
                }));
            }
        });
        self.bytes = reader.pages.bytes;
        (end, reader.pages.digest)
    }
}

/// The ends of all partitions; none of those whose leader does not answer.
struct PartitionEnds {
    /// The high watermarks.
    readable: BTreeMap<i32, u64>,
    /// The ends of the leaders' logs, of leaders that report them.
    of_logs: BTreeMap<i32, u64>,
}

impl PartitionEnds {
    fn find(cluster: &mut Cluster, topic: &str) -> Self {
        Self {
            readable: ends(cluster, topic, EndOf::Readable),
            of_logs: ends(cluster, topic, EndOf::Log),
        }
    }

    /// The high watermark of a partition, and the end of its leader's log.
    fn of(&self, partition: u32) -> (Option<u64>, Option<u64>) {
        let index = i32::try_from(partition).unwrap_or(i32::MAX);
        let readable = self.readable.get(&index).copied();
        let of_log = self.of_logs.get(&index).copied();
        (readable, of_log.max(readable))
    }
}

/// The ends of the partitions whose leaders answer.
fn ends(cluster: &mut Cluster, topic: &str, of: EndOf) -> BTreeMap<i32, u64> {
    let mut led: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let found = cluster.metadata().topic(topic);
    for partition in found.into_iter().flat_map(|topic| &topic.partitions) {
        if let Some(leader) = partition.leader_id {
            led.entry(leader).or_default().push(partition.index);
        }
    }
    let mut ends = BTreeMap::new();
    for (leader, partitions) in led {
        let answers = cluster.replica_ends(leader, topic, &partitions, of);
        for answer in answers.unwrap_or_default() {
            let end = answer.end.ok().and_then(|end| u64::try_from(end).ok());
            ends.extend(end.map(|end| (answer.partition, end)));
        }
    }
    ends
}

/// The ends, once followers have what the leaders have; or as they are after a while.
fn settled_ends(
    session: &mut Session<'_>,
    facts: &TopicFacts,
    interrupt: &Interrupt,
) -> PartitionEnds {
    let mut wait = RecoveryWait::begin();
    loop {
        let found = PartitionEnds::find(&mut session.cluster, &facts.name);
        let is_settled = (0..facts.partitions).all(|partition| {
            let (readable, of_log) = found.of(partition);
            readable.is_some() && readable == of_log
        });
        if is_settled || wait.elapsed() >= SETTLING_TIME_MAX || interrupt.is_raised() {
            return found;
        }
        wait.report(session, FOLLOWERS_BEHIND);
        std::thread::sleep(Duration::from_millis(100));
        let _ = session.cluster.refresh(&[&facts.name]);
    }
}

/// Coordinators abort the transactions of clients that were killed after their timeout, which they check every ten
/// seconds.
fn transactions_end_within(repeat: &LoadedRepeat<'_>) -> Duration {
    if repeat.outcome.is_some() {
        return Duration::ZERO;
    }
    let flows = repeat.trial.flows.iter().filter_map(FlowPlan::produces);
    let transactional = flows.filter(|flow| flow.transaction.is_some());
    let timeouts_ns = transactional.map(|flow| flow.settings.transaction_timeout_ns);
    timeouts_ns.max().map_or(Duration::ZERO, |longest_ns| {
        Duration::from_nanos(longest_ns).saturating_add(PATIENCE)
    })
}

/// Whether some broker has no idempotent producers.
fn lacks_idempotence(session: &mut Session<'_>) -> bool {
    let brokers = session.cluster.metadata().brokers.iter();
    let brokers: Vec<i32> = brokers.map(|broker| broker.id).collect();
    brokers.into_iter().any(|broker| {
        let versions = session.cluster.api_versions(broker);
        versions.is_ok_and(|versions| versions.range(ApiKey::InitProducerId).is_none())
    })
}

fn contents(repeat: &LoadedRepeat<'_>) -> Result<Vec<Option<FlowContent>>, PayloadError> {
    let flows = repeat.trial.flows.iter();
    flows
        .map(|flow| FlowContent::of(repeat.share, flow))
        .collect()
}

/// What all ledgers have about a partition.
fn outcomes(repeat: &LoadedRepeat<'_>, partition: u32) -> Result<PartitionOutcomes, OutcomeError> {
    let mut outcomes = PartitionOutcomes::new(partition);
    for (flow, member) in producers(repeat.trial) {
        let Some(mut ledger) = repeat.open(LedgerName::of_producer(flow, member))? else {
            outcomes.note_missing_ledger();
            continue;
        };
        outcomes.add(&mut ledger, ledger_kind(repeat.trial, flow))?;
    }
    Ok(outcomes)
}

/// Records what is not checked, and why.
fn warn(session: &Session<'_>, repeat: &LoadedRepeat<'_>, text: String) {
    let key = RepeatKey {
        trial: repeat.trial.index,
        repeat: repeat.share.repeat,
    };
    let at = repeat.outcome.map(|outcome| (key, outcome.end_ns));
    session.event(at, EventKind::Warning { text });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_ends_behind_its_high_watermark_is_not_shortened() {
        let ends = PartitionEnds {
            readable: BTreeMap::from([(0, 5), (1, 7)]),
            of_logs: BTreeMap::from([(0, 9), (2, 4)]),
        };
        assert_eq!(ends.of(0), (Some(5), Some(9)));
        assert_eq!(ends.of(1), (Some(7), Some(7)), "the end is not reported");
        assert_eq!(ends.of(3), (None, None), "no leader");
    }
}
