//! `AlterClientQuotas` (key 49), versions 0 to 1: sets how much users and client ids may send and
//! fetch, by way of the controller.
//!
//! * Entities: `user` and `client-id`, alone or together; null is the default for all others.
//! * Keys: `producer_byte_rate` and `consumer_byte_rate`, for each node separately, as in Kafka.
//! * Other entities and keys, and rates that are not positive: INVALID_REQUEST in words.
//!
//! Not done: `request_percentage`, `controller_mutation_rate`, quotas by address (`ip`).

use std::collections::BTreeMap;

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::alter_client_quotas::{
    AlterClientQuotasRequest, AlterClientQuotasRequestEntryData, AlterClientQuotasResponse,
    AlterClientQuotasResponseEntityData, AlterClientQuotasResponseEntryData,
};

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use crate::controller::{ControllerReply, ControllerRequest, Mode, QuotaChange, Refusal};
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};
use crate::quota::{ByteRate, CONSUMER_BYTE_RATE, PRODUCER_BYTE_RATE, QuotaEntity, QuotaSubject};

/// The entities as they were named, with refusals that need no controller.
#[derive(Debug)]
pub(crate) struct PendingQuotaChange(Vec<(NamedEntity, Option<Refusal>)>);

/// An entity in the client's words: types and names.
type NamedEntity = Vec<(String, Option<String>)>;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: AlterClientQuotasRequest<'_> = body.decode(call.version())?;
    let (mut pending, mut changes) = (Vec::new(), Vec::new());
    for entry in &request.entries {
        let parts = entry.entity.iter().map(|part| {
            let name = part.entity_name.as_deref().map(str::to_owned);
            (part.entity_type.to_string(), name)
        });
        let named = parts.collect();
        match change(entry) {
            Ok(change) => {
                changes.push(change);
                pending.push((named, None));
            }
            Err(refusal) => pending.push((named, Some(refusal))),
        }
    }
    let mode = Mode::of(request.validate_only);
    let asked = ControllerQuestion::AlterClientQuotas(call.reply, PendingQuotaChange(pending));
    node.ask(
        call.now,
        ControllerRequest::AlterClientQuotas { changes, mode },
        asked,
    );
    Ok(())
}

fn change(entry: &AlterClientQuotasRequestEntryData<'_>) -> Result<QuotaChange, Refusal> {
    let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidRequest, words));
    let mut entity = QuotaEntity::default();
    for part in &entry.entity {
        let place = match &*part.entity_type {
            "user" => &mut entity.user,
            "client-id" => &mut entity.client_id,
            other => return refuse(format!("Unhandled client quota entity type: {other}")),
        };
        if place.is_some() {
            return refuse(format!("Duplicate entity type: {}", part.entity_type));
        }
        *place = Some(QuotaSubject::of(part.entity_name.as_deref()));
    }
    if entity == QuotaEntity::default() {
        return refuse("Invalid empty client quota entity".to_owned());
    }
    let mut values = BTreeMap::new();
    for op in &entry.ops {
        let key = &*op.key;
        if key != PRODUCER_BYTE_RATE && key != CONSUMER_BYTE_RATE {
            return refuse(format!(
                "Invalid configuration key {key}: the embedded cluster supports \
                 {PRODUCER_BYTE_RATE} and {CONSUMER_BYTE_RATE}"
            ));
        }
        let value = (!op.remove).then_some(op.value);
        if value.is_some_and(|value| !(value.is_finite() && value > 0.0)) {
            return refuse(format!("Quota {key} must be greater than 0"));
        }
        values.insert(key.to_owned(), value.map(ByteRate));
    }
    Ok(QuotaChange { entity, values })
}

impl PendingQuotaChange {
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::AlterClientQuotas(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let entries = self.0.into_iter().map(|(named, early)| {
            let (error_code, error_message) = error_fields(decided.next(early));
            let entity =
                named
                    .into_iter()
                    .map(|(kind, name)| AlterClientQuotasResponseEntityData {
                        entity_type: Str::Owned(kind),
                        entity_name: name.map(Str::Owned),
                    });
            AlterClientQuotasResponseEntryData {
                error_code,
                error_message,
                entity: entity.collect(),
            }
        });
        let response = AlterClientQuotasResponse {
            entries: entries.collect(),
            ..AlterClientQuotasResponse::default()
        };
        node.respond(reply, &response);
    }
}
