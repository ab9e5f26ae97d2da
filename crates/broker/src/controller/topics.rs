//! Creating, deleting and growing topics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;

use super::Controller;
use super::messages::{CreatedTopic, Mode, NewTopic, PartitionIncrease, Refusal};
use super::records::MetadataRecord;
use crate::ids::{NodeId, OFFSETS_TOPIC, TopicName, check_topic_name};
use crate::image::{ClusterImage, PartitionImage};
use crate::settings::{ConfigMap, checked_topic_config};

/// Partitions that one topic may have; far above any use, and keeps a request from filling memory.
const PARTITIONS_MAX: i32 = 100_000;

/// Topics, and partitions, that one request may create. Kafka 4 takes 10,000 records of metadata a
/// request, topics and partitions together.
const PER_REQUEST_MAX: i64 = 10_000;

impl Controller {
    /// Creates topics, each on its own. Too many at once are refused, all of them, as in Kafka.
    pub(super) fn create_topics(
        &mut self,
        topics: Vec<NewTopic>,
        mode: Mode,
    ) -> Vec<Result<CreatedTopic, Refusal>> {
        let default = self.settings.num_partitions;
        let count = |topic: &NewTopic| match topic.assignments.len() {
            0 => topic.partitions.map_or(default, i64::from),
            count => i64::try_from(count).unwrap_or(i64::MAX),
        };
        // One that is too small is refused on its own.
        let counts = topics.iter().map(|topic| count(topic).max(1));
        if is_excessive(counts) {
            return topics.iter().map(|_| Err(excessive())).collect();
        }
        let mut taken = FoldedNames::default();
        let topics = topics.into_iter();
        topics
            .map(|topic| self.create_topic(topic, mode, &mut taken))
            .collect()
    }

    /// Makes topics larger, with the same limit.
    pub(super) fn grow_topics(
        &mut self,
        topics: Vec<PartitionIncrease>,
        mode: Mode,
    ) -> Vec<Result<(), Refusal>> {
        let added = |more: &PartitionIncrease| {
            let topic = self.metadata.image.topic(&more.name);
            let present = topic.map_or(0, |topic| topic.partitions.len());
            i64::from(more.count).saturating_sub(i64::try_from(present).unwrap_or(i64::MAX))
        };
        if is_excessive(topics.iter().map(|more| added(more).max(1))) {
            return topics.iter().map(|_| Err(excessive())).collect();
        }
        let topics = topics.into_iter();
        topics
            .map(|more| self.create_partitions(more, mode))
            .collect()
    }

    fn create_topic(
        &mut self,
        topic: NewTopic,
        mode: Mode,
        taken: &mut FoldedNames,
    ) -> Result<CreatedTopic, Refusal> {
        self.check_new_name(&topic.name, taken)?;
        let partitions = self.place(&topic)?;
        let configs = checked_configs(&topic.configs)?;
        let created = CreatedTopic {
            id: if mode == Mode::Apply {
                Uuid(self.random.uuid_bytes())
            } else {
                Uuid::ZERO
            },
            partitions: i32::try_from(partitions.len()).unwrap_or(i32::MAX),
            replication_factor: partitions
                .first()
                .and_then(|p| i16::try_from(p.replicas.len()).ok())
                .unwrap_or(0),
            configs: configs.clone(),
        };
        if mode == Mode::Apply {
            let NewTopic { name, .. } = topic;
            taken.add(&name);
            let id = created.id;
            self.commit(vec![MetadataRecord::Topic {
                name,
                id,
                partitions,
                configs,
            }])?;
        }
        Ok(created)
    }

    fn check_new_name(&self, name: &str, taken: &mut FoldedNames) -> Result<(), Refusal> {
        if let Err(why) = check_topic_name(name) {
            let words = format!("Topic name is invalid: {why}");
            return Err(Refusal::new(ErrorCode::InvalidTopicException, words));
        }
        let image = &self.metadata.image;
        if image.topic(name).is_some() {
            let words = format!("Topic '{name}' already exists.");
            return Err(Refusal::new(ErrorCode::TopicAlreadyExists, words));
        }
        if let Some(other) = taken.meeting(name, image) {
            let words = format!("Topic '{name}' collides with existing topic: {other}");
            return Err(Refusal::new(ErrorCode::InvalidTopicException, words));
        }
        Ok(())
    }

