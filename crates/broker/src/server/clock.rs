//! The clocks of real operation; the core gets their readings as arguments.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::time::{Now, Stopwatch};

/// Reads both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeClock {
    start: Instant,
    /// How much the wall clock is ahead of the system's.
    ahead_ms: i64,
}

impl NodeClock {
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

/// How the monotonic clock lies in wall-clock time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnixOffset(i128);

impl UnixOffset {
    /// Wall-clock nanoseconds since 1970-01-01 UTC of a reading of the monotonic clock.
    pub(crate) fn ns(self, mono_ns: u64) -> u64 {
        u64::try_from(i128::from(mono_ns) + self.0).unwrap_or(0)
    }
}

impl NodeClock {
    /// The system's wall clock beside the monotonic one, whatever [`NodeClock::set_ahead`] says. Both are read a few
    /// times, and the closest pair counts: between two readings the thread may lose its processor.
    pub(crate) fn unix(self) -> UnixOffset {
        let read = || {
            let before_ns = i128::from(self.mono_ns());
            let unix = SystemTime::now().duration_since(UNIX_EPOCH);
            let after_ns = i128::from(self.mono_ns());
            let unix_ns = i128::try_from(unix.unwrap_or_default().as_nanos()).unwrap_or(0);
            (
                after_ns - before_ns,
                unix_ns - i128::midpoint(before_ns, after_ns),
            )
        };
        let closest = (0..5).map(|_| read()).min_by_key(|(apart_ns, _)| *apart_ns);
        UnixOffset(closest.map_or(0, |(_, offset_ns)| offset_ns))
    }
}

impl Stopwatch for NodeClock {
    fn mono_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_moves_the_wall_clock_and_not_the_other() {
        let mut clock = NodeClock::new();
        let before = clock.now();
        clock.set_ahead(-3_600_000);
        let behind = clock.now();
        assert!((3_590_000..=3_600_000).contains(&(before.wall_ms - behind.wall_ms)));
        assert!(behind.mono_ns >= before.mono_ns);
        assert!(behind.mono_ns - before.mono_ns < 10_000_000_000);
    }
}
