//! `DescribeClientQuotas` (key 48), versions 0 to 1: the quotas of users and client ids.
//!
//! * A component asks for one name (0), for the default (1) or for any (2) of an entity type. An entity
//!   with other types too is left out when the request is strict.
//! * Other entity types than `user` and `client-id` have no quotas here: nothing fits.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_client_quotas::{
    ComponentData, DescribeClientQuotasRequest, DescribeClientQuotasResponse, EntityData,
    EntryData, ValueData,
};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, PendingRequest};
use crate::quota::{QuotaEntity, QuotaSubject, QuotaValues};

const EXACT: i8 = 0;
const DEFAULT: i8 = 1;
const ANY: i8 = 2;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeClientQuotasRequest<'_> = body.decode(call.version())?;
    let known = |component: &ComponentData<'_>| (EXACT..=ANY).contains(&component.match_type);
    let response = if let Some(code) = node.faults.forced {
        refused(code)
    } else if !request.components.iter().all(known) {
        refused(ErrorCode::InvalidRequest)
    } else {
        let image = std::sync::Arc::clone(&node.image);
        let fitting = image
            .client_quotas
            .entities
            .iter()
            .filter(|(entity, _)| fits(entity, &request));
        DescribeClientQuotasResponse {
            entries: Some(fitting.map(entry).collect()),
            ..DescribeClientQuotasResponse::default()
        }
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn refused(code: ErrorCode) -> DescribeClientQuotasResponse<'static> {
    DescribeClientQuotasResponse {
        error_code: code.as_i16(),
        error_message: Some(Str::Borrowed(code.explanation())),
        entries: None,
        ..DescribeClientQuotasResponse::default()
    }
}

fn fits(entity: &QuotaEntity, request: &DescribeClientQuotasRequest<'_>) -> bool {
    let asked = |kind: &str| {
        let mut components = request.components.iter();
        components.find(|component| *component.entity_type == *kind)
    };
    let part_fits = |kind: &str, part: &Option<QuotaSubject>| match (asked(kind), part) {
        (None, None) => true,
        (None, Some(_)) => !request.strict,
        (Some(_), None) => false,
        (Some(component), Some(part)) => match component.match_type {
            EXACT => part.name().is_some() && part.name() == component.r#match.as_deref(),
            DEFAULT => part.name().is_none(),
            _ => true,
        },
    };
    let unknown =
        |component: &ComponentData<'_>| !matches!(&*component.entity_type, "user" | "client-id");
    !request.components.iter().any(unknown)
        && part_fits("user", &entity.user)
        && part_fits("client-id", &entity.client_id)
}

fn entry((entity, values): (&QuotaEntity, &QuotaValues)) -> EntryData<'static> {
    let parts = [("user", &entity.user), ("client-id", &entity.client_id)];
    let parts = parts.into_iter().filter_map(|(kind, part)| {
        Some(EntityData {
            entity_type: Str::Borrowed(kind),
            entity_name: part
                .as_ref()?
                .name()
                .map(|name| Str::Owned(name.to_owned())),
        })
    });
    let values = values.iter().map(|(key, rate)| ValueData {
        key: Str::Owned(key.clone()),
        value: rate.0,
    });
    EntryData {
        entity: parts.collect(),
        values: values.collect(),
    }
}
