//! DeleteTopics, and the wait until the topic is gone.

use std::time::Instant;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{DeleteTopicState, DeleteTopicsRequest, Message};

use super::topic_wait::{SilentBroker, WaitError};
use crate::cluster::{Cluster, ClusterError, FailedAttempt, Next, OperationError, broker_words};

/// The first version with a structure per topic.
const VERSION_WITH_STATES: i16 = 6;

/// Why a topic still exists, or may still exist.
#[derive(Debug, thiserror::Error)]
pub enum DeleteTopicError {
    /// The cluster refused it.
    #[error("topic {topic} was not deleted: {code}{}", broker_words(message))]
    Refused {
        /// Its name.
        topic: String,
        /// The broker's code.
        code: ErrorCode,
        /// The broker's message.
        message: Option<String>,
    },
    /// The response does not contain the topic.
    #[error("topic {topic}: the broker's response does not mention it")]
    Unanswered {
        /// Its name.
        topic: String,
    },
    /// The cluster accepted, but a broker still lists it.
    #[error("topic {topic} was deleted, but broker {broker_id} still lists it")]
    StillThere {
        /// Its name.
        topic: String,
        /// The broker that lists it.
        broker_id: i32,
    },
    /// The cluster could not be asked.
    #[error("topic {topic}: {error}")]
    Cluster {
        /// Its name.
        topic: String,
        /// What went wrong.
        #[source]
        error: Box<ClusterError>,
    },
}

impl DeleteTopicError {
    /// The topic that may still exist.
    pub fn topic(&self) -> &str {
        match self {
            DeleteTopicError::Refused { topic, .. }
            | DeleteTopicError::Unanswered { topic }
            | DeleteTopicError::StillThere { topic, .. }
            | DeleteTopicError::Cluster { topic, .. } => topic,
        }
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            DeleteTopicError::Refused {
                code: ErrorCode::TopicDeletionDisabled,
                ..
            } => "the cluster forbids it (delete.topic.enable): ask its owner to remove the topic",
            DeleteTopicError::StillThere { .. } => {
                "check that delete.topic.enable is on and all brokers are up; then delete it \
                 manually with kafka-topics --delete"
            }
            _ => "delete it manually with kafka-topics --delete",
        }
    }
}

impl OperationError for DeleteTopicError {
    fn cluster_error(&mut self) -> Option<&mut ClusterError> {
        match self {
            Self::Cluster { error, .. } => Some(error),
            _ => None,
        }
    }

    fn next(&self) -> Next {
        match self {
            Self::Refused { code, .. } => Next::after(*code),
            Self::Cluster { error, .. } => error.next(),
            Self::Unanswered { .. } | Self::StillThere { .. } => Next::GiveUp,
        }
    }
}

impl Cluster {
    /// Deletes one topic and waits until no broker lists it. A missing topic is not an error.
    pub fn delete_topic(&mut self, topic: &str) -> Result<(), DeleteTopicError> {
        self.retrying("delete the topic", |cluster, deadline| {
            match cluster.delete_once(topic, deadline) {
                Err(DeleteTopicError::Refused {
                    code: ErrorCode::RequestTimedOut,
                    ..
                }) => Ok(()),
                attempt => attempt.map_err(FailedAttempt::of),
            }
        })?;
        let gone = |found: Option<&_>| found.map_or(Ok(()), |_| Err(String::new()));
        self.await_everywhere(topic, SilentBroker::Skip, gone)
            .map_err(|failure| match failure {
                WaitError::Over { broker_id, .. } => DeleteTopicError::StillThere {
                    topic: topic.to_owned(),
                    broker_id,
                },
                WaitError::Cluster(error) => DeleteTopicError::Cluster {
                    topic: topic.to_owned(),
                    error: Box::new(error),
                },
            })
    }

    fn delete_once(&mut self, topic: &str, deadline: Instant) -> Result<(), DeleteTopicError> {
        let name = || topic.to_owned();
        let failed = |error| DeleteTopicError::Cluster {
            topic: name(),
            error: Box::new(error),
        };
        let limit = self.request_limit(deadline);
        let controller = self.controller().map_err(failed)?;
        let connection = self.connection(controller, deadline).map_err(failed)?;
        let version = connection
            .version(ApiKey::DeleteTopics, DeleteTopicsRequest::VERSIONS)
            .map_err(|error| failed(error.into()))?;
        let mut request = DeleteTopicsRequest {
            timeout_ms: i32::try_from(limit.as_millis()).unwrap_or(i32::MAX),
            ..DeleteTopicsRequest::default()
        };
        if version >= VERSION_WITH_STATES {
            let name = Some(topic.into());
            request.topics = vec![DeleteTopicState {
                name,
                ..DeleteTopicState::default()
            }];
        } else {
            request.topic_names = vec![topic.into()];
        }
        let reply = connection
            .call_between(&request, version..=version, limit)
            .map_err(|error| failed(error.into()))?;
        let answer = reply.decode().map_err(|error| failed(error.into()))?;
        let result = answer
            .responses
            .iter()
            .find(|result| result.name.as_deref() == Some(topic));
        let result = result.ok_or_else(|| DeleteTopicError::Unanswered { topic: name() })?;
        match ErrorCode::from(result.error_code) {
            ErrorCode::None | ErrorCode::UnknownTopicOrPartition => Ok(()),
            code => Err(DeleteTopicError::Refused {
                topic: name(),
                code,
                message: result.error_message.as_ref().map(ToString::to_string),
            }),
        }
    }
}
