//! `OffsetDelete` (key 47), version 0: takes back committed offsets of topics that nobody in the
//! group reads (GROUP_SUBSCRIBED_TO_TOPIC for the others). Answered when that is on every replica in
//! sync, NOT_COORDINATOR when it did not come about.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteResponse, OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
};

use super::RequestBody;
use crate::groups::delete_offsets;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: OffsetDeleteRequest<'_> = body.decode(call.version())?;
    let mut keys = Vec::new();
    for topic in &request.topics {
        let key =
            |partition: &kgauge_wire::messages::offset_delete::OffsetDeleteRequestPartition| {
                (topic.name.to_string(), partition.partition_index)
            };
        keys.extend(topic.partitions.iter().map(key));
    }
    let mut response = OffsetDeleteResponse::default();
    let mut target = None;
    match delete_offsets(node, call.now, &request.group_id, &keys) {
        Err(code) => response.error_code = code.as_i16(),
        Ok((results, waits_for)) => {
            target = waits_for;
            let mut results = results.into_iter();
            for topic in &request.topics {
                let partitions = topic
                    .partitions
                    .iter()
                    .zip(results.by_ref())
                    .map(|(partition, result)| OffsetDeleteResponsePartition {
                        partition_index: partition.partition_index,
                        error_code: result.err().unwrap_or(ErrorCode::None).as_i16(),
                    })
                    .collect();
                let name = Str::Borrowed(&*topic.name);
                response
                    .topics
                    .push(OffsetDeleteResponseTopic { name, partitions });
            }
        }
    }
    let failed = OffsetDeleteResponse {
        error_code: ErrorCode::NotCoordinator.as_i16(),
        ..OffsetDeleteResponse::default()
    };
    node.respond_when(call.now, call.reply, target.as_slice(), &response, &failed);
    Ok(())
}
