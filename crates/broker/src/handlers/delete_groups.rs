//! `DeleteGroups` (key 42), versions 0 to 2: removes groups without members, with their offsets.
//!
//! * NON_EMPTY_GROUP for a group with members, GROUP_ID_NOT_FOUND for one that nobody knows.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_groups::{
    DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse,
};

use super::Body;
use crate::groups::delete_group;
use crate::node::{Call, CloseReason, Node};

pub(super) fn handle(node: &mut Node, call: Call, body: Body<'_>) -> Result<(), CloseReason> {
    let request: DeleteGroupsRequest<'_> = body.decode(call.version())?;
    let mut results = Vec::with_capacity(request.groups_names.len());
    for group in &request.groups_names {
        let code = delete_group(node, call.now, group)
            .err()
            .unwrap_or(ErrorCode::None);
        let group_id = Str::Borrowed(&**group);
        results.push(DeletableGroupResult {
            group_id,
            error_code: code.as_i16(),
        });
    }
    node.respond(
        call.reply,
        &DeleteGroupsResponse {
            results,
            throttle_time_ms: 0,
        },
    );
    Ok(())
}
