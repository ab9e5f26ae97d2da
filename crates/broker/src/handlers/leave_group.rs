//! `LeaveGroup` (key 13), versions 0 to 5: members leave, and the rest rebalance at once.
//!
//! * From version 3 several members in one request, also by their lasting names alone (an admin
//!   removes them so). Version 5 brings reasons, which are not kept.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse, MemberResponse};

use super::RequestBody;
use crate::groups::{check_member_request, with_group};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

/// From this version on a request has a list of members.
const MANY_FROM: i16 = 3;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: LeaveGroupRequest<'_> = body.decode(call.version())?;
    let mut response = LeaveGroupResponse::default();
    if let Err(code) = check_member_request(node, &request.group_id) {
        response.error_code = code.as_i16();
    } else if call.version() < MANY_FROM {
        let left = leave(node, call, &request.group_id, &request.member_id, None);
        response.error_code = left.err().unwrap_or(ErrorCode::None).as_i16();
    } else {
        for member in &request.members {
            let instance_id = member.group_instance_id.as_deref();
            let group = &request.group_id;
            let left = leave(node, call, group, &member.member_id, instance_id);
            response.members.push(MemberResponse {
                member_id: Str::Borrowed(&member.member_id),
                group_instance_id: instance_id.map(Str::Borrowed),
                error_code: left.err().unwrap_or(ErrorCode::None).as_i16(),
            });
        }
    }
    node.respond(call.reply, &response);
    Ok(())
}

fn leave(
    node: &mut BrokerNode,
    call: PendingRequest,
    group: &str,
    member_id: &str,
    instance_id: Option<&str>,
) -> Result<(), ErrorCode> {
    let done = with_group(node, call.now, group, |group, effects| {
        group.leave(call.now, member_id, instance_id, effects)
    });
    done.unwrap_or(Err(ErrorCode::UnknownMemberId))
}
