//! A thread that looks once a second, on the run's clock, and writes down what it sees.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};

use crate::cpu_clock::thread_cpu_ns;
use crate::host::host_cpu;
use crate::process::{ProcessError, ProcessSampler};

/// The engine names its threads `load-0`, `load-1` and so on.
const LOAD_THREAD_PREFIX: &str = "load-";

/// More different complaints than these are not kept.
const NOTES_MAX: usize = 20;

/// What to look at, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// The time between two looks; looks fall on multiples of it on the run's clock.
    pub every: Duration,
    /// The repeat that is observed.
    pub repeat: Option<RepeatKey>,
    /// The target's processes on this machine.
    pub targets: Vec<WatchedProcess>,
}

/// A process of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedProcess {
    /// The operating system's number.
    pub pid: u32,
    /// The broker's id, where the process is one broker.
    pub broker: Option<i32>,
}

impl Watch {
    /// Once a second: this process, its load threads, the machine, and these processes.
    pub fn each_second(repeat: RepeatKey, targets: Vec<WatchedProcess>) -> Watch {
        Watch {
            every: Duration::from_secs(1),
            repeat: Some(repeat),
            targets,
        }
    }
}

/// The running thread. Dropping it stops it.
#[derive(Debug)]
pub struct Sampler {
    thread: Option<JoinHandle<SamplerReport>>,
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
}

/// What observing was like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SamplerReport {
    /// How many times the thread looked.
    pub looks: u64,
    /// CPU time that it used.
    pub cpu_ns: u64,
    /// From its first look to its last, on the run's clock.
    pub span_ns: u64,
    /// What could not be seen or written, each complaint once.
    pub notes: Vec<String>,
}

impl Sampler {
    /// Starts looking: at once, then at every multiple of `watch.every`, and a last time when it is
    /// stopped. `now_ns` is the run's clock; `sink` takes the evidence, and its complaint ends up
    /// in the report.
    pub fn start(
        watch: Watch,
        now_ns: impl Fn() -> u64 + Send + 'static,
        mut sink: impl FnMut(&Evidence) -> Result<(), String> + Send + 'static,
    ) -> std::io::Result<Sampler> {
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("observe".to_owned())
            .spawn(move || {
                let mut looker = Looker::new(&watch);
                let first_ns = now_ns();
                let every_ns = u64::try_from(watch.every.as_nanos())
                    .unwrap_or(u64::MAX)
                    .max(1);
                loop {
                    let at_ns = now_ns();
                    looker.look(at_ns, &mut sink);
                    looker.report.span_ns = at_ns.saturating_sub(first_ns);
                    let due_ns = (at_ns / every_ns + 1).saturating_mul(every_ns);
                    loop {
                        let left = due_ns.saturating_sub(now_ns());
                        if left == 0 {
                            break;
                        }
                        match stopped.recv_timeout(Duration::from_nanos(left)) {
                            Err(RecvTimeoutError::Timeout) => {}
                            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                                let at_ns = now_ns();
                                looker.look(at_ns, &mut sink);
                                looker.report.span_ns = at_ns.saturating_sub(first_ns);
                                looker.report.cpu_ns = thread_cpu_ns();
                                return looker.report;
                            }
                        }
                    }
                }
            })?;
        Ok(Sampler {
            thread: Some(thread),
            stop: Some(stop),
        })
    }

    /// Takes a last look and ends.
    pub fn stop(mut self) -> SamplerReport {
        self.end()
    }

    fn end(&mut self) -> SamplerReport {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the thread keeps between two looks.
struct Looker {
    repeat: Option<RepeatKey>,
    /// `None` once the process is gone, which is told once.
    processes: Vec<(Subject, Option<ProcessSampler>)>,
    report: SamplerReport,
}

impl Looker {
    fn new(watch: &Watch) -> Looker {
        let mut looker = Looker {
            repeat: watch.repeat,
            processes: Vec::new(),
            report: SamplerReport::default(),
        };
        looker.add(Subject::Generator, std::process::id());
        for target in &watch.targets {
            looker.add(
                Subject::Target {
                    broker: target.broker,
                },
                target.pid,
            );
        }
        looker
    }

    fn add(&mut self, subject: Subject, pid: u32) {
        match ProcessSampler::new(pid) {
            Ok(sampler) => self.processes.push((subject, Some(sampler))),
            Err(error) => self.note(error.to_string()),
        }
    }

    fn note(&mut self, words: String) {
        let notes = &mut self.report.notes;
        if notes.len() < NOTES_MAX && !notes.contains(&words) {
            notes.push(words);
        }
    }

    fn look(&mut self, at_ns: u64, sink: &mut impl FnMut(&Evidence) -> Result<(), String>) {
        self.report.looks += 1;
        let at_unix_ms = unix_ms();
        let mut seen: Vec<(Subject, EvidenceKind)> = Vec::new();
        let mut complaints = Vec::new();
        for (subject, sampler) in &mut self.processes {
            let Some(open) = sampler else { continue };
            if let Err(error) = look_at(open, subject, &mut seen) {
                complaints.push(error.to_string());
                if matches!(error, ProcessError::Gone { .. }) {
                    *sampler = None;
                }
            }
        }
        match host_cpu() {
            Ok(cpu) => seen.push((
                Subject::Host,
                EvidenceKind::Cpu {
                    user_ns: cpu.user_ns,
                    system_ns: cpu.system_ns,
                },
            )),
            Err(error) => complaints.push(error.to_string()),
        }
        for (subject, kind) in seen {
            let evidence = Evidence {
                at_unix_ms,
                repeat: self.repeat,
                at_ns: Some(at_ns),
                subject,
                kind,
            };
            complaints.extend(sink(&evidence).err());
        }
        for complaint in complaints {
            self.note(complaint);
        }
    }
}

fn look_at(
    sampler: &ProcessSampler,
    subject: &Subject,
    seen: &mut Vec<(Subject, EvidenceKind)>,
) -> Result<(), ProcessError> {
    let sample = sampler.sample()?;
    let cpu = EvidenceKind::Cpu {
        user_ns: sample.user_ns,
        system_ns: sample.system_ns,
    };
    seen.push((subject.clone(), cpu));
    let memory = EvidenceKind::Memory {
        resident_bytes: sample.resident_bytes,
    };
    seen.push((subject.clone(), memory));
    if *subject != Subject::Generator {
        return Ok(());
    }
    for thread in sampler.threads()? {
        let number = thread.name.strip_prefix(LOAD_THREAD_PREFIX);
        if let Some(Ok(thread_number)) = number.map(str::parse) {
            let kind = EvidenceKind::Cpu {
                user_ns: thread.user_ns,
                system_ns: thread.system_ns,
            };
            seen.push((
                Subject::GeneratorThread {
                    thread: thread_number,
                },
                kind,
            ));
        }
    }
    Ok(())
}

fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
