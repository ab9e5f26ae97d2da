//! Describe: a line per topic, and a line per partition.

use std::collections::BTreeMap;

use kgauge_client::admin::{AdminConfigResource, ConfigEntry, ConfigSource};
use kgauge_client::cluster::{Partition, Topic};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::DescribeTopicPartitionsRequest;
use kgauge_wire::messages::describe_topic_partitions::TopicRequest;

use super::{TopicsCall, order};
use crate::failure::ToolFailure;
use crate::release::ToolRelease;

/// The eligible leader replicas of a partition, and the last known ones; `None` where the broker does not report them.
#[derive(Default)]
struct EligibleReplicas {
    eligible: Option<Vec<i32>>,
    last_known: Option<Vec<i32>>,
}

/// The maximum number of partitions per response, as in Kafka.
const PARTITIONS_MAX: i32 = 2_000;

impl TopicsCall<'_> {
    pub(super) fn describe(&mut self) -> Result<(), ToolFailure> {
        let mut topics = match self.given.text("topic-id") {
            Some(id) => self.by_id(id)?,
            // With ZooKeeper, a missing topic was no error.
            None if self.is_zookeeper => self.matching()?,
            None => self.existing()?,
        };
        if !self.is_zookeeper && self.as_of >= ToolRelease::of(2, 2, 0) {
            let capacity = topics.len();
            order::sort(&mut topics, capacity, |topic| &topic.name);
        }
        for topic in topics {
            self.describe_one(&topic);
        }
        Ok(())
    }

    fn by_id(&mut self, id: &str) -> Result<Vec<Topic>, ToolFailure> {
        let mut topics = self.matching()?;
        topics.retain(|topic| topic.id.is_some_and(|known| known.to_string() == id));
        match topics.is_empty() && !self.given.has("if-exists") {
            true => Err(ToolFailure::Failed(format!(
                "TopicId '{id}' does not exist as expected"
            ))),
            false => Ok(topics),
        }
    }

    fn describe_one(&mut self, topic: &Topic) {
        let resource = AdminConfigResource::Topic(&topic.name);
        // Brokers before 0.11 do not report them.
        let settings = self.cluster.describe_configs(resource).unwrap_or_default();
        let mut named = settings.iter();
        let min_isr = named.find(|entry| entry.name == "min.insync.replicas");
        let min_isr = min_isr.and_then(|entry| entry.value.as_deref()?.parse().ok());
        let settings = shown(settings, self.is_zookeeper);
        let only_overrides = self.given.has("topics-with-overrides");
        let filters: Vec<PartitionFilter> = FILTERS
            .into_iter()
            .filter(|(name, _)| self.given.has(name))
            .map(|(_, filter)| filter)
            .collect();
        if filters.is_empty() && !(only_overrides && settings.is_empty()) {
            let line = head(topic, &settings, self.as_of, self.is_zookeeper);
            self.context.line(&line.replace('\n', " "));
        }
        if only_overrides {
            return;
        }
        // Columns since 3.7 (KIP-966).
        let has_eligible = self.as_of >= ToolRelease::of(3, 7, 0) && !self.is_zookeeper;
        let eligible = match has_eligible {
            true => self.eligible(&topic.name).unwrap_or_default(),
            false => BTreeMap::new(),
        };
        for partition in &topic.partitions {
            let is_wanted = |filter: &PartitionFilter| filter.accepts(partition, min_isr);
            if !filters.is_empty() && !filters.iter().any(is_wanted) {
                continue;
            }
            let mut line = partition_line(&topic.name, partition);
            if has_eligible {
                line.push_str(&eligible_columns(eligible.get(&partition.index)));
            }
            self.context.line(&line.replace('\n', " "));
        }
    }

    fn eligible(&mut self, topic: &str) -> Option<BTreeMap<i32, EligibleReplicas>> {
        let broker = self.cluster.metadata().brokers.first()?.id;
        let versions = self.cluster.api_versions(broker).ok()?;
        versions.range(ApiKey::DescribeTopicPartitions)?;
        let request = DescribeTopicPartitionsRequest {
            topics: vec![TopicRequest { name: topic.into() }],
            response_partition_limit: PARTITIONS_MAX,
            cursor: None,
        };
        let reply = self.cluster.call(broker, &request).ok()?;
        let response = reply.decode().ok()?;
        let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
        let all = partitions.map(|partition| {
            let replicas = EligibleReplicas {
                eligible: partition.eligible_leader_replicas.clone(),
                last_known: partition.last_known_elr.clone(),
            };
            (partition.partition_index, replicas)
        });
        Some(all.collect())
    }
}

/// The partitions to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartitionFilter {
    UnderReplicated,
    Unavailable,
    UnderMinIsr,
    AtMinIsr,
}

const FILTERS: [(&str, PartitionFilter); 4] = [
    (
        "under-replicated-partitions",
        PartitionFilter::UnderReplicated,
    ),
    ("unavailable-partitions", PartitionFilter::Unavailable),
    ("under-min-isr-partitions", PartitionFilter::UnderMinIsr),
    ("at-min-isr-partitions", PartitionFilter::AtMinIsr),
];

impl PartitionFilter {
    fn accepts(self, partition: &Partition, min_isr: Option<usize>) -> bool {
        let in_sync = partition.isr.len();
        match self {
            PartitionFilter::UnderReplicated => in_sync < partition.replicas.len(),
            PartitionFilter::Unavailable => partition.leader_id.is_none(),
            PartitionFilter::UnderMinIsr => {
                partition.leader_id.is_none() || min_isr.is_some_and(|min| in_sync < min)
            }
            PartitionFilter::AtMinIsr => min_isr == Some(in_sync),
        }
    }
}

/// The settings in a topic's line: all except Kafka's own defaults, in the order of a `HashMap`.
fn shown(mut settings: Vec<ConfigEntry>, is_zookeeper: bool) -> Vec<(String, String)> {
    order::sort(&mut settings, order::CAPACITY, |entry| &entry.name);
    let is_shown = |entry: &ConfigEntry| match is_zookeeper {
        // ZooKeeper knew only the topic's own settings.
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
        // Brokers without topic ids.
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

fn eligible_columns(replicas: Option<&EligibleReplicas>) -> String {
    let show = |list: Option<&Vec<i32>>| list.map_or_else(|| "N/A".to_owned(), |list| ids(list));
    let eligible = replicas.and_then(|replicas| replicas.eligible.as_ref());
    let last_known = replicas.and_then(|replicas| replicas.last_known.as_ref());
    let (eligible, last_known) = (show(eligible), show(last_known));
    format!("\tElr: {eligible}\tLastKnownElr: {last_known}")
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
        let mut topic = topic();
        let none = EligibleReplicas {
            eligible: Some(Vec::new()),
            last_known: Some(Vec::new()),
        };
        let line = partition_line("t2", &topic.partitions[0]) + &eligible_columns(Some(&none));
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
        assert!(PartitionFilter::UnderReplicated.accepts(partition, Some(1)));
        assert!(PartitionFilter::AtMinIsr.accepts(partition, Some(1)));
        assert!(PartitionFilter::UnderMinIsr.accepts(partition, Some(2)));
        assert!(!PartitionFilter::UnderMinIsr.accepts(partition, Some(1)));
        assert!(!PartitionFilter::Unavailable.accepts(partition, Some(1)));
    }
}
