//! The run's clock: nanoseconds since the start of a repeat, on the machine's monotonic clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One monotonic clock, shared by every thread of a repeat.
///
/// Everything that load measures is a number of nanoseconds on this clock, so that times of
/// different threads can be subtracted from each other.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    origin_unix_ms: i64,
}

impl Clock {
    /// A clock that shows zero now.
    #[must_use]
    pub fn start() -> Self {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Self {
            origin: Instant::now(),
            origin_unix_ms: i64::try_from(unix.as_millis()).unwrap_or(i64::MAX),
        }
    }

    /// Nanoseconds since the origin.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        // A repeat would have to last 584 years to leave 64 bits.
        self.origin.elapsed().as_nanos() as u64
    }

    /// The wall-clock time of a moment of this clock, in Unix milliseconds: what records carry as
    /// their timestamp. It follows the monotonic clock, so a step of the wall clock during a run
    /// does not show.
    #[inline]
    #[must_use]
    pub fn unix_ms(&self, at_ns: u64) -> i64 {
        self.origin_unix_ms + (at_ns / 1_000_000) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_later_is_never_earlier() {
        let clock = Clock::start();
        let first = clock.now_ns();
        assert!(clock.now_ns() >= first);
    }

    #[test]
    fn record_timestamps_follow_the_monotonic_clock() {
        let clock = Clock::start();
        assert_eq!(clock.unix_ms(2_500_000_000) - clock.unix_ms(0), 2_500);
    }
}
