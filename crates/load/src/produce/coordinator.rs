//! A transactional producer's thread: it speaks with the coordinator while the worker goes on.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::admin::ProducerId;
use kgauge_client::transaction::{TransactionError, TransactionKind, TransactionalProducer};
use kgauge_client::{ClientConfig, Cluster, ClusterError, Interrupt};

use super::producer::ProducerIdentity;

/// How long the last transaction of a producer may take to end, the load being over.
const LEAVE: Duration = Duration::from_secs(10);

/// The same when the user wants to stop.
const LEAVE_INTERRUPTED: Duration = Duration::from_secs(1);

/// How often it is looked whether the user wants that.
const LOOK: Duration = Duration::from_millis(50);

/// What the producer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionRequest {
    /// The partition becomes part of the transaction. Only of the first kind.
    Add(u32),
    /// There is a transaction from now on: its first batch goes out. Only of the second kind.
    Begin,
    /// The transaction ends.
    End { commits: bool },
}

/// What became of it.
#[derive(Debug)]
pub(super) enum TransactionReply {
    /// The partition may be written to.
    Added(u32),
    /// It may not.
    NotAdded { partition: u32, why: String },
    /// The producer goes on as this one, which need not be new.
    Committed(ProducerIdentity),
    /// The producer goes on as somebody new: what it was is fenced.
    Aborted {
        why: String,
        identity: ProducerIdentity,
    },
    /// The coordinator has not ended the transaction yet; it is asked again.
    Waits(String),
    /// The coordinator may be another broker now.
    Moved,
    /// It cannot go on.
    Failed(String),
}

/// How a producer left the coordinator.
#[derive(Debug)]
pub(super) enum CoordinatorExit {
    /// Nothing was open any more.
    Clean,
    /// What was open has been aborted.
    Aborted,
    /// Nobody knows whether the last transaction was committed.
    Unknown(String),
    /// What was open is open still, until the coordinator finds it too old.
    Hanging(String),
}

/// The thread, from outside.
#[derive(Debug)]
pub(crate) struct TransactionThread {
    /// Who the producer was at first.
    pub(super) identity: ProducerIdentity,
    /// What it speaks.
    pub(super) kind: TransactionKind,
    orders: Option<Sender<TransactionRequest>>,
    words: Receiver<TransactionReply>,
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
    /// The coordinator does not want it.
    #[error("{0}")]
    Coordinator(#[from] TransactionError),
    /// The operating system gives no thread.
    #[error("cannot start a thread: {0}")]
    System(#[from] std::io::Error),
}

impl TransactionStartError {
    /// What the user can do about it.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Cluster(error) => error.fix(),
            Self::Coordinator(error) => error.fix(),
            Self::System(_) => "raise the limit on processes and threads (ulimit -u)",
        }
    }
}

/// What such a producer is made from.
pub(crate) struct TransactionSetup<'a> {
    pub(crate) client: &'a ClientConfig,
    pub(crate) topic: String,
    pub(crate) id: String,
    pub(crate) timeout: Duration,
    pub(crate) interrupt: &'a Interrupt,
}

impl TransactionThread {
    /// Introduces the producer, and starts its thread.
    pub(crate) fn start(setup: &TransactionSetup<'_>) -> Result<Self, TransactionStartError> {
        let client = setup.client.clone();
        let cluster = Cluster::bootstrap_until(client, setup.interrupt.clone())?;
        let mut producer = TransactionalProducer::new(cluster, &setup.id, setup.timeout);
        let identity = producer.init()?;
        let kind = producer.kind();
        let give_up = Interrupt::new();
        producer.set_interrupt(&give_up);
        let ((orders, ordered), (say, words)) = (channel(), channel());
        let (tell_over, over) = channel();
        let waker = Arc::default();
        let mut body = Body {
            producer,
            topic: setup.topic.clone(),
            timeout: setup.timeout,
            say,
            waker: Arc::clone(&waker),
            give_up: give_up.clone(),
            open_since: None,
            fenced: None,
            links: 1,
        };
        let thread = std::thread::Builder::new()
            .name("load-transact".to_owned())
            .spawn(move || {
                // Who has left needs no word.
                let _ = tell_over.send(body.serve(&ordered));
            })?;
        Ok(Self {
            identity: named(identity),
            kind,
            orders: Some(orders),
            words,
            waker,
            interrupt: setup.interrupt.clone(),
            give_up,
            over,
            left_at: None,
            thread: Some(thread),
        })
    }

