//! Protects the target: a run may only touch topics and groups that it created and that carry its name. They are
//! deleted at the end.

use kgauge_client::admin::{CreateTopicError, DeleteGroupError, DeleteTopicError, TopicSpec};
use std::time::{Duration, Instant};

use kgauge_client::{ClientConfig, Cluster};

use crate::kafka::{KafkaError, TopicTool};

/// Kafka's limit for the names of topics.
const NAME_BYTES_MAX: usize = 249;

/// Maximum length of a run id, which leaves this much for labels.
const RUN_ID_BYTES_MAX: usize = 100;

/// Time limit of a guard that is dropped.
const DROP_TIME_MAX: Duration = Duration::from_secs(10);

/// Prefix of all names.
const PREFIX: &str = "kgauge";

/// A topic that a run needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicWish {
    /// Its purpose, such as the numbers of trial and repeat: the end of its name.
    pub label: String,
    /// Number of partitions.
    pub partitions: i32,
    /// Number of replicas per partition.
    pub replication_factor: i16,
    /// Topic settings.
    pub configs: Vec<(String, String)>,
}

/// A run id that is not valid in a topic name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "run id {run_id:?} cannot be part of a topic name; use 1 to {RUN_ID_BYTES_MAX} of the \
     characters a-z, A-Z, 0-9 and -"
)]
pub struct RunNameError {
    /// The id.
    pub run_id: String,
}

/// Something that the run created and could not delete.
#[derive(Debug, thiserror::Error)]
pub enum Leftover {
    /// A topic.
    #[error(transparent)]
    Topic(#[from] DeleteTopicError),
    /// A consumer group.
    #[error(transparent)]
    Group(#[from] DeleteGroupError),
    /// A topic whose deletion was no longer tried.
    #[error("topic {topic} was not deleted: timed out")]
    Untried {
        /// Its name.
        topic: String,
    },
}

impl Leftover {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            Leftover::Topic(error) => error.fix(),
            Leftover::Group(error) => error.fix(),
            Leftover::Untried { .. } => "delete it manually with kafka-topics --delete",
        }
    }

    /// The topic, if it is one.
    pub fn topic(&self) -> Option<&str> {
        match self {
            Leftover::Topic(error) => Some(error.topic()),
            Leftover::Untried { topic } => Some(topic),
            Leftover::Group(_) => None,
        }
    }
}

/// Tracks what a run has created. Dropping it deletes the rest, best effort.
#[derive(Debug)]
pub struct TopicGuard {
    config: ClientConfig,
    run_id: String,
    /// For releases that cannot create topics over the wire.
    tool: Option<TopicTool>,
    topics: Vec<String>,
    groups: Vec<String>,
}

/// Why a topic of the run was not created.
#[derive(Debug, thiserror::Error)]
pub enum MakeTopicError {
    /// Over the wire.
    #[error(transparent)]
    Wire(#[from] CreateTopicError),
    /// By the release's own tool.
    #[error("topic {topic}: {source}")]
    Tool {
        /// Its name.
        topic: String,
        /// The tool's output.
        #[source]
        source: Box<KafkaError>,
    },
    /// It was created, but has no leaders yet.
    #[error("topic {topic} was created, but not every partition has a leader after {waited:.0?}")]
    NotReady {
        /// Its name.
        topic: String,
        /// The time limit.
        waited: Duration,
    },
}

impl MakeTopicError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            MakeTopicError::Wire(error) => error.fix(),
            MakeTopicError::Tool { source, .. } => source.fix(),
            MakeTopicError::NotReady { .. } => "check the brokers' logs",
        }
    }
}

impl TopicGuard {
    /// A guard for a run on the cluster that `config` describes. Sends no request.
    pub fn new(config: ClientConfig, run_id: &str) -> Result<TopicGuard, RunNameError> {
        let fits = (1..=RUN_ID_BYTES_MAX).contains(&run_id.len())
            && run_id
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !fits {
            return Err(RunNameError {
                run_id: run_id.to_owned(),
            });
        }
        Ok(TopicGuard {
            config,
            run_id: run_id.to_owned(),
            tool: None,
            topics: Vec::new(),
            groups: Vec::new(),
        })
    }

    /// Creates and deletes topics with a release's own tool.
    pub fn with_tool(mut self, tool: Option<TopicTool>) -> TopicGuard {
        self.tool = tool;
        self
    }

    /// What the names of the run's topics and groups begin with.
    fn prefix(&self) -> String {
        format!("{PREFIX}-{}-", self.run_id)
    }

