//! `SyncGroup` (key 14), versions 0 to 5: the leader brings the assignments, every member gets its
//! own. The answer waits for the leader, and until the group is written down.
//!
//! * From version 3 lasting names; from version 5 kind of group and protocol, which must be the
//!   generation's (INCONSISTENT_GROUP_PROTOCOL).

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};

use super::RequestBody;
use crate::groups::{SyncAnswer, SyncCall, check_member_request, with_group};
use crate::node::{BrokerNode, CloseReason, PendingRequest, Reply, WaitTarget};
use crate::time::Now;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: SyncGroupRequest<'_> = body.decode(call.version())?;
    if let Err(code) = sync(node, call, &request) {
        answer(node, call.reply, Err(code));
    }
    Ok(())
}

fn sync(
    node: &mut BrokerNode,
    call: PendingRequest,
    request: &SyncGroupRequest<'_>,
) -> Result<(), ErrorCode> {
    check_member_request(node, &request.group_id)?;
    let sync = SyncCall {
        member_id: &request.member_id,
        instance_id: request.group_instance_id.as_deref(),
        generation: request.generation_id,
        protocol_type: request.protocol_type.as_deref(),
        protocol: request.protocol_name.as_deref(),
        assignments: request
            .assignments
            .iter()
            .map(|a| (&*a.member_id, &*a.assignment))
            .collect(),
    };
    let done = with_group(node, call.now, &request.group_id, |group, effects| {
        group.sync(call.now, &sync, call.reply, effects);
    });
    done.ok_or(ErrorCode::UnknownMemberId)
}

/// Answers a member.
pub(crate) fn answer(node: &mut BrokerNode, reply: Reply, result: Result<SyncAnswer, ErrorCode>) {
    let response = match result {
        Ok(synced) => sync_response(synced),
        Err(code) => refused(code),
    };
    node.respond(reply, &response);
}

/// Answers a member when its assignment is on every replica in sync.
pub(crate) fn answer_when(
    node: &mut BrokerNode,
    now: Now,
    reply: Reply,
    synced: SyncAnswer,
    target: Option<WaitTarget>,
) {
    let failed = refused(ErrorCode::NotCoordinator);
    node.respond_when(
        now,
        reply,
        target.as_slice(),
        &sync_response(synced),
        &failed,
    );
}

fn sync_response(synced: SyncAnswer) -> SyncGroupResponse<'static> {
    SyncGroupResponse {
        protocol_type: Some(Str::Owned(synced.protocol_type)),
        protocol_name: Some(Str::Owned(synced.protocol)),
        assignment: Bytes::Owned(synced.assignment),
        ..SyncGroupResponse::default()
    }
}

fn refused(code: ErrorCode) -> SyncGroupResponse<'static> {
    SyncGroupResponse {
        error_code: code.as_i16(),
        ..SyncGroupResponse::default()
    }
}