    /// Whom to wake when there is something to hear.
    pub(super) fn wakes(&self, waker: &Arc<mio::Waker>) {
        // Only the first worker counts: a producer stays where it is.
        let _ = self.waker.set(Arc::clone(waker));
    }

    pub(super) fn order(&self, order: TransactionRequest) {
        if let Some(orders) = &self.orders {
            // A thread that is gone has said why.
            let _ = orders.send(order);
        }
    }

    /// No more orders: the thread aborts what is open, and ends.
    pub(super) fn leave(&mut self) {
        self.orders = None;
        self.left_at.get_or_insert_with(Instant::now);
    }

    pub(super) fn next_word(&self) -> Option<TransactionReply> {
        self.words.try_recv().ok()
    }

    /// Waits until the thread has ended what was open, as long as there is patience; the second time it
    /// has nothing to say.
    pub(super) fn wait_left(&mut self) -> CoordinatorExit {
        self.leave();
        let Some(thread) = self.thread.take() else {
            return CoordinatorExit::Clean;
        };
        let left = loop {
            let patience = match self.interrupt.is_raised() {
                true => LEAVE_INTERRUPTED,
                false => LEAVE,
            };
            if self.left_at.is_none_or(|at| at.elapsed() >= patience) {
                self.give_up.raise();
                break self.over.recv().ok();
            }
            match self.over.recv_timeout(LOOK) {
                Ok(left) => break Some(left),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        // A panic has been told by the hook.
        let _ = thread.join();
        left.unwrap_or(CoordinatorExit::Clean)
    }
}

impl Drop for TransactionThread {
    fn drop(&mut self) {
        self.wait_left();
    }
}

fn named(producer: ProducerId) -> ProducerIdentity {
    ProducerIdentity {
        id: producer.id,
        epoch: producer.epoch,
    }
}

/// The thread's own state.
struct Body {
    producer: TransactionalProducer,
    topic: String,
    /// `transaction.timeout.ms`
    timeout: Duration,
    say: Sender<TransactionReply>,
    waker: Arc<OnceLock<Arc<mio::Waker>>>,
    /// Nobody waits any longer.
    give_up: Interrupt,
    /// Since when the coordinator may know of a transaction.
    open_since: Option<Instant>,
    /// Another producer has begun with its id, as the coordinator said when something was to be added.
    fenced: Option<TransactionError>,
    /// Connections to coordinators that the producer has heard of.
    links: u64,
}

/// How the end of a transaction went.
enum TransactionEnd {
    AsWanted(ProducerId),
    /// The coordinator has said no, or cannot be understood.
    Refused(TransactionError),
    /// Nobody waits any longer for its answer.
    GivenUp(TransactionError),
}

impl Body {
    fn serve(&mut self, orders: &Receiver<TransactionRequest>) -> CoordinatorExit {
        let mut unknown = None;
        while let Ok(order) = orders.recv() {
            match order {
                TransactionRequest::Begin => self.begin(),
                TransactionRequest::Add(first) => {
                    let mut partitions = vec![first];
                    let mut next = None;
                    while let Ok(order) = orders.try_recv() {
                        match order {
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
        // Without it the coordinator would wait for transaction.timeout.ms, and readers with it.
        match self.producer.end(false) {
            Ok(_) => CoordinatorExit::Aborted,
            // The coordinator has ended it, or somebody new has.
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
                // Without an answer it may be open all the same.
                if error.may_pass() {
                    self.open_since.get_or_insert(at);
                }
                let why = format!("{error}; {}", error.fix());
                for &partition in partitions {
                    let why = why.clone();
                    self.report(TransactionReply::NotAdded { partition, why });
                }
                // With something open its end tells whether it was too old.
                if error.is_of_the_past() && self.open_since.is_none() {
                    self.fenced = Some(error.into_fenced());
                }
            }
        }
    }

    /// Ends what is open; gives why nobody knows how, if so.
    fn end(&mut self, commits: bool) -> Option<String> {
        if let Some(fenced) = self.fenced.take() {
            self.fail(&fenced);
            return None;
        }
        let Some(since) = self.open_since.take() else {
            // Nothing got as far as being added: there is nothing to end. In the second kind nothing was
            // written under this epoch either, so that its sequences begin at 0.
            self.go_on(
                "nothing of it could be written".to_owned(),
                self.producer.known(),
            );
            return None;
        };
        let refused = match self.insist(commits) {
            TransactionEnd::AsWanted(identity) if commits => {
                self.report_moves();
                self.report(TransactionReply::Committed(named(identity)));
                return None;
            }
            TransactionEnd::AsWanted(identity) => {
                self.go_on("a batch was lost".to_owned(), identity);
                return None;
            }
            TransactionEnd::GivenUp(error) if commits => return Some(error.to_string()),
            TransactionEnd::GivenUp(_) => {
                self.open_since = Some(since);
                return None;
            }
            TransactionEnd::Refused(error) => error,
        };
        self.end_badly(refused, commits, since.elapsed() >= self.timeout);
        None
    }

    /// The coordinator does not end the transaction as it was asked to. To introduce oneself again is the last
    /// that may be done: it strikes whatever is open under this id, also if it is another producer's.
    fn end_badly(&mut self, refused: TransactionError, commits: bool, is_old: bool) {
        let mut why = refused.to_string();
        if is_old {
            why.push_str(
                "; it was older than transaction.timeout.ms, so the coordinator aborted it",
            );
        }
        match refused.is_of_the_past() {
            // Coordinators treat who was too late as they treat who is locked out; this is what it was.
            true if is_old => self.begin_anew(why),
            true => self.fail(&refused.into_fenced()),
            false if commits => match self.insist(false) {
                TransactionEnd::AsWanted(identity) => self.go_on(why, identity),
                TransactionEnd::Refused(error) if error.is_of_the_past() && !is_old => {
                    self.fail(&error.into_fenced());
                }
                TransactionEnd::Refused(_) | TransactionEnd::GivenUp(_) => self.renew(why),
            },
            false => self.renew(why),
        }
    }

    /// Asks for the end until there is an answer: a commit that was asked for may have happened, and
    /// only its coordinator knows.
    fn insist(&mut self, commits: bool) -> TransactionEnd {
        loop {
            match self.producer.end(commits) {
                Ok(identity) => return TransactionEnd::AsWanted(identity),
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

    /// The transaction was aborted. In the second kind its end has named the producer anew; in the first one
    /// sequences and epoch may be out of step.
    fn go_on(&mut self, why: String, identity: ProducerId) {
        match self.producer.kind() {
            TransactionKind::First => self.renew(why),
            TransactionKind::Second => self.aborted(why, Ok(identity)),
        }
    }

    fn renew(&mut self, why: String) {
        let renewed = self.producer.renew();
        self.aborted(why, renewed);
    }

    fn begin_anew(&mut self, why: String) {
        let begun = self.producer.init();
        self.aborted(why, begun);
    }

    fn aborted(&mut self, why: String, next: Result<ProducerId, TransactionError>) {
        self.report_moves();
        match next {
            Ok(identity) => self.report(TransactionReply::Aborted {
                why,
                identity: named(identity),
            }),
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

    fn report(&self, word: TransactionReply) {
        // A producer that is gone needs no answer.
        if self.say.send(word).is_ok()
            && let Some(waker) = self.waker.get()
        {
            let _ = waker.wake();
        }
    }
}
