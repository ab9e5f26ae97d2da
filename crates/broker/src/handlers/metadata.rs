//! `Metadata` (key 3), versions 0 to 13: nodes, topics, partitions and their leaders.
//!
//! * Topics that nobody has created yet are created with the defaults when the client allows it and
//!   `auto.create.topics.enable` does. The answer waits until they exist, where Kafka answers
//!   LEADER_NOT_AVAILABLE and lets the client ask again.
//! * A topic that is named twice is answered once, as in Kafka.
//! * Version 0: an empty list asks for all topics; from version 1 null does, and empty means none.
//! * A topic that was deleted since the node started is answered as Kafka answers every missing one:
//!   UNKNOWN_TOPIC_OR_PARTITION at first, while it is created again. Whoever deletes a topic and looks
//!   does not find it.
//! * From version 10 topics go by id too; asking by id never creates (UNKNOWN_TOPIC_ID). An id other
//!   than zero counts, whatever the name: Java sends an empty one.
//! * Version 13 has an error code for the whole answer: always 0.
//! * Rights are those of a cluster without access control: all.

use std::collections::{BTreeSet, HashSet};

use kgauge_wire::codec::{Str, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseBroker,
    MetadataResponsePartition, MetadataResponseTopic,
};

use super::{RequestBody, authorized};
use crate::controller::{ControllerReply, ControllerRequest, Mode, NewTopic};
use crate::ids::{NodeId, OFFSETS_TOPIC, TopicName};
use crate::image::{ClusterImage, TopicImage};
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

/// Kafka's `offsets.topic.segment.bytes`.
const OFFSETS_SEGMENT_BYTES: u32 = 100 << 20;

/// What a client wants to know.
#[derive(Debug, Clone)]
pub(crate) struct MetadataQuery {
    topics: Topics,
    /// Names of topics that were deleted when the request came.
    deleted: BTreeSet<TopicName>,
    topic_operations: bool,
    cluster_operations: bool,
}

#[derive(Debug, Clone)]
enum Topics {
    All,
    Named(Vec<TopicKey>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TopicKey {
    Name(String),
    Id(Uuid),
}

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: MetadataRequest<'_> = body.decode(call.version())?;
    let mut query = MetadataQuery {
        topics: topics_of(&request, call.version()),
        deleted: BTreeSet::new(),
        topic_operations: request.include_topic_authorized_operations,
        cluster_operations: request.include_cluster_authorized_operations,
    };
    let create = request.allow_auto_topic_creation && node.settings.auto_create_topics_enable;
    let missing = if create {
        missing(&node.image, &query)
    } else {
        Vec::new()
    };
    if missing.is_empty() {
        answer(node, call.reply, &query, &BTreeSet::new());
    } else {
        let deleted = &node.deleted_topics;
        let names = missing.iter().filter_map(|name| deleted.get(&**name));
        query.deleted = names.cloned().collect();
        let topics = missing
            .into_iter()
            .map(|name| new_topic(node, name))
            .collect();
        let request = ControllerRequest::CreateTopics {
            topics,
            mode: Mode::Apply,
        };
        node.ask(
            call.now,
            request,
            ControllerQuestion::AutoCreate(call.reply, query),
        );
    }
    Ok(())
}

fn topics_of(request: &MetadataRequest<'_>, version: i16) -> Topics {
    match &request.topics {
        None => Topics::All,
        Some(list) if list.is_empty() && version == 0 => Topics::All,
        Some(list) => {
            let key = |topic: &MetadataRequestTopic<'_>| match &topic.name {
                Some(name) if topic.topic_id == Uuid::ZERO => TopicKey::Name(name.to_string()),
                Some(_) | None => TopicKey::Id(topic.topic_id),
            };
            // An answer with every repetition would be many times larger than the request.
            let mut seen = HashSet::new();
            let keys = list.iter().map(key);
            Topics::Named(keys.filter(|key| seen.insert(key.clone())).collect())
        }
    }
}

/// The requested names that no topic has.
fn missing(image: &ClusterImage, query: &MetadataQuery) -> Vec<String> {
    let Topics::Named(keys) = &query.topics else {
        return Vec::new();
    };
    let names = keys.iter().filter_map(|key| match key {
        TopicKey::Name(name) => Some(name),
        TopicKey::Id(_) => None,
    });
    let missing = names.filter(|name| image.topic(name).is_none());
    missing.cloned().collect()
}

/// A topic with the defaults, or with those of the offsets topic.
pub(super) fn new_topic(node: &BrokerNode, name: String) -> NewTopic {
    if name != OFFSETS_TOPIC {
        return NewTopic {
            name,
            ..NewTopic::default()
        };
    }
    // A group's record grows with its members, so it may be as large as a segment.
    let size = OFFSETS_SEGMENT_BYTES.to_string();
    let configs = ["segment.bytes", "max.message.bytes"];
    NewTopic {
        name,
        partitions: i32::try_from(node.settings.offsets_topic_num_partitions).ok(),
        replication_factor: i16::try_from(
            node.settings
                .offsets_topic_replication_factor
                .min(i64::try_from(node.image.nodes.len()).unwrap_or(1)),
        )
        .ok(),
        configs: configs
            .into_iter()
            .map(|name| (name.to_owned(), size.clone()))
            .chain([("compression.type".to_owned(), "producer".to_owned())])
            .collect(),
        ..NewTopic::default()
    }
}

