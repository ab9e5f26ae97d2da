//! One process on this machine: its CPU time, its memory, its threads.
//!
//! Facts: proc(5), `/proc/pid/stat`, `/proc/pid/status` and `/proc/pid/task`.

use std::io;
use std::path::{Path, PathBuf};

/// Looks at one process again and again.
#[derive(Debug)]
pub struct ProcessSampler {
    pid: u32,
    dir: PathBuf,
    /// When it began, in ticks since boot: another process may get the same pid later.
    started: u64,
    tick_ns: u64,
}

/// What a process has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSample {
    /// CPU time in user mode of all its threads, those that ended included. The kernel counts it
    /// in ticks, usually of 10 ms.
    pub user_ns: u64,
    /// CPU time in the kernel, likewise.
    pub system_ns: u64,
    /// Memory that it holds now.
    pub resident_bytes: u64,
}

/// What one thread has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSample {
    /// The kernel's number.
    pub tid: u32,
    /// Its name, at most 15 bytes of it.
    pub name: String,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
}

/// Why a process could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such process, or no longer.
    #[error("process {pid} is not there (any more)")]
    Gone {
        /// Its number.
        pid: u32,
    },
    /// This system does not tell.
    #[error("CPU and memory of processes cannot be had: kgauge reads them on Linux only")]
    Unavailable,
    /// The kernel's file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },
    /// The kernel's file does not look as expected.
    #[error("{} does not look as expected", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
}

impl ProcessSampler {
    /// A sampler for the process of that number.
    pub fn new(pid: u32) -> Result<ProcessSampler, ProcessError> {
        if !cfg!(target_os = "linux") {
            return Err(ProcessError::Unavailable);
        }
        let dir = PathBuf::from(format!("/proc/{pid}"));
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let mut sampler = ProcessSampler {
            pid,
            dir,
            started: 0,
            tick_ns,
        };
        sampler.started = sampler.stat()?.started;
        Ok(sampler)
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What the process has used so far.
    pub fn sample(&self) -> Result<ProcessSample, ProcessError> {
        let stat = self.stat()?;
        let path = self.dir.join("status");
        let status = self.read(&path)?;
        Ok(ProcessSample {
            user_ns: stat.user_ticks.saturating_mul(self.tick_ns),
            system_ns: stat.system_ticks.saturating_mul(self.tick_ns),
            // A process that has ended but was not waited for holds nothing.
            resident_bytes: resident_bytes(&status).unwrap_or(0),
        })
    }

    /// What each of its threads has used so far.
    pub fn threads(&self) -> Result<Vec<ThreadSample>, ProcessError> {
        self.stat()?;
        let path = self.dir.join("task");
        let entries = std::fs::read_dir(&path).map_err(|error| self.failed(&path, error))?;
        let mut threads = Vec::new();
        for entry in entries.flatten() {
            let tid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            // A thread may end between the two looks.
            let text = std::fs::read_to_string(entry.path().join("stat"));
            let (Some(tid), Ok(text)) = (tid, text) else {
                continue;
            };
            if let Some(stat) = Stat::parse(&text) {
                threads.push(ThreadSample {
                    tid,
                    name: stat.name.to_owned(),
                    user_ns: stat.user_ticks.saturating_mul(self.tick_ns),
                    system_ns: stat.system_ticks.saturating_mul(self.tick_ns),
                });
            }
        }
        threads.sort_by_key(|thread| thread.tid);
        Ok(threads)
    }

    fn stat(&self) -> Result<Counters, ProcessError> {
        let path = self.dir.join("stat");
        let text = self.read(&path)?;
        let stat = Stat::parse(&text).ok_or(ProcessError::Format { path })?;
        if self.started != 0 && stat.started != self.started {
            return Err(ProcessError::Gone { pid: self.pid });
        }
        Ok(Counters {
            user_ticks: stat.user_ticks,
            system_ticks: stat.system_ticks,
            started: stat.started,
        })
    }

    fn read(&self, path: &Path) -> Result<String, ProcessError> {
        std::fs::read_to_string(path).map_err(|error| self.failed(path, error))
    }

    fn failed(&self, path: &Path, error: io::Error) -> ProcessError {
        // A process that ends while its file is read gives ESRCH.
        let gone = error.kind() == io::ErrorKind::NotFound
            || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error());
        match gone {
            true => ProcessError::Gone { pid: self.pid },
            false => ProcessError::Unreadable {
                path: path.to_owned(),
                error,
            },
        }
    }
}

struct Counters {
    user_ticks: u64,
    system_ticks: u64,
    started: u64,
}

/// The fields of a `stat` file that count here.
struct Stat<'a> {
    name: &'a str,
    user_ticks: u64,
    system_ticks: u64,
    started: u64,
}

impl<'a> Stat<'a> {
    fn parse(text: &'a str) -> Option<Stat<'a>> {
        // The name stands in parentheses and may hold some itself: the last one closes it.
        let (start, end) = (text.find('(')?, text.rfind(')')?);
        let name = text.get(start + 1..end)?;
        // Field 3, the state, comes first; so field n has the index n - 3.
        let fields: Vec<&str> = text.get(end + 1..)?.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse().ok();
        Some(Stat {
            name,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            started: number(22)?,
        })
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "10388 (a) b (c)) S 10379 10388 10388 0 -1 4194560 16733 4478490 0 1211 \
                        10 8 13634 1800 20 0 1 0 92322 5640192 1134 18446744073709551615 0 0\n";

    #[test]
    fn names_with_parentheses_do_not_shift_the_fields() {
        let stat = Stat::parse(STAT).unwrap();
        assert_eq!(stat.name, "a) b (c)");
        assert_eq!(
            (stat.user_ticks, stat.system_ticks, stat.started),
            (10, 8, 92322)
        );
        assert!(Stat::parse("1 (x) S 1 2 3").is_none());
        assert!(Stat::parse("").is_none());
    }

    #[test]
    fn resident_memory_is_told_in_bytes() {
        assert_eq!(
            resident_bytes("Name:\tx\nVmRSS:\t    4536 kB\n"),
            Some(4_644_864)
        );
        assert_eq!(resident_bytes("Name:\tzombie\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_seen_working() {
        let sampler = ProcessSampler::new(std::process::id()).unwrap();
        let before = sampler.sample().unwrap();
        assert!(before.resident_bytes > 100_000);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let worker = std::thread::Builder::new().name("load-7".to_owned());
        let still_wanted = move || receiver.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty);
        let worker = worker.spawn(move || while still_wanted() {}).unwrap();
        // Both counters move in ticks, so they are looked at until they do.
        let thread_ns = || {
            let threads = sampler.threads().unwrap();
            let seen = threads.iter().find(|thread| thread.name == "load-7");
            seen.map_or(0, |thread| thread.user_ns + thread.system_ns)
        };
        while thread_ns() == 0 {
            std::thread::yield_now();
        }
        let used = |sample: ProcessSample| sample.user_ns + sample.system_ns;
        while used(sampler.sample().unwrap()) == used(before) {
            std::thread::yield_now();
        }
        drop(sender);
        worker.join().unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_ended_is_gone() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let sampler = ProcessSampler::new(child.id());
        child.wait().unwrap();
        let error = match sampler {
            Ok(sampler) => sampler.sample().unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, ProcessError::Gone { .. }), "{error}");
    }
}
