//! The check of every record after the load: reads each partition from where the repeat began, and compares it with the
//! ledgers of the producers.

mod fetch;
mod loaded;
mod log_files;
mod reader;
mod replicas;
mod totals;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_load::{FlowContent, LedgerFolder, LedgerName, PayloadError, stamp_key};
use kgauge_results::RepeatFolder;
use kgauge_results::run::{
    Anomaly, LedgerStart, UncheckedCause, UncheckedRecords, VerificationRecord,
};
use kgauge_scenario::{FlowPlan, TargetKind, Trial};
use kgauge_verify::{
    ConsumerPolls, LedgerReader, OutcomeError, PartitionCheck, PartitionOutcomes, ReadExtent,
    ReplicaDigest, Sighting, acked_records,
};
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::Decompressor;

use crate::counts::ends;
use crate::error::{OrRunError, RunError};
use crate::followers::FOLLOWERS_BEHIND;
use crate::observer::{Activity, RunEvent};
use crate::prepared_topic::PreparedTopic;
use crate::recovery_wait::RecoveryWait;
use crate::session::Session;
pub(crate) use loaded::LoadedRepeat;
use loaded::{ledger_kind, open, producers};
use log_files::ComparedRange;
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

/// Reads and checks every partition; `None` if nothing is verified, or the target is gone.
pub(crate) fn check(
    session: &mut Session<'_>,
    repeat: Option<&LoadedRepeat<'_>>,
) -> Result<Option<VerificationRecord>, RunError> {
    let Some(repeat) = repeat.filter(|repeat| !repeat.is_target_gone()) else {
        return Ok(None);
    };
    let began = Instant::now();
    let facts = &repeat.topic.facts;
    let contents = contents(repeat).map_err(|error| RunError::Input(error.to_string()))?;
    let _ = session.cluster.refresh(&[&facts.name]);
    let interrupt = repeat.interrupt(&session.stopping).clone();
    let ends = settled_ends(session, &facts.name, &interrupt);
    let is_existing = session.kind == TargetKind::Existing;
    let mut totals = VerificationTotals::new(repeat, is_existing, lacks_idempotence(session));
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
        let offset = |of: &[i64]| {
            let offset = of.get(partition as usize)?;
            u64::try_from(*offset).ok()
        };
        let outcomes = match outcomes(self.repeat, partition) {
            Ok(outcomes) => outcomes,
            Err(OutcomeError::TooMany { .. }) => {
                return totals.add_unchecked(UncheckedCause::TooManyGaps, 0);
            }
            Err(OutcomeError::Ledger(_)) => {
                return totals.add_unchecked(UncheckedCause::LedgerIncomplete, 0);
            }
        };
        let Some(readable) = offset(&self.ends.readable) else {
            return totals.add_unchecked(UncheckedCause::Unreadable, 0);
        };
        totals.unknown_anywhere = outcomes.unknown_anywhere();
        totals.refused_anywhere = outcomes.refused_anywhere();
        // A repeat that was cut short has no other ledgers.
        if outcomes.ledgers_unclosed() > 0 && self.repeat.outcome.is_some() {
            totals.add_unchecked(UncheckedCause::LedgerIncomplete, 0);
        }
        let range = PartitionRange {
            partition,
            start: offset(self.repeat.before).unwrap_or(0),
            end: readable,
        };
        // Compaction removes what was read.
        let compared_from = (!totals.is_compacted()).then_some(range.start);
        let (polls, are_polls_whole) = polls(self.repeat, partition, compared_from);
        if !are_polls_whole && self.repeat.outcome.is_some() {
            totals.add_unchecked(UncheckedCause::PollsIncomplete, 0);
        }
        let mut check = PartitionCheck::new(stamp_key(self.repeat.share), outcomes, polls);
        let (end, digest) = self.read(session, range, &mut check, totals.record.read);
        let extent = ReadExtent {
            // What followers do not have so far cannot be read.
            is_complete: end.extent.is_complete && offset(&self.ends.of_logs) == Some(readable),
            ..end.extent
        };
        let mut verdict = check.finish(extent);
        if end.is_stuck {
            let place = Sighting::at(extent.read_end);
            verdict.add(Anomaly::StuckLastStableOffset, &place);
        }
        // What retention or compaction removes, each replica loses at another time.
        let is_kept = extent.log_start == 0 && !totals.is_compacted();
        if extent.is_complete && is_kept && self.repeat.topic.facts.replication_factor > 1 {
            let topic = &self.repeat.topic.facts.name;
            let range = ComparedRange {
                topic,
                partition,
                start: range.start,
                end: readable,
            };
            let cluster = &mut session.cluster;
            let compared = compare(cluster, &self.folders, &range, &digest, &self.interrupt);
            totals.record.replicas_compared += compared.compared;
            for offset in compared.differing {
                let place = Sighting::at(offset);
                verdict.add(Anomaly::DivergentReplicas, &place);
            }
        }
        totals.add(partition, &verdict);
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

/// The ends of all partitions.
#[derive(Default)]
struct PartitionEnds {
    /// The high watermarks.
    readable: Vec<i64>,
    /// The ends of the leaders' logs.
    of_logs: Vec<i64>,
}

/// The ends, once followers have what the leaders have; or as they are after a while.
fn settled_ends(session: &mut Session<'_>, topic: &str, interrupt: &Interrupt) -> PartitionEnds {
    let mut wait = RecoveryWait::begin();
    loop {
        let found = PartitionEnds {
            readable: session.cluster.end_offsets(topic).unwrap_or_default(),
            of_logs: ends(&mut session.cluster, topic).unwrap_or_default(),
        };
        let is_settled = !found.readable.is_empty() && found.readable == found.of_logs;
        if is_settled || wait.elapsed() >= SETTLING_TIME_MAX || interrupt.is_raised() {
            return found;
        }
        wait.report(session, FOLLOWERS_BEHIND);
        std::thread::sleep(Duration::from_millis(100));
        let _ = session.cluster.refresh(&[topic]);
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

/// Whether some flow writes in transactions.
fn reads_committed(trial: &Trial) -> bool {
    let mut flows = trial.flows.iter().filter_map(FlowPlan::produces);
    flows.any(|flow| flow.transaction.is_some())
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

/// What consumers have read of a partition, and what their groups have passed over. What they have read before the
/// first offset is not compared. Members of a group in several agents do not know of each other: what all of them have
/// passed over follows from their logs. False if a log is cut off or corrupt.
fn polls(
    repeat: &LoadedRepeat<'_>,
    partition: u32,
    compared_from: Option<u64>,
) -> (Vec<ConsumerPolls>, bool) {
    let reads_committed = reads_committed(repeat.trial);
    let (mut polls, mut before, mut are_whole) = (Vec::new(), 0, true);
    for (flow, plan) in repeat.trial.flows.iter().enumerate() {
        let (consumers, of_group, settings) = match plan {
            FlowPlan::Produce(_) => continue,
            FlowPlan::Consume(plan) => {
                let of_group = plan.group.as_ref().map_or(1, |_| plan.consumers.max(1));
                (plan.consumers_all(), of_group, &plan.settings)
            }
            FlowPlan::Echo(plan) => (plan.consumers, 1, &plan.consumer_settings),
        };
        // Others get records of aborted transactions, too.
        let is_same = settings.read_committed == reads_committed;
        let compared_from = compared_from.filter(|_| is_same);
        for first in (0..consumers).step_by(of_group as usize) {
            let mut members = Vec::new();
            for member in first..consumers.min(first + of_group) {
                let log = repeat.open(LedgerName::of_consumer(flow, member));
                let read = log.and_then(|log| {
                    let read =
                        log.map(|mut log| ConsumerPolls::read(&mut log, partition, compared_from));
                    read.transpose()
                });
                // Without a log there was nothing to note: other topics and copies are not verified.
                are_whole &= read
                    .as_ref()
                    .is_ok_and(|read| read.as_ref().is_none_or(ConsumerPolls::is_closed));
                let read = read.ok().flatten();
                members.extend(read.map(|read| read.of_group(before + member / of_group)));
            }
            let are_all = members.len() == of_group as usize;
            if are_all && of_group > 1 && repeat.agents.len() > 1 {
                ConsumerPolls::note_unread(&mut members);
            }
            polls.extend(members);
        }
        before += consumers;
    }
    (polls, are_whole)
}
