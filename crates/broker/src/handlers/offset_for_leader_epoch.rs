//! `OffsetForLeaderEpoch` (key 23), versions 2 to 4: where a leader's epoch ends in the log.
//!
//! Consumers ask after a change of leader to see whether what they read still stands (KIP-320). The
//! answer names the largest known epoch at or below the one that was asked for, with its end; −1
//! for both when the log knows none.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition, OffsetForLeaderTopicResult,
};

use super::{RequestBody, lookup};
use crate::log::EpochEnd;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: OffsetForLeaderEpochRequest<'_> = body.decode(call.version())?;
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let result = |p: &OffsetForLeaderPartition| {
            end(node, &topic.topic, p).unwrap_or_else(|error| EpochEndOffset {
                error_code: error.as_i16(),
                partition: p.partition,
                leader_epoch: -1,
                end_offset: -1,
            })
        };
        let partitions = topic.partitions.iter().map(result).collect();
        topics.push(OffsetForLeaderTopicResult {
            topic: Str::Borrowed(&topic.topic),
            partitions,
        });
    }
    let response = OffsetForLeaderEpochResponse {
        topics,
        throttle_time_ms: 0,
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn end(
    node: &mut BrokerNode,
    topic: &str,
    partition: &OffsetForLeaderPartition,
) -> Result<EpochEndOffset, ErrorCode> {
    let OffsetForLeaderPartition {
        partition: index,
        current_leader_epoch,
        leader_epoch,
    } = *partition;
    let replica = lookup::led_by_name(node, topic, index, current_leader_epoch)?;
    let end = if leader_epoch == replica.leader_epoch {
        // The log does not know the current epoch before its first append.
        Some(EpochEnd {
            epoch: leader_epoch,
            end_offset: replica.log.log_end_offset(),
        })
    } else {
        replica.log.end_offset_for_epoch(leader_epoch)
    };
    Ok(EpochEndOffset {
        error_code: 0,
        partition: index,
        leader_epoch: end.map_or(-1, |end| end.epoch),
        end_offset: end.map_or(-1, |end| end.end_offset),
    })
}
