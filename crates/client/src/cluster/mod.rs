//! A cluster as seen by a client: found through any of its servers, with metadata that is refreshed when leaders
//! change, and one connection to each broker in use.

mod error;
mod metadata;
mod pool;
mod retry;
mod topics;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{Message, MetadataRequest, Request};

pub use error::ClusterError;
pub(crate) use error::{Next, broker_words};
pub use metadata::{Broker, MetadataView, Partition, Topic};
pub(crate) use retry::{FailedAttempt, OperationError};

use crate::config::{ClientConfig, MetadataRecovery};
use crate::connection::{ApiVersions, ConnectError, Connection, Decoded};
use crate::interrupt::Interrupt;
use pool::Pool;

/// A blocking client of one cluster, for everything but the load itself.
///
/// It belongs to one thread; other threads need their own, or connections from [`Cluster::open`].
#[derive(Debug)]
pub struct Cluster {
    config: ClientConfig,
    interrupt: Interrupt,
    pool: Pool,
    metadata: MetadataView,
    /// The topics of a refresh.
    topics: BTreeSet<String>,
    /// A shorter time limit of operations than in the configuration.
    time_limit: Option<Duration>,
}

/// The minimum time for one broker's response while others could be asked instead.
const TURN_MIN: Duration = Duration::from_secs(1);

/// The leader of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leader {
    /// The broker that leads.
    pub broker_id: i32,
    /// The leader epoch; brokers before 2.1 do not report it.
    pub epoch: Option<i32>,
}

impl Cluster {
    /// Connects through the first bootstrap server that answers.
    pub fn bootstrap(config: ClientConfig) -> Result<Cluster, ClusterError> {
        Cluster::bootstrap_until(config, Interrupt::new())
    }

    /// The same; every wait from now on ends when `interrupt` is raised.
    pub fn bootstrap_until(
        config: ClientConfig,
        interrupt: Interrupt,
    ) -> Result<Cluster, ClusterError> {
        let deadline = Instant::now() + config.api_timeout;
        let mut pool = Pool::default();
        let metadata = pool.bootstrap(&config, &interrupt, &[], deadline)?;
        Ok(Cluster {
            config,
            interrupt,
            pool,
            metadata,
            topics: BTreeSet::new(),
            time_limit: None,
        })
    }

