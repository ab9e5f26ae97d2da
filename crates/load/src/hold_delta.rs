//! The part of a growing amount, such as a thread's CPU time, that falls within the hold.

use crate::pacing::EventWaiter;

/// The growth of an amount between the start and the end of the hold.
pub(crate) struct HoldDelta {
    hold_start_ns: u64,
    start: Option<u64>,
    end: Option<u64>,
}

impl HoldDelta {
    /// Before the first sample of a hold that starts at this time.
    pub(crate) fn new(hold_start_ns: u64) -> Self {
        Self {
            hold_start_ns,
            start: None,
            end: None,
        }
    }

    /// The hold starts at another time in the future.
    pub(crate) fn move_start(&mut self, hold_start_ns: u64) {
        self.hold_start_ns = hold_start_ns;
    }

    /// Stores the amount if the hold has started since the last sample.
    pub(crate) fn sample(&mut self, now_ns: u64, amount: impl FnOnce() -> u64) {
        if self.start.is_none() && now_ns >= self.hold_start_ns {
            self.start = Some(amount());
        }
    }

    /// The hold ends, unless it had ended before.
    pub(crate) fn end(&mut self, amount: u64) {
        self.end.get_or_insert(amount);
    }

    /// The growth; 0 if the hold did not start or did not end.
    pub(crate) fn hold_ns(&self) -> u64 {
        match (self.start, self.end) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => 0,
        }
    }
}

/// CPU time of this thread within the hold.
pub(crate) struct HoldCpu(HoldDelta);

impl HoldCpu {
    /// As [`HoldDelta::new`].
    pub(crate) fn new(hold_start_ns: u64) -> Self {
        Self(HoldDelta::new(hold_start_ns))
    }

    /// As [`HoldDelta::move_start`].
    pub(crate) fn move_start(&mut self, hold_start_ns: u64) {
        self.0.move_start(hold_start_ns);
    }

    /// As [`HoldDelta::sample`].
    pub(crate) fn sample(&mut self, now_ns: u64) {
        self.0.sample(now_ns, thread_cpu_ns);
    }

    /// As [`HoldDelta::end`].
    pub(crate) fn end(&mut self) {
        if self.0.end.is_none() {
            self.0.end(thread_cpu_ns());
        }
    }

    /// The thread's CPU time.
    pub(crate) fn hold_ns(&self) -> u64 {
        self.0.hold_ns()
    }
}

/// Time that a thread spent spinning within the hold, and time in which it gave way to others instead.
pub(crate) struct HoldSpin {
    spun: HoldDelta,
    gave_way: HoldDelta,
}

impl HoldSpin {
    /// As [`HoldDelta::new`].
    pub(crate) fn new(hold_start_ns: u64) -> Self {
        Self {
            spun: HoldDelta::new(hold_start_ns),
            gave_way: HoldDelta::new(hold_start_ns),
        }
    }

    /// As [`HoldDelta::move_start`].
    pub(crate) fn move_start(&mut self, hold_start_ns: u64) {
        self.spun.move_start(hold_start_ns);
        self.gave_way.move_start(hold_start_ns);
    }

    /// As [`HoldDelta::sample`].
    pub(crate) fn sample(&mut self, now_ns: u64, waiter: &EventWaiter) {
        self.spun.sample(now_ns, || waiter.spun_ns());
        self.gave_way.sample(now_ns, || waiter.gave_way_ns());
    }

    /// As [`HoldDelta::end`].
    pub(crate) fn end(&mut self, waiter: &EventWaiter) {
        self.spun.end(waiter.spun_ns());
        self.gave_way.end(waiter.gave_way_ns());
    }

    /// Time spent spinning, and time without spinning.
    pub(crate) fn hold_ns(&self) -> (u64, u64) {
        (self.spun.hold_ns(), self.gave_way.hold_ns())
    }
}

/// CPU time of this thread so far.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_grew_within_the_hold_counts() {
        let mut part = HoldDelta::new(100);
        part.sample(99, || 3);
        part.sample(100, || 10);
        part.sample(150, || 40);
        assert_eq!(part.hold_ns(), 0);
        part.end(70);
        part.end(90);
        assert_eq!(part.hold_ns(), 60);
        // A hold that never started has none.
        let mut part = HoldDelta::new(100);
        part.end(90);
        assert_eq!(part.hold_ns(), 0);
    }
}
