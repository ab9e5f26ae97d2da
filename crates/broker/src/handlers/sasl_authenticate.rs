//! `SaslAuthenticate` (key 36), versions 0 to 2: the messages of the mechanism that `SaslHandshake`
//! named.
//!
//! * A client that does not prove who it is gets SASL_AUTHENTICATION_FAILED in Kafka's words, then
//!   the connection closes. The words are the same for a wrong password and an unknown user.
//! * From version 1 the answer has the session's lifetime: 0, without end.
//! * On a listener without SASL, and on a connection that was let in already: ILLEGAL_SASL_STATE.
//!
//! Not done: `connections.max.reauth.ms` and re-authentication (KIP-368),
//! `connection.failed.authentication.delay.ms`: a refusal is answered at once.

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::frame::SIZE_BYTES;
use kgauge_wire::messages::sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse};

use super::RequestBody;
use crate::ids::ConnectionId;
use crate::node::{BrokerNode, CloseReason, EncodedResponse, PendingRequest, Proof};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: SaslAuthenticateRequest<'_> = body.decode(call.version())?;
    if let Some(forced) = node.faults.forced {
        let words = "Injected fault.".to_owned();
        node.respond(call.reply, &refusal(forced, words));
        return Err(CloseReason::AuthenticationFailed);
    }
    match node.prove(call.reply.ticket.connection, &request.auth_bytes) {
        Some(Proof::Token(token)) => {
            let response = SaslAuthenticateResponse {
                auth_bytes: Bytes::Owned(token),
                error_message: None,
                ..SaslAuthenticateResponse::default()
            };
            node.respond(call.reply, &response);
            Ok(())
        }
        Some(Proof::Refused(words)) => {
            let response = refusal(ErrorCode::SaslAuthenticationFailed, words);
            node.respond(call.reply, &response);
            Err(CloseReason::AuthenticationFailed)
        }
        None => {
            let words = "SaslAuthenticate request received after successful authentication";
            let response = refusal(ErrorCode::IllegalSaslState, words.to_owned());
            node.respond(call.reply, &response);
            Ok(())
        }
    }
}

fn refusal(code: ErrorCode, words: String) -> SaslAuthenticateResponse<'static> {
    SaslAuthenticateResponse {
        error_code: code.as_i16(),
        error_message: Some(Str::Owned(words)),
        ..SaslAuthenticateResponse::default()
    }
}

/// A message without a request around it. Its refusal is that the connection closes.
pub(super) fn bare(
    node: &mut BrokerNode,
    connection: ConnectionId,
    message: &[u8],
) -> Result<(), CloseReason> {
    let Some(Proof::Token(token)) = node.prove(connection, message) else {
        return Err(CloseReason::AuthenticationFailed);
    };
    let size = i32::try_from(token.len()).map_err(|_| CloseReason::AuthenticationFailed)?;
    let mut bytes = Vec::with_capacity(SIZE_BYTES + token.len());
    bytes.extend_from_slice(&size.to_be_bytes());
    bytes.extend_from_slice(&token);
    if let Some(ticket) = node.connections.take_slot(connection) {
        node.send_bare(ticket, EncodedResponse::from(bytes));
    }
    Ok(())
}
