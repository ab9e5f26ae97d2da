//! A producer's transactions: the way to their coordinator.
//!
//! What is spoken is the protocol that every release since Kafka 0.11 knows (KIP-98): partitions are
//! added by name before they are written to. The newer one of Kafka 4 (KIP-890), which adds them by
//! the produce request itself, needs Produce 12 and EndTxn 5; neither is used here.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::add_partitions_to_txn::AddPartitionsToTxnTopic;
use kgauge_wire::messages::{
    AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest, Request,
};

use crate::admin::{CoordinatorOf, ProducerId};
use crate::backoff::Backoff;
use crate::cluster::{Cluster, ClusterError};
use crate::connection::{CallError, Connection, Reply};
use crate::interrupt::Interrupt;

/// From version 4 on brokers ask each other, by another layout.
const ADD_VERSIONS: RangeInclusive<i16> = 0..=3;
/// From version 5 on the epoch rises with each transaction.
const END_VERSIONS: RangeInclusive<i16> = 0..=4;
/// From version 6 on there is a second phase.
const INIT_VERSIONS: RangeInclusive<i16> = 0..=5;

/// The coordinator is still writing the last transaction's markers: Kafka's producer asks again after
/// this (`TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS`).
const CONCURRENT_PAUSE: Duration = Duration::from_millis(20);

/// Why something that a transactional producer wanted did not work out.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// The coordinator refuses.
    #[error("transactional.id {id}: {api} was refused with {code}")]
    Refused {
        /// The transactional id.
        id: String,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The coordinator could not be found, reached or understood.
    #[error("transactional.id {id}: {error}")]
    Cluster {
        /// The transactional id.
        id: String,
        /// What went wrong.
        #[source]
        error: Box<ClusterError>,
    },
}

impl TransactionError {
    /// What the user can do about it.
    pub fn cure(&self) -> &'static str {
        match self {
            TransactionError::Refused { code, .. } => match code {
                ErrorCode::TransactionalIdAuthorizationFailed => {
                    "give this client the rights Describe and Write for the transactional.id"
                }
                ErrorCode::InvalidTransactionTimeout => {
                    "make transaction.timeout.ms at most the brokers' transaction.max.timeout.ms"
                }
                ErrorCode::ProducerFenced | ErrorCode::InvalidProducerEpoch => {
                    "let nobody else use this transactional.id, or raise transaction.timeout.ms"
                }
                _ => "look into the log of the transaction coordinator",
            },
            TransactionError::Cluster { error, .. } => match error.as_ref() {
                ClusterError::Call(CallError::Unsupported { .. }) => {
                    "remove `transaction`: this needs Kafka 0.11 or newer"
                }
                error => error.cure(),
            },
        }
    }
}

/// A transactional producer, seen from its coordinator: one connection, and who the producer is.
#[derive(Debug)]
pub struct TransactionalProducer {
    cluster: Cluster,
    id: String,
    timeout_ms: i32,
    link: Option<Connection>,
    identity: Option<ProducerId>,
}

impl TransactionalProducer {
    /// One that has not been introduced yet; `timeout` is `transaction.timeout.ms`.
    pub fn new(cluster: Cluster, id: &str, timeout: Duration) -> Self {
        Self {
            cluster,
            id: id.to_owned(),
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            link: None,
            identity: None,
        }
    }

