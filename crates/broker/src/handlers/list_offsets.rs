//! `ListOffsets` (key 2), versions 1 to 11: offsets by time, of partitions led here.
//!
//! * Latest (−1): the high watermark. Earliest (−2) and earliest local (−4, from version 8): the
//!   log's start. Largest timestamp (−3, from version 7): the first record that has it. Tiered (−5,
//!   from version 9; −6, from version 11): nothing is tiered, so −1. A timestamp from 0 on: the
//!   first record at or after it, −1 when there is none.
//! * Version 2 brings isolation levels, which without transactions are one; version 4 leader
//!   epochs; version 10 a timeout that only tiered storage needs.
//! * A partition that is asked for twice in one request is refused (INVALID_REQUEST), as in Kafka.
//! * A debugging consumer (replica −2) gets the end of the node's own log for latest, and may ask a follower too, so
//!   that a client can compare replicas.
//! * A leader whose high watermark has not reached the start of its epoch yet does not know the
//!   newest offset: OFFSET_NOT_AVAILABLE, before version 5 LEADER_NOT_AVAILABLE (KIP-207).

use std::collections::HashSet;

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListOffsetsTopicResponse,
};

use super::{RequestBody, lookup};
use crate::node::replication::ReplicaRole;
use crate::node::{BrokerNode, CloseReason, PendingRequest, Replica};

/// Who asks so wants to know of this very replica.
const DEBUGGING_REPLICA: i32 = -2;
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: ListOffsetsRequest<'_> = body.decode(call.version())?;
    let twice = asked_twice(&request);
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let answer = |partition: &ListOffsetsPartition| {
            let found = if twice.contains(&(&*topic.name, partition.partition_index)) {
                Err(ErrorCode::InvalidRequest)
            } else if request.replica_id == DEBUGGING_REPLICA {
                find_here(node, call.version(), &topic.name, partition)
            } else {
                find(node, call.version(), &topic.name, partition)
            };
            found.unwrap_or_else(|error| ListOffsetsPartitionResponse {
                partition_index: partition.partition_index,
                error_code: error.as_i16(),
                ..ListOffsetsPartitionResponse::default()
            })
        };
        let partitions = topic.partitions.iter().map(answer).collect();
        topics.push(ListOffsetsTopicResponse {
            name: Str::Borrowed(&topic.name),
            partitions,
        });
    }
    let response = ListOffsetsResponse {
        topics,
        throttle_time_ms: 0,
    };
    node.respond(call.reply, &response);
    Ok(())
}

/// The partitions that are in the request more than once.
fn asked_twice<'a>(request: &'a ListOffsetsRequest<'_>) -> HashSet<(&'a str, i32)> {
    let mut seen = HashSet::new();
    let mut twice = HashSet::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            let place = (&*topic.name, partition.partition_index);
            if !seen.insert(place) {
                twice.insert(place);
            }
        }
    }
    twice
}

fn find(
    node: &mut BrokerNode,
    version: i16,
    topic: &str,
    partition: &ListOffsetsPartition,
) -> Result<ListOffsetsPartitionResponse, ErrorCode> {
    let index = partition.partition_index;
    let replica = lookup::led_by_name(node, topic, index, partition.current_leader_epoch)?;
    let newest = !matches!(partition.timestamp, EARLIEST | EARLIEST_LOCAL);
    if newest
        && let ReplicaRole::Leading(leading) = &replica.role
        && replica.log.high_watermark() < leading.epoch_start
    {
        return Err(match version {
            5.. => ErrorCode::OffsetNotAvailable,
            _ => ErrorCode::LeaderNotAvailable,
        });
    }
    let found = match partition.timestamp {
        LATEST => ListedOffset::at(replica.log.high_watermark(), Some(replica.leader_epoch)),
        EARLIEST | EARLIEST_LOCAL => {
            let start = replica.log.log_start_offset();
            let known = replica.log.leader_epochs();
            let epoch = known.iter().rev().find(|entry| entry.start_offset <= start);
            ListedOffset::at(start, epoch.map(|entry| entry.epoch))
        }
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => ListedOffset::default(),
        MAX_TIMESTAMP => by_time(replica, None)?,
        timestamp if timestamp >= 0 => by_time(replica, Some(timestamp))?,
        _ => return Err(ErrorCode::UnsupportedVersion),
    };
    Ok(ListOffsetsPartitionResponse {
        partition_index: index,
        error_code: 0,
        timestamp: found.timestamp_ms,
        offset: found.offset,
        // Versions before 4 cannot carry it.
        leader_epoch: if version >= 4 { found.leader_epoch } else { -1 },
        ..ListOffsetsPartitionResponse::default()
    })
}

/// The same of the replica that this node has, be it a follower's; of its own log, the end is latest.
fn find_here(
    node: &mut BrokerNode,
    version: i16,
    topic: &str,
    partition: &ListOffsetsPartition,
) -> Result<ListOffsetsPartitionResponse, ErrorCode> {
    if partition.timestamp != LATEST {
        return find(node, version, topic, partition);
    }
    let index = partition.partition_index;
    let image = lookup::topic(node, lookup::TopicKey::Name(topic))?;
    let replica = lookup::kept(node, &image, index, partition.current_leader_epoch)?;
    let epoch = if version >= 4 {
        replica.leader_epoch
    } else {
        -1
    };
    Ok(ListOffsetsPartitionResponse {
        partition_index: index,
        timestamp: -1,
        offset: replica.log.log_end_offset(),
        leader_epoch: epoch,
        ..ListOffsetsPartitionResponse::default()
    })
}

/// An offset as the answer carries it; −1 where there is nothing.
struct ListedOffset {
    timestamp_ms: i64,
    offset: i64,
    leader_epoch: i32,
}

impl Default for ListedOffset {
    fn default() -> Self {
        Self {
            timestamp_ms: -1,
            offset: -1,
            leader_epoch: -1,
        }
    }
}

impl ListedOffset {
    fn at(offset: i64, leader_epoch: Option<i32>) -> Self {
        Self {
            timestamp_ms: -1,
            offset,
            leader_epoch: leader_epoch.unwrap_or(-1),
        }
    }
}

/// The first record at or after a timestamp, or (`None`) the one with the largest.
fn by_time(replica: &mut Replica, timestamp_ms: Option<i64>) -> Result<ListedOffset, ErrorCode> {
    let found = match timestamp_ms {
        Some(timestamp_ms) => replica.log.offset_for_timestamp(timestamp_ms),
        None => replica.log.offset_of_max_timestamp(),
    };
    let found = found.map_err(|_| ErrorCode::KafkaStorageError)?;
    let high_watermark = replica.log.high_watermark();
    let Some(found) = found.filter(|found| found.offset < high_watermark) else {
        return Ok(ListedOffset::default());
    };
    let crate::log::TimestampedOffset {
        timestamp_ms,
        offset,
        leader_epoch,
    } = found;
    Ok(ListedOffset {
        timestamp_ms,
        offset,
        leader_epoch,
    })
}
