//! `Heartbeat` (key 12), versions 0 to 4: a member lives, and hears whether a rebalance is under
//! way.
//!
//! * From version 3 lasting names (FENCED_INSTANCE_ID for one that somebody else has taken over).

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};

use super::RequestBody;
use crate::groups::{check_member_request, with_group};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: HeartbeatRequest<'_> = body.decode(call.version())?;
    let code = beat(node, call, &request).err().unwrap_or(ErrorCode::None);
    let response = HeartbeatResponse {
        error_code: code.as_i16(),
        throttle_time_ms: 0,
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn beat(
    node: &mut BrokerNode,
    call: PendingRequest,
    request: &HeartbeatRequest<'_>,
) -> Result<(), ErrorCode> {
    check_member_request(node, &request.group_id)?;
    let done = with_group(node, call.now, &request.group_id, |group, _| {
        let instance_id = request.group_instance_id.as_deref();
        group.heartbeat(
            call.now,
            &request.member_id,
            instance_id,
            request.generation_id,
        )
    });
    done.unwrap_or(Err(ErrorCode::UnknownMemberId))
}
