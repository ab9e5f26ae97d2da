//! `InitProducerId` (key 22), versions 0 to 6: an id for an idempotent producer.
//!
//! * Ids come in blocks of 1,000 from the controller and are never given out twice, also not after
//!   a restart. The epoch of a new id is 0.
//! * From version 3 a producer may name its old id and epoch to have the epoch raised. That is for
//!   transactions only; as in Kafka an idempotent producer gets a new id instead.
//!
//! Not done: transactions. A transactional id is refused with UNSUPPORTED_VERSION, which says "this
//! broker cannot do that"; librdkafka and sarama try again on that code until their timeouts, so
//! they get TRANSACTIONAL_ID_AUTHORIZATION_FAILED. All but sarama come here only after
//! `FindCoordinator`, which refuses in words.

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};

use super::RequestBody;
use crate::node::{BrokerNode, ClientSoftware, CloseReason, PendingRequest, Reply};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: InitProducerIdRequest<'_> = body.decode(call.version())?;
    if let Some(code) = node.faults.forced {
        answer(node, call.reply, Err(code));
        return Ok(());
    }
    match &request.transactional_id {
        None => node.give_producer_id(call.now, call.reply),
        Some(id) if id.is_empty() => answer(node, call.reply, Err(ErrorCode::InvalidRequest)),
        Some(_) => {
            let code = match node.client_software(call.reply) {
                ClientSoftware::Other => ErrorCode::UnsupportedVersion,
                ClientSoftware::Librdkafka | ClientSoftware::Sarama => {
                    ErrorCode::TransactionalIdAuthorizationFailed
                }
            };
            answer(node, call.reply, Err(code));
        }
    }
    Ok(())
}

/// Answers with an id or a refusal.
pub(crate) fn answer(node: &mut BrokerNode, reply: Reply, result: Result<i64, ErrorCode>) {
    let response = match result {
        Ok(producer_id) => InitProducerIdResponse {
            producer_id,
            producer_epoch: 0,
            ..InitProducerIdResponse::default()
        },
        Err(code) => InitProducerIdResponse {
            error_code: code.as_i16(),
            producer_id: -1,
            producer_epoch: -1,
            ..InitProducerIdResponse::default()
        },
    };
    node.respond(reply, &response);
}
