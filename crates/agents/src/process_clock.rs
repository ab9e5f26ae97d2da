//! The monotonic clock of one process, as its side of clock exchanges.

use std::time::{Duration, Instant};

/// Nanoseconds since a moment in the process, by its monotonic clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessClock {
    origin: Instant,
}

impl ProcessClock {
    /// Starts an hour above zero, so that times before the start can be expressed.
    const START: Duration = Duration::from_secs(3_600);

    /// A clock that starts now.
    pub(crate) fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// The time now.
    pub(crate) fn now_ns(self) -> u64 {
        self.at_ns(Instant::now())
    }

    /// The time at a moment.
    pub(crate) fn at_ns(self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.origin) + Self::START;
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// The moment of a time; of one before the start of the clock, its start.
    pub(crate) fn moment(self, at_ns: u64) -> Instant {
        let since = Duration::from_nanos(at_ns).saturating_sub(Self::START);
        self.origin.checked_add(since).unwrap_or(self.origin)
    }
}
