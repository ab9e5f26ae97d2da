//! The run's clock: nanoseconds since the start of a repeat, on the machine's monotonic clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Smaller differences to the wall clock are ignored: clocks that are adjusted slowly need no step, and timestamps stay
/// in order.
const STEP_MS_MIN: i64 = 1_000;

/// One monotonic clock, shared by every thread of a repeat.
///
/// All measured times are nanoseconds on this clock, so that times of different threads can be subtracted.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    origin_unix_ms: i64,
    /// The correction for changes of the wall clock since the origin. It is shared by all threads and leaked: there is
    /// one clock per repeat.
    stepped_ms: &'static AtomicI64,
    /// The lead's wall clock at the origin, if a lead has announced the start.
    lead_unix_ms: Option<i64>,
}

impl Clock {
    /// A clock that starts at zero now.
    #[must_use]
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
            origin_unix_ms: wall_ms(),
            stepped_ms: Box::leak(Box::new(AtomicI64::new(0))),
            lead_unix_ms: None,
        }
    }

    /// A clock that is zero at a moment that several processes have agreed on: until then, it stays at zero.
    #[must_use]
    pub fn starting_at(origin: Instant) -> Self {
        let now = Instant::now();
        let ahead = origin.saturating_duration_since(now).as_millis();
        let behind = now.saturating_duration_since(origin).as_millis();
        let ms = |ms: u128| i64::try_from(ms).unwrap_or(0);
        Self {
            origin,
            origin_unix_ms: wall_ms() + ms(ahead) - ms(behind),
            ..Self::start()
        }
    }

    /// The same clock in an agent, if the lead's wall clock shows this time at the origin.
    #[must_use]
    pub fn of_lead(self, unix_ms: i64) -> Self {
        Self {
            lead_unix_ms: Some(unix_ms),
            ..self
        }
    }

    /// Nanoseconds since the origin.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        // 64 bits last for 584 years.
        self.origin.elapsed().as_nanos() as u64
    }

    /// The wall-clock time of a moment of this clock, in Unix milliseconds: the timestamp in records. It follows the
    /// monotonic clock, and the wall clock by [`Clock::follow`].
    #[inline]
    #[must_use]
    pub fn unix_ms(&self, at_ns: u64) -> i64 {
        self.origin_unix_ms + (at_ns / 1_000_000) as i64 + self.stepped_ms.load(Ordering::Relaxed)
    }

    /// The time of a moment in ledgers, in Unix milliseconds: by the lead's wall clock, so that the ledgers of all
    /// agents can be compared. It is off by what this machine's clock drifts against the lead's during the repeat.
    #[inline]
    #[must_use]
    pub(crate) fn shared_unix_ms(&self, at_ns: u64) -> i64 {
        match self.lead_unix_ms {
            Some(origin_ms) => origin_ms.saturating_add((at_ns / 1_000_000) as i64),
            None => self.unix_ms(at_ns),
        }
    }

    /// Follows a change of the wall clock. Brokers refuse records from the future, so after a wrong clock was
    /// corrected, all later records would fail.
    pub(crate) fn follow(&self) {
        self.follow_to(self.now_ns(), wall_ms());
    }

    fn follow_to(&self, now_ns: u64, wall_ms: i64) {
        let ahead_ms = wall_ms - self.unix_ms(now_ns);
        if ahead_ms.abs() >= STEP_MS_MIN {
            self.stepped_ms.fetch_add(ahead_ms, Ordering::Relaxed);
        }
    }
}

/// Milliseconds since 1970 by the machine's wall clock.
fn wall_ms() -> i64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = unix.unwrap_or(Duration::ZERO).as_millis();
    i64::try_from(ms).unwrap_or(i64::MAX)
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

    #[test]
    fn ledgers_have_the_leads_time_and_records_that_of_the_machine() {
        let clock = Clock::start();
        let of_lead = clock.of_lead(7_000);
        assert_eq!(of_lead.shared_unix_ms(2_500_000_000), 9_500);
        assert_eq!(of_lead.unix_ms(0), clock.unix_ms(0));
        assert_eq!(clock.shared_unix_ms(1), clock.unix_ms(1));
    }

    #[test]
    fn record_timestamps_follow_a_wall_clock_that_is_set_and_not_one_that_drifts() {
        let clock = Clock::start();
        let (second, origin_ms) = (1_000_000_000, clock.unix_ms(0));
        // Slewing may ignore 0.9 s for a while.
        clock.follow_to(second, origin_ms + 1_000 + 900);
        assert_eq!(clock.unix_ms(second), origin_ms + 1_000);
        let two_hours_ms = 7_200_000;
        clock.follow_to(2 * second, origin_ms + 2_000 - two_hours_ms);
        assert_eq!(clock.unix_ms(3 * second), origin_ms + 3_000 - two_hours_ms);
        // All copies of the clock are in other threads.
        let copy = clock;
        copy.follow_to(4 * second, origin_ms + 4_000);
        assert_eq!(clock.unix_ms(4 * second), origin_ms + 4_000);
        assert!(
            clock.now_ns() < 3_600 * second,
            "measured times are untouched"
        );
    }
}