    /// Chooses the nodes of a new topic's partitions, or takes those that the client chose.
    fn place(&mut self, topic: &NewTopic) -> Result<Vec<PartitionImage>, Refusal> {
        if !topic.assignments.is_empty() {
            return self.placed_by_client(topic);
        }
        let default = self.settings.num_partitions;
        let count = topic.partitions.map_or(default, i64::from);
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        if count <= 0 {
            let words = "Number of partitions was set to an invalid non-positive value.";
            return Err(Refusal::new(ErrorCode::InvalidPartitions, words));
        }
        if count > PARTITIONS_MAX {
            let words = format!("A topic can have at most {PARTITIONS_MAX} partitions here.");
            return Err(Refusal::new(ErrorCode::InvalidPartitions, words));
        }
        let default = self.settings.default_replication_factor;
        let factor = topic.replication_factor.map_or(default, i64::from);
        let factor = usize::try_from(factor).unwrap_or(0);
        self.check_replication_factor(factor)?;
        Ok(self.spread(0, count, factor))
    }

    fn check_replication_factor(&self, factor: usize) -> Result<(), Refusal> {
        let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidReplicationFactor, words));
        if factor == 0 {
            return refuse("Replication factor must be larger than 0.".to_owned());
        }
        let live = self.up_nodes().len();
        if factor > live {
            return refuse(format!(
                "Unable to replicate the partition {factor} time(s): The target replication factor \
                 of {factor} cannot be reached because only {live} broker(s) are registered."
            ));
        }
        Ok(())
    }

    /// The nodes that are up and not fenced.
    fn up_nodes(&self) -> Vec<NodeId> {
        let up = self.live.keys().copied();
        up.filter(|node| self.is_up(*node)).collect()
    }

    /// Partitions `first..first + count`, leaders going round the nodes from a random one on.
    /// Followers are shifted with every round, as Kafka does: what a node led goes to many when it
    /// fails.
    fn spread(&mut self, first: i32, count: i32, factor: usize) -> Vec<PartitionImage> {
        let nodes = self.up_nodes();
        let Some(turns) = u64::try_from(nodes.len()).ok().filter(|count| *count > 0) else {
            return Vec::new();
        };
        let start = self.random.below(turns) as usize;
        (first..first + count)
            .map(|index| {
                let turn = start + usize::try_from(index).unwrap_or(0);
                let (leader, round) = (turn % nodes.len(), turn / nodes.len());
                let others = nodes.len() - 1;
                let follower = |step: usize| leader + 1 + (round + step) % others.max(1);
                let replica = |step: usize| match step {
                    0 => nodes[leader],
                    step => nodes[follower(step - 1) % nodes.len()],
                };
                PartitionImage::new((0..factor).map(replica).collect())
            })
            .collect()
    }

    fn placed_by_client(&self, topic: &NewTopic) -> Result<Vec<PartitionImage>, Refusal> {
        if topic.partitions.is_some() || topic.replication_factor.is_some() {
            let words = "Replication factor and partition count must be -1 when a manual partition \
                         assignment is specified.";
            return Err(Refusal::new(ErrorCode::InvalidRequest, words));
        }
        let mut assignments = topic.assignments.clone();
        assignments.sort_by_key(|(index, _)| *index);
        let mut partitions = Vec::with_capacity(assignments.len());
        for (expected, (index, replicas)) in (0..).zip(assignments) {
            if index != expected {
                let words = "partitions should be a consecutive 0-based integer sequence";
                return Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, words));
            }
            partitions.push(PartitionImage::new(self.checked_replicas(replicas)?));
        }
        Ok(partitions)
    }

    fn checked_replicas(&self, replicas: Vec<NodeId>) -> Result<Vec<NodeId>, Refusal> {
        let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, words));
        if replicas.is_empty() {
            return refuse(
                "The manual partition assignment includes an empty replica list.".into(),
            );
        }
        if let Some(unknown) = replicas.iter().find(|node| !self.live.contains_key(node)) {
            return refuse(format!(
                "The manual partition assignment includes broker {unknown}, but no such broker is \
                 registered."
            ));
        }
        if replicas.iter().collect::<BTreeSet<_>>().len() != replicas.len() {
            return refuse("The manual partition assignment names a broker twice.".to_owned());
        }
        self.check_replication_factor(replicas.len())?;
        Ok(replicas)
    }

    pub(super) fn delete_topic(&mut self, id: Uuid) -> Result<TopicName, Refusal> {
        let Some(topic) = self.metadata.image.topic_by_id(id) else {
            let words = "This server does not host this topic ID.";
            return Err(Refusal::new(ErrorCode::UnknownTopicId, words));
        };
        let name = Arc::clone(&topic.name);
        self.commit(vec![MetadataRecord::TopicDeleted { id }])?;
        Ok(name)
    }

    fn create_partitions(&mut self, more: PartitionIncrease, mode: Mode) -> Result<(), Refusal> {
        let Some(topic) = self.metadata.image.topic(&more.name).cloned() else {
            let words = "This server does not host this topic-partition.";
            return Err(Refusal::new(ErrorCode::UnknownTopicOrPartition, words));
        };
        let present = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
        let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidPartitions, words));
        if &*topic.name == OFFSETS_TOPIC {
            // The coordinator of every group would change: its committed offsets would be lost to
            // it.
            return refuse(format!(
                "The number of partitions of {OFFSETS_TOPIC} is fixed."
            ));
        }
        if more.count == present {
            return refuse(format!("Topic already has {present} partition(s)."));
        }
        if more.count < present {
            return refuse(format!(
                "The topic {} currently has {present} partition(s); {} would not be an increase.",
                more.name, more.count
            ));
        }
        if more.count > PARTITIONS_MAX {
            return refuse(format!(
                "A topic can have at most {PARTITIONS_MAX} partitions here."
            ));
        }
        let added = more.count - present;
        let partitions = match more.assignments {
            None => {
                let factor = topic.partitions.first().map_or(1, |p| p.replicas.len());
                self.spread(present, added, factor)
            }
            Some(chosen) if i32::try_from(chosen.len()) != Ok(added) => {
                let words = format!(
                    "Attempted to add {added} additional partition(s), but only {} assignment(s) \
                     were specified.",
                    chosen.len()
                );
                return Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, words));
            }
            Some(chosen) => {
                let checked = chosen.into_iter().map(|nodes| self.checked_replicas(nodes));
                checked
                    .map(|nodes| nodes.map(PartitionImage::new))
                    .collect::<Result<_, _>>()?
            }
        };
        if mode == Mode::Apply {
            let first = topic.partitions.len();
            self.commit(vec![MetadataRecord::Partitions {
                id: topic.id,
                first,
                partitions,
            }])?;
        }
        Ok(())
    }
}

