//! The clocks of real operation; the core gets their readings as arguments.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::time::Now;

/// Reads both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    pub(crate) fn now(self) -> Now {
        let mono_ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            mono_ns,
            wall_ms: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX),
        }
    }
}
