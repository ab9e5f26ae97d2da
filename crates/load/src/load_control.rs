//! Lets the caller of a running load observe its rates and decide when its hold starts and ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kgauge_results::PaceSeries;

use crate::echo::{EchoTally, EchoTracker};
use crate::sync::lock;
use crate::worker::WorkerShared;

/// A running load, as its caller can control it: in this process, or in agents.
pub trait HoldControl {
    /// The records per bin so far, for each flow in the order of the trial, up to a tenth of a second ago. Flows of
    /// other clients have none.
    fn paces(&self) -> Vec<PaceSeries>;

    /// Ends the hold, and with it the load once its records are answered.
    fn end_hold(&self);

    /// When the hold starts, as far as is known, in nanoseconds since the start.
    fn hold_start_ns(&self) -> u64;

    /// Starts the hold in [`HOLD_NOTICE_NS`], before the end of the longest warm-up; its length stays the same. A time
    /// later than the known one changes nothing.
    fn begin_hold(&self, at_ns: u64);
}

/// If the hold starts at least this long after the announcement, every thread knows it in time: ten times the interval
/// at which threads check for it.
pub const HOLD_NOTICE_NS: u64 = 500_000_000;

/// A running load of this process.
#[derive(Clone, Copy)]
pub struct LoadControl<'a> {
    pub(crate) shared: &'a WorkerShared,
    pub(crate) hold_ns: Option<u64>,
    /// The tracker of each flow that reads back what it writes.
    pub(crate) echoes: &'a [Option<Arc<EchoTracker>>],
}

impl LoadControl<'_> {
    /// Ends the hold at a time, which may be a moment ago.
    pub fn end_hold_at(&self, at_ns: u64) {
        self.shared.hold_end_ns.fetch_min(at_ns, Ordering::AcqRel);
    }

    /// For each flow this agent's records, if it is an echo flow that several agents run.
    pub fn echo_tallies(&self) -> Vec<Option<EchoTally>> {
        let echoes = self.echoes.iter();
        echoes.map(|echo| echo.as_ref()?.tally()).collect()
    }

    /// All records of the echo flows that several agents run were read.
    pub fn end_echoes(&self) {
        self.echoes
            .iter()
            .flatten()
            .for_each(|echo| echo.end_spread());
    }

    /// What to add to times of this process to get those of the clock that all agents share.
    pub fn set_clock_shift(&self, shift_ns: i64) {
        let echoes = self.echoes.iter().flatten();
        echoes.for_each(|echo| echo.set_clock_shift(shift_ns));
    }

    /// When the last client with a record count was complete; 0 without such clients, `None` before.
    pub fn counts_done_ns(&self) -> Option<u64> {
        self.shared.counts.done_ns()
    }
}

impl HoldControl for LoadControl<'_> {
    fn paces(&self) -> Vec<PaceSeries> {
        let flows = self.shared.live.len();
        let mut sums: Vec<PaceSeries> = (0..flows).map(|_| PaceSeries::default()).collect();
        for worker in &self.shared.paces {
            let seen = lock(worker);
            for (flow, pace) in seen.iter() {
                if let Some(sum) = sums.get_mut(*flow) {
                    sum.add(pace);
                }
            }
        }
        sums
    }

    fn end_hold(&self) {
        self.end_hold_at(self.shared.clock.now_ns());
    }

    fn hold_start_ns(&self) -> u64 {
        self.shared.hold_start_ns.load(Ordering::Acquire)
    }

    fn begin_hold(&self, at_ns: u64) {
        if at_ns >= self.hold_start_ns() {
            return;
        }
        if let Some(hold_ns) = self.hold_ns {
            // Before the start, so that whoever reads the new start reads the new end.
            let end_ns = at_ns.saturating_add(hold_ns);
            self.shared.hold_end_ns.fetch_min(end_ns, Ordering::AcqRel);
        }
        let start_ns = &self.shared.hold_start_ns;
        start_ns.fetch_min(at_ns, Ordering::AcqRel);
    }
}
