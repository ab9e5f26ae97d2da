//! The time, which callers pass to the core.

use std::fmt;

/// Nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;

/// A clock that can be read in the middle of a call into the core, monotonic and on the same start as
/// [`Now::mono_ns`]. For what is counted; nothing that the core decides depends on it.
pub trait Stopwatch: fmt::Debug + Send + Sync {
    /// The reading.
    fn mono_ns(&self) -> u64;
}

/// One reading of both clocks. The core never reads a clock itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Now {
    /// Monotonic nanoseconds since some start; timers are measured on it.
    pub mono_ns: u64,
    /// Milliseconds since 1970-01-01 UTC; log append times, retention and committed offsets use it.
    pub wall_ms: i64,
}

impl Now {
    /// The monotonic moment `ms` milliseconds from now; a negative span is none.
    #[must_use]
    pub fn after_ms(self, ms: i64) -> u64 {
        let ms = u64::try_from(ms).unwrap_or(0);
        self.mono_ns.saturating_add(ms.saturating_mul(NS_PER_MS))
    }
}
