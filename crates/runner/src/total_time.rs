//! The time that a search has taken, over all attempts of its run.

use std::time::{Duration, Instant};

/// Time that adds up over the attempts of a run.
pub(crate) struct TotalTime {
    before_ns: u64,
    began: Instant,
}

impl TotalTime {
    /// Goes on behind the time of earlier attempts.
    pub(crate) fn after(before_ns: u64) -> TotalTime {
        let began = Instant::now();
        TotalTime { before_ns, began }
    }

    /// The time of this attempt.
    pub(crate) fn of_attempt(&self) -> Duration {
        self.began.elapsed()
    }

    /// Nanoseconds so far.
    pub(crate) fn ns(&self) -> u64 {
        let now_ns = u64::try_from(self.of_attempt().as_nanos()).unwrap_or(u64::MAX);
        self.before_ns.saturating_add(now_ns)
    }
}
