//! Transactional producers: requests to their coordinator.
//!
//! There are two protocols. Every release since Kafka 0.11 supports the first one (KIP-98): partitions are added by
//! name before they are written to. The second one came with Kafka 4 (KIP-890): Produce 12 adds them, and the end of
//! each transaction, EndTxn 5, gives the producer a new epoch, so that late requests of one transaction do not get into
//! the next. It is used if the cluster has finalized it (`transaction.version` 2), as in Kafka's own producer since
//! 4.0.

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
use crate::connection::{ApiVersions, CallError, Connection, Decoded};
use crate::interrupt::Interrupt;

/// Versions from 4 on are for brokers only.
const ADD_VERSIONS: RangeInclusive<i16> = 0..=3;
/// The version whose response has a new epoch: the second protocol.
const END_WITH_EPOCH: i16 = 5;
/// The version of Produce that adds partitions to a transaction.
const PRODUCE_THAT_ADDS: i16 = 12;
/// From version 6 on, there is two-phase commit.
const INIT_VERSIONS: RangeInclusive<i16> = 0..=5;
/// From this version on, a producer can send its previous identity (KIP-360).
const INIT_WITH_IDENTITY: i16 = 3;

/// The feature that shows the protocol of a cluster, and the level of the second protocol.
const FEATURE: &str = "transaction.version";
const FEATURE_OF_SECOND: i16 = 2;

/// If the coordinator is still writing the last transaction's markers, Kafka's producer retries after this time
/// (`TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS`).
const CONCURRENT_PAUSE: Duration = Duration::from_millis(20);

/// The identity without a producer.
const NOBODY: ProducerId = ProducerId { id: -1, epoch: -1 };

/// The transaction protocol of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionKind {
    /// KIP-98: partitions are added by name.
    First,
    /// KIP-890: writing to partitions adds them, and each end gives a new epoch.
    Second,
}

impl TransactionKind {
    /// The protocol for a cluster whose coordinator has these versions.
    pub fn of(versions: &ApiVersions) -> Self {
        let is_agreed = versions
            .finalized_feature(FEATURE)
            .is_some_and(|level| level >= FEATURE_OF_SECOND);
        let knows = |api, version: i16| versions.highest_common(api, version..=version).is_some();
        if is_agreed
            && knows(ApiKey::EndTxn, END_WITH_EPOCH)
            && knows(ApiKey::Produce, PRODUCE_THAT_ADDS)
        {
            Self::Second
        } else {
            Self::First
        }
    }

    fn end_versions(self) -> RangeInclusive<i16> {
        match self {
            Self::First => 0..=END_WITH_EPOCH - 1,
            Self::Second => END_WITH_EPOCH..=END_WITH_EPOCH,
        }
    }
}

/// Why a request of a transactional producer failed.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// The coordinator refused.
    #[error("transactional.id {id}: {api} was rejected with {code}")]
    Refused {
        /// The transactional id.
        id: String,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The coordinator knows a newer producer with this id, which has fenced this one.
    #[error(
        "transactional.id {id}: another active producer with this id has fenced this one ({api}: \
         {code})"
    )]
    Fenced {
        /// The transactional id.
        id: String,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The coordinator could not be found or reached, or its response could not be decoded.
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
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            TransactionError::Refused { code, .. } => match code {
                ErrorCode::TransactionalIdAuthorizationFailed => {
                    "allow this client Describe and Write on the transactional.id"
                }
                ErrorCode::InvalidTransactionTimeout => {
                    "lower transaction.timeout.ms to at most the brokers' \
                     transaction.max.timeout.ms"
                }
                ErrorCode::ProducerFenced | ErrorCode::InvalidProducerEpoch => {
                    "use this transactional.id in only one producer, or raise \
                     transaction.timeout.ms"
                }
                _ => "check the transaction coordinator's log",
            },
            TransactionError::Fenced { .. } => {
                "stop that one, or give each producer its own transactional.id"
            }
            TransactionError::Cluster { error, .. } => match error.as_ref() {
                ClusterError::Call(CallError::Unsupported { .. }) => {
                    "remove `transaction`: transactions need Kafka 0.11 or newer"
                }
                error => error.fix(),
            },
        }
    }

    /// Whether the coordinator has fenced the producer: another one with its id has started, or its transaction
    /// exceeded its timeout.
    pub fn is_of_the_past(&self) -> bool {
        match self {
            TransactionError::Refused { code, .. } => is_of_the_past(*code),
            TransactionError::Fenced { .. } => true,
            TransactionError::Cluster { .. } => false,
        }
    }

    /// Whether a later attempt may succeed.
    pub fn may_pass(&self) -> bool {
        match self {
            TransactionError::Refused { code, .. } => code.is_retriable(),
            TransactionError::Fenced { .. } => false,
            TransactionError::Cluster { error, .. } => error.may_pass(),
        }
    }

    /// The same, if it is known that another producer has fenced this one.
    pub fn into_fenced(self) -> Self {
        match self {
            TransactionError::Refused { id, api, code } if is_of_the_past(code) => {
                TransactionError::Fenced { id, api, code }
            }
            other => other,
        }
    }
}

