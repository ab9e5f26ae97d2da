//! Describe: a line a topic, a line a partition.

use std::collections::BTreeMap;

use kgauge_client::admin::{AdminConfigResource, ConfigEntry, ConfigSource};
use kgauge_client::cluster::{Partition, Topic};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::DescribeTopicPartitionsRequest;
use kgauge_wire::messages::describe_topic_partitions::TopicRequest;

use super::super::release::ToolRelease;
use super::super::say;
use super::{TopicsCall, order};

/// Eligible leader replicas of each partition, and those of before; none where brokers do not tell.
type Eligible = BTreeMap<i32, BothLists>;

/// Eligible leader replicas, and the last ones known before.
type BothLists = (Option<Vec<i32>>, Option<Vec<i32>>);

/// The most partitions in an answer, Kafka's own limit.
const PARTITIONS_MAX: i32 = 2_000;

impl TopicsCall<'_> {
    pub(super) fn describe(&mut self) -> Result<(), String> {
        let mut topics = match self.given.text("topic-id") {
            Some(id) => self.of_id(id)?,
            // ZooKeeper's tool had nothing to say about what is not there.
            None if self.is_zookeeper => self.required()?,
            None => self.some_required()?,
        };
        if !self.is_zookeeper && self.as_of >= ToolRelease::of(2, 2, 0) {
            let capacity = topics.len();
            order::sort(&mut topics, capacity, |topic| &topic.name);
        }
        for topic in topics {
            self.describe_one(&topic)?;
        }
        Ok(())
    }

    fn of_id(&mut self, id: &str) -> Result<Vec<Topic>, String> {
        let mut topics = self.required()?;
        topics.retain(|topic| topic.id.is_some_and(|known| known.to_string() == id));
        match topics.is_empty() && !self.given.has("if-exists") {
            true => Err(format!("TopicId '{id}' does not exist as expected")),
            false => Ok(topics),
        }
    }

    fn describe_one(&mut self, topic: &Topic) -> Result<(), String> {
        let settings = self
            .cluster
            .describe_configs(AdminConfigResource::Topic(&topic.name));
        // Brokers before 0.11 do not tell them.
        let settings = settings.unwrap_or_default();
        let min_isr = settings
            .iter()
            .find(|entry| entry.name == "min.insync.replicas");
        let min_isr = min_isr.and_then(|entry| entry.value.as_deref()?.parse().ok());
        let shown = shown(settings, self.is_zookeeper);
        let only = |name: &str| self.given.has(name);
        let only_overrides = only("topics-with-overrides");
        let filters: Vec<Filter> = [
            ("under-replicated-partitions", Filter::UnderReplicated),
            ("unavailable-partitions", Filter::Unavailable),
            ("under-min-isr-partitions", Filter::UnderMinIsr),
            ("at-min-isr-partitions", Filter::AtMinIsr),
        ]
        .into_iter()
        .filter(|(name, _)| only(name))
        .map(|(_, filter)| filter)
        .collect();
        if filters.is_empty() && !(only_overrides && shown.is_empty()) {
            let line = head(topic, &shown, self.as_of, self.is_zookeeper);
            say::line(&line.replace('\n', " "));
        }
        if only_overrides {
            return Ok(());
        }
        let eligible = match self.has_eligible() {
            true => self.eligible(&topic.name),
            false => None,
        };
        for partition in &topic.partitions {
            let fits = |filter: &Filter| filter.fits(partition, min_isr);
            if filters.is_empty() || filters.iter().any(fits) {
                let mut line = partition_line(&topic.name, partition);
                if self.has_eligible() {
                    let of = eligible.as_ref().and_then(|all| all.get(&partition.index));
                    line.push_str(&eligible_columns(of));
                }
                say::line(&line.replace('\n', " "));
            }
        }
        Ok(())
    }

    /// Eligible leader replicas have had columns since 3.7 (KIP-966).
    fn has_eligible(&self) -> bool {
        self.as_of >= ToolRelease::of(3, 7, 0) && !self.is_zookeeper
    }

    fn eligible(&mut self, topic: &str) -> Option<Eligible> {
        let broker = self.cluster.metadata().brokers.first()?.id;
        let versions = self.cluster.api_versions(broker).ok()?;
        versions.range(ApiKey::DescribeTopicPartitions)?;
        let request = DescribeTopicPartitionsRequest {
            topics: vec![TopicRequest { name: topic.into() }],
            response_partition_limit: PARTITIONS_MAX,
            cursor: None,
        };
        let reply = self.cluster.call(broker, &request).ok()?;
        let answer = reply.decode().ok()?;
        let partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
        let all = partitions.map(|partition| {
            let eligible = partition.eligible_leader_replicas.clone();
            (
                partition.partition_index,
                (eligible, partition.last_known_elr.clone()),
            )
        });
        Some(all.collect())
    }
}

/// Which partitions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    UnderReplicated,
    Unavailable,
    UnderMinIsr,
    AtMinIsr,
}

impl Filter {
    fn fits(self, partition: &Partition, min_isr: Option<usize>) -> bool {
        let in_sync = partition.isr.len();
        match self {
            Filter::UnderReplicated => in_sync < partition.replicas.len(),
            Filter::Unavailable => partition.leader_id.is_none(),
            Filter::UnderMinIsr => {
                partition.leader_id.is_none() || min_isr.is_some_and(|min| in_sync < min)
            }
            Filter::AtMinIsr => min_isr == Some(in_sync),
        }
    }
}

