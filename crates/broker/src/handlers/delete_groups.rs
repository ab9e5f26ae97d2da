//! `DeleteGroups` (key 42), versions 0 to 2: removes groups without members, with their offsets.
//!
//! * NON_EMPTY_GROUP for a group with members, GROUP_ID_NOT_FOUND for one that nobody knows.
//! * Answered when all that was deleted is so on every replica in sync; NOT_COORDINATOR for all of it
//!   when that did not come about.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_groups::{
    DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse,
};

use super::RequestBody;
use crate::groups::delete_group;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DeleteGroupsRequest<'_> = body.decode(call.version())?;
    let mut results = Vec::with_capacity(request.groups_names.len());
    let mut targets = Vec::new();
    for group in &request.groups_names {
        let deleted = delete_group(node, call.now, group);
        let code = deleted.err().unwrap_or(ErrorCode::None);
        targets.extend(deleted.ok().flatten());
        let group_id = Str::Borrowed(&**group);
        results.push(DeletableGroupResult {
            group_id,
            error_code: code.as_i16(),
        });
    }
    let mut failed = results.clone();
    let accepted = failed.iter_mut().filter(|result| result.error_code == 0);
    accepted.for_each(|result| result.error_code = ErrorCode::NotCoordinator.as_i16());
    let answer = |results| DeleteGroupsResponse {
        results,
        throttle_time_ms: 0,
    };
    node.respond_when(
        call.now,
        call.reply,
        &targets,
        &answer(results),
        &answer(failed),
    );
    Ok(())
}
