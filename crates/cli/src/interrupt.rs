//! Ctrl-C and SIGTERM: once to end cleanly, twice to end without waiting for answers.

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::print;

pub(crate) use kgauge_runner::StopRequests;

/// Starts to listen for signals. The first one requests the stop, then prints `first`: stderr may be closed or full.
/// The third one ends the process at once.
pub(crate) fn listen(first: &'static str) -> anyhow::Result<StopRequests> {
    let stopping = StopRequests::idle();
    listen_for(first, vec![stopping.clone()])?;
    Ok(stopping)
}

/// As [`listen`], of several runs at the same time.
#[allow(clippy::exit)]
pub(crate) fn listen_for(first: &'static str, runs: Vec<StopRequests>) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot handle Ctrl-C")?;
    let listen = move || {
        for _ in signals.forever() {
            let before = runs.iter().map(StopRequests::request).max();
            match before.unwrap_or(0) {
                0 => print::message_if_ready(&format!("\nkgauge: {first}")),
                1 => print::message_if_ready("\nkgauge: stopping without waiting for answers"),
                _ => std::process::exit(130),
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(())
}
