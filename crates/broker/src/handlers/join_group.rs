//! `JoinGroup` (key 11), versions 0 to 9: a member joins its group, or joins again for the next
//! generation. The answer waits until all have joined.
//!
//! * From version 1 a separate rebalance timeout (before: the session timeout). From version 4 a
//!   new member first gets an id and comes again with it (MEMBER_ID_REQUIRED, KIP-394). From
//!   version 5 lasting names (KIP-345). From version 7 the answer names the kind of group and a
//!   null protocol on errors. Version 8 brings a reason, which is not kept. From version 9 the
//!   answer asks a returning leader to leave the assignment as it is (KIP-814).
//! * `group.initial.rebalance.delay.ms` is 0 by default, not 3 s as in Kafka: see the settings'
//!   table.
//!
//! Not done: the group protocol of KIP-848 (its APIs are not announced).

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::join_group::{
    JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember,
};

use super::RequestBody;
use crate::groups::{
    ConsumerGroup, Effect, Introduction, JoinAnswer, JoinRefused, JoinRules, check_member_request,
    with_group, with_new_group,
};
use crate::node::{BrokerNode, CloseReason, PendingRequest, Reply};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: JoinGroupRequest<'_> = body.decode(call.version())?;
    let who = introduction(node, call, body.client_id(), &request);
    if let Err(code) = join(node, call, &request, who) {
        let member_id = request.member_id.to_string();
        answer(node, call.reply, Err(JoinRefused { code, member_id }));
    }
    Ok(())
}

fn introduction(
    node: &BrokerNode,
    call: PendingRequest,
    client_id: &str,
    request: &JoinGroupRequest<'_>,
) -> Introduction {
    let peer = node
        .connections
        .get(call.reply.ticket.connection)
        .map(|c| c.peer);
    let protocol = |p: &kgauge_wire::messages::join_group::JoinGroupRequestProtocol<'_>| {
        (p.name.to_string(), p.metadata.to_vec())
    };
    Introduction {
        member_id: request.member_id.to_string(),
        instance_id: request.group_instance_id.as_ref().map(ToString::to_string),
        client_id: client_id.to_owned(),
        client_host: peer.map_or_else(String::new, |ip| format!("/{ip}")),
        session_timeout_ms: request.session_timeout_ms,
        // Version 0 has only the session timeout.
        rebalance_timeout_ms: match request.rebalance_timeout_ms {
            -1 => request.session_timeout_ms,
            timeout_ms => timeout_ms,
        },
        protocol_type: request.protocol_type.to_string(),
        protocols: request.protocols.iter().map(protocol).collect(),
    }
}

fn join(
    node: &mut BrokerNode,
    call: PendingRequest,
    request: &JoinGroupRequest<'_>,
    who: Introduction,
) -> Result<(), ErrorCode> {
    let partition = check_member_request(node, &request.group_id)?;
    let settings = &node.settings;
    let allowed = settings.group_min_session_timeout_ms..=settings.group_max_session_timeout_ms;
    if !allowed.contains(&i64::from(request.session_timeout_ms)) {
        return Err(ErrorCode::InvalidSessionTimeout);
    }
    let rules = JoinRules {
        id_first: call.version() >= 4,
        can_skip_assignment: call.version() >= 9,
        initial_delay_ms: settings.group_initial_rebalance_delay_ms,
        members_max: usize::try_from(settings.group_max_size).unwrap_or(usize::MAX),
    };
    let new_id = member_id(node, who.instance_id.as_deref().unwrap_or(&who.client_id));
    let (now, group, is_new) = (call.now, &request.group_id, who.member_id.is_empty());
    let join = |group: &mut ConsumerGroup<Reply>, effects: &mut Vec<Effect<Reply>>| {
        group.join(now, who, rules, call.reply, new_id, effects);
    };
    // Only a new member makes a group.
    let done = if is_new {
        with_new_group(node, now, group, partition, join)
    } else {
        with_group(node, now, group, join)
    };
    done.ok_or(ErrorCode::UnknownMemberId)
}

/// A new member's id: a name and a random UUID in its usual text form, as in Kafka.
fn member_id(node: &mut BrokerNode, prefix: &str) -> String {
    let hex: String = node
        .random
        .uuid_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let [a, b, c, d, e] = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    format!("{prefix}-{a}-{b}-{c}-{d}-{e}")
}

/// Answers a member.
pub(crate) fn answer(node: &mut BrokerNode, reply: Reply, result: Result<JoinAnswer, JoinRefused>) {
    let names_type = reply.version >= 7;
    let response = match result {
        Ok(joined) => JoinGroupResponse {
            generation_id: joined.generation,
            protocol_type: names_type.then_some(Str::Owned(joined.protocol_type)),
            protocol_name: Some(Str::Owned(joined.protocol)),
            leader: Str::Owned(joined.leader),
            skip_assignment: joined.skip_assignment,
            member_id: Str::Owned(joined.member_id),
            members: joined
                .members
                .into_iter()
                .map(
                    |(member_id, instance_id, metadata)| JoinGroupResponseMember {
                        member_id: Str::Owned(member_id),
                        group_instance_id: instance_id.map(Str::Owned),
                        metadata: Bytes::Owned(metadata),
                    },
                )
                .collect(),
            ..JoinGroupResponse::default()
        },
        Err(JoinRefused { code, member_id }) => JoinGroupResponse {
            error_code: code.as_i16(),
            generation_id: -1,
            protocol_name: if names_type {
                None
            } else {
                Some(Str::Borrowed(""))
            },
            member_id: Str::Owned(member_id),
            ..JoinGroupResponse::default()
        },
    };
    node.respond(reply, &response);
}
