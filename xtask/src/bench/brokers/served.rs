//! A cluster that `kgauge cluster up` serves, and what its processes spend.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use crate::kgauge::{Background, Kgauge};
use crate::processes::{cpu_time, tree};

const END_MAX: Duration = Duration::from_secs(60);

/// A cluster that serves.
#[derive(Debug)]
pub(super) struct ServedCluster {
    /// As `--target` names it.
    pub(super) target: String,
    pub(super) servers: String,
    background: Background,
}

impl ServedCluster {
    /// Starts one and waits until it serves.
    pub(super) fn start(binary: &Path, work: &Path, target: &str) -> Result<ServedCluster> {
        ServedCluster::start_with(binary, work, target, &[])
    }

    /// The same with further arguments.
    pub(super) fn start_with(
        binary: &Path,
        work: &Path,
        target: &str,
        more: &[&str],
    ) -> Result<ServedCluster> {
        let kgauge = Kgauge {
            binary,
            folder: work,
        };
        let arguments = [&["cluster", "up", target], more].concat();
        let name: String = target.chars().filter(char::is_ascii_alphanumeric).collect();
        let background = kgauge.start(&name, &arguments)?;
        let servers = background.servers();
        let servers = servers.with_context(|| background.text())?;
        Ok(ServedCluster {
            target: target.to_owned(),
            servers,
            background,
        })
    }

    /// Ends it in order.
    pub(super) fn end(self) -> Result<()> {
        self.background.running.signal(Signal::INT)?;
        let ended = self.background.running.wait(END_MAX)?;
        let output = || self.background.text();
        let status = ended.with_context(|| format!("{} still runs\n{}", self.target, output()))?;
        let words = || format!("{} ended with {status}\n{}", self.target, output());
        ensure!(status.success(), words());
        Ok(())
    }

    /// CPU time of the kgauge that serves it and of all that it has started, so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        let processes = tree(self.background.running.id())?;
        cpu_time(processes.values().map(|process| process.ticks).sum())
    }

    /// What its largest process has in memory: for an embedded cluster the one with all nodes.
    pub(super) fn resident_bytes(&self) -> Result<u64> {
        let processes = tree(self.background.running.id())?;
        let pages = processes.values().map(|process| process.resident_pages);
        let pages = pages.max();
        Ok(pages.unwrap_or(0) * rustix::param::page_size() as u64)
    }
}
