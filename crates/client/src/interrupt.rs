//! Cancels waits for brokers from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest uninterruptible wait: Ctrl-C must end a run within a second.
pub(crate) const WAIT_SLICE: Duration = Duration::from_millis(100);

/// A flag that any thread or signal handler raises; clones share it.
///
/// Every wait of this crate, for bytes or between retries, checks it ten times per second.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A new flag, which is not raised.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Ends all waits on this flag and its clones.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Resets it, for later waits.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits for `pause`, until `deadline`, or until the flag is raised.
    pub(crate) fn sleep(&self, pause: Duration, deadline: Instant) {
        let end = (Instant::now() + pause).min(deadline);
        while !self.is_raised() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(WAIT_SLICE));
        }
    }
}

impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt(flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_flag_ends_a_sleep_at_once() {
        let interrupt = Interrupt::new();
        interrupt.clone().raise();
        let start = Instant::now();
        interrupt.sleep(Duration::from_secs(60), start + Duration::from_secs(60));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
