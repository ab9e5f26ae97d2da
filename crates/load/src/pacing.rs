//! Waiting for sockets or for a moment, whichever comes first, without a millisecond timer.
//!
//! epoll's own time-out counts whole milliseconds. On Linux a timerfd with nanoseconds wakes the loop
//! instead; elsewhere the time-out of the selector is used, which kqueue takes in nanoseconds. A
//! sleep still ends late, by how much depends on the machine: so it is set to end earlier by a margin
//! that is learnt, and the rest until a scheduled send is spun away, with a look at the sockets now and
//! then. How much was spun away is counted: it is CPU time that no record needed.

mod competition;
mod margin;

use std::io;
use std::time::Duration;

use mio::{Events, Poll, Token};

use crate::clock::Clock;
use competition::Competition;
use margin::Margin;

/// The token under which the timer reports; no connection may have it.
const TIMER: Token = Token(usize::MAX);

/// A sleep shorter than this is not worth its calls.
const SLEEP_NS_MIN: u64 = 10_000;

/// How often sockets are looked at while a moment is awaited without sleep: answers are not later than
/// this, nor is the scheduled moment missed for them.
const LOOK_NS: u64 = 10_000;

/// What a look at the sockets may take: so near to the moment there is none.
const LOOK_COST_NS: u64 = 2_000;

/// A look at who competes takes some 20 us: there is none when the moment is nearer than this.
const COMPETITION_LOOK_NS: u64 = 100_000;

/// A turn of spinning that took longer was no spinning: something else had the core.
const TURN_NS_MAX: u64 = 5_000;

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
pub(crate) struct EventWaiter {
    clock: Clock,
    poll: Poll,
    margin: Margin,
    competition: Competition,
    /// Time that was spun away so far.
    spun_ns: u64,
    #[cfg(target_os = "linux")]
    timer: std::os::fd::OwnedFd,
    /// What the timer is set to.
    #[cfg(target_os = "linux")]
    armed_ns: u64,
}

impl EventWaiter {
    /// A waiter on `clock`; whether a core is left beside all the threads that make load.
    pub(crate) fn new(clock: Clock, has_free_core: bool) -> io::Result<Self> {
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
            margin: Margin::new(has_free_core),
            competition: Competition::new(),
            spun_ns: 0,
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

    /// Time that was spun away before scheduled sends since the waiter was made: CPU time that no record
    /// needed.
    pub(crate) fn spun_ns(&self) -> u64 {
        self.spun_ns
    }

    /// For how long it did not spin, because others waited for processors.
    pub(crate) fn gave_way_ns(&self) -> u64 {
        self.competition.gave_way_ns()
    }

    /// Waits for sockets until the moment given; `events` holds the ready ones afterwards.
    pub(crate) fn wait(&mut self, until: Until, events: &mut Events) -> io::Result<()> {
        match until {
            Until::Now => self.poll_once(events),
            Until::Deadline(at_ns) => self.sleep(at_ns, events),
            Until::Send(at_ns) => self.wait_exactly(at_ns, events),
        }
    }

    fn wait_exactly(&mut self, at_ns: u64, events: &mut Events) -> io::Result<()> {
        let now_ns = self.clock.now_ns();
        if at_ns.saturating_sub(now_ns) > COMPETITION_LOOK_NS {
            self.competition.sample(now_ns);
        }
        if self.competition.gives_way() {
            // A late wake costs less than the processor time of others, which is what answers wait for.
            return self.sleep(at_ns, events);
        }
        let wake_ns = at_ns.saturating_sub(self.margin.ns());
        if wake_ns.saturating_sub(self.clock.now_ns()) < SLEEP_NS_MIN {
            self.margin.stayed_awake();
            self.poll_once(events)?;
        } else {
            self.sleep(wake_ns, events)?;
            let now_ns = self.clock.now_ns();
            if now_ns < wake_ns {
                // A signal, or sockets.
                return Ok(());
            }
            if !has_sockets(events) {
                self.margin.slept(now_ns - wake_ns);
            }
        }
        // Ready sockets are worth more than an exact moment that is not yet due: their answers carry
        // times that are being waited for.
        if has_sockets(events) {
            return Ok(());
        }
        self.spin(at_ns, events)
    }

    fn spin(&mut self, at_ns: u64, events: &mut Events) -> io::Result<()> {
        let mut now_ns = self.clock.now_ns();
        let mut look_ns = now_ns + LOOK_NS;
        while now_ns < at_ns {
            std::hint::spin_loop();
            let then_ns = std::mem::replace(&mut now_ns, self.clock.now_ns());
            self.spun_ns += (now_ns - then_ns).min(TURN_NS_MAX);
            if now_ns >= look_ns && now_ns + LOOK_COST_NS < at_ns {
                self.poll_once(events)?;
                if has_sockets(events) {
                    return Ok(());
                }
                look_ns = now_ns + LOOK_NS;
            }
        }
        Ok(())
    }

    fn poll_once(&mut self, events: &mut Events) -> io::Result<()> {
        uninterrupted(self.poll.poll(events, Some(Duration::ZERO)))
    }

    #[cfg(target_os = "linux")]
    fn sleep(&mut self, at_ns: u64, events: &mut Events) -> io::Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};

        let now_ns = self.clock.now_ns();
        if at_ns <= now_ns {
            return self.poll_once(events);
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

fn has_sockets(events: &Events) -> bool {
    events.iter().any(|event| !is_timer(event.token()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduled_moment_is_not_left_early() {
        let clock = Clock::start();
        let mut waiter = EventWaiter::new(clock, true).unwrap();
        let mut events = Events::with_capacity(8);
        for step in 1..=50 {
            let at_ns = clock.now_ns() + step * 20_000;
            while clock.now_ns() < at_ns {
                waiter.wait(Until::Send(at_ns), &mut events).unwrap();
            }
            assert!(clock.now_ns() >= at_ns);
        }
        // Moments that are 20 us away are spun to; but never is more spun than time has passed.
        assert!(waiter.spun_ns() > 0);
        assert!(waiter.spun_ns() <= clock.now_ns());
    }

    #[test]
    fn a_waiter_that_gives_way_sleeps_to_the_moment_and_spins_nothing() {
        let clock = Clock::start();
        let mut waiter = EventWaiter::new(clock, true).unwrap();
        waiter.competition = Competition::always();
        let mut events = Events::with_capacity(8);
        for step in 1..=20 {
            let at_ns = clock.now_ns() + step * 20_000;
            while clock.now_ns() < at_ns {
                waiter.wait(Until::Send(at_ns), &mut events).unwrap();
            }
        }
        assert_eq!(waiter.spun_ns(), 0);
    }

    #[test]
    fn a_socket_ends_the_wait_for_a_send() {
        let clock = Clock::start();
        let mut waiter = EventWaiter::new(clock, true).unwrap();
        let mut events = Events::with_capacity(8);
        let waker = mio::Waker::new(waiter.registry(), Token(3)).unwrap();
        for away_ns in [1_000_000_000_000, 25_000] {
            waker.wake().unwrap();
            let at_ns = clock.now_ns() + away_ns;
            waiter.wait(Until::Send(at_ns), &mut events).unwrap();
            assert!(events.iter().any(|event| event.token() == Token(3)));
        }
    }

    #[test]
    fn a_moment_in_the_past_does_not_block() {
        let clock = Clock::start();
        let mut waiter = EventWaiter::new(clock, true).unwrap();
        let mut events = Events::with_capacity(8);
        waiter.wait(Until::Deadline(0), &mut events).unwrap();
        waiter.wait(Until::Now, &mut events).unwrap();
    }
}
