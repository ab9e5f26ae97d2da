//! CreateTopics, and the wait until new topics can be used.

use std::time::Instant;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreatableTopicConfig};
use kgauge_wire::messages::{CreateTopicsRequest, Message};

use super::topic_wait::{SilentBroker, WaitError};
use crate::cluster::{Cluster, ClusterError, FailedAttempt, Next, OperationError, broker_words};
use crate::release::ReleaseGuess;

/// A topic to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSpec {
    /// Its name.
    pub name: String,
    /// Number of partitions.
    pub partitions: i32,
    /// Number of replicas per partition.
    pub replication_factor: i16,
    /// Topic settings such as `retention.ms`.
    pub configs: Vec<(String, String)>,
}

/// Why a topic was not created, or cannot be used yet.
#[derive(Debug, thiserror::Error)]
pub enum CreateTopicError {
    /// The topic already existed.
    #[error("topic {topic} already exists")]
    Exists {
        /// Its name.
        topic: String,
    },
    /// The cluster refused it.
    #[error("topic {topic} was not created: {code}{}", broker_words(message))]
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
    /// The release lacks the request, which came with 0.10.1 (KIP-4).
    #[error(
        "topic {topic} cannot be created over the wire: the cluster ({release}) does not support \
         it"
    )]
    Unsupported {
        /// Its name.
        topic: String,
        /// The probable release.
        release: ReleaseGuess,
    },
    /// It was created, but in time not every broker listed a leader for every partition.
    #[error("topic {topic} was created, but broker {broker_id} lists no leader for {what}")]
    NotReady {
        /// Its name.
        topic: String,
        /// The broker that does not know it yet.
        broker_id: i32,
        /// The partition or the whole topic, and the broker's error.
        what: String,
    },
    /// The cluster could not be asked.
    #[error("topic {topic}: {error}")]
    Cluster {
        /// Its name.
        topic: String,
        /// What went wrong.
        #[source]
        error: Box<ClusterError>,
        /// Whether the topic may exist nevertheless.
        may_exist: bool,
    },
}

impl CreateTopicError {
    /// Whether this call may have created a topic.
    pub fn may_exist(&self) -> bool {
        match self {
            CreateTopicError::NotReady { .. } | CreateTopicError::Unanswered { .. } => true,
            CreateTopicError::Cluster { may_exist, .. } => *may_exist,
            CreateTopicError::Exists { .. }
            | CreateTopicError::Refused { .. }
            | CreateTopicError::Unsupported { .. } => false,
        }
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            CreateTopicError::Exists { .. } => "kgauge writes only to topics that it created",
            CreateTopicError::Refused { code, .. } => match code {
                ErrorCode::InvalidReplicationFactor => {
                    "lower the replication factor, or start more brokers"
                }
                ErrorCode::InvalidConfig => "correct or remove the topic setting",
                ErrorCode::PolicyViolation => "the cluster's own policy forbids this topic",
                ErrorCode::TopicAuthorizationFailed | ErrorCode::ClusterAuthorizationFailed => {
                    "allow this client to create topics"
                }
                _ => "check the broker's log",
            },
            CreateTopicError::Unanswered { .. } => "check the broker's log",
            CreateTopicError::Unsupported { .. } => {
                "Kafka supports this since 0.10.1. Create it with the release's own \
                 kafka-topics.sh --create --zookeeper, and name it with --allow-existing"
            }
            CreateTopicError::NotReady { .. } => {
                "the cluster may be overloaded; check that broker's log"
            }
            CreateTopicError::Cluster { error, .. } => error.fix(),
        }
    }
}

impl OperationError for CreateTopicError {
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
            Self::Exists { .. }
            | Self::Unanswered { .. }
            | Self::Unsupported { .. }
            | Self::NotReady { .. } => Next::GiveUp,
        }
    }
}

impl Cluster {
    /// Creates one topic and waits until every broker lists a leader for each of its partitions.
    ///
    /// An existing topic is an error, unless an earlier attempt of this call got no response: then that attempt counts
    /// as its creator.
    pub fn create_topic(&mut self, topic: &TopicSpec) -> Result<(), CreateTopicError> {
        let mut unanswered = false;
        self.retrying("create the topic", |cluster, deadline| {
            let error = match cluster.create_once(topic, deadline) {
                Ok(()) => return Ok(()),
                // The controller answered before it was done: the wait for leaders decides.
                Err(CreateTopicError::Refused {
                    code: ErrorCode::RequestTimedOut,
                    ..
                }) => return Ok(()),
                Err(CreateTopicError::Exists { .. }) if unanswered => return Ok(()),
                Err(error) => error,
            };
            if let CreateTopicError::Cluster { error, .. } = &error {
                unanswered |= error.may_have_been_done();
            }
            Err(FailedAttempt {
                next: error.next(),
                error: error.after_doubt(unanswered),
            })
        })?;
        self.await_leaders(topic)
    }

