//! `CreateAcls` (key 30), versions 1 to 3: SECURITY_DISABLED for each, as Kafka answers without an
//! authorizer.
//!
//! Not done: access control lists.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_acls::{
    AclCreationResult, CreateAclsRequest, CreateAclsResponse,
};

use super::RequestBody;
use super::authorized::NO_AUTHORIZER;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: CreateAclsRequest<'_> = body.decode(call.version())?;
    let refused = |_| AclCreationResult {
        error_code: ErrorCode::SecurityDisabled.as_i16(),
        error_message: Some(Str::Borrowed(NO_AUTHORIZER)),
    };
    let response = CreateAclsResponse {
        results: request.creations.iter().map(refused).collect(),
        ..CreateAclsResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}
