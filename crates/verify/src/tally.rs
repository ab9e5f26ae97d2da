//! What the check of a partition found, counted, with a few examples of each class.

use std::collections::BTreeMap;

use kgauge_results::run::{Anomaly, UncheckedCause};

use crate::outcomes::producer_place;
use crate::stamp::Stamp;

/// Examples of a class and flow that are kept.
const EXAMPLES_MAX: usize = 5;

/// Transactions with lost records that are kept.
const TRANSACTIONS_MAX: usize = 100_000;

/// One or more adjacent records of an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// Their producer, if they are kgauge's.
    pub producer: Option<u32>,
    /// The sequence of the first.
    pub sequence: Option<u64>,
    /// How many.
    pub records: u64,
    /// Where the first was read.
    pub offset: Option<u64>,
    /// The offset that its ack named.
    pub acked_offset: Option<u64>,
    /// When it got its outcome, in milliseconds since 1970.
    pub unix_ms: Option<u64>,
}

impl Sighting {
    /// A record at an offset about which nothing else is known.
    pub fn at(offset: u64) -> Self {
        Self {
            producer: None,
            sequence: None,
            records: 1,
            offset: Some(offset),
            acked_offset: None,
            unix_ms: None,
        }
    }

    pub(crate) fn of(stamp: &Stamp, offset: u64) -> Self {
        Self {
            producer: Some(stamp.producer),
            sequence: Some(stamp.sequence),
            ..Self::at(offset)
        }
    }
}

/// The anomalies of one class and flow.
#[derive(Debug, Default)]
pub struct AnomalyTally {
    /// Affected records.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Sighting>,
}

/// What the check of a partition found.
#[derive(Debug, Default)]
pub struct PartitionVerdict {
    /// Readable records.
    pub read: u64,
    /// Acked records.
    pub acked: u64,
    /// Acked records that were read.
    pub confirmed: u64,
    /// Records of unknown outcome that were read.
    pub unknown_present: u64,
    /// Records of unknown outcome that were not.
    pub unknown_absent: u64,
    /// Records of unknown outcome and partition that were read.
    pub unknown_anywhere: u64,
    /// Records of failed sends and aborted transactions.
    pub refused: u64,
    /// Records of this repeat that no ledger lists.
    pub unlisted: u64,
    /// Duplicates of batches that were sent again with a new producer id, which idempotence does not prevent.
    pub duplicates_renumbered: u64,
    /// By class and flow.
    pub anomalies: BTreeMap<(Anomaly, Option<usize>), AnomalyTally>,
    /// Acked records that could not be checked.
    pub unchecked: BTreeMap<UncheckedCause, u64>,
    /// Lost records by producer and transaction.
    pub lost_by_transaction: BTreeMap<(u32, u32), u64>,
    /// Readable and missing records of transactions whose commit got no answer or was refused, by producer and
    /// transaction.
    undecided: BTreeMap<(u32, u32), (u64, u64)>,
    /// The record that consumers got the longest time after its ack, and that time in milliseconds, at least.
    pub latest_read: Option<(u64, Sighting)>,
}

impl PartitionVerdict {
    /// Adds what another partition's check found, up to the kept examples.
    pub fn merge_counts(&mut self, other: &PartitionVerdict) {
        self.read += other.read;
        self.acked += other.acked;
        self.confirmed += other.confirmed;
        self.unknown_present += other.unknown_present;
        self.unknown_absent += other.unknown_absent;
        self.unknown_anywhere += other.unknown_anywhere;
        self.refused += other.refused;
        self.unlisted += other.unlisted;
        self.duplicates_renumbered += other.duplicates_renumbered;
        for (&(producer, transaction), &records) in &other.lost_by_transaction {
            self.note_lost_in(producer, transaction, records);
        }
        for (&(producer, transaction), &counts) in &other.undecided {
            self.note_undecided(producer, transaction, counts);
        }
    }

