//! The clocks of real operation; the core gets their readings as arguments.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::time::{Now, Stopwatch};

/// Reads both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    /// How much the wall clock is ahead of the system's.
    ahead_ms: i64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            ahead_ms: 0,
        }
    }

    /// Sets the wall clock ahead of the system's, or (negative) behind it. The monotonic clock goes
    /// on as it did.
    pub(crate) fn set_ahead(&mut self, ms: i64) {
        self.ahead_ms = ms;
    }

    pub(crate) fn now(self) -> Now {
        let mono_ns = self.mono_ns();
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            mono_ns,
            wall_ms: i64::try_from(wall.as_millis())
                .unwrap_or(i64::MAX)
                .saturating_add(self.ahead_ms),
        }
    }
}

impl Stopwatch for Clock {
    fn mono_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_moves_the_wall_clock_and_not_the_other() {
        let mut clock = Clock::new();
        let before = clock.now();
        clock.set_ahead(-3_600_000);
        let behind = clock.now();
        assert!((3_590_000..=3_600_000).contains(&(before.wall_ms - behind.wall_ms)));
        assert!(behind.mono_ns >= before.mono_ns);
        assert!(behind.mono_ns - before.mono_ns < 10_000_000_000);
    }
}
