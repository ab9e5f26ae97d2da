//! When the lead asks for an agent's clock: often at first, then ten times per second.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::{ClockExchange, ClockTrack};

/// Probes in quick succession, so that a run need not wait for a good offset.
const QUICK_PROBES: u32 = 20;

/// The pause between them.
const QUICK_PAUSE: Duration = Duration::from_millis(10);

/// The pause between all others. Agents take a lead that is silent for 0.9 s for gone.
const PAUSE: Duration = Duration::from_millis(100);

/// An agent's clock, shared between the thread of its connection and that of the run.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedClockTrack(Arc<Mutex<ClockTrack>>);

impl SharedClockTrack {
    pub(super) fn lock(&self) -> MutexGuard<'_, ClockTrack> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, exchange: &ClockExchange) {
        self.lock().add(exchange);
    }
}

/// The times of probes.
#[derive(Debug)]
pub(super) struct ProbeTimer {
    due: Instant,
    sent: u32,
}

impl ProbeTimer {
    pub(super) fn new() -> Self {
        Self {
            due: Instant::now(),
            sent: 0,
        }
    }

    /// Whether a probe is due; the next one is planned then.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        if now < self.due {
            return false;
        }
        self.sent = self.sent.saturating_add(1);
        let pause = match self.sent < QUICK_PROBES {
            true => QUICK_PAUSE,
            false => PAUSE,
        };
        self.due = now + pause;
        true
    }

    /// How long it is until then.
    pub(super) fn left(&self, now: Instant) -> Duration {
        self.due.saturating_duration_since(now)
    }
}
