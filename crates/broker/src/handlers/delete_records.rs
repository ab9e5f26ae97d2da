//! `DeleteRecords` (key 21), versions 0 to 2: moves a partition's start forward.
//!
//! * Answered when every replica that is up has done it, with the smallest start of them, or when
//!   the request's timeout is over (REQUEST_TIMED_OUT).
//! * Offset −1 means up to the high watermark. Beyond it: OFFSET_OUT_OF_RANGE.
//! * Whole segments below the new start are removed at once; the rest of a segment stays on disk
//!   and is no longer served.
//! * Internal topics are refused (INVALID_TOPIC_EXCEPTION), as in Kafka.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest,
    DeleteRecordsResponse, DeleteRecordsTopicResult,
};

use super::{RequestBody, lookup};
use crate::ids::OFFSETS_TOPIC;
use crate::log::LogError;
use crate::node::{
    BrokerNode, CloseReason, DelayedAnswer, PendingRequest, Reply, WaitOutcome, WaitTarget,
    Watermark,
};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DeleteRecordsRequest<'_> = body.decode(call.version())?;
    let mut unfinished = PendingDeletion {
        reply: call.reply,
        topics: Vec::with_capacity(request.topics.len()),
        places: Vec::new(),
    };
    let mut targets = Vec::new();
    for (at, topic) in request.topics.iter().enumerate() {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for (index, partition) in topic.partitions.iter().enumerate() {
            let result = delete(node, &topic.name, partition);
            if let Ok(target) = &result {
                let low = node.low_watermark(target.partition);
                let waits = low < target.offset;
                if waits {
                    targets.push((unfinished.places.len(), *target));
                }
                unfinished.places.push(AnswerSlotIndex {
                    at: (at, index),
                    target: *target,
                    settled: !waits,
                });
            }
            partitions.push(DeleteRecordsPartitionResult {
                partition_index: partition.partition_index,
                low_watermark: -1,
                error_code: result.err().unwrap_or(ErrorCode::None).as_i16(),
            });
        }
        unfinished.topics.push(DeleteRecordsTopicResult {
            name: Str::Owned(topic.name.to_string()),
            partitions,
        });
    }
    if targets.is_empty() {
        unfinished.end(node, WaitOutcome::Reached);
    } else {
        let timeout_ms = i64::from(request.timeout_ms);
        let waiter = DelayedAnswer::DeleteRecords(unfinished);
        node.wait(call.now, call.reply, waiter, &targets, timeout_ms);
    }
    Ok(())
}

/// An answer that waits for the other replicas.
#[derive(Debug)]
pub(crate) struct PendingDeletion {
    reply: Reply,
    topics: Vec<DeleteRecordsTopicResult<'static>>,
    places: Vec<AnswerSlotIndex>,
}

#[derive(Debug)]
struct AnswerSlotIndex {
    /// Topic and partition in the answer.
    at: (usize, usize),
    target: WaitTarget,
    settled: bool,
}

impl PendingDeletion {
    /// Notes what became of a target.
    pub(crate) fn settle(&mut self, index: usize, waited: WaitOutcome) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        if !std::mem::replace(&mut place.settled, true)
            && let Some(code) = waited.error()
        {
            let (topic, partition) = place.at;
            self.topics[topic].partitions[partition].error_code = code.as_i16();
        }
    }

    /// Answers; targets that are not settled become `waited`.
    pub(crate) fn end(mut self, node: &mut BrokerNode, waited: WaitOutcome) {
        (0..self.places.len()).for_each(|index| self.settle(index, waited));
        for place in &self.places {
            let (topic, partition) = place.at;
            let partition = &mut self.topics[topic].partitions[partition];
            if partition.error_code == 0 {
                partition.low_watermark = node.low_watermark(place.target.partition);
            }
        }
        let response = DeleteRecordsResponse {
            topics: self.topics,
            throttle_time_ms: 0,
        };
        node.respond(self.reply, &response);
    }
}

fn delete(
    node: &mut BrokerNode,
    topic: &str,
    partition: &DeleteRecordsPartition,
) -> Result<WaitTarget, ErrorCode> {
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
    let id = replica.id;
    match replica.log.delete_records_before(offset) {
        Ok(_) => {
            node.log_start_moved(id);
            Ok(WaitTarget {
                partition: id,
                mark: Watermark::Low,
                offset,
            })
        }
        Err(LogError::OffsetOutOfRange { .. }) => Err(ErrorCode::OffsetOutOfRange),
        Err(error) => {
            node.log_failed(error);
            Err(ErrorCode::KafkaStorageError)
        }
    }
}
