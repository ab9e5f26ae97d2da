//! One process on this machine: its CPU time, memory, storage and threads.
//!
//! Sources: proc(5), `/proc/pid/stat`, `/proc/pid/io` and `/proc/pid/task`.

use std::io;
use std::path::{Path, PathBuf};

use crate::proc_file::ProcFile;
use crate::process_clock::{ProcessClock, Split};
use crate::run_queue::RunQueueSample;

/// A `stat` file has some 50 numbers and a name of at most 64 bytes.
const STAT_BYTES_MAX: usize = 2048;

/// Samples a process repeatedly.
#[derive(Debug)]
pub struct ProcessSampler {
    pid: u32,
    dir: PathBuf,
    /// Stays with its process: reading fails if another process gets the same number later.
    stat: ProcFile,
    clock: ProcessClock,
    open_files: PathBuf,
    tick_ns: u64,
    page_bytes: u64,
}

/// Resources used by a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSample {
    /// CPU time in user mode of all its threads, including those that ended. The sum with the kernel's part is exact;
    /// the split has the precision of ticks, usually 10 ms.
    pub user_ns: u64,
    /// CPU time in the kernel, likewise.
    pub system_ns: u64,
    /// Resident memory. A process that ended and was not waited for has none.
    pub resident_bytes: u64,
    /// Current number of threads.
    pub threads: u64,
    /// Pages read from a disk.
    pub major_faults: u64,
}

/// CPU use of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSample {
    /// The kernel's thread number.
    pub tid: u32,
    /// At most 15 bytes of its name.
    pub name: String,
    /// CPU time in user mode, in ticks, usually of 10 ms.
    pub user_ns: u64,
    /// CPU time in the kernel, likewise.
    pub system_ns: u64,
    /// How long it was runnable without a processor; `None` if the kernel does not count it.
    pub waited_ns: Option<u64>,
}

/// Why a process could not be sampled.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The process does not exist, or no longer.
    #[error("process {pid} has exited")]
    Gone {
        /// The process number.
        pid: u32,
    },
    /// This system does not provide the data.
    #[error("CPU and memory of processes are only available on Linux")]
    Unavailable,
    /// The kernel's file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// The kernel's file has an unexpected format.
    #[error("{} has an unexpected format", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
}

impl ProcessSampler {
    /// A sampler for the process with this number.
    pub fn new(pid: u32) -> Result<ProcessSampler, ProcessError> {
        if !cfg!(target_os = "linux") {
            return Err(ProcessError::Unavailable);
        }
        let dir = PathBuf::from(format!("/proc/{pid}"));
        let path = dir.join("stat");
        let stat = ProcFile::open(&path).map_err(|error| failed(pid, &path, error))?;
        Ok(ProcessSampler {
            pid,
            stat,
            clock: ProcessClock::of(pid),
            open_files: dir.join("fd"),
            dir,
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            page_bytes: rustix::param::page_size() as u64,
        })
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The process's resources so far.
    pub fn sample(&self) -> Result<ProcessSample, ProcessError> {
        self.stat(|stat| {
            let cpu = self.clock.split(Split {
                user_ns: stat.user_ticks.saturating_mul(self.tick_ns),
                system_ns: stat.system_ticks.saturating_mul(self.tick_ns),
            });
            ProcessSample {
                user_ns: cpu.user_ns,
                system_ns: cpu.system_ns,
                resident_bytes: stat.resident_pages.saturating_mul(self.page_bytes),
                threads: stat.threads,
                major_faults: stat.major_faults,
            }
        })
    }

    /// The number of open files and sockets. Since Linux 6.2 it is the size of the kernel's folder; before, all entries
    /// must be listed.
    pub(crate) fn open_files(&self) -> Option<u64> {
        let facts = std::fs::metadata(&self.open_files).ok()?;
        Some(facts.len()).filter(|count| *count > 0)
    }

    /// CPU use of each of its threads so far.
    pub fn threads(&self) -> Result<Vec<ThreadSample>, ProcessError> {
        self.stat(|_| ())?;
        let path = self.dir.join("task");
        let entries = std::fs::read_dir(&path).map_err(|error| failed(self.pid, &path, error))?;
        let mut threads = Vec::new();
        for entry in entries.flatten() {
            let tid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            // A thread may end between the two samples.
            let text = std::fs::read(entry.path().join("stat"));
            let (Some(tid), Ok(text)) = (tid, text) else {
                continue;
            };
            if let Some(stat) = ProcessStat::parse(&String::from_utf8_lossy(&text)) {
                threads.push(ThreadSample {
                    tid,
                    name: stat.name.to_owned(),
                    user_ns: stat.user_ticks.saturating_mul(self.tick_ns),
                    system_ns: stat.system_ticks.saturating_mul(self.tick_ns),
                    waited_ns: std::fs::read_to_string(entry.path().join("schedstat"))
                        .ok()
                        .and_then(|text| Some(RunQueueSample::parse(&text)?.waited_ns)),
                });
            }
        }
        threads.sort_by_key(|thread| thread.tid);
        Ok(threads)
    }

    /// How long each of its threads was runnable without a processor, by the kernel's number; none if the kernel does
    /// not count it.
    pub(crate) fn waits(&self) -> Vec<(u32, u64)> {
        let Ok(entries) = std::fs::read_dir(self.dir.join("task")) else {
            return Vec::new();
        };
        let waits = entries.flatten().filter_map(|entry| {
            let tid = entry.file_name().to_str()?.parse().ok()?;
            let text = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
            Some((tid, RunQueueSample::parse(&text)?.waited_ns))
        });
        waits.collect()
    }

    fn stat<T>(&self, take: impl FnOnce(ProcessStat<'_>) -> T) -> Result<T, ProcessError> {
        let mut bytes = [0; STAT_BYTES_MAX];
        let path = self.stat.path();
        let length = self.stat.fill(&mut bytes);
        let length = length.map_err(|error| failed(self.pid, path, error))?;
        // A name that was cut to 15 bytes may end within a character.
        let text = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
        let stat = ProcessStat::parse(&text).ok_or_else(|| ProcessError::Format {
            path: path.to_owned(),
        })?;
        Ok(take(stat))
    }
}

fn failed(pid: u32, path: &Path, error: io::Error) -> ProcessError {
    // A process that ends while its file is read gives ESRCH.
    let gone = error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error());
    if gone {
        ProcessError::Gone { pid }
    } else {
        ProcessError::Unreadable {
            path: path.to_owned(),
            error,
        }
    }
}

/// The fields of a `stat` file that are used here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessStat<'a> {
    pub(crate) name: &'a str,
    pub(crate) parent: u32,
    major_faults: u64,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    /// Of children that ended and were waited for, in user mode and in the kernel.
    pub(crate) children_ticks: u64,
    /// Start time since boot.
    pub(crate) start_ticks: u64,
    threads: u64,
    resident_pages: u64,
}