/// Kafka since 2.7 returns the first code, older releases the second.
fn is_of_the_past(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ProducerFenced | ErrorCode::InvalidProducerEpoch
    )
}

/// A transactional producer as seen by its coordinator: one connection and an identity.
#[derive(Debug)]
pub struct TransactionalProducer {
    cluster: Cluster,
    id: String,
    timeout_ms: i32,
    link: Option<Connection>,
    identity: Option<ProducerId>,
    kind: TransactionKind,
    /// Connections to coordinators so far.
    links: u64,
}

impl TransactionalProducer {
    /// A producer without an identity; `timeout` is `transaction.timeout.ms`.
    pub fn new(cluster: Cluster, id: &str, timeout: Duration) -> Self {
        Self {
            cluster,
            id: id.to_owned(),
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            link: None,
            identity: None,
            kind: TransactionKind::First,
            links: 0,
        }
    }

    /// The number of connections to its coordinator so far. A new one may lead to another broker, which writes again
    /// what the previous one may have written.
    pub fn links(&self) -> u64 {
        self.links
    }

    /// The kind of its transactions, which depends on the coordinator at the time of [`init`](Self::init). It never
    /// changes afterwards: upgraded brokers continue to accept the first kind.
    pub fn kind(&self) -> TransactionKind {
        self.kind
    }

