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
use crate::log::TimestampedOffset;
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
            let here = request.replica_id == DEBUGGING_REPLICA && partition.timestamp == LATEST;
            let found = if twice.contains(&(&*topic.name, partition.partition_index)) {
                Err(ErrorCode::InvalidRequest)
            } else if here {
                find_end(node, &topic.name, partition)
            } else {
                find(node, call.version(), &topic.name, partition)
            };
            let mut response = ListOffsetsPartitionResponse {
                partition_index: partition.partition_index,
                ..ListOffsetsPartitionResponse::default()
            };
            match found {
                Err(error) => response.error_code = error.as_i16(),
                Ok(None) => {}
                Ok(Some(found)) => {
                    response.timestamp = found.timestamp_ms;
                    response.offset = found.offset;
                    // Versions before 4 cannot carry it.
                    if call.version() >= 4 {
                        response.leader_epoch = found.leader_epoch;
                    }
                }
            }
            response
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
) -> Result<Option<TimestampedOffset>, ErrorCode> {
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
    match partition.timestamp {
        LATEST => Ok(at(replica.log.high_watermark(), replica.leader_epoch)),
        EARLIEST | EARLIEST_LOCAL => {
            let start = replica.log.log_start_offset();
            let known = replica.log.leader_epochs();
            let epoch = known.iter().rev().find(|entry| entry.start_offset <= start);
            Ok(at(start, epoch.map_or(-1, |entry| entry.epoch)))
        }
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => Ok(None),
        MAX_TIMESTAMP => by_time(replica, None),
        timestamp if timestamp >= 0 => by_time(replica, Some(timestamp)),
        _ => Err(ErrorCode::UnsupportedVersion),
    }
}

/// The end of this node's own log, also as a follower.
fn find_end(
    node: &mut BrokerNode,
    topic: &str,
    partition: &ListOffsetsPartition,
) -> Result<Option<TimestampedOffset>, ErrorCode> {
    let index = partition.partition_index;
    let image = lookup::topic(node, lookup::TopicKey::Name(topic))?;
    let replica = lookup::kept(node, &image, index, partition.current_leader_epoch)?;
    Ok(at(replica.log.log_end_offset(), replica.leader_epoch))
}

/// An offset without a timestamp.
fn at(offset: i64, leader_epoch: i32) -> Option<TimestampedOffset> {
    Some(TimestampedOffset {
        timestamp_ms: -1,
        offset,
        leader_epoch,
    })
}

/// The first record at or after a timestamp, or (`None`) the one with the largest.
fn by_time(
    replica: &mut Replica,
    timestamp_ms: Option<i64>,
) -> Result<Option<TimestampedOffset>, ErrorCode> {
    let found = match timestamp_ms {
        Some(timestamp_ms) => replica.log.offset_for_timestamp(timestamp_ms),
        None => replica.log.offset_of_max_timestamp(),
    };
    let found = found.map_err(|_| ErrorCode::KafkaStorageError)?;
    let high_watermark = replica.log.high_watermark();
    Ok(found.filter(|found| found.offset < high_watermark))
}
