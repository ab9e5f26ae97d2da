//! The control thread, for everything that blocks.
//!
//! Connecting, fetching metadata and getting a producer id all block, are rare, and must not delay a worker. Workers
//! send requests to this thread; it executes them and wakes the workers with the results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::admin::ProducerId;
use kgauge_client::security::Channel;
use kgauge_client::{ClientConfig, Cluster, ClusterError, Connection, Interrupt};
use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

use crate::consume::VERSIONS as FETCH_VERSIONS;
use crate::leaders::{ClientSide, Leaders};
use crate::outage::{OutageTracker, Whereabouts};
use crate::produce::VERSIONS as PRODUCE_VERSIONS;
use crate::topics::Topics;

/// Kafka's default of `retry.backoff.ms`: the minimum interval between metadata requests.
const LEADERS_PAUSE: Duration = Duration::from_millis(100);

/// A broker that does not accept a connection within this time counts as down; it is tried again.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);

/// Time limit of one request, including all attempts. Workers request again.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(3);

/// After a broker did not accept a connection in time, other clients' connections to it are not tried for this long:
/// each attempt would delay all other requests.
const CONNECT_PAUSE: Duration = Duration::from_secs(1);

/// A request of a worker.
#[derive(Debug)]
pub(crate) enum ControlRequest {
    Leaders {
        worker: usize,
    },
    Connect {
        worker: usize,
        client: usize,
        link: usize,
        broker_id: i32,
    },
    ProducerId {
        worker: usize,
        client: usize,
    },
    /// The run is over.
    Stop,
}

/// A result for a worker.
#[derive(Debug)]
pub(crate) enum ControlReply {
    Leaders(ClientSide, Arc<Leaders>),
    Connected {
        client: usize,
        link: usize,
        channel: Channel,
        produce_version: i16,
        fetch_version: i16,
    },
    NotConnected {
        client: usize,
        link: usize,
    },
    ProducerId {
        client: usize,
        identity: ProducerId,
    },
}

/// The channel to one worker.
#[derive(Clone)]
pub(crate) struct WorkerMailbox {
    pub(crate) replies: Sender<ControlReply>,
    pub(crate) waker: Arc<mio::Waker>,
}

/// The setup of a control thread.
pub(crate) struct ControlSetup {
    pub(crate) side: ClientSide,
    pub(crate) cluster: Cluster,
    pub(crate) config: ClientConfig,
    pub(crate) topics: Arc<Topics>,
    pub(crate) leaders: Leaders,
}

/// The state of a control thread.
struct ControlThread {
    side: ClientSide,
    cluster: Cluster,
    config: ClientConfig,
    topics: Arc<Topics>,
    mailboxes: Vec<WorkerMailbox>,
    outages: Arc<OutageTracker>,
    interrupt: Interrupt,
    /// Brokers that did not accept a connection in time, and when.
    unconnected: HashMap<i32, Instant>,
    /// Workers that wait for leaders, and the time of the last answer.
    waiting: HashSet<usize>,
    leaders_at: Instant,
    /// Clients that wait for a producer id.
    awaiting_producer_id: Vec<(usize, usize)>,
}

/// Starts the thread. `interrupt` ends it, even during a request.
pub(crate) fn start(
    setup: ControlSetup,
    mailboxes: Vec<WorkerMailbox>,
    outages: Arc<OutageTracker>,
    interrupt: Interrupt,
    requests: Receiver<ControlRequest>,
) -> std::io::Result<JoinHandle<()>> {
    let mut cluster = setup.cluster;
    cluster.set_interrupt(interrupt.clone());
    cluster.set_time_limit(Some(REQUEST_TIME_MAX));
    outages.note(setup.side, whereabouts(&cluster, setup.leaders));
    let mut control = ControlThread {
        side: setup.side,
        cluster,
        config: setup.config,
        topics: setup.topics,
        mailboxes,
        outages,
        interrupt,
        unconnected: HashMap::new(),
        waiting: HashSet::new(),
        leaders_at: Instant::now(),
        awaiting_producer_id: Vec::new(),
    };
    std::thread::Builder::new()
        .name("load-control".to_owned())
        .spawn(move || control.serve(&requests))
}

