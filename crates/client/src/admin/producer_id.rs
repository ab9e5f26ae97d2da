//! InitProducerId: the identity of an idempotent producer.

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::InitProducerIdRequest;

use crate::cluster::{Cluster, ClusterError, FailedAttempt};

/// The identity in an idempotent producer's batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerId {
    /// Unique in the cluster.
    pub id: i64,
    /// 0 for a new one.
    pub epoch: i16,
}

/// Why there is no producer id.
#[derive(Debug, thiserror::Error)]
#[error("cannot get a producer id: {error}")]
pub struct ProducerIdError {
    /// What went wrong.
    #[source]
    pub error: ClusterError,
}

impl ProducerIdError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match &self.error {
            ClusterError::Call(crate::CallError::Unsupported { .. }) => {
                "set enable.idempotence=false: idempotence needs Kafka 0.11 or newer"
            }
            ClusterError::Refused {
                code: ErrorCode::ClusterAuthorizationFailed,
                ..
            } => "allow this client IDEMPOTENT_WRITE, or set enable.idempotence=false",
            error => error.fix(),
        }
    }
}

impl Cluster {
    /// A new producer id, without transactions.
    pub fn init_producer_id(&mut self) -> Result<ProducerId, ProducerIdError> {
        let request = InitProducerIdRequest {
            transactional_id: None,
            // Brokers consider it only with a transactional id.
            transaction_timeout_ms: i32::MAX,
            ..InitProducerIdRequest::default()
        };
        self.retrying("get a producer id", |cluster, _| {
            let broker_id = cluster.any_broker()?;
            let reply = cluster.call(broker_id, &request)?;
            let answer = reply.decode().map_err(ClusterError::from)?;
            match ErrorCode::from(answer.error_code) {
                ErrorCode::None => Ok(ProducerId {
                    id: answer.producer_id,
                    epoch: answer.producer_epoch,
                }),
                code => Err(FailedAttempt::from(ClusterError::Refused {
                    api: ApiKey::InitProducerId,
                    code,
                    message: None,
                })),
            }
        })
        .map_err(|error| ProducerIdError { error })
    }
}
