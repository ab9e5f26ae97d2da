//! The check of every record, over trials.

use std::collections::BTreeMap;

use kgauge_results::run::{
    Anomaly, AnomalyPlace, CutShortRecord, UncheckedCause, UncheckedRecords, VerificationRecord,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::TrialSummary;

/// Examples of each class.
const EXAMPLES_MAX: usize = 3;

/// The check of every record, over all verified repeats. Anomalies and unchecked records are also those of repeats that
/// were cut short; other counts are not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verification {
    /// Verified repeats.
    pub repeats: u32,
    /// Acked records, without those of aborted transactions.
    pub acked: u64,
    /// Those of them that were read back.
    pub confirmed: u64,
    /// Records read.
    pub read: u64,
    /// Records of unknown outcome that are in the log.
    pub unknown_present: u64,
    /// Records of unknown outcome that are not.
    pub unknown_absent: u64,
    /// Duration of the reading and checking.
    pub span_ns: u64,
    /// Repeats that were cut short, checked before they ran again; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShortSum>,
    /// The record that consumers got the longest time after its ack; absent if no consumer read acked records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_read: Option<Staleness>,
    /// What was found, by class; the forbidden ones first.
    pub anomalies: Vec<AnomalySum>,
    /// What could not be checked, by cause.
    pub unchecked: Vec<UncheckedRecords>,
}

/// The checks of repeats that were cut short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CutShortSum {
    /// Repeats that were cut short.
    pub repeats: u32,
    /// Acked records in their ledgers.
    pub acked: u64,
    /// Those of them that could be checked.
    pub checked: u64,
    /// Those of them that were read back.
    pub confirmed: u64,
    /// Records of unknown outcome that are in the log: their ledgers do not have the outcome.
    pub unknown_present: u64,
}

/// How stale the reads of consumers were at worst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Staleness {
    /// From a record's ack until the last group of consumers that read it had got it, at least; within a tenth of a
    /// second.
    pub late_ns: u64,
    /// The record.
    pub place: TrialPlace,
}

/// The anomalies of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnomalySum {
    /// The class.
    pub anomaly: Anomaly,
    /// The settings in force and the injected faults allow it.
    pub is_permitted: bool,
    /// A bug of the release is known to do it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_expected: bool,
    /// Affected records, transactions, batches or partitions.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<TrialPlace>,
}

/// The place of an anomaly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialPlace {
    /// The trial, by its index in the plan.
    pub trial: u32,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The flow, if the records are a flow's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The records.
    pub place: AnomalyPlace,
}

impl Verification {
    /// Anomalies that the settings forbid, without those of known bugs.
    pub fn forbidden(&self) -> impl Iterator<Item = &AnomalySum> {
        let forbidden = |one: &&AnomalySum| !one.is_permitted && !one.is_expected;
        self.anomalies.iter().filter(forbidden)
    }

    /// True if the settings permit everything that was found, and everything was checked.
    pub fn is_good(&self) -> bool {
        self.forbidden().next().is_none() && self.unchecked.is_empty()
    }
}

/// What the check found in one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialAnomalies {
    /// The trial, by its index in the plan.
    pub trial: u32,
    /// Acked records.
    pub acked: u64,
    /// Classes of which a bug is known to show at least one; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Anomaly>,
    /// What was found, by class; over flows, the class is permitted only if it is for each.
    pub found: Vec<AnomalyCount>,
}

/// How often a class was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnomalyCount {
    /// The class.
    pub anomaly: Anomaly,
    /// The settings in force and the injected faults allow it.
    pub is_permitted: bool,
    /// Affected records, transactions, ranges of offsets or partitions.
    pub count: u64,
}

impl TrialAnomalies {
    /// Whether a known bug showed itself, and nothing else; without one, whether everything found is permitted.
    pub fn is_as_expected(&self) -> bool {
        let is_known = |one: &AnomalyCount| self.expected.contains(&one.anomaly);
        let shows = self.expected.is_empty() || self.found.iter().any(is_known);
        shows
            && self
                .found
                .iter()
                .all(|one| one.is_permitted || is_known(one))
    }

    /// The findings of a trial; `None` if it was not verified.
    fn of(trial: &TrialSummary) -> Option<Self> {
        let records = || trial.checks();
        records().next()?;
        let mut found: BTreeMap<Anomaly, AnomalyCount> = BTreeMap::new();
        for one in records().flat_map(|record| &record.anomalies) {
            let sum = found.entry(one.anomaly).or_insert(AnomalyCount {
                anomaly: one.anomaly,
                is_permitted: true,
                count: 0,
            });
            sum.is_permitted &= one.is_permitted;
            sum.count = sum.count.saturating_add(one.count);
        }
        Some(Self {
            trial: trial.index,
            acked: records().map(|record| record.acked).sum(),
            expected: trial.expected_anomalies.clone(),
            found: found.into_values().collect(),
        })
    }
}

