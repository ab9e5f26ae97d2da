//! Ctrl-C and SIGTERM end a command by an error, so that everything it has started is stopped and
//! its temporary folders are removed on the way out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, ensure};
use kgauge_client::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts to listen, once per process. A second signal ends the process on the spot.
pub(crate) fn listen() -> Result<()> {
    let requested = REQUESTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        // The order matters: at the first signal the flag is not up yet.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(requested))?;
        flag::register(signal, Arc::clone(requested))?;
    }
    Ok(())
}

/// Raised once the user has asked to stop.
pub(crate) fn interrupt() -> Interrupt {
    Interrupt::from(Arc::clone(REQUESTED.get_or_init(Arc::default)))
}

/// An error once the user has asked to stop.
pub(crate) fn check() -> Result<()> {
    let is_requested = REQUESTED
        .get()
        .is_some_and(|requested| requested.load(Ordering::Relaxed));
    ensure!(!is_requested, "stopped by a signal");
    Ok(())
}
