//! The monotonic clock of a process, as its side of clock exchanges.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Reads CLOCK_MONOTONIC. Two processes of one machine read the same clock, unless one has a time namespace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MonotonicClock;

impl MonotonicClock {
    /// The time now, in nanoseconds.
    pub(crate) fn now_ns(self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        let below = u64::try_from(now.tv_nsec).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(below)
    }

    /// The time at a moment that is not far away.
    pub(crate) fn at_ns(self, moment: Instant) -> u64 {
        let (now, now_ns) = self.both();
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let ahead_ns = ns(moment.saturating_duration_since(now));
        let behind_ns = ns(now.saturating_duration_since(moment));
        now_ns.saturating_add(ahead_ns).saturating_sub(behind_ns)
    }

    /// The moment of a time. One that nobody can wait for, from a lead that is wrong, becomes now.
    pub(crate) fn moment(self, at_ns: u64) -> Instant {
        let (now, now_ns) = self.both();
        let ahead = Duration::from_nanos(at_ns.saturating_sub(now_ns));
        let behind = Duration::from_nanos(now_ns.saturating_sub(at_ns));
        let moment = match ahead <= AHEAD_MAX {
            true => now.checked_add(ahead),
            false => Some(now),
        };
        let moment = moment.and_then(|moment| moment.checked_sub(behind));
        moment.unwrap_or(now)
    }

    /// The same moment in both forms, to less than a microsecond: of several readings the one during which this thread
    /// was not interrupted.
    fn both(self) -> (Instant, u64) {
        let read = || {
            let before = Instant::now();
            let now_ns = self.now_ns();
            (before.elapsed(), before, now_ns)
        };
        let (mut best_span, mut best, mut best_ns) = read();
        for _ in 1..READINGS {
            let (span, before, now_ns) = read();
            if span < best_span {
                (best_span, best, best_ns) = (span, before, now_ns);
            }
        }
        (best + best_span / 2, best_ns)
    }
}

/// Readings of both clocks: the start of a load must not depend on a single one.
const READINGS: u32 = 5;

/// A start is announced half a second ahead.
const AHEAD_MAX: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_moments_are_converted_both_ways() {
        let clock = MonotonicClock;
        let moment = Instant::now() + Duration::from_secs(5);
        let back = clock.moment(clock.at_ns(moment));
        let error = back
            .saturating_duration_since(moment)
            .max(moment.saturating_duration_since(back));
        assert!(error < Duration::from_millis(100), "{error:?}");
        let far = clock.moment(u64::MAX);
        assert!(far <= Instant::now(), "nobody waits for ever");
    }
}
