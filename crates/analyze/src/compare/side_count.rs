//! Acked records of a side beside those on the brokers.

use schemars::JsonSchema;
use serde::Serialize;

use super::RunToCompare;

/// Acked records of all runs of a side beside those that the brokers counted, over the trials that could be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SideCount {
    /// Records acked.
    pub acked: u64,
    /// Acked records that are missing on the brokers.
    pub missing: u64,
    /// Records on the brokers that are neither acked nor of unknown outcome.
    pub extra: u64,
    /// Acked records that could be missing although all counts agree.
    pub possibly_missing: u64,
    /// Trials that wrote records and ran.
    pub trials: u32,
    /// Trials that could be counted.
    pub trials_counted: u32,
}

impl SideCount {
    /// `None` if no run of the side wrote anything.
    pub(super) fn of(side: &[RunToCompare<'_>]) -> Option<SideCount> {
        let checks = side.iter().filter_map(|run| run.summary.count_check());
        let counts = checks.map(|check| SideCount {
            acked: check.acked,
            missing: check.records_missing(),
            extra: check.records_extra(),
            possibly_missing: check.possibly_missing,
            trials: check.trials,
            trials_counted: check.trials_counted,
        });
        counts.reduce(|sum, next| SideCount {
            acked: sum.acked.saturating_add(next.acked),
            missing: sum.missing.saturating_add(next.missing),
            extra: sum.extra.saturating_add(next.extra),
            possibly_missing: sum.possibly_missing.saturating_add(next.possibly_missing),
            trials: sum.trials.saturating_add(next.trials),
            trials_counted: sum.trials_counted.saturating_add(next.trials_counted),
        })
    }

    /// True if all trials were counted, and no acked record can be missing.
    pub fn is_proof(self) -> bool {
        let open = self.missing.max(self.extra).max(self.possibly_missing);
        open == 0 && self.trials_counted == self.trials
    }
}
