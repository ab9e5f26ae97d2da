//! Work on the disk away from a node's thread: it may take long, and requests go on meanwhile.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::commands::{NodeCommand, NodeHandle};
use crate::log::{CloseJob, LogError};
use crate::node::DiskJob;

/// Logs that are closed at once: the disk answers many flushes together.
const CLOSE_THREADS: usize = 64;

/// A thread that does one job after the other.
#[derive(Debug)]
pub(super) struct Flusher {
    jobs: Option<Sender<DiskJob>>,
    /// Nothing more is done.
    abandoned: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    pub(super) fn start(name: &str, inbox: NodeHandle) -> io::Result<Self> {
        let (jobs, receiver) = mpsc::channel();
        let abandoned = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&abandoned);
        let run = move || run_all(&receiver, &inbox, &over);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self {
            jobs: Some(jobs),
            abandoned,
            thread: Some(thread),
        })
    }

    /// Leaves what waits undone, as a crash does.
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    /// Runs a job. One that no thread takes belongs to a node that ends.
    pub(super) fn put(&self, job: DiskJob) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.jobs = None;
        // The panic hook has already reported a panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn run_all(jobs: &Receiver<DiskJob>, inbox: &NodeHandle, over: &AtomicBool) {
    while let Ok(job) = jobs.recv() {
        if over.load(Ordering::Acquire) {
            return;
        }
        inbox.send(NodeCommand::Disk(job.run()));
    }
}

/// Closes logs, many at once. Gives the failures.
pub(super) fn close_all(jobs: Vec<CloseJob>) -> Vec<LogError> {
    let threads = CLOSE_THREADS.min(jobs.len());
    let queue = Mutex::new(jobs);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || {
        let mut failures = Vec::new();
        while let Some(job) = next() {
            failures.extend(job.run().err());
        }
        failures
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_default())
            .collect()
    })
}