/// Names as Kafka's metrics show them, with underscores for dots: it refuses names that would meet
/// there. Empty until somebody asks, for most names cannot meet any other.
#[derive(Debug, Default)]
struct FoldedNames(BTreeMap<String, TopicName>);

impl FoldedNames {
    /// A topic was added to the image.
    fn add(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.insert(folded(name), name.into());
        }
    }

    /// The topic that a new name would meet.
    fn meeting(&mut self, name: &str, image: &ClusterImage) -> Option<&TopicName> {
        if !name.contains(['.', '_']) {
            return None;
        }
        if self.0.is_empty() {
            let known = image.topics.keys();
            let known = known.map(|name| (folded(name), Arc::clone(name)));
            self.0 = known.collect();
        }
        self.0.get(&folded(name))
    }
}

fn folded(name: &str) -> String {
    name.replace('.', "_")
}

/// Whether a request asks for too many partitions.
fn is_excessive(mut counts: impl Iterator<Item = i64>) -> bool {
    let sum = counts.try_fold(0_i64, |sum, count| sum.checked_add(count));
    sum.is_none_or(|sum| sum > PER_REQUEST_MAX)
}

fn excessive() -> Refusal {
    let words = "Unable to perform excessively large batch operation.";
    Refusal::new(ErrorCode::PolicyViolation, words)
}

/// A topic's configurations as they are kept, or the refusal of the first wrong one.
fn checked_configs(configs: &ConfigMap) -> Result<ConfigMap, Refusal> {
    let checked = configs.iter().map(|(name, value)| {
        let value = checked_topic_config(name, value)
            .map_err(|error| Refusal::new(ErrorCode::InvalidConfig, error.0))?;
        Ok((name.clone(), value))
    });
    checked.collect()
}
