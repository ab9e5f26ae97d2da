//! A thread that polls the brokers for the state of the run's topic, over its own connections.
//!
//! Nothing waits for it: a slow or dead broker costs samples, never load.

mod backoff;
mod changes;
mod lag;
mod pace;
mod request_status;
mod topic_poller;

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_results::run::{Event, Evidence, RepeatKey};

use pace::PollPace;
use topic_poller::TopicPoller;

use crate::cpu_clock::thread_cpu_ns;
use crate::sync::wait_until;

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
                let mut poller = TopicPoller::new(watch, raised.clone());
                let mut pace = PollPace::default();
                loop {
                    let start_ns = now_ns();
                    let waited_ns = poller.sample(&now_ns, &mut sink);
                    let due_ns = pace.next_ns(start_ns, now_ns(), waited_ns);
                    if !wait_until(due_ns, &now_ns, &stopped) || raised.is_raised() {
                        return poller.end(&pace, now_ns(), thread_cpu_ns(), &mut sink);
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
