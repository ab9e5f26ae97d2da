//! `ApiVersions` (key 18), versions 0 to 4: what this node serves, read from the dispatch table.
//!
//! * A version above 4 is answered in version 0 with UNSUPPORTED_VERSION and the versions of
//!   `ApiVersions` itself (KIP-511), so that newer clients can step down. This is the one API whose
//!   unknown versions do not close the connection.
//! * `Produce` is announced from version 0 although only 3 and later are served. librdkafka takes a
//!   broker without it for one of 2015 and drops features such as lz4; Kafka 4 announces the same
//!   untruth for that reason (KAFKA-18659).
//! * Served before a client is let in, too.
//! * From version 3 the client's software name and version come along. The name decides how
//!   transactions are refused.
//! * Version 4 may carry supported features of minimum version 0; there are no features here.
//!
//! Not done: feature levels. No feature is announced, so clients use neither transactions of
//! version 2.

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::api_versions::{ApiVersion, ApiVersionsRequest, ApiVersionsResponse};

use super::{RequestBody, SERVED};
use crate::node::{BrokerNode, ClientSoftware, CloseReason, PendingRequest, Reply};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: ApiVersionsRequest<'_> = body.decode(call.version())?;
    if let Some(connection) = node.connections.get_mut(call.reply.ticket.connection) {
        connection.software = ClientSoftware::of_name(&request.client_software_name);
    }
    let mut api_keys: Vec<ApiVersion> = SERVED.iter().map(announced).collect();
    api_keys.sort_by_key(|api| api.api_key);
    let response = ApiVersionsResponse {
        api_keys,
        ..ApiVersionsResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn announced((api, versions): &(ApiKey, std::ops::RangeInclusive<i16>)) -> ApiVersion {
    let min_version = if *api == ApiKey::Produce {
        0
    } else {
        *versions.start()
    };
    ApiVersion {
        api_key: api.as_i16(),
        min_version,
        max_version: *versions.end(),
    }
}

/// Answers a version that is not served.
pub(super) fn refuse_version(node: &mut BrokerNode, call: PendingRequest) {
    let own = SERVED
        .iter()
        .filter(|(api, _)| *api == ApiKey::ApiVersions)
        .map(announced);
    let response = ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion.as_i16(),
        api_keys: own.collect(),
        ..ApiVersionsResponse::default()
    };
    node.respond(
        Reply {
            version: 0,
            ..call.reply
        },
        &response,
    );
}
