//! What other programs take from kgauge during a run of the suite, recorded by a separate thread.
//!
//! The criterion is direct. The kernel counts for each thread how long it had something to do and got no processor.
//! Sampled every few milliseconds, these counters show which waits of kgauge's own threads fell on a moment that
//! matters for a figure. The recording thread's own lateness adds what no counter shows, such as a paused virtual
//! machine.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kgauge_observe::{HostCpu, RunQueue, host_cpu, storage_wait_ns};
use kgauge_runner::{OrRunError, RunError};
use serde::{Deserialize, Serialize};

use crate::files::write;
use crate::lost::{MachineLog, Second, TimeSample};

/// The time between two samples of the threads.
const PERIOD: Duration = Duration::from_millis(5);
/// The time between two searches for new threads.
const FIND: Duration = Duration::from_millis(250);
const SECOND: Duration = Duration::from_secs(1);
/// Timers are later than this on no idle machine.
const LATE_NS_MIN: u64 = 1_000_000;
/// Samples that lost less than this are not kept.
const LOST_NS_MIN: u64 = 50_000;

/// A recording in progress.
pub(crate) struct MachineRecording {
    stop: Sender<()>,
    thread: JoinHandle<MachineLog>,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct RecordedMachine {
    format: u32,
    #[serde(flatten)]
    log: MachineLog,
}

impl MachineRecording {
    /// Begins one.
    pub(crate) fn start() -> Result<Self, RunError> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("machine".to_owned())
            .spawn(move || Recorder::new().run(&stopped))
            .map_err(|error| {
                RunError::system("cannot start the thread that watches the machine", &error)
            })?;
        Ok(Self { stop, thread })
    }

    /// Ends it.
    pub(crate) fn end(self) -> MachineLog {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

/// Writes a log next to its run folder.
pub(crate) fn keep(log: MachineLog, path: &Path) -> Result<MachineLog, RunError> {
    let kept = RecordedMachine { format: 1, log };
    let text = serde_json::to_string(&kept).or_unwritable()?;
    write(path, text)?;
    Ok(kept.log)
}

/// Reads it; runs of earlier versions have none.
pub(crate) fn read(path: &Path) -> MachineLog {
    let text = std::fs::read_to_string(path).ok();
    let kept: Option<RecordedMachine> = text.and_then(|text| serde_json::from_str(&text).ok());
    kept.map(|kept| kept.log).unwrap_or_default()
}

/// Totals so far.
#[derive(Clone, Copy, Default)]
struct Totals {
    own_cpu_ns: u64,
    waited_ns: u64,
    machine_cpu_ns: u64,
    stolen_ns: u64,
    storage_ns: u64,
}

struct Recorder {
    queue: Option<RunQueue>,
    last: Totals,
    second: Totals,
    log: MachineLog,
}

impl Recorder {
    fn new() -> Self {
        let mut recorder = Self {
            queue: RunQueue::new(),
            last: Totals::default(),
            second: Totals::default(),
            log: MachineLog::default(),
        };
        recorder.sample_threads();
        recorder.sample_machine();
        recorder.second = recorder.last;
        recorder
    }

    fn sample_threads(&mut self) {
        if let Some(queue) = &mut self.queue {
            let sample = queue.sample();
            self.last.own_cpu_ns = sample.cpu_ns;
            self.last.waited_ns = sample.waited_ns;
        }
    }

    fn sample_machine(&mut self) {
        if let Ok(HostCpu {
            user_ns,
            system_ns,
            stolen_ns,
            ..
        }) = host_cpu()
        {
            self.last.machine_cpu_ns = user_ns + system_ns;
            self.last.stolen_ns = stolen_ns;
        }
        self.last.storage_ns = storage_wait_ns().unwrap_or(0);
    }

    fn run(mut self, stopped: &Receiver<()>) -> MachineLog {
        let mut sampled_at = Instant::now();
        let (mut found, mut second) = (sampled_at, sampled_at);
        loop {
            match stopped.recv_timeout(PERIOD) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.log,
            }
            let waited_ns = self.last.waited_ns;
            self.sample_threads();
            let span = sampled_at.elapsed();
            sampled_at = Instant::now();
            let span_ns = nanos(span);
            let late_ns = nanos(span.saturating_sub(PERIOD));
            let sample = TimeSample {
                at_unix_ns: unix_ns(),
                span_ns,
                waited_ns: self.last.waited_ns - waited_ns,
                late_ns: if late_ns >= LATE_NS_MIN { late_ns } else { 0 },
            };
            if sample.waited_ns + sample.late_ns >= LOST_NS_MIN {
                self.log.looks.push(sample);
            }
            if found.elapsed() >= FIND {
                found = sampled_at;
                if let Some(queue) = &mut self.queue {
                    queue.find_threads();
                }
            }
            if second.elapsed() >= SECOND {
                self.sample_machine();
                self.end_second(nanos(second.elapsed()));
                second = sampled_at;
            }
        }
    }

    fn end_second(&mut self, span_ns: u64) {
        let (now, before) = (self.last, self.second);
        let machine_ns = now.machine_cpu_ns.saturating_sub(before.machine_cpu_ns);
        let own_ns = now.own_cpu_ns - before.own_cpu_ns;
        self.log.seconds.push(Second {
            at_unix_ns: unix_ns(),
            span_ns,
            waited_ns: now.waited_ns - before.waited_ns,
            others_cpu_ns: machine_ns.saturating_sub(own_ns),
            stolen_ns: now.stolen_ns.saturating_sub(before.stolen_ns),
            storage_ns: now.storage_ns.saturating_sub(before.storage_ns),
        });
        self.second = now;
    }
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

fn unix_ns() -> u64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH);
    nanos(unix.unwrap_or_default())
}
