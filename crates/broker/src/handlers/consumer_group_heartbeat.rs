//! `ConsumerGroupHeartbeat` (key 68), versions 0 and 1: UNSUPPORTED_VERSION, as a Kafka broker answers whose
//! `group.coordinator.rebalance.protocols` does not have `consumer`.
//!
//! The API is announced so that clients with `group.protocol=consumer` hear that: without it librdkafka
//! waits in silence. franz-go falls back to the classic protocol on this code.
//!
//! Not done: the group protocol of KIP-848.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let _: ConsumerGroupHeartbeatRequest<'_> = body.decode(call.version())?;
    let words = "The embedded cluster only supports the classic group protocol; set \
                 group.protocol=classic.";
    let response = ConsumerGroupHeartbeatResponse {
        error_code: ErrorCode::UnsupportedVersion.as_i16(),
        error_message: Some(Str::Borrowed(words)),
        ..ConsumerGroupHeartbeatResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}
