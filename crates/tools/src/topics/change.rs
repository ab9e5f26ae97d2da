//! Create, alter, delete.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_client::admin::{AdminConfigResource, ConfigEdit};
use kgauge_client::{Cluster, shown};
use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_partitions::{CreatePartitionsAssignment, CreatePartitionsTopic};
use kgauge_wire::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kgauge_wire::messages::{CreatePartitionsRequest, CreateTopicsRequest};

use super::TopicsCall;
use crate::failure::ToolFailure;
use crate::release::ToolRelease;

/// How long the controller may take.
const TIMEOUT_MS: i32 = 30_000;

/// How long a change is retried while there is no controller.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// `1:2,2:3`: the brokers of each partition.
fn assignment(text: &str) -> Result<Vec<Vec<i32>>, ToolFailure> {
    let brokers = |part: &str| part.split(':').map(|id| id.trim().parse().ok()).collect();
    let parts: Option<Vec<Vec<i32>>> = text.split(',').map(brokers).collect();
    let Some(parts) = parts else {
        let message = format!("{text:?} is not an assignment; write it like 1:2,2:3");
        return Err(ToolFailure::Failed(message));
    };
    let first = parts.first().map_or(0, Vec::len);
    for (index, part) in parts.iter().enumerate() {
        let mut distinct = part.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != part.len() {
            return Err(ToolFailure::Failed(format!(
                "Partition replica lists may not contain duplicate entries: partition {index}"
            )));
        }
        if part.len() != first {
            return Err(ToolFailure::Failed(format!(
                "Partition {index} has different replication factor: {part:?}"
            )));
        }
    }
    Ok(parts)
}

/// `name=value` words.
fn configs(words: &[String]) -> Result<BTreeMap<String, String>, ToolFailure> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let pairs: Option<BTreeMap<String, String>> = words.iter().map(pair).collect();
    pairs.ok_or_else(|| {
        ToolFailure::of(
            "requirement failed: Invalid topic config: all configs to be added must be in the format \
             \"key=val\".",
        )
    })
}

/// The controller's answer to a change.
type ChangeAnswer = (ErrorCode, Option<String>);

