//! Acked records beside those on the brokers, over trials.

use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::{CountedOnBroker, TrialSummary};
use kgauge_results::run::RepeatOutcome;

/// Acked records beside those that the brokers counted. All counts cover the trials that could be counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CountCheck {
    /// Records acked.
    pub acked: u64,
    /// Records that the brokers counted.
    pub on_brokers: u64,
    /// Records whose outcome is unknown: they may be on the brokers.
    pub indeterminate: u64,
    /// Acked records that could be missing although all counts agree: sends that were retried, or whose outcome is
    /// unknown, could have taken their place.
    pub possibly_missing: u64,
    /// Trials that wrote records and ran.
    pub trials: u32,
    /// Trials that could be counted.
    pub trials_counted: u32,
    /// Acked records that are missing on the brokers, by repeat; absent if none are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<RecordMismatch>,
    /// Records on the brokers that are neither acked nor of unknown outcome, by repeat; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<RecordMismatch>,
    /// Trials that could not be counted; absent if all could.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<UncountedTrial>,
}

/// Records that are too few or too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordMismatch {
    /// The trial, by its index in the plan.
    pub trial: u32,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The number of records.
    pub records: u64,
}

/// A trial that could not be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UncountedTrial {
    /// The trial, by its index in the plan.
    pub trial: u32,
    /// Why.
    pub cause: UncountedCause,
}

/// Why a trial could not be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UncountedCause {
    /// With `acks: 0` brokers acknowledge nothing.
    AcksNone,
    /// A repeat did not end.
    NotComplete,
    /// The end offsets are unknown.
    OffsetsUnknown,
    /// There are more records than acks, and the client does not report what it sent twice.
    OtherClient,
    /// Nobody knows what a lost agent sent after its last report.
    AgentLost,
}

impl CountCheck {
    /// True if some trials were counted and none of them disagrees.
    pub fn is_good(&self) -> bool {
        self.trials_counted > 0 && self.missing.is_empty() && self.extra.is_empty()
    }

    /// True if no acked record of the counted trials can be missing.
    pub fn is_proof(&self) -> bool {
        self.is_good() && self.possibly_missing == 0
    }

    /// Acked records that are missing on the brokers.
    pub fn records_missing(&self) -> u64 {
        records(&self.missing)
    }

    /// Records on the brokers that nothing explains.
    pub fn records_extra(&self) -> u64 {
        records(&self.extra)
    }
}

fn records(mismatches: &[RecordMismatch]) -> u64 {
    let records = mismatches.iter().map(|one| one.records);
    records.fold(0, u64::saturating_add)
}

/// The check over trials; `None` if none of them wrote anything.
pub(super) fn check<'a>(trials: impl Iterator<Item = &'a TrialSummary>) -> Option<CountCheck> {
    let mut check = CountCheck {
        acked: 0,
        on_brokers: 0,
        indeterminate: 0,
        possibly_missing: 0,
        trials: 0,
        trials_counted: 0,
        missing: Vec::new(),
        extra: Vec::new(),
        uncounted: Vec::new(),
    };
    for trial in trials.filter(|trial| !trial.counted.is_empty()) {
        check.trials += 1;
        let unknown = trial.counted.iter().find(|one| one.agrees.is_none());
        // What disagrees must not be hidden by a repeat that cannot be counted.
        let disagrees = trial.counted.iter().any(|one| one.agrees == Some(false));
        if let (Some(counted), false) = (unknown, disagrees) {
            check.uncounted.push(UncountedTrial {
                trial: trial.index,
                cause: cause(trial, counted),
            });
            continue;
        }
        check.trials_counted += 1;
        for counted in trial.counted.iter().filter(|one| one.agrees.is_some()) {
            check.add(trial.index, counted);
        }
    }
    (check.trials > 0).then_some(check)
}

impl CountCheck {
    fn add(&mut self, trial: u32, counted: &CountedOnBroker) {
        let on_brokers = counted.on_broker.unwrap_or(counted.acked);
        self.acked = self.acked.saturating_add(counted.acked);
        self.on_brokers = self.on_brokers.saturating_add(on_brokers);
        self.indeterminate = self.indeterminate.saturating_add(counted.indeterminate);
        self.possibly_missing = self
            .possibly_missing
            .saturating_add(counted.possibly_missing);
        if counted.agrees != Some(false) {
            return;
        }
        let explained = counted.acked.saturating_add(counted.indeterminate);
        let sides = [
            (&mut self.missing, counted.acked.saturating_sub(on_brokers)),
            (&mut self.extra, on_brokers.saturating_sub(explained)),
        ];
        for (mismatches, records) in sides {
            if records > 0 {
                mismatches.push(RecordMismatch {
                    trial,
                    repeat: counted.repeat,
                    records,
                });
            }
        }
    }
}

fn cause(trial: &TrialSummary, counted: &CountedOnBroker) -> UncountedCause {
    let mut acks = trial.flows.iter().filter_map(|flow| flow.ack.as_ref());
    let mut repeats = trial.repeats.iter();
    let is_complete = repeats.any(|repeat| {
        repeat.repeat == counted.repeat && repeat.outcome == Some(RepeatOutcome::Complete)
    });
    if acks.any(|ack| ack.acks == "0") {
        UncountedCause::AcksNone
    } else if !is_complete {
        UncountedCause::NotComplete
    } else if counted.on_broker.is_none() {
        UncountedCause::OffsetsUnknown
    } else if trial
        .agents
        .as_ref()
        .is_some_and(|agents| !agents.lost.is_empty())
    {
        UncountedCause::AgentLost
    } else {
        UncountedCause::OtherClient
    }
}