impl<'a> ProcessStat<'a> {
    pub(crate) fn parse(text: &'a str) -> Option<ProcessStat<'a>> {
        // The name is in parentheses and may contain parentheses: the last one closes it.
        let (start, end) = (text.find('(')?, text.rfind(')')?);
        let name = text.get(start + 1..end)?;
        let mut stat = ProcessStat {
            name,
            ..ProcessStat::default()
        };
        // Field 3, the state, is the first after the name.
        let mut fields = (3..).zip(text.get(end + 1..)?.split_ascii_whitespace());
        for (number, field) in &mut fields {
            if number == 4 {
                stat.parent = field.parse().ok()?;
                continue;
            }
            let place = match number {
                12 => &mut stat.major_faults,
                14 => &mut stat.user_ticks,
                15 => &mut stat.system_ticks,
                16 | 17 => {
                    stat.children_ticks = stat.children_ticks.saturating_add(field.parse().ok()?);
                    continue;
                }
                20 => &mut stat.threads,
                22 => &mut stat.start_ticks,
                24 => &mut stat.resident_pages,
                _ => continue,
            };
            *place = field.parse().ok()?;
            if number == 24 {
                return Some(stat);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "10388 (a) b (c)) S 10379 10388 10388 0 -1 4194560 16733 4478490 3 1211 \
                        10 8 13634 1800 20 0 1 0 92322 5640192 1134 18446744073709551615 0 0\n";

    #[test]
    fn names_with_parentheses_do_not_shift_the_fields() {
        let stat = ProcessStat::parse(STAT).unwrap();
        assert_eq!(stat.name, "a) b (c)");
        assert_eq!((stat.user_ticks, stat.system_ticks), (10, 8));
        assert_eq!((stat.parent, stat.children_ticks), (10_379, 15_434));
        assert_eq!(stat.start_ticks, 92_322);
        assert_eq!((stat.major_faults, stat.threads), (3, 1));
        assert_eq!(stat.resident_pages, 1134);
    }

    #[test]
    fn lines_that_no_kernel_writes_are_refused() {
        let huge = format!("1 (x) S {}", "99999999999999999999 ".repeat(40));
        for hostile in ["", "1 (x) S 1 2 3", ")(", "(", ") 1", "1 () ", &huge] {
            assert_eq!(ProcessStat::parse(hostile), None, "{hostile}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_seen_working() {
        let sampler = ProcessSampler::new(std::process::id()).unwrap();
        let before = sampler.sample().unwrap();
        assert!(before.resident_bytes > 100_000 && before.threads > 0);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let worker = std::thread::Builder::new().name("load-7".to_owned());
        let is_running = move || receiver.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty);
        let worker = worker.spawn(move || while is_running() {}).unwrap();
        // Both counters advance in ticks, so the test reads them until they do.
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
