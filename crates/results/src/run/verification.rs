//! What the check of every record found: the classes of anomalies, and what could not be checked.

use kgauge_scenario::RepeatKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::environment::TopicFacts;

/// A class of anomalies. Where Jepsen's Kafka workload has the class, name and condition are its own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Anomaly {
    /// An acked record is not in the log, although the log was read past its place.
    LostWrite,
    /// One record at more than one offset.
    Duplicate,
    /// A record at another offset than its ack named.
    InconsistentOffsets,
    /// Records of one producer in another order than they were sent.
    NonmonotonicSend,
    /// A readable record of an aborted transaction, or one whose send failed for certain.
    #[serde(rename = "g1a")]
    AbortedRead,
    /// A transaction of which only some records are readable, committed or of unknown end.
    TornTransaction,
    /// A consumer got records that are not readable afterwards: they were not committed.
    ReadBeforeCommit,
    /// A consumer passed over readable records.
    PollSkip,
    /// A consumer went back without being reset.
    NonmonotonicPoll,
    /// The last stable offset stays behind the high watermark after every transaction has ended.
    StuckLastStableOffset,
    /// A record that kgauge did not write to this place.
    ForeignRecord,
    /// A record whose contents differ from what was sent.
    CorruptRecord,
    /// Replicas of a partition that have different batches at the same offset.
    DivergentReplicas,
    /// A group's committed offset went back.
    CommittedOffsetBack,
}

impl Anomaly {
    /// The class of a name in scenarios.
    pub fn named(name: &str) -> Option<Anomaly> {
        serde_json::from_value(name.into()).ok()
    }
}

/// The anomalies of one class and flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyRecord {
    /// The class.
    pub anomaly: Anomaly,
    /// The flow whose records they are; absent if they are no flow's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The settings in force and the injected faults allow it.
    pub is_permitted: bool,
    /// Affected records; for torn transactions the transactions, for replicas ranges of 16,384 offsets, for a stuck
    /// last stable offset the partitions.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<AnomalyPlace>,
}

/// Where an anomaly is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyPlace {
    /// The partition.
    pub partition: u32,
    /// The producer's index in its flow, if a record of kgauge's is affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<u32>,
    /// The record's position among the producer's records of that partition; the first of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Adjacent records.
    pub records: u64,
    /// The offset where it was read, or where it should have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The offset that the ack named, if another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acked_offset: Option<u64>,
    /// When it was acked, in milliseconds since 1970, within a tenth of a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acked_unix_ms: Option<u64>,
    /// The last fault that began before it; of a lost record the first one after its ack, or else the last one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A record that consumers got long after its ack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateRead {
    /// From its ack until the last group of consumers that read it had got it, at least; within a tenth of a second.
    pub late_ns: u64,
    /// The flow that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The record.
    pub place: AnomalyPlace,
}

/// Why records could not be checked.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UncheckedCause {
    /// Retention or a deletion removed them before they were read.
    Deleted,
    /// Their partition could not be read to its end.
    Unreadable,
    /// A producer's ledger is missing, cut off or corrupt: its acks are not all known.
    LedgerIncomplete,
    /// A consumer's log is missing, cut off or corrupt: part of what it read is unknown. The records are checked.
    PollsIncomplete,
    /// Too many gaps for the memory.
    TooManyGaps,
    /// The topic is compacted: a later record with the same key may have replaced them.
    Compacted,
    /// The repeat was cut short, and the cluster that kgauge had started for it is gone.
    ClusterGone,
    /// The repeat was cut short, and its topic no longer exists.
    TopicGone,
}

/// Records that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UncheckedRecords {
    /// Why.
    pub cause: UncheckedCause,
    /// Acked records; 0 if their number is not known.
    pub records: u64,
    /// Partitions with such records.
    pub partitions: u32,
}

/// The check of every record of a repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerificationRecord {
    /// Acked records, as the ledgers have them, without those of aborted transactions.
    pub acked: u64,
    /// Those of them that were read back.
    pub confirmed: u64,
    /// Records of unknown outcome that are in the log.
    pub unknown_present: u64,
    /// Records of unknown outcome that are not.
    pub unknown_absent: u64,
    /// Records of aborted transactions and failed sends.
    pub aborted: u64,
    /// Records read.
    pub read: u64,
    /// Bytes of batches read.
    pub bytes: u64,
    /// Duration of the reading and checking.
    pub span_ns: u64,
    /// Followers that were compared with their leaders, batch by batch.
    pub replicas_compared: u32,
    /// The record that consumers got the longest time after its ack: how stale their reads were at worst. Absent if no
    /// consumer read acked records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_read: Option<LateRead>,
    /// What was found, by class and flow.
    pub anomalies: Vec<AnomalyRecord>,
    /// What could not be checked.
    pub unchecked: Vec<UncheckedRecords>,
}

impl VerificationRecord {
    /// Anomalies that the settings forbid.
    pub fn forbidden(&self) -> impl Iterator<Item = &AnomalyRecord> {
        self.anomalies.iter().filter(|one| !one.is_permitted)
    }
}

/// Where a verified repeat began. It is written before the first record, for the check of a repeat that was killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerStart {
    /// When the repeat began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Its topic, as described by the cluster.
    pub topic: TopicFacts,
    /// Existed before the run: other applications may write to it.
    pub is_shared: bool,
    /// The end of each partition before the first record.
    pub ends_before: Vec<i64>,
}

/// The check of a repeat that was cut short: its ledgers, as far as they were written, against its topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutShortRecord {
    /// The repeat, which runs again afterwards.
    pub key: RepeatKey,
    /// When it had begun, in milliseconds since 1970; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    /// What was found. Records that no ledger lists have an unknown outcome.
    pub verification: VerificationRecord,
}

/// The checks of all repeats of a run that were cut short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutShortChecks {
    /// In the order of the checks.
    pub repeats: Vec<CutShortRecord>,
}

impl CutShortChecks {
    /// Adds a check, or replaces an earlier one of the same start.
    pub fn add(&mut self, record: CutShortRecord) {
        let place = |one: &CutShortRecord| (one.key, one.started_unix_ms);
        self.repeats.retain(|one| place(one) != place(&record));
        self.repeats.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_know_every_class_by_its_name() {
        let classes = kgauge_scenario::ANOMALY_NAMES.iter().map(|name| {
            let class = serde_json::from_value::<Anomaly>((*name).into());
            class.unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        let classes: Vec<Anomaly> = classes.collect();
        assert!(classes.is_sorted(), "{classes:?}");
        assert_eq!(classes.last(), Some(&Anomaly::CommittedOffsetBack));
    }
}
