//! DescribeConfigs and IncrementalAlterConfigs: the settings of topics and brokers.

use std::time::Instant;

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_configs::{
    DescribeConfigsResource, DescribeConfigsResourceResult,
};
use kgauge_wire::messages::incremental_alter_configs::{AlterConfigsResource, AlterableConfig};
use kgauge_wire::messages::{DescribeConfigsRequest, IncrementalAlterConfigsRequest, Message};

use crate::cluster::{Cluster, ClusterError, FailedAttempt, Next, OperationError, broker_words};

/// The owner of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminConfigResource<'a> {
    /// A topic.
    Topic(&'a str),
    /// A broker.
    Broker(i32),
}

impl AdminConfigResource<'_> {
    /// Kafka's number for the kind (`ConfigResource.Type`).
    fn kind(self) -> i8 {
        match self {
            AdminConfigResource::Topic(_) => 2,
            AdminConfigResource::Broker(_) => 4,
        }
    }

    fn name(self) -> String {
        match self {
            AdminConfigResource::Topic(name) => name.to_owned(),
            AdminConfigResource::Broker(id) => id.to_string(),
        }
    }

    fn words(self) -> String {
        match self {
            AdminConfigResource::Topic(name) => format!("topic {name}"),
            AdminConfigResource::Broker(id) => format!("broker {id}"),
        }
    }
}

/// The source of a value (`DescribeConfigsResponse.ConfigSource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigSource {
    /// Set on the topic.
    Topic,
    /// Set on this broker at run time.
    DynamicBroker,
    /// Set for all brokers at run time.
    DynamicDefault,
    /// From the broker's server.properties.
    File,
    /// Kafka's own default.
    Default,
    /// Brokers before 1.1 only report whether it is a default; newer ones may have more sources.
    Other,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Its key.
    pub name: String,
    /// Its value; brokers do not return passwords.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: ConfigSource,
    /// Whether it is a secret.
    pub is_sensitive: bool,
}

/// A change of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEdit {
    /// The key.
    pub name: String,
    /// The new value; `None` restores the default.
    pub value: Option<String>,
}

/// Why settings could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigsError {
    /// The broker refused it.
    #[error("settings of {resource}: {code}{}", broker_words(message))]
    Refused {
        /// The owner of the settings.
        resource: String,
        /// The broker's code.
        code: ErrorCode,
        /// The broker's message.
        message: Option<String>,
    },
    /// The response does not contain them.
    #[error("settings of {resource}: the broker's response does not mention them")]
    Unanswered {
        /// The owner of the settings.
        resource: String,
    },
    /// The cluster could not be asked.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

impl ConfigsError {
    fn refused(
        resource: AdminConfigResource<'_>,
        code: i16,
        message: Option<&str>,
    ) -> Result<(), ConfigsError> {
        ErrorCode::from(code)
            .ok()
            .map_err(|code| ConfigsError::Refused {
                resource: resource.words(),
                code,
                message: message.map(str::to_owned),
            })
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            ConfigsError::Refused { code, .. } => match code {
                ErrorCode::TopicAuthorizationFailed | ErrorCode::ClusterAuthorizationFailed => {
                    "allow this client to describe and alter configs"
                }
                ErrorCode::InvalidConfig | ErrorCode::InvalidRequest => "correct the setting",
                _ => "check the broker's log",
            },
            ConfigsError::Unanswered { .. } => "check the broker's log",
            ConfigsError::Cluster(error) => error.fix(),
        }
    }
}

impl OperationError for ConfigsError {
    fn cluster_error(&mut self) -> Option<&mut ClusterError> {
        match self {
            Self::Cluster(error) => Some(error),
            _ => None,
        }
    }

    fn next(&self) -> Next {
        match self {
            ConfigsError::Refused { code, .. } => Next::after(*code),
            ConfigsError::Unanswered { .. } => Next::GiveUp,
            ConfigsError::Cluster(error) => error.next(),
        }
    }
}

impl Cluster {
    /// All settings in force of a topic or broker, sorted by name.
    pub fn describe_configs(
        &mut self,
        resource: AdminConfigResource<'_>,
    ) -> Result<Vec<ConfigEntry>, ConfigsError> {
        self.retrying("read settings", |cluster, deadline| {
            let attempt = cluster.describe_configs_once(resource, deadline);
            attempt.map_err(FailedAttempt::of)
        })
    }

