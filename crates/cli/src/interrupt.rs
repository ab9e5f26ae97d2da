//! Ctrl-C and SIGTERM: once to end cleanly, twice to end without waiting for answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context;
use kgauge_client::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::print;

/// What the user has asked for so far.
#[derive(Debug, Clone)]
pub(crate) struct StopRequests {
    /// Raised by the first signal: the load ends, what was created is deleted, the report written.
    pub(crate) load: Interrupt,
    /// Raised by the second: nothing is waited for any more but the deletion of topics.
    pub(crate) all: Interrupt,
    signals: Arc<AtomicU32>,
}

impl StopRequests {
    /// Nobody has asked, and no signal is listened to.
    pub(crate) fn idle() -> Self {
        Self {
            load: Interrupt::new(),
            all: Interrupt::new(),
            signals: Arc::new(AtomicU32::new(0)),
        }
    }

    /// Whether the user asked to stop.
    pub(crate) fn is_wanted(&self) -> bool {
        self.signals.load(Ordering::Relaxed) > 0
    }

    /// Lets the next load begin, after one that was ended for another reason than a signal.
    pub(crate) fn let_next_begin(&self) {
        if self.is_wanted() {
            return;
        }
        self.load.lower();
        // A signal that came in between has raised what was just taken back.
        if self.is_wanted() {
            self.load.raise();
        }
    }
}

/// Starts to listen; `first` is said at the first signal, once the stop is raised: stderr may be closed or full. A
/// third ends the process on the spot.
#[allow(clippy::exit)]
pub(crate) fn listen(first: &'static str) -> anyhow::Result<StopRequests> {
    let stopping = StopRequests::idle();
    let told = stopping.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot handle Ctrl-C")?;
    let listen = move || {
        for _ in signals.forever() {
            match told.signals.fetch_add(1, Ordering::Relaxed) {
                0 => {
                    told.load.raise();
                    print::message_if_ready(&format!("\nkgauge: {first}"));
                }
                1 => {
                    told.all.raise();
                    print::message_if_ready("\nkgauge: stopping without waiting for answers");
                }
                _ => std::process::exit(130),
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(stopping)
}
