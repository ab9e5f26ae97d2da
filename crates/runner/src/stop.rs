//! Requests to stop a run, from a signal handler, a test or another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kgauge_client::Interrupt;

/// The number of requests to stop a run. Clones share the count.
#[derive(Debug, Clone)]
pub struct StopRequests {
    /// Raised by the first request: the load ends, what was created is deleted, the report written.
    pub load: Interrupt,
    /// Raised by the second: the run only waits for the deletion of topics.
    pub all: Interrupt,
    count: Arc<AtomicU32>,
}

impl StopRequests {
    /// No request so far.
    pub fn idle() -> Self {
        Self {
            load: Interrupt::new(),
            all: Interrupt::new(),
            count: Arc::new(AtomicU32::new(0)),
        }
    }

    /// Requests a stop; returns the number of earlier requests.
    pub fn request(&self) -> u32 {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        match before {
            0 => self.load.raise(),
            _ => self.all.raise(),
        }
        before
    }

    /// Whether a stop was requested.
    pub fn is_wanted(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Lets the next load start after one that did not end because of a request.
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
