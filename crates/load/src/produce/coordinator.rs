//! A transactional producer's thread: it speaks with the coordinator while the worker goes on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::transaction::{TransactionError, TransactionalProducer};
use kgauge_client::{ClientConfig, Cluster, ClusterError, Interrupt};

use super::producer::Identity;

/// How long the last transaction of a producer that is given up may take to be aborted.
const LEAVE: Duration = Duration::from_secs(1);

/// What the producer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The partition becomes part of the transaction.
    Add(u32),
    /// The transaction ends.
    End { commits: bool },
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Word {
    /// The partition may be written to.
    Added(u32),
    /// It may not.
    NotAdded {
        partition: u32,
        why: String,
    },
    Committed,
    /// The producer goes on as somebody new: what it was is fenced.
    Aborted {
        why: String,
        identity: Identity,
    },
    /// It cannot go on.
    Failed(String),
}

/// The thread, from outside.
#[derive(Debug)]
pub(crate) struct TransactionThread {
    /// Who the producer was at first.
    pub(super) identity: Identity,
    orders: Option<Sender<Order>>,
    words: Receiver<Word>,
    waker: Arc<OnceLock<Arc<mio::Waker>>>,
    give_up: Interrupt,
    over: Receiver<()>,
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
    pub fn cure(&self) -> &'static str {
        match self {
            Self::Cluster(error) => error.cure(),
            Self::Coordinator(error) => error.cure(),
            Self::System(_) => "raise the limit of processes and threads (ulimit -u)",
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
        let give_up = Interrupt::new();
        producer.set_interrupt(&give_up);
        let ((orders, ordered), (say, words)) = (channel(), channel());
        let (tell_over, over) = channel();
        let waker = Arc::default();
        let mut body = Body {
            producer,
            topic: setup.topic.clone(),
            say,
            waker: Arc::clone(&waker),
            is_open: false,
        };
        let thread = std::thread::Builder::new()
            .name("load-transact".to_owned())
            .spawn(move || {
                body.serve(&ordered);
                let _ = tell_over.send(());
            })?;
        Ok(Self {
            identity: Identity {
                id: identity.id,
                epoch: identity.epoch,
            },
            orders: Some(orders),
            words,
            waker,
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

    pub(super) fn order(&self, order: Order) {
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

    pub(super) fn next_word(&self) -> Option<Word> {
        self.words.try_recv().ok()
    }
}

impl Drop for TransactionThread {
    fn drop(&mut self) {
        self.leave();
        let since = self.left_at.map_or(LEAVE, |at| at.elapsed());
        let _ = self.over.recv_timeout(LEAVE.saturating_sub(since));
        self.give_up.raise();
        if let Some(thread) = self.thread.take() {
            // A panic has been told by the hook.
            let _ = thread.join();
        }
    }
}

/// The thread's own state.
struct Body {
    producer: TransactionalProducer,
    topic: String,
    say: Sender<Word>,
    waker: Arc<OnceLock<Arc<mio::Waker>>>,
    /// The coordinator knows of a transaction.
    is_open: bool,
}

impl Body {
    fn serve(&mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            match order {
                Order::Add(first) => {
                    let mut partitions = vec![first];
                    let mut next = None;
                    while let Ok(order) = orders.try_recv() {
                        match order {
                            Order::Add(partition) => partitions.push(partition),
                            Order::End { commits } => {
                                next = Some(commits);
                                break;
                            }
                        }
                    }
                    self.add(&partitions);
                    if let Some(commits) = next {
                        self.end(commits);
                    }
                }
                Order::End { commits } => self.end(commits),
            }
        }
        if self.is_open {
            // Without it the coordinator would wait for transaction.timeout.ms, and readers with it.
            let _ = self.producer.end(false);
        }
    }

    fn add(&mut self, partitions: &[u32]) {
        let numbers: Vec<i32> = partitions.iter().map(|&one| one as i32).collect();
        match self.producer.add_partitions(&self.topic, &numbers) {
            Ok(()) => {
                self.is_open = true;
                for &partition in partitions {
                    self.say(Word::Added(partition));
                }
            }
            Err(error) => {
                for &partition in partitions {
                    let why = format!("{error}; {}", error.cure());
                    self.say(Word::NotAdded { partition, why });
                }
            }
        }
    }

    fn end(&mut self, commits: bool) {
        let ended = match self.is_open {
            true => self.producer.end(commits),
            // Nothing got as far as being added: there is nothing to end.
            false => Ok(()),
        };
        self.is_open = false;
        let why = match ended {
            Ok(()) if commits => return self.say(Word::Committed),
            Ok(()) => "a batch was lost".to_owned(),
            Err(error) => error.to_string(),
        };
        // Sequences and epoch may be out of step: somebody new begins anew.
        match self.producer.init() {
            Ok(identity) => self.say(Word::Aborted {
                why,
                identity: Identity {
                    id: identity.id,
                    epoch: identity.epoch,
                },
            }),
            Err(error) => self.say(Word::Failed(format!("{error}; {}", error.cure()))),
        }
    }

    fn say(&self, word: Word) {
        // A producer that is gone needs no answer.
        if self.say.send(word).is_ok()
            && let Some(waker) = self.waker.get()
        {
            let _ = waker.wake();
        }
    }
}