    /// Adds records of a class. Adjacent ones are one example.
    pub fn add(&mut self, anomaly: Anomaly, sighting: &Sighting) {
        let flow = sighting.producer.map(|producer| producer_place(producer).0);
        let tally = self.anomalies.entry((anomaly, flow)).or_default();
        tally.count += sighting.records;
        let follows = |last: &&mut Sighting| {
            let after = |first: Option<u64>| first.map(|first| first + last.records);
            last.producer == sighting.producer
                && after(last.sequence) == sighting.sequence
                && after(last.offset) == sighting.offset
                && after(last.acked_offset) == sighting.acked_offset
        };
        if let Some(last) = tally.examples.last_mut().filter(|last| follows(last)) {
            last.records += sighting.records;
        } else if tally.examples.len() < EXAMPLES_MAX {
            tally.examples.push(*sighting);
        }
    }

    /// Consumers went back this often.
    pub(crate) fn add_back(&mut self, times: u64) {
        if times > 0 {
            let tally = self.anomalies.entry((Anomaly::NonmonotonicPoll, None));
            tally.or_default().count += times;
        }
    }

    /// Consumers got a record this long after its ack.
    #[inline]
    pub(crate) fn note_late_read(&mut self, late_ms: u64, sighting: impl FnOnce() -> Sighting) {
        let latest = self.latest_read.as_ref();
        if latest.is_none_or(|(latest_ms, _)| late_ms > *latest_ms) {
            self.latest_read = Some((late_ms, sighting()));
        }
    }

    /// A record that was read elsewhere before is at its acked offset, too.
    pub(crate) fn withdraw_displaced(&mut self, sighting: &Sighting) {
        let flow = sighting.producer.map(|producer| producer_place(producer).0);
        let key = (Anomaly::InconsistentOffsets, flow);
        let Some(tally) = self.anomalies.get_mut(&key) else {
            return;
        };
        tally.count = tally.count.saturating_sub(1);
        if tally.count == 0 {
            self.anomalies.remove(&key);
            return;
        }
        let covers = |one: &Sighting| {
            let first = one.sequence.unwrap_or(0);
            let sequences = first..first + one.records;
            one.producer == sighting.producer
                && sighting
                    .sequence
                    .is_some_and(|own| sequences.contains(&own))
        };
        tally.examples.retain(|one| !covers(one));
    }

    pub(crate) fn add_unchecked(&mut self, cause: UncheckedCause, records: u64) {
        if records > 0 {
            *self.unchecked.entry(cause).or_default() += records;
        }
    }

    pub(crate) fn note_lost_in(&mut self, producer: u32, transaction: u32, records: u64) {
        let key = (producer, transaction);
        if self.lost_by_transaction.len() < TRANSACTIONS_MAX
            || self.lost_by_transaction.contains_key(&key)
        {
            *self.lost_by_transaction.entry(key).or_default() += records;
        }
    }

    /// A transaction whose commit got no answer has these readable and missing records.
    pub(crate) fn note_undecided(
        &mut self,
        producer: u32,
        transaction: u32,
        (present, absent): (u64, u64),
    ) {
        let key = (producer, transaction);
        if self.undecided.len() < TRANSACTIONS_MAX || self.undecided.contains_key(&key) {
            let counts = self.undecided.entry(key).or_default();
            *counts = (counts.0 + present, counts.1 + absent);
        }
    }

    /// The producers of transactions whose commit got no answer and of which some records are readable and others are
    /// missing, one entry per transaction.
    pub fn half_committed(&self) -> impl Iterator<Item = u32> {
        let halves = self.undecided.iter();
        let halves = halves.filter(|(_, (present, absent))| *present > 0 && *absent > 0);
        halves.map(|((producer, _), _)| *producer)
    }

    /// The count of a class over all flows.
    pub fn count_of(&self, anomaly: Anomaly) -> u64 {
        let of_class = self
            .anomalies
            .iter()
            .filter(|((one, _), _)| *one == anomaly);
        of_class.map(|(_, tally)| tally.count).sum()
    }
}