/// The settings that a topic line has: all but Kafka's own defaults, in the order of a `HashMap`.
fn shown(mut settings: Vec<ConfigEntry>, is_zookeeper: bool) -> Vec<(String, String)> {
    order::sort(&mut settings, order::CAPACITY, |entry| &entry.name);
    let is_shown = |entry: &ConfigEntry| match is_zookeeper {
        // ZooKeeper knew only what was set on the topic.
        true => entry.source == ConfigSource::Topic,
        false => entry.source != ConfigSource::Default,
    };
    let pairs = settings.into_iter().filter(is_shown);
    pairs
        .map(|entry| (entry.name, entry.value.unwrap_or_default()))
        .collect()
}

fn head(
    topic: &Topic,
    settings: &[(String, String)],
    as_of: ToolRelease,
    is_zookeeper: bool,
) -> String {
    let settings = settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let settings = settings.collect::<Vec<_>>().join(",");
    let (count, replicas) = (
        topic.partitions.len(),
        topic.partitions.first().map_or(0, |one| one.replicas.len()),
    );
    if as_of < ToolRelease::of(2, 4, 0) {
        return format!(
            "Topic:{}\tPartitionCount:{count}\tReplicationFactor:{replicas}\tConfigs:{settings}",
            topic.name
        );
    }
    let id = match topic.id.filter(|_| as_of >= ToolRelease::of(2, 8, 0)) {
        Some(id) => format!("TopicId: {id}\t"),
        // Brokers that have no ids.
        None if as_of >= ToolRelease::of(2, 8, 0) && !is_zookeeper => {
            "TopicId: AAAAAAAAAAAAAAAAAAAAAA\t".to_owned()
        }
        None => String::new(),
    };
    format!(
        "Topic: {}\t{id}PartitionCount: {count}\tReplicationFactor: {replicas}\tConfigs: {settings}",
        topic.name
    )
}

fn partition_line(topic: &str, partition: &Partition) -> String {
    let leader = partition
        .leader_id
        .map_or_else(|| "none".to_owned(), |id| id.to_string());
    format!(
        "\tTopic: {topic}\tPartition: {}\tLeader: {leader}\tReplicas: {}\tIsr: {}",
        partition.index,
        ids(&partition.replicas),
        ids(&partition.isr),
    )
}

fn eligible_columns(of: Option<&BothLists>) -> String {
    let show = |list: Option<&Vec<i32>>| list.map_or_else(|| "N/A".to_owned(), |list| ids(list));
    let (now, before) = match of {
        Some((now, before)) => (now.as_ref(), before.as_ref()),
        None => (None, None),
    };
    format!("\tElr: {}\tLastKnownElr: {}", show(now), show(before))
}

fn ids(list: &[i32]) -> String {
    let ids: Vec<String> = list.iter().map(ToString::to_string).collect();
    ids.join(",")
}

#[cfg(test)]
mod tests {
    use kgauge_wire::error_code::ErrorCode;

    use super::*;

    fn topic() -> Topic {
        Topic {
            name: "t2".to_owned(),
            id: None,
            is_internal: false,
            error: ErrorCode::None,
            partitions: vec![Partition {
                index: 0,
                error: ErrorCode::None,
                leader_id: Some(1),
                leader_epoch: None,
                replicas: vec![1, 2],
                isr: vec![1],
                offline_replicas: Vec::new(),
            }],
        }
    }

    fn release(text: &str) -> ToolRelease {
        ToolRelease::parse(text).unwrap()
    }

    #[test]
    fn a_topics_line_reads_as_in_its_release() {
        let settings = [("retention.ms".to_owned(), "100000".to_owned())];
        assert_eq!(
            head(&topic(), &settings, release("1.0.2"), true),
            "Topic:t2\tPartitionCount:1\tReplicationFactor:2\tConfigs:retention.ms=100000"
        );
        assert_eq!(
            head(&topic(), &settings, release("2.4.1"), false),
            "Topic: t2\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: retention.ms=100000"
        );
        assert_eq!(
            head(&topic(), &[], release("4.3.1"), false),
            "Topic: t2\tTopicId: AAAAAAAAAAAAAAAAAAAAAA\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: "
        );
    }

    #[test]
    fn a_partitions_line_reads_as_captured() {
        let (mut topic, none) = (
            topic(),
            eligible_columns(Some(&(Some(vec![]), Some(vec![])))),
        );
        let line = partition_line("t2", &topic.partitions[0]) + &none;
        assert_eq!(
            line,
            "\tTopic: t2\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: \tLastKnownElr: "
        );
        assert_eq!(eligible_columns(None), "\tElr: N/A\tLastKnownElr: N/A");
        topic.partitions[0].leader_id = None;
        assert!(partition_line("t2", &topic.partitions[0]).contains("Leader: none"));
    }

    #[test]
    fn partitions_in_trouble_are_found() {
        let partition = &topic().partitions[0];
        assert!(Filter::UnderReplicated.fits(partition, Some(1)));
        assert!(Filter::AtMinIsr.fits(partition, Some(1)));
        assert!(Filter::UnderMinIsr.fits(partition, Some(2)));
        assert!(!Filter::UnderMinIsr.fits(partition, Some(1)));
        assert!(!Filter::Unavailable.fits(partition, Some(1)));
    }
}
