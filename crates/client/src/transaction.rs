//! A producer's transactions: the way to their coordinator.
//!
//! There are two kinds. The first one every release since Kafka 0.11 knows (KIP-98): partitions are
//! added by name before they are written to. The second one is Kafka 4's (KIP-890): Produce 12 adds
//! them by itself, and the end of each transaction, EndTxn 5, gives the producer a new epoch, so that
//! nothing late of one transaction gets into the next. It is spoken where the cluster has agreed on it
//! (`transaction.version` 2), as Kafka's own producer does since 4.0.

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

/// From version 4 on brokers ask each other, by another layout.
const ADD_VERSIONS: RangeInclusive<i16> = 0..=3;
/// The version with which the epoch rises: the second kind's.
const END_WITH_EPOCH: i16 = 5;
/// The version of Produce that makes partitions part of a transaction.
const PRODUCE_THAT_ADDS: i16 = 12;
/// From version 6 on there is a second phase.
const INIT_VERSIONS: RangeInclusive<i16> = 0..=5;
/// From this version on a producer may say who it was (KIP-360).
const INIT_WITH_IDENTITY: i16 = 3;

/// The feature by which a cluster says which kind it wants, and the level of the second one.
const FEATURE: &str = "transaction.version";
const FEATURE_OF_SECOND: i16 = 2;

/// The coordinator is still writing the last transaction's markers: Kafka's producer asks again after
/// this (`TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS`).
const CONCURRENT_PAUSE: Duration = Duration::from_millis(20);

/// No producer yet.
const NOBODY: ProducerId = ProducerId { id: -1, epoch: -1 };

/// Which kind of transactions a producer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionKind {
    /// KIP-98: partitions are added by name.
    First,
    /// KIP-890: they are added by being written to, and each end gives a new epoch.
    Second,
}

impl TransactionKind {
    /// The one for a cluster whose coordinator says this of itself.
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
    /// The coordinator refuses.
    #[error("transactional.id {id}: {api} was rejected with {code}")]
    Refused {
        /// The transactional id.
        id: String,
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The coordinator knows a newer producer of this id, and this one is locked out.
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

    /// The same, where it is known that the producer was locked out by another one.
    pub fn into_fenced(self) -> Self {
        match self {
            TransactionError::Refused { id, api, code } if is_of_the_past(code) => {
                TransactionError::Fenced { id, api, code }
            }
            other => other,
        }
    }
}

/// Since Kafka 2.7 the first one; releases before it answer with the second.
fn is_of_the_past(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ProducerFenced | ErrorCode::InvalidProducerEpoch
    )
}

/// A transactional producer, seen from its coordinator: one connection, and who the producer is.
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
    /// One that has not been introduced yet; `timeout` is `transaction.timeout.ms`.
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

    /// How many connections to its coordinator it has had: when there is another one, the coordinator may
    /// be another broker, which writes again what the one before may have written.
    pub fn links(&self) -> u64 {
        self.links
    }

    /// The kind of its transactions, which depends on the coordinator at the time of [`init`](Self::init). It never
    /// changes afterwards: upgraded brokers continue to accept the first kind.
    pub fn kind(&self) -> TransactionKind {
        self.kind
    }

    /// What ends every wait.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.cluster.set_interrupt(interrupt.clone());
        if let Some(link) = &mut self.link {
            link.set_interrupt(interrupt.clone());
        }
    }

    /// Introduces the producer, the first time or as somebody new. An open transaction of an earlier one with
    /// this id is aborted, and that one is locked out.
    pub fn init(&mut self) -> Result<ProducerId, TransactionError> {
        let is_known = self.identity.is_some();
        let identity = self.introduce(NOBODY)?;
        if is_known {
            return Ok(identity);
        }
        // The connection that has just answered.
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
        self.introduce(known).map_err(TransactionError::into_fenced)
    }

    fn introduce(&mut self, as_whom: ProducerId) -> Result<ProducerId, TransactionError> {
        let identity = self.insisting(|this, deadline| {
            let version = this.link(deadline).and_then(|link| {
                let version = link.version(ApiKey::InitProducerId, INIT_VERSIONS);
                version.map_err(ClusterError::from)
            });
            let version = version.map_err(|error| this.failed(error))?;
            let as_whom = if version >= INIT_WITH_IDENTITY {
                as_whom
            } else {
                NOBODY
            };
            let request = InitProducerIdRequest {
                transactional_id: Some(this.id.clone().into()),
                transaction_timeout_ms: this.timeout_ms,
                producer_id: as_whom.id,
                producer_epoch: as_whom.epoch,
                ..InitProducerIdRequest::default()
            };
            let reply = this.call(&request, version..=version, deadline)?;
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

    /// Makes partitions part of the open transaction, or of a new one: the first kind only.
    pub fn add_partitions(
        &mut self,
        topic: &str,
        partitions: &[i32],
    ) -> Result<(), TransactionError> {
        let identity = self.known();
        self.insisting(|this, deadline| {
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
                Some(code) => this.judge(ApiKey::AddPartitionsToTxn, code),
                None => Ok(()),
            }
        })
    }

    /// Commits the open transaction, or aborts it, and says who the producer is from now on. In the first
    /// kind partitions must have been added to it; in the second one it must have been written to, if it
    /// is to be committed.
    pub fn end(&mut self, commits: bool) -> Result<ProducerId, TransactionError> {
        let identity = self.known();
        let next = self.insisting(|this, deadline| {
            let request = EndTxnRequest {
                transactional_id: this.id.clone().into(),
                producer_id: identity.id,
                producer_epoch: identity.epoch,
                committed: commits,
            };
            let reply = this.call(&request, this.kind.end_versions(), deadline)?;
            let answer = reply.decode().map_err(|error| this.failed(error.into()))?;
            this.judge(ApiKey::EndTxn, answer.error_code)?;
            Ok(match answer.producer_id {
                // The first kind says nothing of it.
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

    /// Who it is; nobody before [`TransactionalProducer::init`].
    pub fn known(&self) -> ProducerId {
        self.identity.unwrap_or(NOBODY)
    }

    /// Tries again what passes by itself. All attempts together take `default.api.timeout.ms` at most:
    /// none waits for longer than what is left of it.
    fn insisting<T>(
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
        let usable = self
            .link
            .take()
            .filter(|link| !link.is_broken() && !link.is_session_over());
        let link = match usable {
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
            // Brokers of Kafka 4 whose metadata are still those of 3.9.
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
