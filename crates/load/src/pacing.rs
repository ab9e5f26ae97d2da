//! Waits for sockets or for a time, whichever comes first, without a millisecond timer.
//!
//! epoll's timeout has whole milliseconds. On Linux a timerfd with nanoseconds wakes the loop instead; elsewhere the
//! selector's timeout is used, which kqueue accepts in nanoseconds. Sleeps still end late, depending on the machine. A
//! sleep is therefore set to end earlier by a learned margin. The thread spins until the scheduled send and polls the
//! sockets now and then. Spin time is counted, because no record needed that CPU time.

mod competition;
mod margin;

use std::io;
use std::time::Duration;

use mio::{Events, Poll, Token};

use crate::clock::Clock;
use competition::Competition;
use margin::Margin;

/// The timer's token; no connection may have it.
const TIMER: Token = Token(usize::MAX);

/// A shorter sleep costs more than it saves.
const SLEEP_NS_MIN: u64 = 10_000;

/// How often a spinning thread polls its sockets: often enough for responses, and short enough for the scheduled send.
const LOOK_NS: u64 = 10_000;

/// Duration of a socket poll: closer to the send there is none.
const LOOK_COST_NS: u64 = 2_000;

/// Duration of a check for competition, some 20 us: closer to the send there is none.
const COMPETITION_LOOK_NS: u64 = 100_000;

/// A spin turn that took longer was interrupted: another thread had the core.
const TURN_NS_MAX: u64 = 5_000;

/// The purpose of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// Only poll the sockets.
    Now,
    /// A scheduled send: must be exact.
    Send(u64),
    /// A deadline (linger, backoff, tick): a timer's lateness does no harm.
    Deadline(u64),
}

impl Until {
    /// The earlier of two; at the same time, the one that must be exact.
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

/// The event loop's waiter.
pub(crate) struct EventWaiter {
    clock: Clock,
    poll: Poll,
    margin: Margin,
    competition: Competition,
    /// Total time spent spinning.
    spun_ns: u64,
    #[cfg(target_os = "linux")]
    timer: std::os::fd::OwnedFd,
    /// The timer's current setting.
    #[cfg(target_os = "linux")]
    armed_ns: u64,
}

impl EventWaiter {
    /// A waiter on `clock`; `has_free_core` if there are more cores than load threads.
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

    /// The registry for sockets and wakers.
    pub(crate) fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    /// Time spent spinning before scheduled sends since the waiter was made: CPU time that no record needed.
    pub(crate) fn spun_ns(&self) -> u64 {
        self.spun_ns
    }

    /// Time in which it did not spin, because others waited for processors.
    pub(crate) fn gave_way_ns(&self) -> u64 {
        self.competition.gave_way_ns()
    }

    /// Waits for sockets until the given time; `events` then contains the ready ones.
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
            // A late send costs less than the processor time of others, for which responses wait.
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
        // Ready sockets take precedence over an exact time that is not yet due: their responses carry times.
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
        // Setting a timer again clears its counter, so it never needs to be read. An unchanged future setting is kept,
        // which saves most waits of a closed loop a system call.
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

/// A signal that ends a wait early is not an error: the loop continues.
fn uninterrupted(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other,
    }
}

/// Whether an event is the timer's, not a socket's.
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
    fn the_last_microseconds_before_a_send_are_spun_and_counted() {
        let clock = Clock::start();
        let mut waiter = EventWaiter::new(clock, true).unwrap();
        let mut events = Events::with_capacity(8);
        for step in 1..=50 {
            let at_ns = clock.now_ns() + step * 20_000;
            while clock.now_ns() < at_ns {
                waiter.wait(Until::Send(at_ns), &mut events).unwrap();
            }
        }
        // Times that are 20 us away are reached by spinning; never more than the elapsed time is counted.
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
        for until in [Until::Deadline(0), Until::Send(0), Until::Now] {
            waiter.wait(until, &mut events).unwrap();
            assert!(events.is_empty(), "{until:?}");
        }
        assert_eq!(waiter.spun_ns(), 0);
    }
}
