//! `DescribeGroups` (key 15), versions 0 to 6: members and assignments of groups.
//!
//! * A group that nobody knows is "Dead"; from version 6 it also has the error GROUP_ID_NOT_FOUND
//!   and a sentence (KIP-1043).
//! * A group that is named twice is answered once.
//! * From version 3 rights (all, as there is no access control); from version 4 lasting names.

use std::collections::HashSet;

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_groups::{
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, DescribedGroupMember,
};

use super::{RequestBody, authorized};
use crate::groups::{GroupEntry, GroupState, find};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

/// From this version on an unknown group is an error.
const NOT_FOUND_FROM: i16 = 6;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeGroupsRequest<'_> = body.decode(call.version())?;
    let asked = request.include_authorized_operations;
    let operations = authorized::if_asked(asked, authorized::ON_GROUP);
    let description = |group: &Str<'_>| {
        let described = match find(node, group) {
            Ok(Some(entry)) => describe(entry),
            Ok(None) => unknown(call.version(), group),
            Err(code) => DescribedGroup {
                error_code: code.as_i16(),
                ..DescribedGroup::default()
            },
        };
        DescribedGroup {
            group_id: Str::Owned(group.to_string()),
            authorized_operations: operations,
            ..described
        }
    };
    // An answer with every repetition could be far larger than the request.
    let mut seen = HashSet::new();
    let groups = request.groups.iter();
    let groups = groups.filter(|group| seen.insert(group.to_string()));
    let groups = groups.map(description).collect();
    node.respond(
        call.reply,
        &DescribeGroupsResponse {
            groups,
            throttle_time_ms: 0,
        },
    );
    Ok(())
}

fn unknown(version: i16, group: &str) -> DescribedGroup<'static> {
    let mut described = DescribedGroup {
        group_state: Str::Borrowed("Dead"),
        ..DescribedGroup::default()
    };
    if version >= NOT_FOUND_FROM {
        described.error_code = ErrorCode::GroupIdNotFound.as_i16();
        described.error_message = Some(Str::Owned(format!("Group {group} not found.")));
    }
    described
}

fn describe(entry: &GroupEntry) -> DescribedGroup<'static> {
    let group = &entry.group;
    // While members join, metadata and assignments are those of no generation.
    let settled = group.state == GroupState::Stable;
    let protocol = group.protocol.clone().unwrap_or_default();
    let mut members: Vec<_> = group.members.values().collect();
    members.sort_by_key(|member| member.order);
    let member = |member: &crate::groups::ConsumerGroupMember<_>| {
        let (metadata, assignment) = if settled {
            (
                member.metadata(&protocol).to_vec(),
                member.assignment.clone(),
            )
        } else {
            Default::default()
        };
        DescribedGroupMember {
            member_id: Str::Owned(member.id.clone()),
            group_instance_id: member.instance_id.clone().map(Str::Owned),
            client_id: Str::Owned(member.client_id.clone()),
            client_host: Str::Owned(member.client_host.clone()),
            member_metadata: Bytes::Owned(metadata),
            member_assignment: Bytes::Owned(assignment),
        }
    };
    DescribedGroup {
        group_state: Str::Borrowed(group.state.name()),
        protocol_type: Str::Owned(group.protocol_type.clone().unwrap_or_default()),
        members: members.into_iter().map(member).collect(),
        protocol_data: Str::Owned(if settled {
            protocol.clone()
        } else {
            String::new()
        }),
        ..DescribedGroup::default()
    }
}
