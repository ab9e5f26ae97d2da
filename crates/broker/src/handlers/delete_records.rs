//! `DeleteRecords` (key 21), versions 0 to 2: moves a partition's start forward.
//!
//! * Offset −1 means up to the high watermark. Beyond it: OFFSET_OUT_OF_RANGE.
//! * Whole segments below the new start are removed at once; the rest of a segment stays on disk
//!   and is not served any more.
//! * Internal topics are refused (INVALID_TOPIC_EXCEPTION), as in Kafka.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest,
    DeleteRecordsResponse, DeleteRecordsTopicResult,
};

use super::{Body, lookup};
use crate::ids::OFFSETS_TOPIC;
use crate::log::LogError;
use crate::node::{Call, CloseReason, Node};

pub(super) fn handle(node: &mut Node, call: Call, body: Body<'_>) -> Result<(), CloseReason> {
    let request: DeleteRecordsRequest<'_> = body.decode(call.version())?;
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let one = |partition: &DeleteRecordsPartition| {
            let result = delete(node, &topic.name, partition);
            DeleteRecordsPartitionResult {
                partition_index: partition.partition_index,
                low_watermark: result.unwrap_or(-1),
                error_code: result.err().unwrap_or(ErrorCode::None).as_i16(),
            }
        };
        let partitions = topic.partitions.iter().map(one).collect();
        topics.push(DeleteRecordsTopicResult {
            name: Str::Borrowed(&topic.name),
            partitions,
        });
    }
    let response = DeleteRecordsResponse {
        topics,
        throttle_time_ms: 0,
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn delete(
    node: &mut Node,
    topic: &str,
    partition: &DeleteRecordsPartition,
) -> Result<i64, ErrorCode> {
    if topic == OFFSETS_TOPIC {
        return Err(ErrorCode::InvalidTopicException);
    }
    let replica = lookup::led_by_name(node, topic, partition.partition_index, -1)?;
    let high_watermark = replica.log.high_watermark();
    let offset = if partition.offset == -1 {
        high_watermark
    } else {
        partition.offset
    };
    if !(0..=high_watermark).contains(&offset) {
        return Err(ErrorCode::OffsetOutOfRange);
    }
    match replica.log.delete_records_before(offset) {
        Ok(start) => Ok(start),
        Err(LogError::OffsetOutOfRange { .. }) => Err(ErrorCode::OffsetOutOfRange),
        Err(error) => {
            node.log_failed(error);
            Err(ErrorCode::KafkaStorageError)
        }
    }
}