impl ControlThread {
    fn serve(&mut self, requests: &Receiver<ControlRequest>) {
        loop {
            let request = if self.waiting.is_empty() && self.awaiting_producer_id.is_empty() {
                requests.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                requests.recv_timeout(LEADERS_PAUSE)
            };
            if self.interrupt.is_raised() {
                return;
            }
            match request {
                Ok(ControlRequest::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(ControlRequest::Leaders { worker }) => {
                    self.waiting.insert(worker);
                }
                Ok(ControlRequest::ProducerId { worker, client }) => {
                    self.awaiting_producer_id.push((worker, client))
                }
                Ok(ControlRequest::Connect {
                    worker,
                    client,
                    link,
                    broker_id,
                }) => {
                    self.connect(worker, client, link, broker_id);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.waiting.is_empty() && self.leaders_at.elapsed() >= LEADERS_PAUSE {
                self.find_leaders();
            }
            self.give_producer_ids();
        }
    }

    fn find_leaders(&mut self) {
        self.leaders_at = Instant::now();
        let Ok(leaders) = leaders(&mut self.cluster, &self.topics) else {
            return;
        };
        let whereabouts = whereabouts(&self.cluster, leaders.clone());
        self.outages.note(self.side, whereabouts);
        let leaders = Arc::new(leaders);
        for worker in self.waiting.drain() {
            let reply = ControlReply::Leaders(self.side, Arc::clone(&leaders));
            notify(&self.mailboxes, worker, reply);
        }
    }

    fn connect(&mut self, worker: usize, client: usize, link: usize, broker_id: i32) {
        let reply = match self.try_connect(broker_id) {
            Some((channel, produce_version, fetch_version)) => ControlReply::Connected {
                client,
                link,
                channel,
                produce_version,
                fetch_version,
            },
            None => ControlReply::NotConnected { client, link },
        };
        notify(&self.mailboxes, worker, reply);
    }

    fn try_connect(&mut self, broker_id: i32) -> Option<(Channel, i16, i16)> {
        let failed_at = self.unconnected.get(&broker_id);
        if failed_at.is_some_and(|at| at.elapsed() < CONNECT_PAUSE) {
            return None;
        }
        let address = &self.cluster.metadata().broker(broker_id)?.address;
        let limit = CONNECT_TIME_MAX.min(self.config.connection_setup_timeout);
        let start = Instant::now();
        let found = Connection::connect_within(address, &self.config, limit, &self.interrupt);
        let Ok(connection) = found else {
            // A broker that refuses at once delays nothing.
            if start.elapsed() >= CONNECT_TIME_MAX / 2 {
                self.unconnected.insert(broker_id, Instant::now());
            }
            return None;
        };
        self.unconnected.remove(&broker_id);
        let versions = connection.api_versions();
        let produce_version = versions.highest_common(ApiKey::Produce, PRODUCE_VERSIONS)?;
        let fetch_version = versions.highest_common(ApiKey::Fetch, FETCH_VERSIONS)?;
        let channel = connection.into_channel().ok()?;
        Some((channel, produce_version, fetch_version))
    }

    fn give_producer_ids(&mut self) {
        let waiting = std::mem::take(&mut self.awaiting_producer_id);
        for (worker, client) in waiting {
            match self.cluster.init_producer_id() {
                Ok(identity) => {
                    let reply = ControlReply::ProducerId { client, identity };
                    notify(&self.mailboxes, worker, reply);
                }
                Err(_) => self.awaiting_producer_id.push((worker, client)),
            }
        }
    }
}

/// An ended worker needs no reply; a running one handles it when it is woken.
fn notify(mailboxes: &[WorkerMailbox], worker: usize, reply: ControlReply) {
    if let Some(mailbox) = mailboxes.get(worker)
        && mailbox.replies.send(reply).is_ok()
    {
        let _ = mailbox.waker.wake();
    }
}

fn whereabouts(cluster: &Cluster, leaders: Leaders) -> Whereabouts {
    let brokers = cluster.metadata().brokers.iter();
    Whereabouts {
        addresses: brokers
            .map(|broker| (broker.id, broker.address.clone()))
            .collect(),
        leaders,
    }
}

/// Requests the topics' metadata.
pub(crate) fn leaders(cluster: &mut Cluster, topics: &Topics) -> Result<Leaders, ClusterError> {
    let names: Vec<&str> = topics.names().iter().map(String::as_str).collect();
    let metadata = cluster.refresh(&names)?;
    let mut leaders = Vec::new();
    for name in names {
        let found = metadata.topic(name);
        let Some(found) = found.filter(|found| found.error.is_none()) else {
            return Err(ClusterError::Topic {
                topic: name.to_owned(),
                code: found.map_or(ErrorCode::UnknownTopicOrPartition, |found| found.error),
            });
        };
        for partition in &found.partitions {
            let Some(place) = topics.place(name, partition.index) else {
                continue;
            };
            let place = place as usize;
            if leaders.len() <= place {
                leaders.resize(place + 1, None);
            }
            leaders[place] = partition.leader_id;
        }
    }
    Ok(Leaders(leaders))
}
