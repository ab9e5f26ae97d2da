//! Processes and their CPU time, as Linux reports them in `/proc/PID/stat` (proc_pid_stat(5)).

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    parent: u32,
    /// User and system time of all its threads, in clock ticks.
    pub(crate) ticks: u64,
    /// The same of its children that have ended and that it has waited for.
    children_ticks: u64,
    pub(crate) resident_pages: u64,
}

impl ProcessEntry {
    /// Fields 4 (ppid), 14 to 17 (utime, stime, cutime, cstime) and 24 (rss). Field 2, the program's name in brackets,
    /// may hold anything.
    fn parse(stat: &str) -> Option<ProcessEntry> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(ProcessEntry {
            parent: u32::try_from(field(4)?).ok()?,
            ticks: field(14)? + field(15)?,
            children_ticks: field(16)? + field(17)?,
            resident_pages: field(24)?,
        })
    }
}

/// CPU time of all child processes that have ended and that this process has waited for.
pub(crate) fn cpu_of_ended_children() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat");
    let stat = stat.context("CPU times of children are read from /proc, so only on Linux")?;
    let own = ProcessEntry::parse(&stat).context("/proc/self/stat has changed its form")?;
    cpu_time(own.children_ticks)
}

/// Clock ticks as a time; most kernels count 100 per second.
pub(crate) fn cpu_time(ticks: u64) -> Result<Duration> {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(per_second);
    Ok(Duration::from_nanos(u64::try_from(nanos)?))
}

/// A process, its children and theirs, by their ids.
pub(crate) fn tree(root: u32) -> Result<BTreeMap<u32, ProcessEntry>> {
    let all = all()?;
    let mut found = BTreeMap::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        let Some(process) = all.get(&pid) else {
            continue;
        };
        found.insert(pid, *process);
        let children = all.iter().filter(|(_, child)| child.parent == pid);
        open.extend(children.map(|(pid, _)| *pid));
    }
    Ok(found)
}

fn all() -> Result<BTreeMap<u32, ProcessEntry>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc").context("processes are read from /proc, so only on Linux")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(pid) = name.and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process that has ended meanwhile has no file.
        let stat = fs::read_to_string(path.join("stat")).ok();
        if let Some(process) = stat.and_then(|stat| ProcessEntry::parse(&stat)) {
            all.insert(pid, process);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::kafka::ChildProcess;

    #[test]
    fn the_fields_are_counted_from_behind_the_name() {
        let stat = "7 (a) b) S 5 7 7 0 -1 4194560 100 200 0 0 11 12 130 40 20 0 1 0 99 1000 321 0";
        let expected = ProcessEntry {
            parent: 5,
            ticks: 23,
            children_ticks: 170,
            resident_pages: 321,
        };
        assert_eq!(ProcessEntry::parse(stat), Some(expected));
        assert_eq!(ProcessEntry::parse("7 (a) S 1"), None);
    }

    #[test]
    fn children_and_their_children_are_found() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & wait"]);
        let shell = ChildProcess::start("sh", &mut shell).unwrap();
        while tree(shell.id()).unwrap().len() < 2 {
            std::thread::yield_now();
        }
        let found = tree(shell.id()).unwrap();
        assert_eq!(found.len(), 2);
        let own = tree(std::process::id()).unwrap();
        assert!(found.keys().all(|pid| own.contains_key(pid)));
        let sleep = *found.keys().find(|pid| **pid != shell.id()).unwrap();
        let sleep = Pid::from_raw(i32::try_from(sleep).unwrap()).unwrap();
        kill_process(sleep, Signal::KILL).unwrap();
    }
}
