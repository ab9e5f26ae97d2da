//! The wish to stop a run, which anybody may express: a signal handler, a test, another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kgauge_client::Interrupt;

/// How often somebody has asked a run to stop. Clones share the count.
#[derive(Debug, Clone)]
pub struct StopRequests {
    /// Raised by the first request: the load ends, what was created is deleted, the report written.
    pub load: Interrupt,
    /// Raised by the second: the run waits for nothing but the deletion of topics.
    pub all: Interrupt,
    count: Arc<AtomicU32>,
}

impl StopRequests {
    /// Nobody has asked.
    pub fn idle() -> Self {
        Self {
            load: Interrupt::new(),
            all: Interrupt::new(),
            count: Arc::new(AtomicU32::new(0)),
        }
    }

    /// Asks to stop; returns how often that was done before.
    pub fn request(&self) -> u32 {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        match before {
            0 => self.load.raise(),
            _ => self.all.raise(),
        }
        before
    }

    /// Whether somebody asked to stop.
    pub fn is_wanted(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Lets the next load begin, after one that was ended for another reason than a request.
    pub fn let_next_begin(&self) {
        if self.is_wanted() {
            return;
        }
        self.load.lower();
        // A request that came in between has raised what was just taken back.
        if self.is_wanted() {
            self.load.raise();
        }
    }
}