/// Answers after the controller has created what was missing, or has not.
pub(crate) fn finish(
    node: &mut BrokerNode,
    reply: Reply,
    query: &MetadataQuery,
    created: ControllerReply,
) {
    let mut invalid = BTreeSet::new();
    let missing = missing(&node.image, query);
    if let ControllerReply::CreateTopics(results) = created {
        let refused = |result: &Result<_, crate::controller::Refusal>| match result {
            Err(refusal) => refusal.code == ErrorCode::InvalidTopicException,
            Ok(_) => false,
        };
        if results.iter().any(refused) {
            invalid = missing.into_iter().collect();
        }
    }
    answer(node, reply, query, &invalid);
}

fn answer(node: &mut BrokerNode, reply: Reply, query: &MetadataQuery, invalid: &BTreeSet<String>) {
    let image = std::sync::Arc::clone(&node.image);
    let mut topics: Vec<MetadataResponseTopic<'_>> = match &query.topics {
        Topics::All => image
            .topics
            .values()
            .map(|topic| found(&image, topic, query))
            .collect(),
        Topics::Named(keys) => keys
            .iter()
            .map(|key| by_key(&image, key, query, invalid))
            .collect(),
    };
    if let Some(code) = node.faults.forced {
        topics
            .iter_mut()
            .for_each(|topic| topic.error_code = code.as_i16());
    }
    let operations = authorized::if_asked(query.cluster_operations, authorized::ON_CLUSTER);
    let response = MetadataResponse {
        brokers: brokers(&image),
        cluster_id: Some(Str::Borrowed(&image.cluster_id)),
        controller_id: image.controller().map_or(-1, |node| node.0),
        topics,
        cluster_authorized_operations: operations,
        ..MetadataResponse::default()
    };
    node.respond(reply, &response);
}

fn brokers(image: &ClusterImage) -> Vec<MetadataResponseBroker<'_>> {
    let broker = |(id, node): (&NodeId, &'_ crate::image::NodeImage)| MetadataResponseBroker {
        node_id: id.0,
        host: Str::Owned(node.host.clone()),
        port: i32::from(node.port),
        rack: node.rack.clone().map(Str::Owned),
    };
    image.nodes.iter().map(broker).collect()
}

fn by_key<'a>(
    image: &'a ClusterImage,
    key: &'a TopicKey,
    query: &MetadataQuery,
    invalid: &BTreeSet<String>,
) -> MetadataResponseTopic<'a> {
    let unknown = |name: Option<&'a str>, topic_id, error: ErrorCode| MetadataResponseTopic {
        error_code: error.as_i16(),
        name: name.map(Str::Borrowed),
        topic_id,
        topic_authorized_operations: authorized::UNASKED,
        ..MetadataResponseTopic::default()
    };
    match key {
        TopicKey::Id(id) => match image.topic_by_id(*id) {
            Some(topic) => found(image, topic, query),
            None => unknown(None, *id, ErrorCode::UnknownTopicId),
        },
        TopicKey::Name(name) if query.deleted.contains(&**name) => {
            unknown(Some(name), Uuid::ZERO, ErrorCode::UnknownTopicOrPartition)
        }
        TopicKey::Name(name) => match image.topic(name) {
            Some(topic) => found(image, topic, query),
            None if invalid.contains(name) || crate::ids::check_topic_name(name).is_err() => {
                unknown(Some(name), Uuid::ZERO, ErrorCode::InvalidTopicException)
            }
            None => unknown(Some(name), Uuid::ZERO, ErrorCode::UnknownTopicOrPartition),
        },
    }
}

fn found<'a>(
    image: &ClusterImage,
    topic: &'a TopicImage,
    query: &MetadataQuery,
) -> MetadataResponseTopic<'a> {
    let partition = |(index, partition): (i32, &crate::image::PartitionImage)| {
        let error = match partition.leader {
            Some(_) => ErrorCode::None,
            None => ErrorCode::LeaderNotAvailable,
        };
        MetadataResponsePartition {
            error_code: error.as_i16(),
            partition_index: index,
            leader_id: partition.leader_number(),
            leader_epoch: partition.leader_epoch,
            replica_nodes: partition.replicas.iter().map(|node| node.0).collect(),
            isr_nodes: partition.isr.iter().map(|node| node.0).collect(),
            offline_replicas: partition.offline(image).map(|node| node.0).collect(),
        }
    };
    MetadataResponseTopic {
        error_code: 0,
        name: Some(Str::Borrowed(&topic.name)),
        topic_id: topic.id,
        is_internal: topic.is_internal(),
        partitions: topic.indexed().map(partition).collect(),
        topic_authorized_operations: authorized::if_asked(
            query.topic_operations,
            authorized::ON_TOPIC,
        ),
    }
}