    /// What ends every wait.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.cluster.set_interrupt(interrupt.clone());
        if let Some(link) = &mut self.link {
            link.set_interrupt(interrupt.clone());
        }
    }

    /// Introduces the producer. An open transaction of an earlier one with this id is aborted, and that
    /// one is locked out.
    pub fn init(&mut self) -> Result<ProducerId, TransactionError> {
        let identity = self.insisting(|this, limit| {
            let request = InitProducerIdRequest {
                transactional_id: Some(this.id.clone().into()),
                transaction_timeout_ms: this.timeout_ms,
                ..InitProducerIdRequest::default()
            };
            let reply = this.call(&request, INIT_VERSIONS, limit)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            this.judge(ApiKey::InitProducerId, answer.error_code)?;
            Ok(ProducerId {
                id: answer.producer_id,
                epoch: answer.producer_epoch,
            })
        })?;
        self.identity = Some(identity);
        Ok(identity)
    }

    /// Makes partitions part of the open transaction, or of a new one.
    pub fn add_partitions(
        &mut self,
        topic: &str,
        partitions: &[i32],
    ) -> Result<(), TransactionError> {
        let identity = self.known();
        self.insisting(|this, limit| {
            let request = AddPartitionsToTxnRequest {
                v3_and_below_transactional_id: this.id.clone().into(),
                v3_and_below_producer_id: identity.id,
                v3_and_below_producer_epoch: identity.epoch,
                v3_and_below_topics: vec![AddPartitionsToTxnTopic {
                    name: topic.into(),
                    partitions: partitions.to_vec(),
                }],
                ..AddPartitionsToTxnRequest::default()
            };
            let reply = this.call(&request, ADD_VERSIONS, limit)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            let topics = answer.results_by_topic_v3_and_below.iter();
            let mut codes = topics
                .flat_map(|topic| &topic.results_by_partition)
                .map(|partition| partition.partition_error_code);
            match codes.find(|&code| code != 0) {
                Some(code) => this.judge(ApiKey::AddPartitionsToTxn, code),
                None => Ok(()),
            }
        })
    }

    /// Commits the open transaction, or aborts it. Partitions must have been added to it.
    pub fn end(&mut self, commits: bool) -> Result<(), TransactionError> {
        let identity = self.known();
        self.insisting(|this, limit| {
            let request = EndTxnRequest {
                transactional_id: this.id.clone().into(),
                producer_id: identity.id,
                producer_epoch: identity.epoch,
                committed: commits,
            };
            let reply = this.call(&request, END_VERSIONS, limit)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            this.judge(ApiKey::EndTxn, answer.error_code)
        })
    }

    /// Who it is; nobody before [`TransactionalProducer::init`].
    fn known(&self) -> ProducerId {
        self.identity.unwrap_or(ProducerId { id: -1, epoch: -1 })
    }

    /// Tries again what passes by itself, within `default.api.timeout.ms`.
    fn insisting<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self, Duration) -> Result<T, TransactionError>,
    ) -> Result<T, TransactionError> {
        let config = self.cluster.config();
        let (deadline, limit) = (Instant::now() + config.api_timeout, config.request_timeout);
        let mut backoff = Backoff::new(config.retry_backoff, config.retry_backoff_max);
        loop {
            let error = match attempt(self, limit) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let pause = match &error {
                TransactionError::Refused {
                    code: ErrorCode::ConcurrentTransactions,
                    ..
                } => CONCURRENT_PAUSE,
                TransactionError::Refused { code, .. } if moves(*code) => {
                    self.link = None;
                    backoff.pause()
                }
                TransactionError::Refused { code, .. } if code.is_retriable() => backoff.pause(),
                TransactionError::Cluster { error, .. } if error.may_pass() => {
                    self.link = None;
                    backoff.pause()
                }
                _ => return Err(error),
            };
            if Instant::now() + pause >= deadline || self.cluster.is_interrupted() {
                return Err(error);
            }
            self.cluster.sleep(pause, deadline);
        }
    }

    fn call<'a, R: Request<'a>>(
        &mut self,
        request: &R,
        versions: RangeInclusive<i16>,
        limit: Duration,
    ) -> Result<Reply<R>, TransactionError> {
        let called = self.link().and_then(|link| {
            let reply = link.call_between(request, versions, limit);
            reply.map_err(ClusterError::from)
        });
        called.map_err(|error| self.failed(error))
    }

    fn link(&mut self) -> Result<&mut Connection, ClusterError> {
        let usable = self
            .link
            .take()
            .filter(|link| !link.is_broken() && !link.is_session_over());
        let link = match usable {
            Some(link) => link,
            None => {
                let of = CoordinatorOf::Transactions;
                let broker_id = self.cluster.coordinator(&self.id, of)?;
                self.cluster.open(broker_id)?
            }
        };
        Ok(self.link.insert(link))
    }

    fn judge(&self, api: ApiKey, code: i16) -> Result<(), TransactionError> {
        match ErrorCode::from(code) {
            ErrorCode::None => Ok(()),
            code => Err(TransactionError::Refused {
                id: self.id.clone(),
                api,
                code,
            }),
        }
    }

    fn failed(&self, error: ClusterError) -> TransactionError {
        TransactionError::Cluster {
            id: self.id.clone(),
            error: Box::new(error),
        }
    }
}

/// Whether another broker may have to be asked.
fn moves(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NotCoordinator
            | ErrorCode::CoordinatorNotAvailable
            | ErrorCode::CoordinatorLoadInProgress
    )
}
