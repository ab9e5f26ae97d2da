//! `DeleteAcls` (key 31), versions 1 to 3: SECURITY_DISABLED for each filter, as Kafka answers
//! without an authorizer.
//!
//! Not done: access control lists.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_acls::{
    DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse,
};

use super::RequestBody;
use super::authorized::NO_AUTHORIZER;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DeleteAclsRequest<'_> = body.decode(call.version())?;
    let refused = |_| DeleteAclsFilterResult {
        error_code: ErrorCode::SecurityDisabled.as_i16(),
        error_message: Some(Str::Borrowed(NO_AUTHORIZER)),
        ..DeleteAclsFilterResult::default()
    };
    let response = DeleteAclsResponse {
        filter_results: request.filters.iter().map(refused).collect(),
        ..DeleteAclsResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}
