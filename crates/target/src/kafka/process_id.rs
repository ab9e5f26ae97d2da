//! Processes by number and start time, so that none is mistaken for another.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// A process that cannot be mistaken for a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// The kernel's number.
    pub pid: u32,
    /// Its start time, in ticks since the machine's.
    pub started_ticks: u64,
}

impl ProcessId {
    /// The current process with this pid.
    pub fn of(pid: u32) -> Option<ProcessId> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain anything; the 22nd field is the 20th after it.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        // A zombie has ended, even if nobody has waited for it.
        if fields.next()? == "Z" {
            return None;
        }
        let started_ticks = fields.nth(18)?.parse().ok()?;
        Some(ProcessId { pid, started_ticks })
    }

    /// The current process.
    pub fn own() -> Option<ProcessId> {
        ProcessId::of(std::process::id())
    }

    /// Whether it is still running.
    pub fn is_alive(self) -> bool {
        ProcessId::of(self.pid) == Some(self)
    }

    /// Sends it a signal, if it is still running.
    pub(crate) fn signal(self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_alive()) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Processes whose command line contains this folder.
pub(crate) fn of_folder(dir: &Path) -> Vec<ProcessId> {
    let mut folder = dir.as_os_str().as_encoded_bytes().to_vec();
    folder.push(b'/');
    let own = std::process::id();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != own);
    let names = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut arguments = line.split(|byte| *byte == 0);
        // Only Java: an editor with a file of the folder must not match.
        let is_java = arguments.next().is_some_and(|name| name.ends_with(b"java"));
        is_java && line.windows(folder.len()).any(|window| window == folder)
    };
    pids.filter(names).filter_map(ProcessId::of).collect()
}