impl TopicsCall<'_> {
    pub(super) fn create(&mut self) -> Result<(), ToolFailure> {
        let name = self.given.text("topic").unwrap_or_default();
        let partitions = self.count("partitions", "partitions")?;
        let replicas = self.count("replication-factor", "replication factor")?;
        let replicas = i16::try_from(replicas).map_err(|_| {
            ToolFailure::of("The replication factor must be between 1 and 32767 inclusive")
        })?;
        let settings = configs(self.given.all("config"))?;
        let assigned = self.assigned()?;
        if name.contains(['.', '_']) {
            self.context.line(
                "WARNING: Due to limitations in metric names, topics with a period ('.') or \
                 underscore ('_') could collide. To avoid issues it is best to use either, but not \
                 both.",
            );
        }
        let config = |(name, value): (&String, &String)| CreatableTopicConfig {
            name: name.clone().into(),
            value: Some(value.clone().into()),
        };
        let is_assigned = assigned.is_some();
        let assignments = assigned.unwrap_or_default().into_iter().zip(0..);
        let assignment = |(broker_ids, partition_index)| CreatableReplicaAssignment {
            partition_index,
            broker_ids,
        };
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: name.into(),
                num_partitions: if is_assigned { -1 } else { partitions },
                replication_factor: if is_assigned { -1 } else { replicas },
                assignments: assignments.map(assignment).collect(),
                configs: settings.iter().map(config).collect(),
            }],
            timeout_ms: TIMEOUT_MS,
            validate_only: false,
        };
        let if_not_exists = self.given.has("if-not-exists");
        let mut exists = false;
        self.controlled(ApiKey::CreateTopics, "0.10.1", |cluster, broker| {
            let reply = cluster.call(broker, &request)?;
            let response = reply.decode().map_err(ToolFailure::of)?;
            let Some(topic) = response.topics.first() else {
                return Err(no_answer());
            };
            let code = ErrorCode::from(topic.error_code);
            if if_not_exists && code == ErrorCode::TopicAlreadyExists {
                exists = true;
                return Ok((ErrorCode::None, None));
            }
            Ok((code, topic.error_message.as_deref().map(shown)))
        })?;
        if !exists {
            let name = self.quoted(name);
            self.context.line(&format!("Created topic {name}."));
        }
        Ok(())
    }

    /// A count of at least 1, or -1 for the broker's default.
    fn count(&self, option: &str, what: &str) -> Result<i32, ToolFailure> {
        match self.given.number::<i32>(option, "Integer") {
            Ok(None) => Ok(-1),
            Ok(Some(number)) if number >= 1 => Ok(number),
            Ok(Some(_)) => Err(ToolFailure::Failed(format!(
                "The {what} must be greater than 0"
            ))),
            Err(mistake) => Err(ToolFailure::of(mistake)),
        }
    }

    fn assigned(&self) -> Result<Option<Vec<Vec<i32>>>, ToolFailure> {
        let text = self.given.text("replica-assignment");
        text.map(assignment).transpose()
    }

    /// A topic's name as the release prints it after a change.
    fn quoted(&self, name: &str) -> String {
        match self.as_of < ToolRelease::of(2, 2, 0) {
            true => format!("\"{name}\""),
            false => name.to_owned(),
        }
    }

    /// Calls the controller, and again while it moves or is missing.
    fn controlled(
        &mut self,
        api: ApiKey,
        since: &str,
        mut call: impl FnMut(&mut Cluster, i32) -> Result<ChangeAnswer, ToolFailure>,
    ) -> Result<(), ToolFailure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let metadata = self.cluster.metadata();
            let any = metadata.brokers.first().map(|broker| broker.id);
            let Some(broker) = metadata.controller_id.or(any) else {
                return Err(ToolFailure::of("the cluster has no broker"));
            };
            if self.cluster.api_versions(broker)?.range(api).is_none() {
                return Err(ToolFailure::Failed(format!(
                    "these brokers do not support this request, which Kafka {since} introduced; use \
                     the release's own kafka-topics.sh --zookeeper"
                )));
            }
            let (code, message) = call(&mut self.cluster, broker)?;
            if code.is_none() {
                return Ok(());
            }
            let is_retriable = code.is_retriable() && code != ErrorCode::RequestTimedOut;
            if !is_retriable || Instant::now() >= deadline {
                let message = message.unwrap_or_else(|| code.to_string());
                return Err(ToolFailure::Failed(message));
            }
            std::thread::sleep(PAUSE);
            self.cluster.refresh(&[])?;
        }
    }

    pub(super) fn alter(&mut self) -> Result<(), ToolFailure> {
        let topics = self.existing()?;
        let partitions = self.given.number::<i32>("partitions", "Integer");
        let partitions = partitions.map_err(ToolFailure::of)?;
        let mut edits: Vec<ConfigEdit> = configs(self.given.all("config"))?
            .into_iter()
            .map(|(name, value)| ConfigEdit {
                name,
                value: Some(value),
            })
            .collect();
        let removed = self.given.all("delete-config").iter();
        edits.extend(removed.map(|name| ConfigEdit {
            name: name.clone(),
            value: None,
        }));
        let assigned = self.assigned()?;
        for topic in topics {
            if !edits.is_empty() {
                self.alter_settings(&topic.name, &edits)?;
            }
            let Some(count) = partitions else { continue };
            if self.is_zookeeper {
                self.context.line(
                    "WARNING: If partitions are increased for a topic that has a key, the \
                     partition logic or ordering of the messages will be affected",
                );
            }
            let assignments = assigned.as_ref().map(|all| {
                let new = all.iter().skip(topic.partitions.len()).cloned();
                new.map(|broker_ids| CreatePartitionsAssignment { broker_ids })
                    .collect()
            });
            let request = CreatePartitionsRequest {
                topics: vec![CreatePartitionsTopic {
                    name: topic.name.as_str().into(),
                    count,
                    assignments,
                }],
                timeout_ms: TIMEOUT_MS,
                validate_only: false,
            };
            self.controlled(ApiKey::CreatePartitions, "1.0", |cluster, broker| {
                let reply = cluster.call(broker, &request)?;
                let response = reply.decode().map_err(ToolFailure::of)?;
                let result = response.results.first().ok_or_else(no_answer)?;
                let message = result.error_message.as_deref().map(shown);
                Ok((ErrorCode::from(result.error_code), message))
            })?;
            if self.is_zookeeper {
                self.context.line("Adding partitions succeeded!");
            }
        }
        Ok(())
    }

    fn alter_settings(&mut self, topic: &str, edits: &[ConfigEdit]) -> Result<(), ToolFailure> {
        self.context.line(
            "WARNING: Altering topic configuration from this script has been deprecated and may be \
             removed in future releases.",
        );
        self.context
            .line("         Going forward, please use kafka-configs.sh for this functionality");
        let resource = AdminConfigResource::Topic(topic);
        let altered = self.cluster.alter_configs(resource, edits);
        altered.map_err(ToolFailure::of)?;
        let topic = self.quoted(topic);
        self.context
            .line(&format!("Updated config for topic {topic}."));
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Result<(), ToolFailure> {
        for topic in self.existing()? {
            let deleted = self.cluster.delete_topic(&topic.name);
            deleted.map_err(ToolFailure::of)?;
            if self.is_zookeeper {
                self.context
                    .line(&format!("Topic {} is marked for deletion.", topic.name));
                self.context.line(
                    "Note: This will have no impact if delete.topic.enable is not set to true.",
                );
            }
        }
        Ok(())
    }
}

fn no_answer() -> ToolFailure {
    ToolFailure::of("the broker's response does not mention the topic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_names_the_brokers_of_each_partition() {
        assert_eq!(assignment("1:2,2:3").unwrap(), [[1, 2], [2, 3]]);
        assert_eq!(assignment("1,1").unwrap(), [[1], [1]]);
        for (text, what) in [
            ("1:1", "duplicate"),
            ("1:2,3", "different replication factor"),
            ("a", "is not an assignment"),
        ] {
            let error = assignment(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn settings_are_names_and_values() {
        let read = configs(&["retention.ms=1".to_owned(), "a = b=c".to_owned()]).unwrap();
        assert_eq!(read["a"], "b=c");
        let error = configs(&["retention.ms".to_owned()]).unwrap_err();
        let start = "requirement failed: Invalid topic config";
        assert!(error.to_string().starts_with(start), "{error}");
    }
}
