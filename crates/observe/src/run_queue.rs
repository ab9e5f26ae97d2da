//! How long the threads of this process, and of its children, waited for a processor.
//!
//! The kernel counts it per thread, in nanoseconds (`schedstat`: time on a processor, time in the queue for one,
//! turns). A sample costs a few microseconds per thread, so it can be taken every few milliseconds. That gives the time
//! of each wait.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::proc_file::{Buffer, ProcFile};

/// The threads and their counters.
#[derive(Debug)]
pub struct RunQueue {
    pid: u32,
    threads: BTreeMap<(u32, u32), Thread>,
    sum: RunQueueSample,
    buffer: Buffer,
}

/// The sum over all threads since the first sample of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunQueueSample {
    /// Time on a processor.
    pub cpu_ns: u64,
    /// Time in the queue for one.
    pub waited_ns: u64,
}

#[derive(Debug)]
struct Thread {
    file: ProcFile,
    last: RunQueueSample,
}

impl RunQueue {
    /// Finds the threads. `None` if the kernel does not count their waits.
    #[must_use]
    pub fn new() -> Option<Self> {
        let mut queue = Self {
            pid: std::process::id(),
            threads: BTreeMap::new(),
            sum: RunQueueSample::default(),
            buffer: Buffer::new(),
        };
        queue.find_threads();
        (!queue.threads.is_empty()).then_some(queue)
    }

    /// Finds new threads and processes.
    pub fn find_threads(&mut self) {
        let own = self.pid;
        let mut pids = vec![own];
        for tid in numbers(format!("/proc/{own}/task")) {
            let children = fs::read_to_string(format!("/proc/{own}/task/{tid}/children"));
            let children = children.unwrap_or_default();
            pids.extend(
                children
                    .split_ascii_whitespace()
                    .filter_map(|it| it.parse::<u32>().ok()),
            );
        }
        for pid in pids {
            for tid in numbers(format!("/proc/{pid}/task")) {
                if !self.threads.contains_key(&(pid, tid)) {
                    self.add(pid, tid);
                }
            }
        }
    }

    fn add(&mut self, pid: u32, tid: u32) {
        let path = format!("/proc/{pid}/task/{tid}/schedstat");
        // It has already ended.
        let Ok(file) = ProcFile::open(path) else {
            return;
        };
        if let Some(last) = file
            .read(&mut self.buffer)
            .ok()
            .and_then(|text| RunQueueSample::parse(&text))
        {
            self.threads.insert((pid, tid), Thread { file, last });
        }
    }

    /// The sum since the first sample. Threads that ended keep their last value.
    pub fn sample(&mut self) -> RunQueueSample {
        let (buffer, sum) = (&mut self.buffer, &mut self.sum);
        self.threads.retain(|_, thread| {
            let text = thread.file.read(buffer);
            let Some(now) = text.ok().and_then(|text| RunQueueSample::parse(&text)) else {
                return false;
            };
            sum.cpu_ns += now.cpu_ns.saturating_sub(thread.last.cpu_ns);
            sum.waited_ns += now.waited_ns.saturating_sub(thread.last.waited_ns);
            thread.last = now;
            true
        });
        *sum
    }
}

/// How long any task of the machine has waited for storage so far. `None` if the kernel does not report it.
#[must_use]
pub fn storage_wait_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/pressure/io").ok()?;
    crate::pressure::parse(&text).map(|(some_ns, _)| some_ns)
}

/// The entries of a folder that are numbers.
pub(crate) fn numbers(dir: impl AsRef<Path>) -> Vec<u32> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

impl RunQueueSample {
    /// Reads `schedstat` (the kernel's "Scheduler Statistics").
    pub(crate) fn parse(text: &str) -> Option<RunQueueSample> {
        let mut fields = text.split_ascii_whitespace().map(str::parse);
        Some(RunQueueSample {
            cpu_ns: fields.next()?.ok()?,
            waited_ns: fields.next()?.ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_and_others_are_refused() {
        let expected = RunQueueSample {
            cpu_ns: 52_421_829,
            waited_ns: 120_261_584,
        };
        assert_eq!(
            RunQueueSample::parse("52421829 120261584 43\n"),
            Some(expected)
        );
        for hostile in ["", "1", "1 x 3", "-1 2 3"] {
            assert_eq!(RunQueueSample::parse(hostile), None, "{hostile}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_threads_time_is_counted() {
        let Some(mut queue) = RunQueue::new() else {
            return;
        };
        let first = queue.sample();
        let mut sum = 0_u64;
        // Until the kernel has counted some of it.
        while queue.sample().cpu_ns == first.cpu_ns {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert!(queue.sample().cpu_ns > first.cpu_ns);
    }
}