    /// Changes some settings of a topic or broker; others are unchanged. Needs Kafka 2.3.
    pub fn alter_configs(
        &mut self,
        resource: AdminConfigResource<'_>,
        changes: &[ConfigEdit],
    ) -> Result<(), ConfigsError> {
        self.retrying("change settings", |cluster, deadline| {
            let attempt = cluster.alter_configs_once(resource, changes, deadline);
            attempt.map_err(FailedAttempt::of)
        })
    }

    /// Only a broker itself answers for its settings; any broker answers for a topic's.
    fn answering(&self, resource: AdminConfigResource<'_>) -> Result<i32, ClusterError> {
        match resource {
            AdminConfigResource::Broker(id) => Ok(id),
            AdminConfigResource::Topic(_) => self.any_broker(),
        }
    }

    fn describe_configs_once(
        &mut self,
        resource: AdminConfigResource<'_>,
        deadline: Instant,
    ) -> Result<Vec<ConfigEntry>, ConfigsError> {
        let request = DescribeConfigsRequest {
            resources: vec![DescribeConfigsResource {
                resource_type: resource.kind(),
                resource_name: resource.name().into(),
                configuration_keys: None,
            }],
            ..DescribeConfigsRequest::default()
        };
        let limit = self.request_limit(deadline);
        let connection = self.connection(self.answering(resource)?, deadline)?;
        let reply = connection
            .call_between(&request, DescribeConfigsRequest::VERSIONS, limit)
            .map_err(ClusterError::from)?;
        let version = reply.version();
        let answer = reply.decode().map_err(ClusterError::from)?;
        let unanswered = || ConfigsError::Unanswered {
            resource: resource.words(),
        };
        let result = answer.results.first().ok_or_else(unanswered)?;
        ConfigsError::refused(resource, result.error_code, result.error_message.as_deref())?;
        let mut entries: Vec<ConfigEntry> = result
            .configs
            .iter()
            .map(|config| entry(config, version))
            .collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn alter_configs_once(
        &mut self,
        resource: AdminConfigResource<'_>,
        changes: &[ConfigEdit],
        deadline: Instant,
    ) -> Result<(), ConfigsError> {
        let change = |change: &ConfigEdit| AlterableConfig {
            name: change.name.clone().into(),
            // AlterConfigOp.OpType: 0 sets, 1 deletes.
            config_operation: i8::from(change.value.is_none()),
            value: change.value.clone().map(Into::into),
        };
        let request = IncrementalAlterConfigsRequest {
            resources: vec![AlterConfigsResource {
                resource_type: resource.kind(),
                resource_name: resource.name().into(),
                configs: changes.iter().map(change).collect(),
            }],
            validate_only: false,
        };
        let limit = self.request_limit(deadline);
        let broker_id = match resource {
            AdminConfigResource::Broker(id) => id,
            AdminConfigResource::Topic(_) => self.controller()?,
        };
        let reply = self
            .connection(broker_id, deadline)?
            .call_between(&request, IncrementalAlterConfigsRequest::VERSIONS, limit)
            .map_err(ClusterError::from)?;
        let answer = reply.decode().map_err(ClusterError::from)?;
        let unanswered = || ConfigsError::Unanswered {
            resource: resource.words(),
        };
        let result = answer.responses.first().ok_or_else(unanswered)?;
        ConfigsError::refused(resource, result.error_code, result.error_message.as_deref())
    }
}

fn entry(config: &DescribeConfigsResourceResult<'_>, version: i16) -> ConfigEntry {
    let source = match config.config_source {
        _ if version == 0 && config.is_default => ConfigSource::Default,
        _ if version == 0 => ConfigSource::Other,
        1 => ConfigSource::Topic,
        2 => ConfigSource::DynamicBroker,
        3 => ConfigSource::DynamicDefault,
        4 => ConfigSource::File,
        5 => ConfigSource::Default,
        _ => ConfigSource::Other,
    };
    ConfigEntry {
        name: config.name.to_string(),
        value: config.value.as_ref().map(ToString::to_string),
        source,
        is_sensitive: config.is_sensitive,
    }
}
