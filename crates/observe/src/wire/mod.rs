//! A thread that polls the brokers for the state of the run's topic, over its own connections.
//!
//! Nothing waits for it: a slow or dead broker costs samples, never load.

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

/// What to poll.
#[derive(Debug, Clone)]
pub struct WireWatch {
    /// The repeat that is observed.
    pub repeat: RepeatKey,
    /// How to reach the cluster.
    pub client: ClientConfig,
    /// The run's topic.
    pub topic: String,
    /// The intended number of replicas per partition: old releases do not list those that are down.
    pub replication_factor: u16,
    /// Ids of the consumer groups that read it.
    pub groups: Vec<String>,
}

/// One result of polling.
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
    /// Polls at once, then at every second of the run's clock (`now_ns`), and less often if answers take long. `sink`
    /// takes the results, and its error is added to the notes.
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
                    let start_ns = now_ns();
                    let waited_ns = asker.sample(&now_ns, &mut sink);
                    let due_ns = pace.next_ns(start_ns, now_ns(), waited_ns);
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

    /// Ends. A sample in progress is cancelled, which takes a tenth of a second. Returns notes for the reader of the
    /// run.
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
