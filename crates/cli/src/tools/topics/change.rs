//! Create, alter, delete.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_client::admin::{AdminConfigResource, ConfigEdit};
use kgauge_client::shown;
use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_partitions::{CreatePartitionsAssignment, CreatePartitionsTopic};
use kgauge_wire::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kgauge_wire::messages::{CreatePartitionsRequest, CreateTopicsRequest};

use super::super::options::Style;
use super::super::release::ToolRelease;
use super::super::say;
use super::TopicsCall;

/// How long the controller may take.
const TIMEOUT_MS: i32 = 30_000;

/// How long a change is tried again that a controller was not there for.
const PATIENCE: Duration = Duration::from_secs(30);

/// `1:2,2:3`: the brokers of each partition.
fn assignment(text: &str) -> Result<Vec<Vec<i32>>, String> {
    let wrong = || format!("{text:?} is no assignment; write it as in 1:2,2:3");
    let brokers = |part: &str| part.split(':').map(|id| id.trim().parse().ok()).collect();
    let parts: Option<Vec<Vec<i32>>> = text.split(',').map(brokers).collect();
    let parts = parts.ok_or_else(wrong)?;
    let first = parts.first().map_or(0, Vec::len);
    for (index, part) in parts.iter().enumerate() {
        let mut distinct = part.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != part.len() {
            return Err(format!(
                "Partition replica lists may not contain duplicate entries: partition {index}"
            ));
        }
        if part.len() != first {
            return Err(format!(
                "Partition {index} has different replication factor: {part:?}"
            ));
        }
    }
    Ok(parts)
}

/// `name=value` words.
fn configs(words: &[String]) -> Result<BTreeMap<String, String>, String> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let pairs: Option<BTreeMap<String, String>> = words.iter().map(pair).collect();
    pairs.ok_or_else(|| {
        "requirement failed: Invalid topic config: all configs to be added must be in the format \
         \"key=val\"."
            .to_owned()
    })
}

