//! A transactional producer's thread: it talks to the coordinator while the worker continues.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::admin::ProducerId;
use kgauge_client::transaction::{TransactionError, TransactionKind, TransactionalProducer};
use kgauge_client::{ClientConfig, Cluster, ClusterError, Interrupt};

/// Time limit for ending a producer's last transaction after the load.
const LEAVE: Duration = Duration::from_secs(10);

/// The same when the user wants to stop.
const LEAVE_INTERRUPTED: Duration = Duration::from_secs(1);

/// How often the thread checks whether the user wants to stop.
const POLL: Duration = Duration::from_millis(50);

/// A request of the producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionRequest {
    /// Adds the partition to the transaction. Only with KIP-98.
    Add(u32),
    /// A transaction starts: its first batch is sent. Only with KIP-890.
    Begin,
    /// Ends the transaction.
    End { commits: bool },
}

/// The result of a request.
#[derive(Debug)]
pub(super) enum TransactionReply {
    /// The producer may write to the partition.
    Added(u32),
    /// The producer must not write to it.
    NotAdded { partition: u32, why: String },
    /// The producer continues with this identity, which may be unchanged.
    Committed(ProducerId),
    /// The producer continues with a new identity: the old one is fenced.
    Aborted { why: String, identity: ProducerId },
    /// The coordinator has not ended the transaction yet; the request is repeated.
    Waits(String),
    /// The coordinator may have moved to another broker.
    Moved,
    /// The producer cannot continue.
    Failed(String),
}

/// The state that a producer left at the coordinator.
#[derive(Debug)]
pub(super) enum CoordinatorExit {
    /// No transaction was open.
    Clean,
    /// The open transaction was aborted.
    Aborted,
    /// It is unknown whether the last transaction was committed.
    Unknown(String),
    /// The transaction remains open until the coordinator's timeout.
    Hanging(String),
}

/// Handle of the thread.
#[derive(Debug)]
pub(crate) struct TransactionThread {
    /// The producer's initial identity.
    pub(super) identity: ProducerId,
    /// The transaction protocol.
    pub(super) kind: TransactionKind,
    requests: Option<Sender<TransactionRequest>>,
    replies: Receiver<TransactionReply>,
    waker: Arc<OnceLock<Arc<mio::Waker>>>,
    /// The user wants to stop.
    interrupt: Interrupt,
    give_up: Interrupt,
    over: Receiver<CoordinatorExit>,
    left_at: Option<Instant>,
    thread: Option<JoinHandle<()>>,
}

/// Why there is no such producer.
#[derive(Debug, thiserror::Error)]
pub enum TransactionStartError {
    /// The cluster cannot be reached.
    #[error("{0}")]
    Cluster(#[from] ClusterError),
    /// The coordinator refuses the producer.
    #[error("{0}")]
    Coordinator(#[from] TransactionError),
    /// The operating system refuses a thread.
    #[error("cannot start a thread: {0}")]
    System(#[from] std::io::Error),
}

impl TransactionStartError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Cluster(error) => error.fix(),
            Self::Coordinator(error) => error.fix(),
            Self::System(_) => "raise the limit on processes and threads (ulimit -u)",
        }
    }
}

/// The setup of a transactional producer.
pub(crate) struct TransactionSetup<'a> {
    pub(crate) client: &'a ClientConfig,
    pub(crate) topic: String,
    pub(crate) id: String,
    pub(crate) timeout: Duration,
    pub(crate) interrupt: &'a Interrupt,
}

impl TransactionThread {
    /// Initialises the producer, and starts its thread.
    pub(crate) fn start(setup: &TransactionSetup<'_>) -> Result<Self, TransactionStartError> {
        let client = setup.client.clone();
        let cluster = Cluster::bootstrap_until(client, setup.interrupt.clone())?;
        let mut producer = TransactionalProducer::new(cluster, &setup.id, setup.timeout);
        let identity = producer.init()?;
        let kind = producer.kind();
        let give_up = Interrupt::new();
        producer.set_interrupt(&give_up);
        let ((requests, request_receiver), (reply_sender, replies)) = (channel(), channel());
        let (tell_over, over) = channel();
        let waker = Arc::default();
        let mut body = Body {
            producer,
            topic: setup.topic.clone(),
            timeout: setup.timeout,
            reply_sender,
            waker: Arc::clone(&waker),
            give_up: give_up.clone(),
            open_since: None,
            fenced: None,
            links: 1,
        };
        let thread = std::thread::Builder::new()
            .name("load-transact".to_owned())
            .spawn(move || {
                // An ended thread needs no message.
                let _ = tell_over.send(body.serve(&request_receiver));
            })?;
        Ok(Self {
            identity,
            kind,
            requests: Some(requests),
            replies,
            waker,
            interrupt: setup.interrupt.clone(),
            give_up,
            over,
            left_at: None,
            thread: Some(thread),
        })
    }

