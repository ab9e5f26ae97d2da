//! `DescribeAcls` (key 29), versions 1 to 3: SECURITY_DISABLED, as Kafka answers without an
//! authorizer. Tools that copy access rights take that for "there are none".
//!
//! Not done: access control lists.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_acls::{DescribeAclsRequest, DescribeAclsResponse};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let _: DescribeAclsRequest<'_> = body.decode(call.version())?;
    let response = DescribeAclsResponse {
        error_code: ErrorCode::SecurityDisabled.as_i16(),
        error_message: Some(Str::Borrowed("No Authorizer is configured on the broker")),
        ..DescribeAclsResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}
