//! CPU time that a Java process spends on compiling: most of what a cold broker does.
//!
//! HotSpot names its compiler threads `C1 CompilerThread0` and `C2 CompilerThread0`, and from Java 9 on also tells the
//! kernel, which keeps 15 bytes. Threads of earlier releases, and native programs, have no such names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::cpu_track::CpuTrack;
use crate::proc_file::{Buffer, ProcFile};
use crate::run_queue::{RunQueueSample, numbers};

/// How the names of compiler threads begin: HotSpot's own, and Graal in HotSpot.
const NAMES: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JVMCI Compiler"];

/// The JVM starts and ends these threads as they are needed, so new ones are looked for so often.
const LISTED_EACH_NS: u64 = 1_000_000_000;

/// Samples the compiler threads of a process, and computes their CPU time between two moments.
#[derive(Debug)]
pub struct CompilerTrack {
    process: PathBuf,
    compilers: BTreeMap<u32, Compiler>,
    others: BTreeSet<u32>,
    listed_ns: Option<u64>,
    is_java: bool,
    sum_ns: u64,
    buffer: Buffer,
    track: CpuTrack,
}

#[derive(Debug)]
struct Compiler {
    file: ProcFile,
    cpu_ns: u64,
}

impl CompilerTrack {
    /// A track of a process on this machine.
    pub fn of(pid: u32) -> Self {
        Self {
            process: PathBuf::from(format!("/proc/{pid}")),
            compilers: BTreeMap::new(),
            others: BTreeSet::new(),
            listed_ns: None,
            is_java: false,
            sum_ns: 0,
            buffer: Buffer::new(),
            track: CpuTrack::of(None),
        }
    }

    /// Takes one sample.
    pub fn sample(&mut self, at_ns: u64) {
        let due_ns = self
            .listed_ns
            .map_or(0, |listed_ns| listed_ns + LISTED_EACH_NS);
        if at_ns >= due_ns {
            self.listed_ns = Some(at_ns);
            self.find_compilers();
        }
        let (buffer, sum_ns) = (&mut self.buffer, &mut self.sum_ns);
        self.compilers.retain(|_, compiler| {
            let text = compiler.file.read(buffer);
            let Some(now) = text.ok().and_then(|text| RunQueueSample::parse(&text)) else {
                return false;
            };
            *sum_ns += now.cpu_ns.saturating_sub(compiler.cpu_ns);
            compiler.cpu_ns = now.cpu_ns;
            true
        });
        // Those that have ended keep their time; where none was ever seen, nothing is known.
        self.is_java |= !self.compilers.is_empty();
        if self.is_java {
            self.track.note(at_ns, self.sum_ns);
        }
    }

    fn find_compilers(&mut self) {
        let name = |path: PathBuf| fs::read_to_string(path.join("comm")).ok();
        let of_process = name(self.process.clone());
        for tid in numbers(self.process.join("task")) {
            if self.others.contains(&tid) || self.compilers.contains_key(&tid) {
                continue;
            }
            let path = self.process.join("task").join(tid.to_string());
            let found = name(path.clone());
            if found.as_deref().is_some_and(is_compiler) {
                let file = ProcFile::open(path.join("schedstat"));
                let compiler = file.map(|file| Compiler { file, cpu_ns: 0 });
                self.compilers
                    .extend(compiler.ok().map(|compiler| (tid, compiler)));
            } else if found != of_process {
                // A thread is called like its process until it has a name of its own.
                self.others.insert(tid);
            }
        }
    }

    /// CPU time of the compilers from one moment to another; `None` if they cannot be told from other threads, or the
    /// samples leave out more than a tenth of that time.
    pub fn between(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.track.between(start_ns, end_ns)
    }
}

fn is_compiler(name: &str) -> bool {
    NAMES.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// The CPU time of compilers in this process while a thread of this name works for some time.
    fn seen_of(name: &str) -> Option<u64> {
        let is_counted = fs::metadata("/proc/self/schedstat").is_ok();
        let mut track = CompilerTrack::of(std::process::id());
        let ((stop, stopped), (ready, is_ready)) = (channel::<()>(), channel());
        let worker = std::thread::Builder::new().name(name.to_owned());
        let worker = worker.spawn(move || {
            ready.send(()).unwrap();
            let mut sum = 0_u64;
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
            }
        });
        let worker = worker.unwrap();
        is_ready.recv().unwrap();
        let mut at_ns = 0;
        track.sample(at_ns);
        let first_ns = track.sum_ns;
        // Until the kernel has counted some of it.
        while is_compiler(name) && is_counted && track.sum_ns == first_ns {
            at_ns += 1;
            track.sample(at_ns);
        }
        track.sample(at_ns + 1);
        stop.send(()).unwrap();
        worker.join().unwrap();
        track.sample(at_ns + 2);
        track.between(0, at_ns + 2).filter(|_| is_counted)
    }

    #[test]
    fn compilers_are_known_by_their_names_and_keep_the_time_of_those_that_ended() {
        // The kernel cuts both names to 15 bytes.
        assert!(seen_of("C2 CompilerThread0").is_none_or(|ns| ns > 0));
        assert_eq!(seen_of("data-plane-kafka-request-handler-0"), None);
    }
}
