//! Waking up to the microsecond: the system's poll knows only milliseconds.

use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Up to here the alarm wakes us; longer waits begin with the poll's own timeout, which ends this much
/// early, for it is cheaper.
const ALARM_NS_MAX: u64 = 3_000_000;
const EARLY_NS: u64 = 2_000_000;

/// A timer of the system that ends a poll.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: OwnedFd,
}

impl Alarm {
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { timer })
    }

    /// The timeout for a poll that is to end in `left_ns`. For a short wait the alarm is set, and the
    /// timeout is only there in case it cannot be.
    pub(super) fn timeout(&self, left_ns: u64) -> Duration {
        if left_ns == 0 {
            return Duration::ZERO;
        }
        if left_ns > ALARM_NS_MAX {
            return Duration::from_nanos(left_ns - EARLY_NS);
        }
        let value = Timespec {
            tv_sec: 0,
            tv_nsec: i64::try_from(left_ns).unwrap_or(0),
        };
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: value,
        };
        // Setting it again also takes back an expiry that nobody has read.
        let _ = timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once);
        Duration::from_nanos(left_ns)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use mio::{Events, Poll};

    use super::*;

    #[test]
    fn a_short_wait_ends_within_its_millisecond() {
        let mut poll = Poll::new().unwrap();
        let alarm = Alarm::new(poll.registry(), Token(9)).unwrap();
        let mut events = Events::with_capacity(4);
        let mut best_ns = u128::MAX;
        for _ in 0..50 {
            let start = Instant::now();
            let timeout = alarm.timeout(200_000);
            poll.poll(&mut events, Some(timeout)).unwrap();
            let waited_ns = start.elapsed().as_nanos();
            assert!(waited_ns >= 190_000, "{waited_ns} ns");
            best_ns = best_ns.min(waited_ns);
        }
        assert!(best_ns < 900_000, "{best_ns} ns at best");
    }

    #[test]
    fn a_long_wait_begins_with_the_polls_own() {
        let poll = Poll::new().unwrap();
        let alarm = Alarm::new(poll.registry(), Token(9)).unwrap();
        assert_eq!(alarm.timeout(10_000_000), Duration::from_millis(8));
        assert_eq!(alarm.timeout(0), Duration::ZERO);
    }
}
