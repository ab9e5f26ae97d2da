//! `ListGroups` (key 16), versions 0 to 5: the groups that this node coordinates.
//!
//! * From version 4 states and a filter by them, from version 5 types and a filter: all are
//!   "classic". Filters do not mind upper and lower case.

use kgauge_wire::codec::Str;
use kgauge_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse, ListedGroup};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

const TYPE: &str = "classic";

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: ListGroupsRequest<'_> = body.decode(call.version())?;
    let passes = |filter: &[Str<'_>], value: &str| {
        filter.is_empty() || filter.iter().any(|name| name.eq_ignore_ascii_case(value))
    };
    let mut groups = Vec::new();
    for (name, entry) in &node.groups.entries {
        let state = entry.group.state.name();
        if passes(&request.states_filter, state) && passes(&request.types_filter, TYPE) {
            groups.push(ListedGroup {
                group_id: Str::Owned(name.clone()),
                protocol_type: Str::Owned(entry.group.protocol_type.clone().unwrap_or_default()),
                group_state: Str::Borrowed(state),
                group_type: Str::Borrowed(TYPE),
            });
        }
    }
    node.respond(
        call.reply,
        &ListGroupsResponse {
            groups,
            ..ListGroupsResponse::default()
        },
    );
    Ok(())
}
