//! What a load's caller may look at and decide while it runs: how fast it goes, and when its hold begins.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use kgauge_results::PaceSeries;

use crate::worker::WorkerShared;

/// A running load, as its caller sees it.
#[derive(Clone, Copy)]
pub struct LoadControl<'a> {
    pub(crate) shared: &'a WorkerShared,
    pub(crate) hold_ns: Option<u64>,
}

impl LoadControl<'_> {
    /// Every thread takes part in the hold from its first moment on when it begins at least this much later than it
    /// was announced: ten times as long as threads take from one look at such things to the next.
    pub const NOTICE_NS: u64 = 500_000_000;

    /// For each flow, in the order of the trial, what was done in each bin so far, a tenth of a second ago.
    /// Flows of other clients have nothing here.
    pub fn paces(&self) -> Vec<PaceSeries> {
        let flows = self.shared.live.len();
        let mut sums: Vec<PaceSeries> = (0..flows).map(|_| PaceSeries::default()).collect();
        for worker in &self.shared.paces {
            let seen = worker.lock().unwrap_or_else(PoisonError::into_inner);
            for (flow, pace) in seen.iter() {
                if let Some(sum) = sums.get_mut(*flow) {
                    sum.add(pace);
                }
            }
        }
        sums
    }

    /// Ends the hold, and with it the load once its records are answered.
    pub fn end_hold(&self) {
        let now_ns = self.shared.clock.now_ns();
        self.shared.hold_end_ns.fetch_min(now_ns, Ordering::AcqRel);
    }

    /// When the hold begins, as far as is known, nanoseconds since the start.
    pub fn hold_start_ns(&self) -> u64 {
        self.shared.hold_start_ns.load(Ordering::Acquire)
    }

    /// Begins the hold at a moment that lies [`LoadControl::NOTICE_NS`] ahead, before the end of the longest warm-up;
    /// its length stays the same. A later moment than the one that is known changes nothing.
    pub fn begin_hold(&self, at_ns: u64) {
        if at_ns >= self.hold_start_ns() {
            return;
        }
        if let Some(hold_ns) = self.hold_ns {
            // Before the start, so that whoever sees the new start sees the new end.
            let end_ns = at_ns.saturating_add(hold_ns);
            self.shared.hold_end_ns.fetch_min(end_ns, Ordering::AcqRel);
        }
        let start_ns = &self.shared.hold_start_ns;
        start_ns.fetch_min(at_ns, Ordering::AcqRel);
    }
}
