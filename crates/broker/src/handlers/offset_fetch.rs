//! `OffsetFetch` (key 9), versions 1 to 10: how far groups have read.
//!
//! * A null list of topics (from version 2) asks for all. A partition without a committed offset
//!   gets −1 and no error, also in a group that does not exist.
//! * From version 8 several groups in one request; version 9 brings the member's epoch, which means
//!   nothing to classic groups; version 10 names topics by id and leaves out those that are gone
//!   when all are asked for.
//! * Offsets are those on every replica in sync: a commit before that could still be lost. "Require
//!   stable" (from version 7) asks for the newest, and waits until that cannot be lost either;
//!   NOT_COORDINATOR when that does not come about.

use std::collections::BTreeMap;

use kgauge_wire::codec::{Str, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse, OffsetFetchResponseGroup,
    OffsetFetchResponsePartition, OffsetFetchResponsePartitions, OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
};

use super::RequestBody;
use super::lookup::{self, TopicKey};
use crate::groups::{CommittedOffset, GroupEntry, OffsetView, find, newest_target};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

/// From this version on a request has a list of groups.
const MANY_FROM: i16 = 8;
/// From this version on topics go by id.
const BY_ID_FROM: i16 = 10;

/// Topics in the form of version 8 on.
type Topics = Vec<OffsetFetchResponseTopics<'static>>;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: OffsetFetchRequest<'_> = body.decode(call.version())?;
    let view = if request.require_stable {
        OffsetView::Newest
    } else {
        OffsetView::Replicated
    };
    let asked: Vec<&str> = match call.version() {
        ..MANY_FROM => vec![&*request.group_id],
        _ => request
            .groups
            .iter()
            .map(|group| &*group.group_id)
            .collect(),
    };
    let newest = asked.iter().filter_map(|group| newest_target(node, group));
    let targets: Vec<_> = newest.filter(|_| view == OffsetView::Newest).collect();
    let lost = ErrorCode::NotCoordinator;
    let (response, failed) = if call.version() < MANY_FROM {
        let topics = single(node, &request, view);
        (
            single_answer(&request, topics),
            single_answer(&request, Err(lost)),
        )
    } else {
        let offsets = |group: &OffsetFetchRequestGroup<'_>| {
            answer(group, many(node, call.version(), group, view))
        };
        let refused = |group: &OffsetFetchRequestGroup<'_>| answer(group, Err(lost));
        let response = |groups| OffsetFetchResponse {
            groups,
            ..OffsetFetchResponse::default()
        };
        (
            response(request.groups.iter().map(offsets).collect()),
            response(request.groups.iter().map(refused).collect()),
        )
    };
    node.respond_when(call.now, call.reply, &targets, &response, &failed);
    Ok(())
}

fn answer(
    group: &OffsetFetchRequestGroup<'_>,
    topics: Result<Topics, ErrorCode>,
) -> OffsetFetchResponseGroup<'static> {
    let code = topics.as_ref().err().copied().unwrap_or(ErrorCode::None);
    OffsetFetchResponseGroup {
        group_id: Str::Owned(group.group_id.to_string()),
        topics: topics.unwrap_or_default(),
        error_code: code.as_i16(),
    }
}

fn single_answer(
    request: &OffsetFetchRequest<'_>,
    topics: Result<Topics, ErrorCode>,
) -> OffsetFetchResponse<'static> {
    let code = topics.as_ref().err().copied().unwrap_or(ErrorCode::None);
    // Version 1 has no place for an error but the partitions.
    let topics = topics.unwrap_or_else(|code| {
        let topics = request.topics.iter().flatten();
        topics
            .map(|topic| {
                let name = topic.name.to_string();
                failed_topic(name, Uuid::ZERO, &topic.partition_indexes, code)
            })
            .collect()
    });
    OffsetFetchResponse {
        topics: topics.into_iter().map(before_8).collect(),
        error_code: code.as_i16(),
        ..OffsetFetchResponse::default()
    }
}

/// The same topic in the form of versions before 8.
fn before_8(topic: OffsetFetchResponseTopics<'static>) -> OffsetFetchResponseTopic<'static> {
    let partition =
        |partition: OffsetFetchResponsePartitions<'static>| OffsetFetchResponsePartition {
            partition_index: partition.partition_index,
            committed_offset: partition.committed_offset,
            committed_leader_epoch: partition.committed_leader_epoch,
            metadata: partition.metadata,
            error_code: partition.error_code,
        };
    OffsetFetchResponseTopic {
        name: topic.name,
        partitions: topic.partitions.into_iter().map(partition).collect(),
    }
}

