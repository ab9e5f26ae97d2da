//! `OffsetCommit` (key 8), versions 2 to 10: remembers how far a group has read, in the offsets
//! topic.
//!
//! * A member commits in its generation; a client that is in no group commits with generation −1,
//!   while nobody is in the group.
//! * Offsets in topics that do not exist are refused (UNKNOWN_TOPIC_OR_PARTITION, by id
//!   UNKNOWN_TOPIC_ID), metadata above `offset.metadata.max.bytes` too (OFFSET_METADATA_TOO_LARGE).
//! * Answered when the offsets are on every replica in sync; NOT_COORDINATOR when another node took
//!   over before, or after `offsets.commit.timeout.ms` (5 s).
//! * The retention time of versions 2 to 4 is not used: `offsets.retention.minutes` decides for
//!   all. From version 6 leader epochs, from version 7 lasting names, version 10 names topics by
//!   id.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitResponse,
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};

use super::RequestBody;
use super::lookup::{self, TopicKey};
use crate::groups::{CommittedOffset, Committer, NewOffset, check_commit, commit};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

/// From this version on topics go by id.
const BY_ID_FROM: i16 = 10;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: OffsetCommitRequest<'_> = body.decode(call.version())?;
    let who = Committer {
        group: &request.group_id,
        member_id: &request.member_id,
        instance_id: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
    };
    let allowed = check_commit(node, call.now, &who);
    let mut offsets = Vec::new();
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let key = TopicKey::of(&topic.name, topic.topic_id, call.version() >= BY_ID_FROM);
        let known = allowed.and_then(|()| lookup::topic(node, key));
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for partition in &topic.partitions {
            let new = known.as_ref().map_err(|code| *code).and_then(|image| {
                let exists = image.partition(partition.partition_index).is_some();
                let new = new_offset(node, call, &image.name, partition)?;
                if exists {
                    Ok(new)
                } else {
                    Err(ErrorCode::UnknownTopicOrPartition)
                }
            });
            let code = new.as_ref().err().copied().unwrap_or(ErrorCode::None);
            offsets.extend(new.ok());
            partitions.push(OffsetCommitResponsePartition {
                partition_index: partition.partition_index,
                error_code: code.as_i16(),
            });
        }
        let name = Str::Borrowed(&*topic.name);
        topics.push(OffsetCommitResponseTopic {
            name,
            topic_id: topic.topic_id,
            partitions,
        });
    }
    if node.config.deviations.tear_commits {
        offsets.truncate(1);
    }
    let mut target = None;
    if !offsets.is_empty() {
        match commit(node, call.now, &request.group_id, offsets) {
            Ok(waits_for) => target = waits_for,
            Err(code) => refuse_accepted(&mut topics, code),
        }
    }
    let mut failed = topics.clone();
    refuse_accepted(&mut failed, ErrorCode::NotCoordinator);
    let answer = |topics| OffsetCommitResponse {
        topics,
        throttle_time_ms: 0,
    };
    node.respond_when(
        call.now,
        call.reply,
        target.as_slice(),
        &answer(topics),
        &answer(failed),
    );
    Ok(())
}

/// Tells what was accepted so far that it failed.
fn refuse_accepted(topics: &mut [OffsetCommitResponseTopic<'_>], code: ErrorCode) {
    let partitions = topics.iter_mut().flat_map(|topic| &mut topic.partitions);
    let accepted = partitions.filter(|partition| partition.error_code == 0);
    accepted.for_each(|partition| partition.error_code = code.as_i16());
}

fn new_offset(
    node: &BrokerNode,
    call: PendingRequest,
    topic: &str,
    partition: &OffsetCommitRequestPartition<'_>,
) -> Result<NewOffset, ErrorCode> {
    let metadata = partition.committed_metadata.as_deref().unwrap_or_default();
    let limit = usize::try_from(node.settings.offset_metadata_max_bytes).unwrap_or(0);
    if metadata.len() > limit {
        return Err(ErrorCode::OffsetMetadataTooLarge);
    }
    let committed = CommittedOffset {
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: metadata.to_owned(),
        commit_ms: call.now.wall_ms,
    };
    Ok(NewOffset {
        topic: topic.to_owned(),
        partition: partition.partition_index,
        committed,
    })
}