    /// The name of the run's topic or group with this label.
    pub fn name(&self, label: &str) -> String {
        let mut name = self.prefix();
        // Dots and underscores are allowed, but collide in Kafka's metric names.
        name.extend(
            label
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }),
        );
        name.truncate(NAME_BYTES_MAX);
        name
    }

    /// Creates a topic and waits until it can be used. An existing topic is an error and stays untouched.
    pub fn create(
        &mut self,
        cluster: &mut Cluster,
        wish: &TopicWish,
    ) -> Result<String, MakeTopicError> {
        let name = self.name(&wish.label);
        let topic = TopicSpec {
            name: name.clone(),
            partitions: wish.partitions,
            replication_factor: wish.replication_factor,
            configs: wish.configs.clone(),
        };
        if let Some(tool) = self.tool.clone() {
            self.note(&name);
            tool.create(&topic).map_err(|source| MakeTopicError::Tool {
                topic: name.clone(),
                source: Box::new(source),
            })?;
            wait_for_leaders(cluster, &topic)?;
            return Ok(name);
        }
        let created = cluster.create_topic(&topic);
        let is_ours = created
            .as_ref()
            .map_or_else(CreateTopicError::may_exist, |()| true);
        if is_ours {
            self.note(&name);
        }
        Ok(created.map(|()| name)?)
    }

    fn note(&mut self, name: &str) {
        if !self.topics.iter().any(|topic| topic == name) {
            self.topics.push(name.to_owned());
        }
    }

    /// Takes over a topic that an earlier attempt of the run has created and left. False if the name is not one of the
    /// run: such a topic stays untouched.
    pub fn take_over(&mut self, name: &str) -> bool {
        let is_of_run = name.starts_with(&self.prefix());
        if is_of_run {
            self.note(name);
        }
        is_of_run
    }

    /// A name for a consumer group, which the run's end deletes.
    pub fn group(&mut self, label: &str) -> String {
        let name = self.name(label);
        if !self.groups.contains(&name) {
            self.groups.push(name.clone());
        }
        name
    }

    /// Topics that the run has created and not deleted yet.
    pub fn topics(&self) -> &[String] {
        &self.topics
    }

    /// Deletes one topic that the run has created. Any other stays untouched, without an error.
    pub fn delete(&mut self, cluster: &mut Cluster, name: &str) -> Result<(), DeleteTopicError> {
        let Some(index) = self.topics.iter().position(|topic| topic == name) else {
            return Ok(());
        };
        match &self.tool {
            // The tool only marks the topic for deletion, and the cluster will be gone soon after.
            Some(tool) => drop(tool.delete(name)),
            None => cluster.delete_topic(name)?,
        }
        self.topics.remove(index);
        Ok(())
    }

    /// Deletes everything that the run has created, within `limit` in total. Returns what could not be deleted.
    pub fn delete_all(mut self, cluster: &mut Cluster, limit: Duration) -> Vec<Leftover> {
        self.delete_rest(cluster, limit)
    }

    /// Keeps everything; returns the names of the topics.
    pub fn keep(mut self) -> Vec<String> {
        self.groups.clear();
        std::mem::take(&mut self.topics)
    }

    /// Forgets what it has created: the cluster itself is removed.
    pub fn forget(&mut self) {
        self.topics.clear();
        self.groups.clear();
    }

    fn delete_rest(&mut self, cluster: &mut Cluster, limit: Duration) -> Vec<Leftover> {
        let (mut left, deadline) = (Vec::new(), Instant::now() + limit);
        let has_time = |cluster: &mut Cluster| {
            let rest = deadline.saturating_duration_since(Instant::now());
            cluster.set_time_limit(Some(rest));
            !rest.is_zero()
        };
        for topic in std::mem::take(&mut self.topics) {
            if has_time(cluster) {
                left.extend(cluster.delete_topic(&topic).err().map(Leftover::from));
            } else {
                left.push(Leftover::Untried { topic });
            }
        }
        // A group without members is removed after offsets.retention.minutes.
        for group in std::mem::take(&mut self.groups) {
            if has_time(cluster) {
                left.extend(cluster.delete_group(&group).err().map(Leftover::from));
            }
        }
        left
    }
}

/// Time limit for a topic to get its leaders.
const LEADERS_MAX: Duration = Duration::from_secs(30);

fn wait_for_leaders(cluster: &mut Cluster, topic: &TopicSpec) -> Result<(), MakeTopicError> {
    let start = Instant::now();
    let cluster_error = |error| {
        MakeTopicError::Wire(CreateTopicError::Cluster {
            topic: topic.name.clone(),
            error: Box::new(error),
            may_exist: true,
        })
    };
    loop {
        let metadata = cluster.refresh(&[&topic.name]).map_err(cluster_error)?;
        let partitions = metadata.topic(&topic.name).map(|found| &found.partitions);
        let led = partitions.map_or(0, |partitions| {
            let led = partitions.iter().filter(|one| one.leader_id.is_some());
            led.count()
        });
        if i32::try_from(led) == Ok(topic.partitions) {
            return Ok(());
        }
        if start.elapsed() >= LEADERS_MAX {
            return Err(MakeTopicError::NotReady {
                topic: topic.name.clone(),
                waited: start.elapsed(),
            });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Drop for TopicGuard {
    fn drop(&mut self) {
        if self.topics.is_empty() && self.groups.is_empty() {
            return;
        }
        // There is nobody to report to, and a drop must be quick.
        if let Ok(mut cluster) = Cluster::bootstrap(self.config.clone()) {
            self.delete_rest(&mut cluster, DROP_TIME_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(run_id: &str) -> Result<TopicGuard, RunNameError> {
        TopicGuard::new(ClientConfig::from_servers("a:1").unwrap(), run_id)
    }

    #[test]
    fn names_carry_the_run_id_and_are_valid_for_kafka() {
        let guard = guard("20261120-101500-5f3a").unwrap();
        assert_eq!(guard.name("0001.00"), "kgauge-20261120-101500-5f3a-0001-00");
        assert_eq!(guard.name("a/ü_b"), "kgauge-20261120-101500-5f3a-a---b");
        assert_eq!(guard.name(&"x".repeat(500)).len(), 249);
    }

    #[test]
    fn only_topics_of_the_run_are_taken_over() {
        let mut guard = guard("5f3a").unwrap();
        for foreign in ["orders", "kgauge-5f3b-t00", "x-kgauge-5f3a-t00"] {
            assert!(!guard.take_over(foreign), "{foreign}");
        }
        assert!(guard.take_over("kgauge-5f3a-t00-r01"));
        // Nothing is deleted when the guard is dropped.
        assert_eq!(guard.keep(), ["kgauge-5f3a-t00-r01"]);
    }

    #[test]
    fn run_ids_that_fit_no_topic_are_refused() {
        for run_id in ["", "a b", "a/b", "ü", &"x".repeat(101)] {
            assert!(guard(run_id).is_err(), "{run_id}");
        }
    }
}
