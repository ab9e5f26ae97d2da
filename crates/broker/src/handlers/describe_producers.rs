//! `DescribeProducers` (key 61), version 0: the idempotent producers that a partition remembers.
//!
//! Without transactions there is never an open one: coordinator epoch and transaction start are −1.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_producers::{
    DescribeProducersRequest, DescribeProducersResponse, PartitionResponse, ProducerState,
    TopicResponse,
};

use super::{RequestBody, lookup};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeProducersRequest<'_> = body.decode(call.version())?;
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let partitions = topic
            .partition_indexes
            .iter()
            .map(|index| {
                let known = producers(node, &topic.name, *index);
                let error = known.as_ref().err().copied().unwrap_or(ErrorCode::None);
                let words = (!error.is_none()).then(|| Str::Borrowed(error.explanation()));
                PartitionResponse {
                    partition_index: *index,
                    error_code: error.as_i16(),
                    error_message: words,
                    active_producers: known.unwrap_or_default(),
                }
            })
            .collect();
        topics.push(TopicResponse {
            name: Str::Borrowed(&topic.name),
            partitions,
        });
    }
    let response = DescribeProducersResponse {
        topics,
        throttle_time_ms: 0,
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn producers(
    node: &mut BrokerNode,
    topic: &str,
    index: i32,
) -> Result<Vec<ProducerState>, ErrorCode> {
    let replica = lookup::led_by_name(node, topic, index, -1)?;
    let state = |(producer_id, entry): (i64, &crate::log::ProducerEntry)| {
        let last = entry.batches().last();
        ProducerState {
            producer_id,
            producer_epoch: i32::from(entry.epoch),
            last_sequence: last.map_or(-1, |batch| batch.last_sequence),
            last_timestamp: last.map_or(-1, |batch| batch.timestamp_ms),
            coordinator_epoch: -1,
            current_txn_start_offset: -1,
        }
    };
    Ok(replica.log.producers().iter().map(state).collect())
}
