//! `FindCoordinator` (key 10), versions 0 to 6: which node coordinates a group.
//!
//! * It is the leader of the partition of `__consumer_offsets` that the group's name hashes to,
//!   Kafka's way: Java's hash of the name, modulo the number of partitions. The topic is created by
//!   the first question; the answer waits for it.
//! * From version 1 a key type: group (0), transaction (1), share (2, from version 6). From version
//!   4 several keys in one request.
//!
//! Not done: coordinators of transactions and share groups. Transactions are refused with a sentence
//! that clients show, and the code that ends the attempt of the client's library at once:
//! UNSUPPORTED_VERSION, or TRANSACTIONAL_ID_AUTHORIZATION_FAILED for librdkafka. sarama gets a coordinator,
//! and is refused by `InitProducerId`.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::find_coordinator::{
    Coordinator, FindCoordinatorRequest, FindCoordinatorResponse,
};

use super::{RequestBody, metadata};
use crate::controller::{ControllerRequest, Mode, Refusal};
use crate::groups::partition_of;
use crate::ids::OFFSETS_TOPIC;
use crate::node::{
    BrokerNode, ClientSoftware, CloseReason, ControllerQuestion, PendingRequest, Reply,
};

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

/// From this version on a request has a list of keys.
const MANY_FROM: i16 = 4;

/// What a client wants to know.
#[derive(Debug)]
pub(crate) struct CoordinatorQuery {
    key_type: i8,
    keys: Vec<String>,
}

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: FindCoordinatorRequest<'_> = body.decode(call.version())?;
    let keys = if call.version() >= MANY_FROM {
        request
            .coordinator_keys
            .iter()
            .map(ToString::to_string)
            .collect()
    } else {
        vec![request.key.to_string()]
    };
    let query = CoordinatorQuery {
        key_type: request.key_type,
        keys,
    };
    if query.key_type == GROUP && node.image.topic(OFFSETS_TOPIC).is_none() {
        let topic = metadata::new_topic(node, OFFSETS_TOPIC.to_owned());
        let request = ControllerRequest::CreateTopics {
            topics: vec![topic],
            mode: Mode::Apply,
        };
        node.ask(
            call.now,
            request,
            ControllerQuestion::OffsetsTopic(call.reply, query),
        );
        return Ok(());
    }
    finish(node, call.reply, &query);
    Ok(())
}

/// Answers from the image at hand.
pub(crate) fn finish(node: &mut BrokerNode, reply: Reply, query: &CoordinatorQuery) {
    let software = node.client_software(reply);
    let coordinators: Vec<Coordinator<'_>> = query
        .keys
        .iter()
        .map(|key| coordinator(node, query.key_type, software, key))
        .collect();
    let mut response = FindCoordinatorResponse::default();
    if reply.version >= MANY_FROM {
        response.coordinators = coordinators;
    } else if let Some(only) = coordinators.into_iter().next() {
        response.error_code = only.error_code;
        response.error_message = only.error_message;
        response.node_id = only.node_id;
        response.host = only.host;
        response.port = only.port;
    }
    node.respond(reply, &response);
}

fn coordinator<'k>(
    node: &BrokerNode,
    key_type: i8,
    software: ClientSoftware,
    key: &'k str,
) -> Coordinator<'k> {
    match find(node, key_type, software, key) {
        Ok((id, host, port)) => Coordinator {
            key: Str::Borrowed(key),
            node_id: id,
            host: Str::Owned(host),
            port: i32::from(port),
            ..Coordinator::default()
        },
        Err(Refusal { code, message }) => Coordinator {
            key: Str::Borrowed(key),
            node_id: -1,
            port: -1,
            error_code: code.as_i16(),
            error_message: Some(Str::Owned(message)),
            ..Coordinator::default()
        },
    }
}

fn find(
    node: &BrokerNode,
    key_type: i8,
    software: ClientSoftware,
    key: &str,
) -> Result<(i32, String, u16), Refusal> {
    let refuse = |code, words: &str| Err(Refusal::new(code, words));
    if let Some(code) = node.faults.forced {
        return refuse(code, "Injected fault.");
    }
    match key_type {
        GROUP => {}
        TRANSACTION => {
            let words = "The embedded cluster does not support transactions.";
            let code = match software {
                ClientSoftware::Other => ErrorCode::UnsupportedVersion,
                ClientSoftware::Librdkafka => ErrorCode::TransactionalIdAuthorizationFailed,
                ClientSoftware::Sarama => {
                    let own = &node.config.reachable;
                    return Ok((node.id().0, own.host.clone(), own.port));
                }
            };
            return refuse(code, words);
        }
        _ => {
            return refuse(
                ErrorCode::InvalidRequest,
                "The embedded cluster has no such coordinator.",
            );
        }
    }
    let leader = node.image.topic(OFFSETS_TOPIC).and_then(|topic| {
        let index = partition_of(key, topic.partitions.len());
        let leader = topic.partition(index)?.leader?;
        Some((leader.0, node.image.nodes.get(&leader)?))
    });
    match leader {
        Some((id, at)) => Ok((id, at.host.clone(), at.port)),
        None => refuse(
            ErrorCode::CoordinatorNotAvailable,
            "The group's partition has no leader.",
        ),
    }
}