    /// Replaces the interrupt flag of all waits.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.cluster.set_interrupt(interrupt.clone());
        if let Some(link) = &mut self.link {
            link.set_interrupt(interrupt.clone());
        }
    }

    /// Gets an identity from the coordinator. It aborts the open transaction of an earlier producer with this id, and
    /// fences that producer.
    pub fn init(&mut self) -> Result<ProducerId, TransactionError> {
        let is_known = self.identity.is_some();
        let identity = self.request_identity(NOBODY)?;
        if is_known {
            return Ok(identity);
        }
        // The connection that was just used.
        let versions = self.link.as_ref().map(Connection::api_versions);
        self.kind = versions.map_or(TransactionKind::First, TransactionKind::of);
        Ok(identity)
    }

    /// Requests the next epoch of the same producer after a failed transaction. Brokers before Kafka 2.5 treat it as a
    /// new producer.
    ///
    /// The coordinator aborts the open transaction of this id, even if it is another producer's. Therefore call this
    /// only after the coordinator has accepted an end from this producer: otherwise it may abort the transaction of a
    /// producer that started meanwhile.
    pub fn renew(&mut self) -> Result<ProducerId, TransactionError> {
        let known = self.known();
        self.request_identity(known)
            .map_err(TransactionError::into_fenced)
    }

    fn request_identity(&mut self, previous: ProducerId) -> Result<ProducerId, TransactionError> {
        let identity = self.retrying(|this, deadline| {
            let version = this.link(deadline).and_then(|link| {
                let version = link.version(ApiKey::InitProducerId, INIT_VERSIONS);
                version.map_err(ClusterError::from)
            });
            let version = version.map_err(|error| this.failed(error))?;
            let previous = if version >= INIT_WITH_IDENTITY {
                previous
            } else {
                NOBODY
            };
            let request = InitProducerIdRequest {
                transactional_id: Some(this.id.clone().into()),
                transaction_timeout_ms: this.timeout_ms,
                producer_id: previous.id,
                producer_epoch: previous.epoch,
                ..InitProducerIdRequest::default()
            };
            let reply = this.call(&request, version..=version, deadline)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            this.check_code(ApiKey::InitProducerId, answer.error_code)?;
            Ok(ProducerId {
                id: answer.producer_id,
                epoch: answer.producer_epoch,
            })
        })?;
        self.identity = Some(identity);
        Ok(identity)
    }

    /// Adds partitions to the open transaction, or to a new one. Only with the first protocol.
    pub fn add_partitions(
        &mut self,
        topic: &str,
        partitions: &[i32],
    ) -> Result<(), TransactionError> {
        let identity = self.known();
        self.retrying(|this, deadline| {
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
            let reply = this.call(&request, ADD_VERSIONS, deadline)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            let topics = answer.results_by_topic_v3_and_below.iter();
            let mut codes = topics
                .flat_map(|topic| &topic.results_by_partition)
                .map(|partition| partition.partition_error_code);
            match codes.find(|&code| code != 0) {
                Some(code) => this.check_code(ApiKey::AddPartitionsToTxn, code),
                None => Ok(()),
            }
        })
    }

    /// Commits or aborts the open transaction; returns the identity from now on. With the first protocol, partitions
    /// must have been added before; with the second one, they must have been written to before a commit.
    pub fn end(&mut self, commits: bool) -> Result<ProducerId, TransactionError> {
        let identity = self.known();
        let next = self.retrying(|this, deadline| {
            let request = EndTxnRequest {
                transactional_id: this.id.clone().into(),
                producer_id: identity.id,
                producer_epoch: identity.epoch,
                committed: commits,
            };
            let reply = this.call(&request, this.kind.end_versions(), deadline)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            this.check_code(ApiKey::EndTxn, answer.error_code)?;
            Ok(match answer.producer_id {
                // The first protocol does not return it.
                ..0 => identity,
                id => ProducerId {
                    id,
                    epoch: answer.producer_epoch,
                },
            })
        })?;
        self.identity = Some(next);
        Ok(next)
    }

    /// The identity; none before [`TransactionalProducer::init`].
    pub fn known(&self) -> ProducerId {
        self.identity.unwrap_or(NOBODY)
    }

    /// Retries temporary errors. All attempts together take at most `default.api.timeout.ms`.
    fn retrying<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self, Instant) -> Result<T, TransactionError>,
    ) -> Result<T, TransactionError> {
        let config = self.cluster.config();
        let deadline = Instant::now() + config.api_timeout;
        let mut backoff = Backoff::new(config.retry_backoff, config.retry_backoff_max);
        loop {
            let error = match attempt(self, deadline) {
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
        deadline: Instant,
    ) -> Result<Decoded<R>, TransactionError> {
        let limit = self.cluster.request_limit(deadline);
        let called = self.link(deadline).and_then(|link| {
            let reply = link.call_between(request, versions, limit);
            reply.map_err(ClusterError::from)
        });
        called.map_err(|error| self.failed(error))
    }

    fn link(&mut self, deadline: Instant) -> Result<&mut Connection, ClusterError> {
        let link = match self.link.take().filter(Connection::is_usable) {
            Some(link) => link,
            None => {
                let of = CoordinatorOf::Transactions;
                let broker_id = self.cluster.coordinator_until(&self.id, of, deadline)?;
                self.links += 1;
                self.cluster.open_until(broker_id, deadline)?
            }
        };
        Ok(self.link.insert(link))
    }

    fn check_code(&self, api: ApiKey, code: i16) -> Result<(), TransactionError> {
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

/// Whether the coordinator must be looked up again.
fn moves(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NotCoordinator
            | ErrorCode::CoordinatorNotAvailable
            | ErrorCode::CoordinatorLoadInProgress
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kgauge_wire::messages::ApiVersionsResponse;
    use kgauge_wire::messages::api_versions::{ApiVersion, FinalizedFeatureKey};

    fn versions(level: Option<i16>, end: i16, produce: i16) -> ApiVersions {
        let api = |key: ApiKey, max_version| ApiVersion {
            api_key: key.as_i16(),
            min_version: 0,
            max_version,
        };
        let feature = level.map(|level| FinalizedFeatureKey {
            name: FEATURE.into(),
            max_version_level: level,
            min_version_level: level,
        });
        ApiVersions::from_answer(&ApiVersionsResponse {
            api_keys: vec![api(ApiKey::EndTxn, end), api(ApiKey::Produce, produce)],
            finalized_features: feature.into_iter().collect(),
            ..ApiVersionsResponse::default()
        })
    }

    #[test]
    fn the_second_kind_is_spoken_only_where_the_cluster_has_agreed_on_it() {
        use TransactionKind::{First, Second};
        for (level, end, produce, kind) in [
            (Some(2), 5, 13, Second),
            (Some(3), 5, 12, Second),
            // Brokers of Kafka 4 whose metadata version is still that of 3.9.
            (Some(1), 5, 13, First),
            (Some(0), 5, 13, First),
            (None, 5, 13, First),
            (Some(2), 4, 13, First),
            (Some(2), 5, 11, First),
        ] {
            let found = TransactionKind::of(&versions(level, end, produce));
            assert_eq!(found, kind, "{level:?} {end} {produce}");
        }
        assert_eq!(
            (First.end_versions(), Second.end_versions()),
            (0..=4, 5..=5)
        );
    }

    #[test]
    fn only_an_error_of_a_fenced_producer_names_another_producer() {
        let refused = |code| TransactionError::Refused {
            id: "shop".to_owned(),
            api: ApiKey::InitProducerId,
            code,
        };
        for code in [ErrorCode::ProducerFenced, ErrorCode::InvalidProducerEpoch] {
            assert!(refused(code).is_of_the_past() && !refused(code).may_pass());
            let fenced = refused(code).into_fenced();
            let words = fenced.to_string();
            assert!(
                words.contains("another active producer with this id"),
                "{words}"
            );
            assert!(fenced.fix().contains("its own"));
        }
        let other = refused(ErrorCode::TransactionalIdAuthorizationFailed).into_fenced();
        assert!(!other.is_of_the_past(), "{other}");
    }
}
