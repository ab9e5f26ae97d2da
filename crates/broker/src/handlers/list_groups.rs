//! `ListGroups` (key 16), versions 0 to 5: the groups that this node coordinates.
//!
//! * From version 4 states and a filter by them, from version 5 types and a filter: all are
//!   "classic". Filters do not mind upper and lower case.

use std::collections::HashSet;

use kgauge_wire::codec::Str;
use kgauge_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse, ListedGroup};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

const TYPE: &str = "classic";

/// The names that pass; without any, all do. A set, since a request of the largest size has more names than could be
/// compared with each group.
struct Filter(HashSet<String>);

impl Filter {
    fn of(names: &[Str<'_>]) -> Self {
        Self(names.iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    fn passes(&self, value: &str) -> bool {
        self.0.is_empty() || self.0.contains(&value.to_ascii_lowercase())
    }
}

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: ListGroupsRequest<'_> = body.decode(call.version())?;
    let states = Filter::of(&request.states_filter);
    let has_type = Filter::of(&request.types_filter).passes(TYPE);
    let mut groups = Vec::new();
    for (name, entry) in &node.groups.entries {
        let state = entry.group.state.name();
        if has_type && states.passes(state) {
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
