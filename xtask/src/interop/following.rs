//! A client that goes on while others act: its streams lie in files that are read as they grow.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::checks::Transcript;
use crate::kafka::{ChildProcess, poll};

/// Nothing that is waited for here takes longer, even when the machine is busy.
const TIME_MAX: Duration = Duration::from_secs(120);

/// A client in the background; dropping it ends it.
#[derive(Debug)]
pub(super) struct Follower {
    name: &'static str,
    running: ChildProcess,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Follower {
    /// Starts it; `folder` gets its streams, in files of that name.
    pub(super) fn start(
        name: &'static str,
        mut command: Command,
        folder: &Path,
    ) -> Result<Follower> {
        let path = |ending: &str| folder.join(format!("{name}.{ending}"));
        let (stdout, stderr) = (path("stdout"), path("stderr"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?);
        let running = ChildProcess::start(name, &mut command)?;
        Ok(Follower {
            name,
            running,
            stdout,
            stderr,
        })
    }

    /// What it printed so far.
    pub(super) fn stdout(&self) -> Result<String> {
        read(&self.stdout)
    }

    /// What it complained of so far.
    pub(super) fn stderr(&self) -> Result<String> {
        read(&self.stderr)
    }

    /// An error when it has ended, which it should not by itself.
    pub(super) fn check(&self) -> Result<()> {
        match self.running.ended()? {
            Some(status) => bail!("{} ended too early: {status}", self.name),
            None => Ok(()),
        }
    }

    /// Ends it in order, with SIGTERM.
    pub(super) fn end(&self) -> Result<()> {
        self.running.signal(Signal::TERM)?;
        let ended = self.running.wait(TIME_MAX)?;
        ended.with_context(|| format!("{} still runs after SIGTERM", self.name))?;
        Ok(())
    }

    /// Adds its stdout and stderr to a transcript.
    pub(super) fn log_lines(&self, log: &mut Transcript) {
        for path in [&self.stdout, &self.stderr] {
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