    /// The settings.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// Replaces the interrupt flag of later waits, for example to clean up after an interrupt.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.pool.set_interrupt(&interrupt);
        self.interrupt = interrupt;
    }

    /// Limits every operation from now on, if that is less than `default.api.timeout.ms`; `None` removes the limit. For
    /// a cluster that may be dead, and a caller that should not wait for it.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) {
        self.time_limit = limit;
    }

    /// The latest metadata, with the topics that were last requested.
    pub fn metadata(&self) -> &MetadataView {
        &self.metadata
    }

    /// Requests brokers and these topics, with retries; the response contains unknown topics with their error.
    pub fn refresh(&mut self, topics: &[&str]) -> Result<&MetadataView, ClusterError> {
        self.topics = topics.iter().map(|&topic| topic.to_owned()).collect();
        self.refresh_again()?;
        Ok(&self.metadata)
    }

    /// The leader of a partition, from the current metadata if it is recent enough and has a leader.
    ///
    /// Waits for a partition without a leader; a topic that does not exist is an error at once.
    pub fn leader(&mut self, topic: &str, partition: i32) -> Result<Leader, ClusterError> {
        let stale = self.metadata.age() > self.config.metadata_age_max;
        if !stale && let Ok(leader) = self.known_leader(topic, partition) {
            return Ok(leader);
        }
        self.topics.insert(topic.to_owned());
        self.retrying("find a partition's leader", |cluster, deadline| {
            let refreshed = cluster.refresh_once(deadline);
            refreshed
                .and_then(|()| cluster.known_leader(topic, partition))
                .map_err(refreshing)
        })
    }

    /// The leader of a partition in the current metadata.
    pub fn known_leader(&self, topic: &str, partition: i32) -> Result<Leader, ClusterError> {
        let unknown = ErrorCode::UnknownTopicOrPartition;
        let found = self.metadata.topic(topic);
        let code = found.map_or(unknown, |found| found.error);
        let Some(found) = found.filter(|_| code.is_none()) else {
            return Err(ClusterError::Topic {
                topic: topic.to_owned(),
                code,
            });
        };
        let Some(found) = found.partition(partition) else {
            return Err(ClusterError::UnknownPartition {
                topic: topic.to_owned(),
                partition,
            });
        };
        match found.leader_id {
            Some(broker_id) => Ok(Leader {
                broker_id,
                epoch: found.leader_epoch,
            }),
            None => Err(ClusterError::NoLeader {
                topic: topic.to_owned(),
                partition,
                code: found.error,
            }),
        }
    }

    /// Opens a separate connection to a broker, outside the pool.
    pub fn open(&mut self, broker_id: i32) -> Result<Connection, ClusterError> {
        self.open_until(broker_id, self.deadline())
    }

    /// The same within an operation that ends at `deadline`.
    pub(crate) fn open_until(
        &mut self,
        broker_id: i32,
        deadline: Instant,
    ) -> Result<Connection, ClusterError> {
        let address = match self.metadata.broker(broker_id) {
            Some(broker) => broker.address.clone(),
            None => {
                self.refresh_until(deadline)?;
                let broker = self.metadata.broker(broker_id);
                broker
                    .ok_or(ClusterError::UnknownBroker { broker_id })?
                    .address
                    .clone()
            }
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = self.config.connection_setup_timeout.min(left);
        Connection::connect_within(&address, &self.config, limit, &self.interrupt).map_err(
            |error| ClusterError::Connect {
                broker_id,
                was_up: self.pool.was_up(broker_id, &address),
                error,
            },
        )
    }

    /// The API versions of a broker, over its pooled connection.
    pub fn api_versions(&mut self, broker_id: i32) -> Result<ApiVersions, ClusterError> {
        let deadline = self.deadline();
        Ok(self.connection(broker_id, deadline)?.api_versions().clone())
    }

    /// Sends one request to one broker, once. The caller handles errors.
    pub fn call<'a, R: Request<'a>>(
        &mut self,
        broker_id: i32,
        request: &R,
    ) -> Result<Decoded<R>, ClusterError> {
        let deadline = self.deadline();
        // Connecting may use up a part of the time.
        self.connection(broker_id, deadline)?;
        let limit = match self.time_limit {
            Some(_) => self.request_limit(deadline),
            None => self.config.request_timeout,
        };
        self.call_between(broker_id, request, R::VERSIONS, limit)
    }

    /// The same in one of these versions. The broker must answer within `limit`.
    pub fn call_between<'a, R: Request<'a>>(
        &mut self,
        broker_id: i32,
        request: &R,
        versions: RangeInclusive<i16>,
        limit: Duration,
    ) -> Result<Decoded<R>, ClusterError> {
        let connection = self.connection(broker_id, self.deadline())?;
        Ok(connection.call_between(request, versions, limit)?)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    pub(crate) fn sleep(&self, pause: Duration, deadline: Instant) {
        self.interrupt.sleep(pause, deadline);
    }

    /// When an operation that starts now must end.
    pub(crate) fn deadline(&self) -> Instant {
        let all = self.config.api_timeout;
        Instant::now() + self.time_limit.map_or(all, |limit| limit.min(all))
    }

    /// The time limit of one request within an operation that ends at `deadline`.
    pub(crate) fn request_limit(&self, deadline: Instant) -> Duration {
        self.config
            .request_timeout
            .min(deadline.saturating_duration_since(Instant::now()))
    }

    /// The pooled connection to a broker.
    pub(crate) fn connection(
        &mut self,
        broker_id: i32,
        deadline: Instant,
    ) -> Result<&mut Connection, ClusterError> {
        let broker = self.metadata.broker(broker_id);
        let broker = broker.ok_or(ClusterError::UnknownBroker { broker_id })?;
        self.pool
            .connection(broker, &self.config, &self.interrupt, deadline)
    }

    /// Any broker, preferably one with an open connection.
    pub(crate) fn any_broker(&self) -> Result<i32, ClusterError> {
        let mut brokers = self.metadata.brokers.iter().map(|broker| broker.id);
        let connected = self
            .metadata
            .brokers
            .iter()
            .find(|broker| self.pool.has(broker.id));
        connected
            .map(|broker| broker.id)
            .or_else(|| brokers.next())
            .ok_or(ClusterError::NoBroker)
    }

    /// The broker for topic changes.
    pub(crate) fn controller(&self) -> Result<i32, ClusterError> {
        let known = self
            .metadata
            .controller_id
            .filter(|&id| self.metadata.broker(id).is_some());
        known.map_or_else(|| self.any_broker(), Ok)
    }

    /// One broker's own metadata of some topics, which does not replace [`Cluster::metadata`].
    pub(crate) fn metadata_of(
        &mut self,
        broker_id: i32,
        topics: &[String],
        deadline: Instant,
    ) -> Result<MetadataView, ClusterError> {
        let limit = self.request_limit(deadline);
        ask(self.connection(broker_id, deadline)?, topics, limit)
    }

    /// Requests the topics of the last refresh again, with retries.
    fn refresh_again(&mut self) -> Result<(), ClusterError> {
        self.refresh_until(self.deadline())
    }

    fn refresh_until(&mut self, deadline: Instant) -> Result<(), ClusterError> {
        let once = |cluster: &mut Cluster, until| cluster.refresh_once(until).map_err(refreshing);
        self.retrying_until("ask for metadata", deadline, once)
    }

    /// Asks any broker, then any other, then the bootstrap servers; each once. A broker that does not answer uses at
    /// most half of the remaining time, so that others can be asked as well.
    fn refresh_once(&mut self, deadline: Instant) -> Result<(), ClusterError> {
        let topics: Vec<String> = self.topics.iter().cloned().collect();
        let mut ids: Vec<i32> = self
            .metadata
            .brokers
            .iter()
            .map(|broker| broker.id)
            .collect();
        ids.sort_by_key(|&id| !self.pool.has(id));
        let mut last = ClusterError::NoBroker;
        for id in ids {
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            let turn = now + (left / 2).max(TURN_MIN.min(left));
            match self.metadata_of(id, &topics, turn) {
                Ok(metadata) => {
                    self.pool.keep(&metadata);
                    self.metadata = metadata;
                    return Ok(());
                }
                Err(ClusterError::Connect {
                    error: ConnectError::NoTime { .. },
                    ..
                }) if !matches!(last, ClusterError::NoBroker) => {}
                Err(error) => last = error,
            }
            if self.interrupt.is_raised() {
                return Err(ClusterError::Interrupted);
            }
        }
        if self.config.metadata_recovery == MetadataRecovery::None || Instant::now() >= deadline {
            return Err(last);
        }
        let found = self
            .pool
            .bootstrap(&self.config, &self.interrupt, &topics, deadline);
        self.metadata = match (found, last) {
            (Ok(metadata), _) => metadata,
            // Errors of known brokers say more than those of bootstrap servers, which are only asked because the
            // brokers failed.
            (
                Err(ClusterError::NoServer { .. }),
                last @ (ClusterError::Connect { .. } | ClusterError::Call(_)),
            ) => return Err(last),
            (Err(error), _) => return Err(error),
        };
        Ok(())
    }
}

/// After an attempt that starts with a refresh anyway.
fn refreshing(error: ClusterError) -> FailedAttempt<ClusterError> {
    let failed = FailedAttempt::from(error);
    match failed.next {
        Next::Refresh => FailedAttempt {
            next: Next::Retry,
            ..failed
        },
        _ => failed,
    }
}

/// One metadata request over a connection.
fn ask(
    connection: &mut Connection,
    topics: &[String],
    limit: Duration,
) -> Result<MetadataView, ClusterError> {
    if connection.api_versions().range(ApiKey::Metadata).is_none() {
        return Err(ClusterError::NoBrokerThere {
            address: connection.address().clone(),
        });
    }
    let version = connection.version(ApiKey::Metadata, MetadataRequest::VERSIONS)?;
    let request = MetadataView::request(Some(topics), version);
    let reply = connection.call_between(&request, version..=version, limit)?;
    let answer = reply.decode()?;
    let code = ErrorCode::from(answer.error_code);
    if !code.is_none() {
        return Err(ClusterError::Refused {
            api: ApiKey::Metadata,
            code,
            message: None,
        });
    }
    let mut metadata = MetadataView::from_answer(&answer);
    // Old versions return all topics.
    metadata.topics.retain(|topic| topics.contains(&topic.name));
    Ok(metadata)
}
