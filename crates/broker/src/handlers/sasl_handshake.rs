//! `SaslHandshake` (key 17), versions 0 and 1: by which mechanism a client wants to come in.
//!
//! * A mechanism that is not enabled: UNSUPPORTED_SASL_MECHANISM with those that are, and the
//!   connection closes.
//! * After version 0 the client's messages come without a request around them, each after its
//!   length (KIP-43); after version 1 in `SaslAuthenticate` (KIP-152).
//! * On a listener without SASL, and on a connection that was let in already: ILLEGAL_SASL_STATE.
//!
//! Not done: re-authentication (KIP-368). No session has an end, so no client wants it.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, ConnectionStage, PendingRequest};
use crate::security::SaslMechanism;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: SaslHandshakeRequest<'_> = body.decode(call.version())?;
    let connection = call.reply.ticket.connection;
    let stage = node.connections.get(connection).map(|known| known.stage);
    let security = std::sync::Arc::clone(&node.config.security);
    let known = SaslMechanism::parse(&request.mechanism);
    let known = known.filter(|mechanism| security.mechanisms.contains(mechanism));
    let offered = security.mechanisms.iter().map(|mechanism| mechanism.name());
    let mut response = SaslHandshakeResponse {
        mechanisms: offered.map(Str::Borrowed).collect(),
        ..SaslHandshakeResponse::default()
    };
    if stage != Some(ConnectionStage::Naming) {
        response.error_code = ErrorCode::IllegalSaslState.as_i16();
        response.mechanisms.clear();
        node.respond(call.reply, &response);
        return Ok(());
    }
    let refusal = match (node.faults.forced, known) {
        (Some(forced), _) => forced,
        (None, None) => ErrorCode::UnsupportedSaslMechanism,
        (None, Some(mechanism)) => {
            let proving = match call.version() {
                0 => ConnectionStage::ProvingBare,
                _ => ConnectionStage::Proving,
            };
            node.begin_exchange(connection, mechanism, proving);
            node.respond(call.reply, &response);
            return Ok(());
        }
    };
    response.error_code = refusal.as_i16();
    node.respond(call.reply, &response);
    Err(CloseReason::AuthenticationFailed)
}
