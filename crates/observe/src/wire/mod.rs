//! A thread that asks the brokers about the run's topic, over connections of its own, and writes down what they tell.
//!
//! It waits for nobody and nobody waits for it: a broker that is slow or dead costs looks, never load.

mod backoff;
mod changes;
mod lag;
mod pace;
mod topic_poller;

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_results::run::{Event, Evidence, RepeatKey};

use pace::PollPace;
use topic_poller::TopicPoller;

use crate::cpu_clock::thread_cpu_ns;

/// What to ask for.
#[derive(Debug, Clone)]
pub struct WireWatch {
    /// The repeat that is observed.
    pub repeat: RepeatKey,
    /// How the cluster is reached.
    pub client: ClientConfig,
    /// The run's topic.
    pub topic: String,
    /// How many replicas each of its partitions should have: old releases do not list those that are down.
    pub replication_factor: u16,
    /// Ids of the consumer groups that read it.
    pub groups: Vec<String>,
}

/// Something that was told.
#[derive(Debug)]
pub enum TopicObservation<'a> {
    /// A line of evidence.
    Evidence(&'a Evidence),
    /// Leaders or in-sync replicas changed.
    Event(&'a Event),
}

/// The running thread. Dropping it stops it.
#[derive(Debug)]
pub struct WireWatcher {
    thread: Option<JoinHandle<Vec<String>>>,
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    interrupt: Interrupt,
}

impl WireWatcher {
    /// Asks at once, then at every second of the run's clock, which `now_ns` tells; less often where answers take long.
    /// `sink` takes what is told, and its complaint ends up in the notes.
    pub fn start(
        watch: WireWatch,
        now_ns: impl Fn() -> u64 + Send + 'static,
        mut sink: impl FnMut(TopicObservation<'_>) -> Result<(), String> + Send + 'static,
    ) -> std::io::Result<WireWatcher> {
        let (stop, stopped) = channel::<()>();
        let interrupt = Interrupt::new();
        let raised = interrupt.clone();
        let thread = std::thread::Builder::new()
            .name("wire".to_owned())
            .spawn(move || {
                let mut asker = TopicPoller::new(watch, raised.clone());
                let mut pace = PollPace::default();
                loop {
                    let begun_ns = now_ns();
                    let waited_ns = asker.sample(&now_ns, &mut sink);
                    let due_ns = pace.next_ns(begun_ns, now_ns(), waited_ns);
                    loop {
                        let left_ns = due_ns.saturating_sub(now_ns());
                        if left_ns == 0 && !raised.is_raised() {
                            break;
                        }
                        match stopped.recv_timeout(Duration::from_nanos(left_ns)) {
                            Err(RecvTimeoutError::Timeout) => {}
                            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                                return asker.end(&pace, now_ns(), thread_cpu_ns(), &mut sink);
                            }
                        }
                    }
                }
            })?;
        Ok(WireWatcher {
            thread: Some(thread),
            stop: Some(stop),
            interrupt,
        })
    }

    /// Ends; a look that is under way is broken off, which takes a tenth of a second. Gives what a reader of the run
    /// should know, in sentences.
    pub fn stop(mut self) -> Vec<String> {
        self.end()
    }

    fn end(&mut self) -> Vec<String> {
        self.interrupt.raise();
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for WireWatcher {
    fn drop(&mut self) {
        self.end();
    }
}
