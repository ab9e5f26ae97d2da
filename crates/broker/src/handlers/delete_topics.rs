//! `DeleteTopics` (key 20), versions 1 to 6: topics with all their data, by way of the controller.
//!
//! * From version 6 topics go by name or by id; before that by name.
//! * `delete.topic.enable=false` refuses all (TOPIC_DELETION_DISABLED).
//! * The topic of the groups' offsets cannot be deleted (INVALID_TOPIC_EXCEPTION): Kafka allows it
//!   and loses all committed offsets.

use kgauge_wire::codec::{Str, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_topics::{
    DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse,
};

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use crate::controller::{ControllerReply, ControllerRequest, Refusal};
use crate::image::TopicImage;
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

/// One topic of the request.
#[derive(Debug)]
struct TopicToDelete {
    name: Option<String>,
    id: Uuid,
    early: Option<Refusal>,
}

/// The request's topics in order.
#[derive(Debug)]
pub(crate) struct PendingTopicDeletion(Vec<TopicToDelete>);

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DeleteTopicsRequest<'_> = body.decode(call.version())?;
    let by_name = request
        .topic_names
        .iter()
        .map(|name| (Some(&**name), Uuid::ZERO));
    let by_name_or_id = request
        .topics
        .iter()
        .map(|topic| (topic.name.as_deref(), topic.topic_id));
    let topics: Vec<TopicToDelete> = by_name
        .chain(by_name_or_id)
        .map(|(name, id)| find(node, name, id))
        .collect();
    let ids = topics
        .iter()
        .filter(|topic| topic.early.is_none())
        .map(|topic| topic.id);
    let request = ControllerRequest::DeleteTopics(ids.collect());
    node.ask(
        call.now,
        request,
        ControllerQuestion::DeleteTopics(call.reply, PendingTopicDeletion(topics)),
    );
    Ok(())
}

fn find(node: &BrokerNode, name: Option<&str>, id: Uuid) -> TopicToDelete {
    let refused = |code: ErrorCode, words: &str| TopicToDelete {
        name: name.map(str::to_owned),
        id,
        early: Some(Refusal::new(code, words)),
    };
    if !node.settings.delete_topic_enable {
        return refused(
            ErrorCode::TopicDeletionDisabled,
            "Topic deletion is disabled.",
        );
    }
    let topic: Option<&TopicImage> = match name {
        Some(name) => node.image.topic(name).map(AsRef::as_ref),
        None => node.image.topic_by_id(id).map(AsRef::as_ref),
    };
    match topic {
        Some(topic) if topic.is_internal() => refused(
            ErrorCode::InvalidTopicException,
            "The topic of committed offsets cannot be deleted.",
        ),
        Some(topic) => TopicToDelete {
            name: Some(topic.name.to_string()),
            id: topic.id,
            early: None,
        },
        None if name.is_some() => refused(
            ErrorCode::UnknownTopicOrPartition,
            "This server does not host this topic-partition.",
        ),
        None => refused(
            ErrorCode::UnknownTopicId,
            "This server does not host this topic ID.",
        ),
    }
}

impl PendingTopicDeletion {
    /// Answers with the controller's results, and with the early refusals.
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::DeleteTopics(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let mut responses = Vec::with_capacity(self.0.len());
        for TopicToDelete { name, id, early } in self.0 {
            let (error_code, error_message) = error_fields(decided.next(early));
            responses.push(DeletableTopicResult {
                name: name.map(Str::Owned),
                topic_id: id,
                error_code,
                error_message,
            });
        }
        let response = DeleteTopicsResponse {
            responses,
            ..DeleteTopicsResponse::default()
        };
        node.respond(reply, &response);
    }
}
