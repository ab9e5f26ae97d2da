//! A cluster that `kgauge cluster up` serves, and what its processes spend.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use crate::kgauge::{Background, Kgauge};

const END_MAX: Duration = Duration::from_secs(60);

/// A cluster that serves.
#[derive(Debug)]
pub(super) struct ServedCluster {
    /// As `--target` names it.
    pub(super) target: String,
    pub(super) servers: String,
    background: Background,
}

/// A process as Linux tells of it (proc_pid_stat(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    parent: u32,
    /// User and system time of all its threads, in clock ticks.
    ticks: u64,
    resident_pages: u64,
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

    /// CPU that all its processes have spent so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        let ticks: u64 = self.processes()?.iter().map(|one| one.ticks).sum();
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(per_second);
        Ok(Duration::from_nanos(u64::try_from(nanos)?))
    }

    /// What its largest process has in memory: for an embedded cluster the one with all nodes.
    pub(super) fn resident_bytes(&self) -> Result<u64> {
        let processes = self.processes()?;
        let pages = processes.iter().map(|one| one.resident_pages).max();
        Ok(pages.unwrap_or(0) * rustix::param::page_size() as u64)
    }

    /// The kgauge that serves it and all that it has started.
    fn processes(&self) -> Result<Vec<Process>> {
        let all = all_processes()?;
        let root = self.background.running.id();
        let ours = |pid: u32| {
            let mut at = pid;
            // No tree of processes is as deep as there are processes.
            for _ in 0..all.len() {
                if at == root {
                    return true;
                }
                match all.get(&at) {
                    Some(process) => at = process.parent,
                    None => return false,
                }
            }
            false
        };
        let found = all.iter().filter(|(pid, _)| ours(**pid));
        Ok(found.map(|(_, process)| *process).collect())
    }
}

fn all_processes() -> Result<BTreeMap<u32, Process>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc").context("processes are read from /proc, so only on Linux")? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(pid) = name.and_then(|name| name.parse().ok()) else {
            continue;
        };
        // One that has ended meanwhile is none.
        let process = fs::read_to_string(path.join("stat")).ok();
        if let Some(process) = process.and_then(|stat| parse(&stat)) {
            all.insert(pid, process);
        }
    }
    Ok(all)
}

/// Fields 4 (ppid), 14 and 15 (utime, stime) and 24 (rss) of proc_pid_stat(5); field 2, the
/// program's name in brackets, may hold anything.
fn parse(stat: &str) -> Option<Process> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Process {
        parent: u32::try_from(field(4)?).ok()?,
        ticks: field(14)? + field(15)?,
        resident_pages: field(24)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_counted_from_behind_the_name() {
        let stat = "7 (a) b) S 5 7 7 0 -1 4194560 100 200 0 0 11 12 130 40 20 0 1 0 99 1000 321 0";
        let expected = Process {
            parent: 5,
            ticks: 23,
            resident_pages: 321,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("7 (a) S 1"), None);
    }

    #[test]
    fn this_process_is_among_all() {
        assert!(all_processes().unwrap().contains_key(&std::process::id()));
    }
}