    fn create_once(
        &mut self,
        topic: &TopicSpec,
        deadline: Instant,
    ) -> Result<(), CreateTopicError> {
        let name = || topic.name.clone();
        let limit = self.request_limit(deadline);
        let request = CreateTopicsRequest {
            topics: vec![creatable(topic)],
            timeout_ms: i32::try_from(limit.as_millis()).unwrap_or(i32::MAX),
            validate_only: false,
        };
        let connection = self
            .controller()
            .and_then(|id| self.connection(id, deadline))
            .map_err(|error| CreateTopicError::new(name(), error))?;
        let versions = connection.api_versions();
        if versions.range(ApiKey::CreateTopics).is_none() {
            return Err(CreateTopicError::Unsupported {
                topic: name(),
                release: ReleaseGuess::from_api_versions(versions),
            });
        }
        let reply = connection
            .call_between(&request, CreateTopicsRequest::VERSIONS, limit)
            .map_err(|error| CreateTopicError::new(name(), error.into()))?;
        let answer = reply
            .decode()
            .map_err(|error| CreateTopicError::new(name(), error.into()))?;
        let result = answer
            .topics
            .iter()
            .find(|result| result.name == topic.name);
        let result = result.ok_or_else(|| CreateTopicError::Unanswered { topic: name() })?;
        match ErrorCode::from(result.error_code) {
            ErrorCode::None => Ok(()),
            ErrorCode::TopicAlreadyExists => Err(CreateTopicError::Exists { topic: name() }),
            code => Err(CreateTopicError::Refused {
                topic: name(),
                code,
                message: result.error_message.as_ref().map(ToString::to_string),
            }),
        }
    }

    fn await_leaders(&mut self, topic: &TopicSpec) -> Result<(), CreateTopicError> {
        let expected = usize::try_from(topic.partitions).ok();
        self.await_everywhere(&topic.name, SilentBroker::Wait, |found| {
            let Some(found) = found else {
                return Err("the topic, which it does not list".to_owned());
            };
            if let Some(partition) = found.first_without_leader() {
                return Err(format!(
                    "partition {} ({})",
                    partition.index, partition.error
                ));
            }
            // -1 partitions means the broker's own default, which is unknown here.
            if expected.is_some_and(|count| count != found.partitions.len()) {
                return Err(format!("{} of its partitions", found.partitions.len()));
            }
            Ok(())
        })
        .map_err(|failure| match failure {
            WaitError::Over { broker_id, what } => CreateTopicError::NotReady {
                topic: topic.name.clone(),
                broker_id,
                what,
            },
            WaitError::Cluster(error) => CreateTopicError::Cluster {
                topic: topic.name.clone(),
                error: Box::new(error),
                may_exist: true,
            },
        })
    }
}

impl CreateTopicError {
    fn new(topic: String, error: ClusterError) -> CreateTopicError {
        let may_exist = error.may_have_been_done();
        CreateTopicError::Cluster {
            topic,
            error: Box::new(error),
            may_exist,
        }
    }

    /// Remembers that an earlier attempt may have succeeded.
    fn after_doubt(self, unanswered: bool) -> CreateTopicError {
        match self {
            CreateTopicError::Cluster {
                topic,
                error,
                may_exist,
            } => CreateTopicError::Cluster {
                topic,
                error,
                may_exist: may_exist || unanswered,
            },
            other => other,
        }
    }
}

fn creatable(topic: &TopicSpec) -> CreatableTopic<'_> {
    let config = |(name, value): &(String, String)| CreatableTopicConfig {
        name: name.clone().into(),
        value: Some(value.clone().into()),
    };
    CreatableTopic {
        name: topic.name.as_str().into(),
        num_partitions: topic.partitions,
        replication_factor: topic.replication_factor,
        assignments: Vec::new(),
        configs: topic.configs.iter().map(config).collect(),
    }
}