/// The findings of each verified trial.
pub(super) fn findings<'a>(trials: impl Iterator<Item = &'a TrialSummary>) -> Vec<TrialAnomalies> {
    trials.filter_map(TrialAnomalies::of).collect()
}

/// The check over trials; `None` if none was verified.
pub(super) fn verification<'a>(
    trials: impl Iterator<Item = &'a TrialSummary>,
) -> Option<Verification> {
    let mut sum = Verification::default();
    let mut anomalies: BTreeMap<(bool, bool, Anomaly), AnomalySum> = BTreeMap::new();
    let mut unchecked: BTreeMap<UncheckedCause, UncheckedRecords> = BTreeMap::new();
    for trial in trials {
        let mut checks: Vec<(u32, &VerificationRecord)> = Vec::new();
        for repeat in &trial.repeats {
            if let Some(record) = &repeat.verification {
                sum.add(record);
                sum.add_latest_read((trial.index, repeat.repeat), record);
                checks.push((repeat.repeat, record));
            }
        }
        for one in &trial.cut_short {
            sum.add_cut_short(one);
            checks.push((one.key.repeat, &one.verification));
        }
        for (repeat, record) in checks {
            for one in &record.anomalies {
                let is_expected = trial.expected_anomalies.contains(&one.anomaly);
                let key = (is_expected, one.is_permitted, one.anomaly);
                let found = anomalies.entry(key).or_insert(AnomalySum {
                    anomaly: one.anomaly,
                    is_permitted: one.is_permitted,
                    is_expected,
                    count: 0,
                    examples: Vec::new(),
                });
                found.count = found.count.saturating_add(one.count);
                let room = EXAMPLES_MAX.saturating_sub(found.examples.len());
                let examples = one.examples.iter().take(room);
                found.examples.extend(examples.map(|place| TrialPlace {
                    trial: trial.index,
                    repeat,
                    flow: one.flow.clone(),
                    place: place.clone(),
                }));
            }
            for one in &record.unchecked {
                let all = unchecked.entry(one.cause).or_insert(UncheckedRecords {
                    cause: one.cause,
                    records: 0,
                    partitions: 0,
                });
                all.records = all.records.saturating_add(one.records);
                all.partitions = all.partitions.saturating_add(one.partitions);
            }
        }
    }
    sum.anomalies = anomalies.into_values().collect();
    sum.unchecked = unchecked.into_values().collect();
    (sum.repeats > 0 || sum.cut_short.is_some()).then_some(sum)
}

impl Verification {
    fn add(&mut self, record: &VerificationRecord) {
        self.repeats += 1;
        self.acked = self.acked.saturating_add(record.acked);
        self.confirmed = self.confirmed.saturating_add(record.confirmed);
        self.read = self.read.saturating_add(record.read);
        self.unknown_present = self.unknown_present.saturating_add(record.unknown_present);
        self.unknown_absent = self.unknown_absent.saturating_add(record.unknown_absent);
        self.span_ns = self.span_ns.saturating_add(record.span_ns);
    }

    fn add_cut_short(&mut self, one: &CutShortRecord) {
        let record = &one.verification;
        let unchecked: u64 = record.unchecked.iter().map(|one| one.records).sum();
        let checked = record.acked.saturating_sub(unchecked);
        let sum = self.cut_short.get_or_insert_default();
        sum.repeats += 1;
        sum.acked = sum.acked.saturating_add(record.acked);
        sum.checked = sum.checked.saturating_add(checked);
        sum.confirmed = sum.confirmed.saturating_add(record.confirmed);
        sum.unknown_present = sum.unknown_present.saturating_add(record.unknown_present);
    }

    fn add_latest_read(&mut self, (trial, repeat): (u32, u32), record: &VerificationRecord) {
        let Some(read) = &record.latest_read else {
            return;
        };
        let latest = self.latest_read.as_ref();
        if latest.is_none_or(|latest| read.late_ns > latest.late_ns) {
            self.latest_read = Some(Staleness {
                late_ns: read.late_ns,
                place: TrialPlace {
                    trial,
                    repeat,
                    flow: read.flow.clone(),
                    place: read.place.clone(),
                },
            });
        }
    }
}
