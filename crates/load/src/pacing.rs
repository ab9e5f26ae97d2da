//! Waiting for sockets or for a moment, whichever comes first, without a millisecond timer.
//!
//! epoll's own time-out counts whole milliseconds. On Linux a timerfd with nanoseconds wakes the loop
//! instead; elsewhere the time-out of the selector is used, which kqueue takes in nanoseconds. A
//! sleep still ends some tens of microseconds late, so the last stretch before a scheduled send is
//! spun away.

use std::io;
use std::time::Duration;

use mio::{Events, Poll, Token};

use crate::clock::Clock;

/// The token under which the timer reports; no connection may have it.
const TIMER: Token = Token(usize::MAX);

/// How long before a scheduled moment sleeping gives way to spinning. A timer of this kind fires
/// 5-30 microseconds late on an idle virtual machine; spinning longer would take the core from a
/// broker on the same machine.
const SPIN_NS: u64 = 30_000;

/// What a wait is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// Only look which sockets are ready.
    Now,
    /// A scheduled send: be exact.
    Send(u64),
    /// A deadline (linger, back-off, tick): late by a timer's lateness does no harm.
    Deadline(u64),
}

impl Until {
    /// The sooner of two; at the same moment the one that must be exact.
    pub(crate) fn sooner(self, other: Self) -> Self {
        match (self, other) {
            (Self::Now, _) | (_, Self::Now) => Self::Now,
            (Self::Deadline(one), Self::Deadline(two)) => Self::Deadline(one.min(two)),
            (Self::Send(one), Self::Send(two)) => Self::Send(one.min(two)),
            (Self::Send(send), Self::Deadline(deadline))
            | (Self::Deadline(deadline), Self::Send(send)) => {
                if send <= deadline {
                    Self::Send(send)
                } else {
                    Self::Deadline(deadline)
                }
            }
        }
    }
}

/// The event loop's way to wait.
pub(crate) struct Waiter {
    clock: Clock,
    poll: Poll,
    #[cfg(target_os = "linux")]
    timer: std::os::fd::OwnedFd,
    /// What the timer is set to.
    #[cfg(target_os = "linux")]
    armed_ns: u64,
}

impl Waiter {
    /// A waiter on `clock`.
    pub(crate) fn new(clock: Clock) -> io::Result<Self> {
        let poll = Poll::new()?;
        #[cfg(target_os = "linux")]
        let timer = {
            use std::os::fd::AsRawFd;

            use mio::unix::SourceFd;
            use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};

            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            let fd = timer.as_raw_fd();
            poll.registry()
                .register(&mut SourceFd(&fd), TIMER, mio::Interest::READABLE)?;
            timer
        };
        Ok(Self {
            clock,
            poll,
            #[cfg(target_os = "linux")]
            timer,
            #[cfg(target_os = "linux")]
            armed_ns: 0,
        })
    }

    /// Where sockets and wakers register.
    pub(crate) fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    /// Waits for sockets until the moment given; `events` holds the ready ones afterwards.
    pub(crate) fn wait(&mut self, until: Until, events: &mut Events) -> io::Result<()> {
        match until {
            Until::Now => self.look(events),
            Until::Deadline(at_ns) => self.sleep(at_ns, events),
            Until::Send(at_ns) => {
                self.sleep(at_ns.saturating_sub(SPIN_NS), events)?;
                // Ready sockets are worth more than an exact moment that is not yet due: their
                // answers carry times that are being waited for.
                while events.is_empty() && self.clock.now_ns() < at_ns {
                    std::hint::spin_loop();
                }
                Ok(())
            }
        }
    }

    fn look(&mut self, events: &mut Events) -> io::Result<()> {
        uninterrupted(self.poll.poll(events, Some(Duration::ZERO)))
    }

    #[cfg(target_os = "linux")]
    fn sleep(&mut self, at_ns: u64, events: &mut Events) -> io::Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};

        let now_ns = self.clock.now_ns();
        if at_ns <= now_ns {
            return self.look(events);
        }
        let left = Duration::from_nanos(at_ns - now_ns);
        let it_value = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value,
        };
        // Setting a timer again clears what it had counted, so it never needs to be read. One that is set to this
        // moment, which is still to come, stays: so most waits of a closed loop cost a call less.
        if self.armed_ns != at_ns {
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
            self.armed_ns = at_ns;
        }
        uninterrupted(self.poll.poll(events, None))
    }

    #[cfg(not(target_os = "linux"))]
    fn sleep(&mut self, at_ns: u64, events: &mut Events) -> io::Result<()> {
        let left = at_ns.saturating_sub(self.clock.now_ns());
        uninterrupted(self.poll.poll(events, Some(Duration::from_nanos(left))))
    }
}

/// A signal that ends a wait early is no error: the loop looks around and waits again.
fn uninterrupted(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other,
    }
}

/// Whether an event is the timer's own and stands for no socket.
pub(crate) fn is_timer(token: Token) -> bool {
    token == TIMER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduled_moment_is_not_left_early() {
        let clock = Clock::start();
        let mut waiter = Waiter::new(clock).unwrap();
        let mut events = Events::with_capacity(8);
        for step in 1..=50 {
            let at_ns = clock.now_ns() + step * 20_000;
            while clock.now_ns() < at_ns {
                waiter.wait(Until::Send(at_ns), &mut events).unwrap();
            }
            assert!(clock.now_ns() >= at_ns);
        }
    }

    #[test]
    fn a_moment_in_the_past_does_not_block() {
        let clock = Clock::start();
        let mut waiter = Waiter::new(clock).unwrap();
        let mut events = Events::with_capacity(8);
        waiter.wait(Until::Deadline(0), &mut events).unwrap();
        waiter.wait(Until::Now, &mut events).unwrap();
    }
}
