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

/// One topic's offsets.
struct TopicOffsets {
    name: String,
    id: Uuid,
    partitions: Partitions,
}

/// The committed offset of each requested partition.
type Partitions = Vec<(i32, Result<Option<CommittedOffset>, ErrorCode>)>;

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
        (single(node, &request, view), single_refused(&request, lost))
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
    topics: Result<Vec<TopicOffsets>, ErrorCode>,
) -> OffsetFetchResponseGroup<'static> {
    let code = topics.as_ref().err().copied().unwrap_or(ErrorCode::None);
    OffsetFetchResponseGroup {
        group_id: Str::Owned(group.group_id.to_string()),
        topics: topics
            .unwrap_or_default()
            .into_iter()
            .map(grouped)
            .collect(),
        error_code: code.as_i16(),
    }
}

fn single(
    node: &BrokerNode,
    request: &OffsetFetchRequest<'_>,
    view: OffsetView,
) -> OffsetFetchResponse<'static> {
    let topics = find(node, &request.group_id).map(|entry| match &request.topics {
        None => everything(entry, view),
        Some(topics) => topics
            .iter()
            .map(|topic| {
                let (name, indexes) = (topic.name.to_string(), &topic.partition_indexes);
                some(entry, view, name, Uuid::ZERO, indexes)
            })
            .collect(),
    });
    match topics {
        Ok(topics) => OffsetFetchResponse {
            topics: topics.into_iter().map(named).collect(),
            ..OffsetFetchResponse::default()
        },
        Err(code) => single_refused(request, code),
    }
}

/// Version 1 has no place for an error but the partitions.
fn single_refused(
    request: &OffsetFetchRequest<'_>,
    code: ErrorCode,
) -> OffsetFetchResponse<'static> {
    OffsetFetchResponse {
        topics: refused(request, code).into_iter().map(named).collect(),
        error_code: code.as_i16(),
        ..OffsetFetchResponse::default()
    }
}

fn named(topic: TopicOffsets) -> OffsetFetchResponseTopic<'static> {
    OffsetFetchResponseTopic {
        name: Str::Owned(topic.name),
        partitions: topic.partitions.into_iter().map(plain).collect(),
    }
}

fn refused(request: &OffsetFetchRequest<'_>, code: ErrorCode) -> Vec<TopicOffsets> {
    let topics = request.topics.iter().flatten();
    topics
        .map(|topic| TopicOffsets {
            name: topic.name.to_string(),
            id: Uuid::ZERO,
            partitions: topic
                .partition_indexes
                .iter()
                .map(|index| (*index, Err(code)))
                .collect(),
        })
        .collect()
}

fn many(
    node: &BrokerNode,
    version: i16,
    group: &OffsetFetchRequestGroup<'_>,
    view: OffsetView,
) -> Result<Vec<TopicOffsets>, ErrorCode> {
    let entry = find(node, &group.group_id)?;
    let by_id = version >= BY_ID_FROM;
    let Some(topics) = &group.topics else {
        let mut all = everything(entry, view);
        if by_id {
            all.retain_mut(
                |topic_offsets| match node.image.topic(&topic_offsets.name) {
                    Some(topic) => {
                        topic_offsets.id = topic.id;
                        true
                    }
                    None => false,
                },
            );
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
            Err(code) => TopicOffsets {
                name: String::new(),
                id,
                partitions: indexes.iter().map(|index| (*index, Err(code))).collect(),
            },
        });
    }
    Ok(offsets)
}

fn everything(entry: Option<&GroupEntry>, view: OffsetView) -> Vec<TopicOffsets> {
    let mut topics: BTreeMap<&str, Partitions> = BTreeMap::new();
    let all = entry.map(|entry| entry.all_offsets(view));
    for ((topic, index), committed) in all.into_iter().flatten() {
        topics
            .entry(topic)
            .or_default()
            .push((*index, Ok(Some(committed.clone()))));
    }
    let topic_offsets = |(name, partitions): (&str, _)| TopicOffsets {
        name: name.to_owned(),
        id: Uuid::ZERO,
        partitions,
    };
    topics.into_iter().map(topic_offsets).collect()
}

fn some(
    entry: Option<&GroupEntry>,
    view: OffsetView,
    name: String,
    id: Uuid,
    indexes: &[i32],
) -> TopicOffsets {
    let mut key = (name, 0);
    let mut partitions = Vec::with_capacity(indexes.len());
    for index in indexes {
        key.1 = *index;
        partitions.push((
            *index,
            Ok(entry.and_then(|entry| entry.offset(&key, view)).cloned()),
        ));
    }
    TopicOffsets {
        name: key.0,
        id,
        partitions,
    }
}

/// A partition's fields: offset, epoch, metadata, error code.
fn fields(result: Result<Option<CommittedOffset>, ErrorCode>) -> (i64, i32, String, i16) {
    match result {
        Ok(Some(committed)) => (
            committed.offset,
            committed.leader_epoch,
            committed.metadata,
            0,
        ),
        Ok(None) => (-1, -1, String::new(), 0),
        Err(code) => (-1, -1, String::new(), code.as_i16()),
    }
}

fn plain(
    (index, result): (i32, Result<Option<CommittedOffset>, ErrorCode>),
) -> OffsetFetchResponsePartition<'static> {
    let (offset, epoch, metadata, error_code) = fields(result);
    OffsetFetchResponsePartition {
        partition_index: index,
        committed_offset: offset,
        committed_leader_epoch: epoch,
        metadata: Some(Str::Owned(metadata)),
        error_code,
    }
}

fn grouped(topic: TopicOffsets) -> OffsetFetchResponseTopics<'static> {
    let partition = |(index, result): (i32, Result<Option<CommittedOffset>, ErrorCode>)| {
        let (offset, epoch, metadata, error_code) = fields(result);
        OffsetFetchResponsePartitions {
            partition_index: index,
            committed_offset: offset,
            committed_leader_epoch: epoch,
            metadata: Some(Str::Owned(metadata)),
            error_code,
        }
    };
    OffsetFetchResponseTopics {
        name: Str::Owned(topic.name),
        topic_id: topic.id,
        partitions: topic.partitions.into_iter().map(partition).collect(),
    }
}
