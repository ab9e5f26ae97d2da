//! A client that runs while others act.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::checks::Transcript;
use crate::kafka::poll;
use crate::kgauge::Background;

/// Nothing that is waited for here takes longer, even when the machine is busy.
const TIME_MAX: Duration = Duration::from_secs(120);

/// A client in the background; dropping it ends it.
#[derive(Debug)]
pub(super) struct Follower {
    name: &'static str,
    background: Background,
}

impl Follower {
    /// Starts it; `folder` gets its streams, in files of that name.
    pub(super) fn start(name: &'static str, command: Command, folder: &Path) -> Result<Follower> {
        let background = Background::start(name, command, &folder.join(name))?;
        Ok(Follower { name, background })
    }

    /// What it printed so far.
    pub(super) fn stdout(&self) -> Result<String> {
        read(&self.background.stdout)
    }

    /// What it complained of so far.
    pub(super) fn stderr(&self) -> Result<String> {
        read(&self.background.stderr)
    }

    /// An error when it has ended, which it should not by itself.
    pub(super) fn check(&self) -> Result<()> {
        match self.background.running.ended()? {
            Some(status) => bail!("{} ended too early: {status}", self.name),
            None => Ok(()),
        }
    }

    /// Ends it in order, with SIGTERM.
    pub(super) fn end(&self) -> Result<()> {
        self.background.running.signal(Signal::TERM)?;
        let ended = self.background.running.wait(TIME_MAX)?;
        ended.with_context(|| format!("{} still runs after SIGTERM", self.name))?;
        Ok(())
    }

    /// Adds its stdout and stderr to a transcript.
    pub(super) fn log_lines(&self, log: &mut Transcript) {
        for path in [&self.background.stdout, &self.background.stderr] {
            let text = fs::read_to_string(path).unwrap_or_default();
            log.note(&format!("--- {}\n{text}", path.display()));
        }
    }
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits until `holds` returns true; the error at the time limit names `what`. A follower that ends is an error, too.
pub(super) fn wait_until(
    what: &str,
    followers: &[&Follower],
    mut holds: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let seen = poll(TIME_MAX, || {
        if holds()? {
            return Ok(Some(()));
        }
        for follower in followers {
            follower.check()?;
        }
        Ok(None)
    })?;
    seen.with_context(|| format!("not after {TIME_MAX:?}: {what}"))
}