impl TopicsCall<'_> {
    pub(super) fn create(&mut self) -> Result<(), String> {
        let name = self.given.text("topic").unwrap_or_default().to_owned();
        let count = |name: &str, what: &str| -> Result<i32, String> {
            let number = self.given.number::<i32>(name, Style::Jopt, "Integer");
            match number.map_err(|mistake| mistake.0)? {
                None => Ok(-1),
                Some(number) if number >= 1 => Ok(number),
                Some(_) => Err(format!("The {what} must be greater than 0")),
            }
        };
        let partitions = count("partitions", "partitions")?;
        let replicas = count("replication-factor", "replication factor")?;
        let replicas = i16::try_from(replicas).map_err(|_| {
            "The replication factor must be between 1 and 32767 inclusive".to_owned()
        })?;
        let settings = configs(self.given.all("config"))?;
        let assigned = self.given.text("replica-assignment").map(assignment);
        let assigned = assigned.transpose()?;
        if name.contains(['.', '_']) {
            say::line(
                "WARNING: Due to limitations in metric names, topics with a period ('.') or \
                 underscore ('_') could collide. To avoid issues it is best to use either, but not \
                 both.",
            );
        }
        let is_assigned = assigned.is_some();
        let assignments = assigned.unwrap_or_default().into_iter().zip(0..);
        let config = |(name, value): (&String, &String)| CreatableTopicConfig {
            name: name.clone().into(),
            value: Some(value.clone().into()),
        };
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: name.as_str().into(),
                num_partitions: if is_assigned { -1 } else { partitions },
                replication_factor: if is_assigned { -1 } else { replicas },
                assignments: assignments
                    .map(|(broker_ids, partition_index)| CreatableReplicaAssignment {
                        partition_index,
                        broker_ids,
                    })
                    .collect(),
                configs: settings.iter().map(config).collect(),
            }],
            timeout_ms: TIMEOUT_MS,
            validate_only: false,
        };
        match self.create_by(&request)? {
            ErrorCode::TopicAlreadyExists if self.given.has("if-not-exists") => return Ok(()),
            _ => {}
        }
        let said = match self.as_of < ToolRelease::of(2, 2, 0) {
            true => format!("Created topic \"{name}\"."),
            false => format!("Created topic {name}."),
        };
        say::line(&said);
        Ok(())
    }

    /// Asks the controller, again while there is none.
    fn create_by(&mut self, request: &CreateTopicsRequest<'_>) -> Result<ErrorCode, String> {
        let forgives = self.given.has("if-not-exists");
        self.controlled(ApiKey::CreateTopics, "0.10.1", |site, broker| {
            let reply = site.cluster.call(broker, request).map_err(words)?;
            let answer = reply.decode().map_err(words)?;
            let told = answer
                .topics
                .first()
                .ok_or("the broker said nothing about it")?;
            let code = ErrorCode::from(told.error_code);
            let message = told.error_message.as_deref();
            Ok(match code {
                ErrorCode::TopicAlreadyExists if forgives => (ErrorCode::None, None, code),
                _ => (code, message.map(shown), code),
            })
        })
    }

    /// Calls the controller, again while it is another, or none.
    fn controlled(
        &mut self,
        api: ApiKey,
        since: &str,
        mut call: impl FnMut(&mut Self, i32) -> Result<(ErrorCode, Option<String>, ErrorCode), String>,
    ) -> Result<ErrorCode, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let metadata = self.cluster.metadata();
            let any = metadata.brokers.first().map(|broker| broker.id);
            let broker = metadata.controller_id.or(any);
            let broker = broker.ok_or("the cluster has no broker")?;
            let versions = self.cluster.api_versions(broker).map_err(words)?;
            if versions.range(api).is_none() {
                return Err(format!(
                    "these brokers cannot do it over the wire, which came with Kafka {since}; use \
                     the release's own kafka-topics.sh --zookeeper"
                ));
            }
            let (code, message, seen) = call(self, broker)?;
            if code.is_none() {
                return Ok(seen);
            }
            let is_retriable = code.is_retriable() && code != ErrorCode::RequestTimedOut;
            if !is_retriable || Instant::now() >= deadline {
                return Err(message.unwrap_or_else(|| code.to_string()));
            }
            std::thread::sleep(Duration::from_millis(100));
            self.cluster.refresh(&[]).map_err(words)?;
        }
    }

    pub(super) fn alter(&mut self) -> Result<(), String> {
        let topics = self.some_required()?;
        let number = self
            .given
            .number::<i32>("partitions", Style::Jopt, "Integer");
        let partitions = number.map_err(|mistake| mistake.0)?;
        let settings = configs(self.given.all("config"))?;
        let removed = self.given.all("delete-config").to_vec();
        let assigned = self.given.text("replica-assignment").map(assignment);
        let assigned = assigned.transpose()?;
        for topic in topics {
            if !settings.is_empty() || !removed.is_empty() {
                self.alter_settings(&topic.name, &settings, &removed)?;
            }
            let Some(count) = partitions else { continue };
            if self.is_zookeeper {
                say::line(
                    "WARNING: If partitions are increased for a topic that has a key, the \
                     partition logic or ordering of the messages will be affected",
                );
            }
            let new = assigned.as_ref().map(|all| {
                let more = all.iter().skip(topic.partitions.len()).cloned();
                more.map(|broker_ids| CreatePartitionsAssignment { broker_ids })
                    .collect()
            });
            let request = CreatePartitionsRequest {
                topics: vec![CreatePartitionsTopic {
                    name: topic.name.as_str().into(),
                    count,
                    assignments: new,
                }],
                timeout_ms: TIMEOUT_MS,
                validate_only: false,
            };
            self.controlled(ApiKey::CreatePartitions, "1.0", |site, broker| {
                let reply = site.cluster.call(broker, &request).map_err(words)?;
                let answer = reply.decode().map_err(words)?;
                let told = answer
                    .results
                    .first()
                    .ok_or("the broker said nothing about it")?;
                let code = ErrorCode::from(told.error_code);
                Ok((code, told.error_message.as_deref().map(shown), code))
            })?;
            if self.is_zookeeper {
                say::line("Adding partitions succeeded!");
            }
        }
        Ok(())
    }

    fn alter_settings(
        &mut self,
        topic: &str,
        settings: &BTreeMap<String, String>,
        removed: &[String],
    ) -> Result<(), String> {
        say::line(
            "WARNING: Altering topic configuration from this script has been deprecated and may be \
             removed in future releases.",
        );
        say::line("         Going forward, please use kafka-configs.sh for this functionality");
        let set = settings.iter().map(|(name, value)| ConfigEdit {
            name: name.clone(),
            value: Some(value.clone()),
        });
        let removed = removed.iter().map(|name| ConfigEdit {
            name: name.clone(),
            value: None,
        });
        let changes: Vec<ConfigEdit> = set.chain(removed).collect();
        let altered = self
            .cluster
            .alter_configs(AdminConfigResource::Topic(topic), &changes);
        altered.map_err(words)?;
        let said = match self.as_of < ToolRelease::of(2, 2, 0) {
            true => format!("Updated config for topic \"{topic}\"."),
            false => format!("Updated config for topic {topic}."),
        };
        say::line(&said);
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Result<(), String> {
        for topic in self.some_required()? {
            self.cluster.delete_topic(&topic.name).map_err(words)?;
            if self.is_zookeeper {
                say::line(&format!("Topic {} is marked for deletion.", topic.name));
                say::line(
                    "Note: This will have no impact if delete.topic.enable is not set to true.",
                );
            }
        }
        Ok(())
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_names_the_brokers_of_each_partition() {
        assert_eq!(assignment("1:2,2:3").unwrap(), [[1, 2], [2, 3]]);
        assert_eq!(assignment("1,1").unwrap(), [[1], [1]]);
        assert!(assignment("1:1").unwrap_err().contains("duplicate"));
        assert!(
            assignment("1:2,3")
                .unwrap_err()
                .contains("different replication factor")
        );
        assert!(assignment("a").is_err());
    }

    #[test]
    fn settings_are_names_and_values() {
        let read = configs(&["retention.ms=1".to_owned(), "a = b=c".to_owned()]).unwrap();
        assert_eq!(read["a"], "b=c");
        let error = configs(&["retention.ms".to_owned()]).unwrap_err();
        assert!(
            error.starts_with("requirement failed: Invalid topic config"),
            "{error}"
        );
    }
}