fn single(
    node: &BrokerNode,
    request: &OffsetFetchRequest<'_>,
    view: OffsetView,
) -> Result<Topics, ErrorCode> {
    let entry = find(node, &request.group_id)?;
    let Some(topics) = &request.topics else {
        return Ok(everything(entry, view));
    };
    let offsets = topics.iter().map(|topic| {
        let (name, indexes) = (topic.name.to_string(), &topic.partition_indexes);
        some(entry, view, name, Uuid::ZERO, indexes)
    });
    Ok(offsets.collect())
}

fn many(
    node: &BrokerNode,
    version: i16,
    group: &OffsetFetchRequestGroup<'_>,
    view: OffsetView,
) -> Result<Topics, ErrorCode> {
    let entry = find(node, &group.group_id)?;
    let by_id = version >= BY_ID_FROM;
    let Some(topics) = &group.topics else {
        let mut all = everything(entry, view);
        if by_id {
            all.retain_mut(|topic| match node.image.topic(&topic.name) {
                Some(image) => {
                    topic.topic_id = image.id;
                    true
                }
                None => false,
            });
        }
        return Ok(all);
    };
    let mut offsets = Vec::with_capacity(topics.len());
    for topic in topics {
        let indexes = &topic.partition_indexes;
        if !by_id {
            let name = topic.name.to_string();
            offsets.push(some(entry, view, name, Uuid::ZERO, indexes));
            continue;
        }
        let id = topic.topic_id;
        offsets.push(match lookup::topic(node, TopicKey::Id(id)) {
            Ok(image) => some(entry, view, image.name.to_string(), id, indexes),
            Err(code) => failed_topic(String::new(), id, indexes, code),
        });
    }
    Ok(offsets)
}

fn everything(entry: Option<&GroupEntry>, view: OffsetView) -> Topics {
    let mut topics: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    let all = entry.map(|entry| entry.all_offsets(view));
    for ((topic, index), committed) in all.into_iter().flatten() {
        topics
            .entry(topic)
            .or_default()
            .push(partition(*index, Some(committed)));
    }
    let topic = |(name, partitions): (&str, _)| OffsetFetchResponseTopics {
        name: Str::Owned(name.to_owned()),
        topic_id: Uuid::ZERO,
        partitions,
    };
    topics.into_iter().map(topic).collect()
}

fn some(
    entry: Option<&GroupEntry>,
    view: OffsetView,
    name: String,
    topic_id: Uuid,
    indexes: &[i32],
) -> OffsetFetchResponseTopics<'static> {
    let mut key = (name, 0);
    let mut partitions = Vec::with_capacity(indexes.len());
    for index in indexes {
        key.1 = *index;
        let committed = entry.and_then(|entry| entry.offset(&key, view));
        partitions.push(partition(*index, committed));
    }
    OffsetFetchResponseTopics {
        name: Str::Owned(key.0),
        topic_id,
        partitions,
    }
}

/// A topic with an error for each of its partitions.
fn failed_topic(
    name: String,
    topic_id: Uuid,
    indexes: &[i32],
    code: ErrorCode,
) -> OffsetFetchResponseTopics<'static> {
    let failed = |index: &i32| OffsetFetchResponsePartitions {
        error_code: code.as_i16(),
        ..partition(*index, None)
    };
    OffsetFetchResponseTopics {
        name: Str::Owned(name),
        topic_id,
        partitions: indexes.iter().map(failed).collect(),
    }
}

/// A partition with its committed offset, or −1.
fn partition(
    index: i32,
    committed: Option<&CommittedOffset>,
) -> OffsetFetchResponsePartitions<'static> {
    let mut partition = OffsetFetchResponsePartitions {
        partition_index: index,
        committed_offset: -1,
        ..OffsetFetchResponsePartitions::default()
    };
    if let Some(committed) = committed {
        partition.committed_offset = committed.offset;
        partition.committed_leader_epoch = committed.leader_epoch;
        partition.metadata = Some(Str::Owned(committed.metadata.clone()));
    }
    partition
}
