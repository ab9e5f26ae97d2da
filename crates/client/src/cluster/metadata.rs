//! Metadata of a cluster: brokers, topics and partitions, as returned by one broker.

use std::time::{Duration, Instant};

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponsePartition,
    MetadataResponseTopic,
};

use crate::config::Address;

/// The first version with `AllowAutoTopicCreation`: before it, requesting an unknown topic creates it on brokers with
/// `auto.create.topics.enable`.
const VERSION_WITHOUT_CREATION: i16 = 4;

/// One broker's metadata at one time.
#[derive(Debug, Clone)]
pub struct MetadataView {
    /// The cluster id; brokers before 0.10.1 have none.
    pub cluster_id: Option<String>,
    /// The broker for topic changes. With KRaft it is any live broker, which forwards them.
    pub controller_id: Option<i32>,
    /// All live brokers, sorted by id.
    pub brokers: Vec<Broker>,
    /// The requested topics.
    pub topics: Vec<Topic>,
    fetched: Instant,
}

/// A broker with its advertised address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// `node.id` or `broker.id`.
    pub id: i32,
    /// Its advertised listener.
    pub address: Address,
    /// `broker.rack`.
    pub rack: Option<String>,
}

/// A topic, or the broker's error for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name; empty if the broker returned only an id.
    pub name: String,
    /// Its id since Kafka 2.8.
    pub id: Option<Uuid>,
    /// Whether it is an internal topic of Kafka.
    pub is_internal: bool,
    /// [`ErrorCode::None`], or why there are no partitions.
    pub error: ErrorCode,
    /// Sorted by index.
    pub partitions: Vec<Partition>,
}

/// A partition and its replicas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Counted from 0.
    pub index: i32,
    /// [`ErrorCode::None`], or the problem of leader or replicas.
    pub error: ErrorCode,
    /// The leader, if there is one.
    pub leader_id: Option<i32>,
    /// The leader's epoch, since Kafka 2.1.
    pub leader_epoch: Option<i32>,
    /// All replicas, the preferred leader first.
    pub replicas: Vec<i32>,
    /// The in-sync replicas.
    pub isr: Vec<i32>,
    /// Replicas that are down, since Kafka 1.0.
    pub offline_replicas: Vec<i32>,
}

impl MetadataView {
    /// The request for these topics in a given version; it never creates a topic.
    ///
    /// `None` requests all topics. Versions before 4 always create, so they request all topics, and the response has
    /// more than requested.
    pub fn request<'a>(topics: Option<&'a [String]>, version: i16) -> MetadataRequest<'a> {
        if version < VERSION_WITHOUT_CREATION {
            // Version 0 has no null; there an empty list means all.
            let topics = (version == 0).then(Vec::new);
            return MetadataRequest {
                topics,
                ..MetadataRequest::default()
            };
        }
        let topics = topics.map(|topics| {
            let named = |name: &'a String| MetadataRequestTopic {
                name: Some(name.as_str().into()),
                ..MetadataRequestTopic::default()
            };
            topics.iter().map(named).collect()
        });
        MetadataRequest {
            topics,
            allow_auto_topic_creation: false,
            ..MetadataRequest::default()
        }
    }

    /// Decodes a response. Brokers with invalid ports are left out.
    pub(crate) fn from_answer(answer: &MetadataResponse<'_>) -> MetadataView {
        let mut brokers: Vec<Broker> = answer
            .brokers
            .iter()
            .filter_map(|broker| {
                let port = u16::try_from(broker.port).ok().filter(|&port| port > 0)?;
                Some(Broker {
                    id: broker.node_id,
                    address: Address {
                        host: broker.host.to_string(),
                        port,
                    },
                    rack: broker.rack.as_ref().map(ToString::to_string),
                })
            })
            .collect();
        brokers.sort_by_key(|broker| broker.id);
        MetadataView {
            cluster_id: answer.cluster_id.as_ref().map(ToString::to_string),
            controller_id: id(answer.controller_id),
            brokers,
            topics: answer.topics.iter().map(topic).collect(),
            fetched: Instant::now(),
        }
    }

    /// The age of this metadata.
    pub fn age(&self) -> Duration {
        self.fetched.elapsed()
    }

    /// The broker with this id.
    pub fn broker(&self, id: i32) -> Option<&Broker> {
        self.brokers.iter().find(|broker| broker.id == id)
    }

    /// The topic with this name.
    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.name == name)
    }

    /// The partition of that topic.
    pub fn partition(&self, topic: &str, partition: i32) -> Option<&Partition> {
        self.topic(topic)?.partition(partition)
    }
}

impl Topic {
    /// The partition with this index.
    pub fn partition(&self, index: i32) -> Option<&Partition> {
        let found = self
            .partitions
            .binary_search_by_key(&index, |partition| partition.index)
            .ok()?;
        self.partitions.get(found)
    }

    /// The first partition without a leader or with an error; a topic with an error has none.
    pub fn first_without_leader(&self) -> Option<&Partition> {
        self.partitions
            .iter()
            .find(|partition| partition.leader_id.is_none())
    }
}

/// -1 means "none" wherever Kafka has ids.
fn id(raw: i32) -> Option<i32> {
    (raw >= 0).then_some(raw)
}

fn topic(answer: &MetadataResponseTopic<'_>) -> Topic {
    let mut partitions: Vec<Partition> = answer.partitions.iter().map(partition).collect();
    partitions.sort_by_key(|partition| partition.index);
    Topic {
        name: answer.name.as_deref().unwrap_or_default().to_owned(),
        id: (!answer.topic_id.is_zero()).then_some(answer.topic_id),
        is_internal: answer.is_internal,
        error: ErrorCode::from(answer.error_code),
        partitions,
    }
}

fn partition(answer: &MetadataResponsePartition) -> Partition {
    Partition {
        index: answer.partition_index,
        error: ErrorCode::from(answer.error_code),
        leader_id: id(answer.leader_id),
        leader_epoch: id(answer.leader_epoch),
        replicas: answer.replica_nodes.clone(),
        isr: answer.isr_nodes.clone(),
        offline_replicas: answer.offline_replicas.clone(),
    }
}