    /// Whom to wake when there is a result.
    pub(super) fn wakes(&self, waker: &Arc<mio::Waker>) {
        // Only the first worker counts: a producer stays with its worker.
        let _ = self.waker.set(Arc::clone(waker));
    }

    pub(super) fn request(&self, request: TransactionRequest) {
        if let Some(requests) = &self.requests {
            // An ended thread has reported why.
            let _ = requests.send(request);
        }
    }

    /// No more requests: the thread aborts the open transaction, and ends.
    pub(super) fn leave(&mut self) {
        self.requests = None;
        self.left_at.get_or_insert_with(Instant::now);
    }

    pub(super) fn next_reply(&self) -> Option<TransactionReply> {
        self.replies.try_recv().ok()
    }

    /// Waits until the thread has ended the open transaction, within the time limit; the second call returns nothing.
    pub(super) fn wait_left(&mut self) -> CoordinatorExit {
        self.leave();
        let Some(thread) = self.thread.take() else {
            return CoordinatorExit::Clean;
        };
        let left = loop {
            let patience = if self.interrupt.is_raised() {
                LEAVE_INTERRUPTED
            } else {
                LEAVE
            };
            if self.left_at.is_none_or(|at| at.elapsed() >= patience) {
                self.give_up.raise();
                break self.over.recv().ok();
            }
            match self.over.recv_timeout(POLL) {
                Ok(left) => break Some(left),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        // The panic hook has reported a panic.
        let _ = thread.join();
        left.unwrap_or(CoordinatorExit::Clean)
    }
}

impl Drop for TransactionThread {
    fn drop(&mut self) {
        self.wait_left();
    }
}

/// The thread's own state.
struct Body {
    producer: TransactionalProducer,
    topic: String,
    /// `transaction.timeout.ms`
    timeout: Duration,
    reply_sender: Sender<TransactionReply>,
    waker: Arc<OnceLock<Arc<mio::Waker>>>,
    /// Nobody waits any longer.
    give_up: Interrupt,
    /// Since when the coordinator may know of a transaction.
    open_since: Option<Instant>,
    /// Another producer has started with its id, as the coordinator reported when something was to be added.
    fenced: Option<TransactionError>,
    /// Connections to coordinators of this producer.
    links: u64,
}

/// How a request to end the transaction went.
enum TransactionEnd {
    Done(ProducerId),
    /// The coordinator refused, or its response cannot be decoded.
    Refused(TransactionError),
    /// Nobody waits any longer for its response.
    GivenUp(TransactionError),
}

impl Body {
    fn serve(&mut self, requests: &Receiver<TransactionRequest>) -> CoordinatorExit {
        let mut unknown = None;
        while let Ok(request) = requests.recv() {
            match request {
                TransactionRequest::Begin => self.begin(),
                TransactionRequest::Add(first) => {
                    let mut partitions = vec![first];
                    let mut next = None;
                    while let Ok(request) = requests.try_recv() {
                        match request {
                            TransactionRequest::Add(partition) => partitions.push(partition),
                            TransactionRequest::Begin => self.begin(),
                            TransactionRequest::End { commits } => {
                                next = Some(commits);
                                break;
                            }
                        }
                    }
                    self.add(&partitions);
                    if let Some(commits) = next {
                        unknown = self.end(commits);
                    }
                }
                TransactionRequest::End { commits } => unknown = self.end(commits),
            }
        }
        if let Some(why) = unknown {
            return CoordinatorExit::Unknown(why);
        }
        if self.open_since.is_none() {
            return CoordinatorExit::Clean;
        }
        // Otherwise the coordinator would wait for transaction.timeout.ms, and readers with it.
        match self.producer.end(false) {
            Ok(_) => CoordinatorExit::Aborted,
            // The coordinator has ended it, or a new producer has.
            Err(error) if error.is_of_the_past() => CoordinatorExit::Aborted,
            Err(error) => CoordinatorExit::Hanging(error.to_string()),
        }
    }

    fn begin(&mut self) {
        self.open_since.get_or_insert_with(Instant::now);
    }

    fn add(&mut self, partitions: &[u32]) {
        let at = Instant::now();
        let numbers: Vec<i32> = partitions.iter().map(|&one| one as i32).collect();
        match self.producer.add_partitions(&self.topic, &numbers) {
            Ok(()) => {
                self.open_since.get_or_insert(at);
                for &partition in partitions {
                    self.report(TransactionReply::Added(partition));
                }
            }
            Err(error) => {
                // Without a response it may still be open.
                if error.may_pass() {
                    self.open_since.get_or_insert(at);
                }
                let why = format!("{error}; {}", error.fix());
                for &partition in partitions {
                    let why = why.clone();
                    self.report(TransactionReply::NotAdded { partition, why });
                }
                // If a transaction is open, ending it shows whether it was too old.
                if error.is_of_the_past() && self.open_since.is_none() {
                    self.fenced = Some(error.into_fenced());
                }
            }
        }
    }

    /// Ends the open transaction; returns the reason if the outcome is unknown.
    fn end(&mut self, commits: bool) -> Option<String> {
        if let Some(fenced) = self.fenced.take() {
            self.fail(&fenced);
            return None;
        }
        let Some(since) = self.open_since.take() else {
            // Nothing was added, so there is nothing to end. With KIP-890 nothing was written with this epoch either,
            // so its sequences start at 0.
            self.continue_as(
                "nothing of it could be written".to_owned(),
                self.producer.known(),
            );
            return None;
        };
        let refused = match self.end_until_answered(commits) {
            TransactionEnd::Done(identity) if commits => {
                self.report_moves();
                self.report(TransactionReply::Committed(identity));
                return None;
            }
            TransactionEnd::Done(identity) => {
                self.continue_as("a batch was lost".to_owned(), identity);
                return None;
            }
            TransactionEnd::GivenUp(error) if commits => return Some(error.to_string()),
            TransactionEnd::GivenUp(_) => {
                self.open_since = Some(since);
                return None;
            }
            TransactionEnd::Refused(error) => error,
        };
        self.handle_refusal(refused, commits, since.elapsed() >= self.timeout);
        None
    }

    /// The coordinator refuses to end the transaction. InitProducerId must be the last resort: it aborts any open
    /// transaction of this id, even another producer's.
    fn handle_refusal(&mut self, refused: TransactionError, commits: bool, is_old: bool) {
        let mut why = refused.to_string();
        if is_old {
            why.push_str(
                "; it was older than transaction.timeout.ms, so the coordinator aborted it",
            );
        }
        if refused.is_of_the_past() {
            // Coordinators answer a producer that was too late like a fenced one; this is the actual cause.
            return if is_old {
                self.restart(why);
            } else {
                self.fail(&refused.into_fenced());
            };
        }
        if !commits {
            return self.renew(why);
        }
        match self.end_until_answered(false) {
            TransactionEnd::Done(identity) => self.continue_as(why, identity),
            TransactionEnd::Refused(error) if error.is_of_the_past() && !is_old => {
                self.fail(&error.into_fenced());
            }
            TransactionEnd::Refused(_) | TransactionEnd::GivenUp(_) => self.renew(why),
        }
    }

    /// Requests the end until there is a response: a requested commit may have happened, and only its coordinator
    /// knows.
    fn end_until_answered(&mut self, commits: bool) -> TransactionEnd {
        loop {
            match self.producer.end(commits) {
                Ok(identity) => return TransactionEnd::Done(identity),
                Err(error) if self.give_up.is_raised() => return TransactionEnd::GivenUp(error),
                Err(error) if error.may_pass() => {
                    let what = if commits { "committed" } else { "aborted" };
                    self.report(TransactionReply::Waits(format!(
                        "a transaction is not {what} yet: {error}"
                    )));
                }
                Err(error) => return TransactionEnd::Refused(error),
            }
        }
    }

    /// The transaction was aborted. With KIP-890 its end has renewed the producer's identity; with KIP-98 sequences and
    /// epoch may be out of step.
    fn continue_as(&mut self, why: String, identity: ProducerId) {
        match self.producer.kind() {
            TransactionKind::First => self.renew(why),
            TransactionKind::Second => self.aborted(why, Ok(identity)),
        }
    }

    fn renew(&mut self, why: String) {
        let renewed = self.producer.renew();
        self.aborted(why, renewed);
    }

    fn restart(&mut self, why: String) {
        let identity = self.producer.init();
        self.aborted(why, identity);
    }

    fn aborted(&mut self, why: String, next: Result<ProducerId, TransactionError>) {
        self.report_moves();
        match next {
            Ok(identity) => self.report(TransactionReply::Aborted { why, identity }),
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&self, error: &TransactionError) {
        self.report(TransactionReply::Failed(format!(
            "{error}; {}",
            error.fix()
        )));
    }

    fn report_moves(&mut self) {
        let links = self.producer.links();
        if std::mem::replace(&mut self.links, links) != links {
            self.report(TransactionReply::Moved);
        }
    }

    fn report(&self, reply: TransactionReply) {
        // An ended producer needs no answer.
        if self.reply_sender.send(reply).is_ok()
            && let Some(waker) = self.waker.get()
        {
            let _ = waker.wake();
        }
    }
}
